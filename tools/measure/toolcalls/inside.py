"""The inner side of the sandbox: this file is run by `sandbox.py` in a process of its own, and imports nothing of ours.

It reads its work, limits itself, runs the code and writes what was printed: first a line with the lengths of both
texts. It is started for every call of a model, so it imports next to nothing: `json` and `traceback` took longer than
the code does.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` itself imports half a library for its names
import io
import marshal
import os
import resource
import sys

REFUSED = (
    "socket.",
    "subprocess.",
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "os.kill",
    "os.putenv",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.mkdir",
    "os.link",
    "os.symlink",
    "os.chmod",
    "os.chown",
    "os.truncate",
    "os.chdir",
    "shutil.",
    "tempfile.",
    "glob.",
    "pty.",
    "resource.",
    "ctypes.",
    "mmap.",
    "fcntl.",
    "sys.setprofile",
    "sys.settrace",
    "webbrowser.",
    "urllib.",
    "http.",
    "ftplib.",
    "smtplib.",
    "syslog.",
    "builtins.breakpoint",
    "builtins.input",
)
MODULES = {
    "ctypes",
    "_ctypes",
    "socket",
    "_socket",
    "subprocess",
    "_posixsubprocess",
    "multiprocessing",
    "signal",
    "_signal",
    "mmap",
}
LIBRARY = tuple(os.path.realpath(path) + os.sep for path in sys.path if path)


def watch(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse what reaches out of this process. Reading the library's own files is what an import does."""
    if event.startswith(REFUSED):
        raise PermissionError(f"{event} is not available here")
    if event == "import" and str(arguments[0]).split(".")[0] in MODULES:
        raise PermissionError(f"import {arguments[0]} is not available here")
    if event in {"open", "os.listdir", "os.scandir"} and (_writes(*arguments[1:3]) or not _inside(arguments[0])):
        raise PermissionError("files are not available here")


def _writes(mode: object = None, flags: object = 0) -> bool:
    if isinstance(mode, str) and any(sign in mode for sign in "wax+"):
        return True
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def _inside(path: object) -> bool:
    if not isinstance(path, str | bytes):
        return False
    return (os.path.realpath(os.fsdecode(path)) + os.sep).startswith(LIBRARY)


class Kept(io.TextIOBase):
    """Output up to a limit; what comes after is dropped and said."""

    def __init__(self, limit: int) -> None:
        self.left, self.cut = limit, False
        self.parts: list[str] = []

    def write(self, text: str) -> int:
        """Keep what fits."""
        kept = text[: max(self.left, 0)]
        self.left -= len(kept)
        self.cut = self.cut or len(kept) < len(text)
        self.parts.append(kept)
        return len(text)

    def value(self) -> str:
        """All that was kept."""
        return "".join(self.parts) + ("… (cut)" if self.cut else "")


def limit(seconds: float, memory: int) -> None:
    """Time and memory of this process; no files, no core dump. A system that has no such limit is left as it is.

    The timer ends it to the tenth of a second; the limit, in whole seconds, also ends what caught the timer's signal.
    """
    _signal.setitimer(_signal.ITIMER_PROF, seconds)
    sys.modules.pop("_signal", None)  # so that importing it is refused
    for name, value in (("CPU", int(seconds) + 1), ("AS", memory), ("FSIZE", 0), ("CORE", 0), ("NPROC", 0)):
        try:
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
        except (AttributeError, ValueError, OSError):
            continue


def line(problem: BaseException) -> str:
    """The last line of a traceback."""
    kind = type(problem)
    home = "" if kind.__module__ in {"__main__", "builtins"} else f"{kind.__module__}."
    try:
        text = str(problem)
    except Exception:  # noqa: BLE001  an exception may be of the code's own making
        text = "<str() of it failed>"
    return f"{home}{kind.__qualname__}{text and f': {text}'}"


def main() -> None:
    """One piece of work."""
    work = marshal.load(sys.stdin.buffer)  # noqa: S302  from the process that started this one
    out = sys.stdout.buffer
    kept = Kept(work["printed"])
    limit(work["seconds"], work["memory"])
    error = ""
    sys.stdout = sys.stderr = kept
    sys.stdin = io.StringIO("")
    compiled = None
    try:
        compiled = compile(work["code"], "<code>", "exec")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as problem:
        error = line(problem)
    if compiled is not None:
        sys.addaudithook(watch)
        try:
            exec(compiled, {"__name__": "__main__", "exit": sys.exit, "quit": sys.exit, **work["names"]})  # noqa: S102  running it is what this process is for
        except SystemExit:
            pass
        except BaseException as problem:  # noqa: BLE001  whatever the code does becomes a line of text
            error = line(problem)
    printed, failed = (text.encode("utf-8", "backslashreplace") for text in (kept.value(), error))
    out.write(f"{len(printed)} {len(failed)}\n".encode() + printed + failed)
    out.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
