"""Makes an environment and installs hashed requirements into it: by uv when it is there, else by venv and pip."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from tools.environment import reasons
from tools.environment.interpreters import find_python, find_uv
from tools.environment.places import python_of, site_packages

if TYPE_CHECKING:
    Say = Callable[[str, int | None], None]
    """Told the step and, where it is known, the percentage."""
LIMIT_SECONDS = 1800.0
"""One installer may take this long: 100 MB at 60 kB/s."""
NEEDED_MB = 300


class Failed(Exception):
    """An installer failed; `problem` says why."""

    def __init__(self, problem: reasons.Problem) -> None:
        self.problem = problem
        super().__init__(problem.reason)


class Installer:
    """Runs uv or pip. `log` receives everything they print, without addresses."""

    def __init__(self, environment: Mapping[str, str], log: Path | None, say: Say) -> None:
        self.environment, self.log, self.say = environment, log, say
        self.uv = find_uv(environment)

    @property
    def name(self) -> str:
        """Which installer it is."""
        return "uv" if self.uv else "pip"

    def create(self, prefix: Path) -> None:
        """A fresh environment. Raises Failed."""
        self.say(f"making the environment ({self.name})", None)
        python = find_python(self.environment)
        if self.uv:
            version = ["--python", python, "--no-python-downloads"] if python else ["--python", "3.12"]
            self._run([self.uv, "venv", "--no-project", "--allow-existing", *version, str(prefix)])
            return
        if python is None:
            raise Failed(reasons.too_old(f"{sys.version.split()[0]} at {sys.executable}"))
        # The pip of the Python at hand saves unpacking another one: 3 of the 12 s of a first start.
        without = ["--without-pip"] if _lent_pip(python, python) else []
        self._run([python, "-m", "venv", *without, str(prefix)])

    def install(self, prefix: Path, file: Path, *, with_dependencies: bool = True) -> None:
        """What `file` pins, by hash, ready-made builds only. Raises Failed."""
        total = len(re.findall(r"^\S+==", file.read_text(encoding="utf-8"), re.MULTILINE))
        options = ["--require-hashes", "--only-binary", ":all:", "-r", str(file)]
        options += [] if with_dependencies else ["--no-deps"]
        python = str(python_of(prefix))
        self.say(f"installing {total} packages ({self.name})", 0)
        if self.uv:
            self._run([self.uv, "pip", "install", "--no-progress", "--python", python, *options])
            return
        self._run([*self._pip(prefix), "install", "--retries", "2", "--progress-bar", "off", *options], total)

    def add_pip(self, prefix: Path) -> None:
        """A pip of its own for whoever works in the environment later; nothing where uv or a pip is there."""
        if not self.uv and not _own_pip(prefix):
            self._run([str(python_of(prefix)), "-m", "ensurepip", "--default-pip"])

    def _pip(self, prefix: Path) -> Sequence[str]:
        """The environment's own pip, else that of the Python it was made with."""
        python = str(python_of(prefix))
        if _own_pip(prefix):
            return [python, "-m", "pip"]
        lender = find_python(self.environment)
        if lender and (lent := _lent_pip(lender, python)):
            return lent
        self.add_pip(prefix)
        return [python, "-m", "pip"]

    def _run(self, command: Sequence[str], total: int = 0) -> None:
        lines: list[str] = []
        seen: set[str] = set()
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=_quiet(self.environment),
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            raise Failed(reasons.explain(f"error: {Path(command[0]).name} does not start: {error.strerror}")) from error
        timer = threading.Timer(LIMIT_SECONDS, process.kill)
        timer.daemon = True
        timer.start()
        try:
            with process:
                for line in process.stdout or ():
                    lines.append(line)
                    self._progress(line, seen, total)
        finally:
            timer.cancel()
            self._keep(lines)
        if process.returncode:
            output = "".join(lines[-200:])
            if process.returncode < 0 and not output.strip():
                output = f"error: stopped by signal {-process.returncode}"
            raise Failed(reasons.explain(output, str(self.log or "")))

    def _progress(self, line: str, seen: set[str], total: int) -> None:
        found = re.match(r"\s*(?:Collecting|Requirement already satisfied:) ([\w.-]+)", line)
        if found:
            seen.add(found[1].lower())
        if total and found:
            self.say(f"fetching {found[1]}, {len(seen)} of {total} packages", min(90, 90 * len(seen) // total))
        elif line.startswith(("Installing collected", "Prepared ")):
            self.say("unpacking", 90)

    def _keep(self, lines: Iterable[str]) -> None:
        if self.log is None:
            return
        with os.fdopen(os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w", encoding="utf-8") as file:
            file.write(reasons.clean("".join(lines)))


def _quiet(environment: Mapping[str, str]) -> dict[str, str]:
    """For an installer: the user's index, proxy and certificates stay, what would redirect an install goes."""
    gone = {"PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__"}
    kept = {name: value for name, value in environment.items() if name not in gone}
    plain = {"PIP_USER": "0", "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "NO_COLOR": "1", "LC_ALL": "C"}
    return {**kept, **plain, "PYTHONUNBUFFERED": "1"}


def _own_pip(prefix: Path) -> bool:
    return any((site / "pip").exists() for site in site_packages(prefix))


def _lent_pip(python: str, into: str) -> Sequence[str]:
    """The command that runs the pip of one Python in another's environment; empty where it cannot."""
    runner = _pip_runner(python)
    if not runner:
        return []
    # What `pip --python` starts itself, once it is up: pip is started once and not twice, half of a small install.
    return [into, runner] if os.path.isfile(runner) else [python, "-m", "pip", "--python", into]  # noqa: PTH113 - a string for a command


@lru_cache
def _pip_runner(python: str) -> str:
    """Where the pip of a Python that can work for another one has its start; empty without one (before 22.3)."""
    check = (
        "import os, pip, sys; print(os.path.join(os.path.dirname(pip.__file__), '__pip-runner__.py')); "
        "sys.exit(tuple(map(int, pip.__version__.split('.')[:2])) < (22, 3))"
    )
    try:
        ended = subprocess.run(
            [python, "-c", check], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return "" if ended.returncode else ended.stdout.strip()
