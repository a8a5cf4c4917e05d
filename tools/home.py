"""The data directory: one for the plugin, the shell and every worker. What we write goes through here."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from clouds.errors import DiskFull, InvalidInput

VARIABLE = "MODELRIG_HOME"
LONGEST_NAME = 240
"""Characters of one part of a path; file systems take 255 bytes."""


def home() -> Path:
    """The data directory, made with mode 0700 when it is not there: MODELRIG_HOME, else the platform's own place.

    Raises InvalidInput when it cannot be made or written.
    """
    named = os.environ.get(VARIABLE, "")
    if named and not named.startswith("${"):  # a client that does not expand its placeholders passes them on as text
        path = Path(named).expanduser().absolute()
    else:
        from platformdirs import user_data_path

        path = user_data_path("modelrig", appauthor=False)
    return ready(path)


def ready(path: Path) -> Path:
    """`path` as a folder of ours, made with mode 0700 when it is not there. Raises InvalidInput that says why not."""
    problem = ""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(path, os.R_OK | os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
            problem = "cannot be written"
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a path"
        problem = f"cannot be made or used as a folder ({reason})"
    if problem:
        raise InvalidInput(
            VARIABLE,
            f"the data directory {_shown(path)} {problem}",
            fix=f"Set {VARIABLE} to a folder that you can write to.",
        )
    return path


def inside(path: str | Path, *roots: Path, field: str = "path") -> Path:
    """`path` resolved (links followed), inside one of `roots`; a relative one is taken from the first root.

    Raises InvalidInput for anything outside: the file need not exist yet.
    """
    text = str(path)
    plain = text.isprintable() and max(map(len, Path(text).parts), default=0) <= LONGEST_NAME
    try:
        resolved = (roots[0] / Path(text).expanduser()).resolve() if plain else None
        homes = [root.resolve() for root in roots]
    except (OSError, ValueError, RuntimeError):  # a loop of links, a ~user that is not there
        resolved = None
    if resolved is None:
        raise InvalidInput(field, f"{_shown(text)} is not a path", fix=f"Give a path in {_shown(roots[0])}.") from None
    if not any(resolved == root or root in resolved.parents for root in homes):
        raise InvalidInput(
            field,
            f"{_shown(text)} is outside {' and '.join(_shown(root) for root in homes)}",
            fix="Give a path inside.",
            allowed=tuple(str(root) for root in homes),
        )
    return resolved


def write_atomically(path: Path, data: str | bytes, mode: int = 0o600) -> Path:
    """Write a whole file or none: a reader sees the old one or the new one, also after a crash. Raises DiskFull."""
    ready(path.parent)
    content = data.encode("utf-8") if isinstance(data, str) else data
    try:
        return _written(path, content, mode)
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        raise DiskFull(
            f"Writing {_shown(path)}", code=errno.errorcode[error.errno],
            fix=f"Free some space where {_shown(path.parent)} is.",
        ) from error  # fmt: skip


def _written(path: Path, content: bytes, mode: int) -> Path:
    import tempfile  # here, since who writes no file needs none of it

    handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def _shown(path: str | Path) -> str:
    """A path in a message: one line, bounded."""
    text = ascii(str(path))[1:-1] if not str(path).isprintable() else str(path)
    return text if len(text) <= 200 else f"{text[:200]}…"
