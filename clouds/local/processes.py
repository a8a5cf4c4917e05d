"""Our processes on this machine: found by what they were started with, since a file can be missing and a pid reused."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import psutil

SUPERVISOR = "clouds.local.supervisor"
MARK = "MODELRIG_LOCAL_ENGINE"
"""The variable in an engine's environment (and its children's) that says whose it is: see `mark`."""
ROOT = Path(__file__).resolve().parents[2]
_RAW = (("cmdline", SUPERVISOR.encode()), ("environ", MARK.encode()))
_PART = 128 * 1024


@dataclass(frozen=True)
class Started:
    """What a process of ours was started with. `start` is a random word of one start: no other process has it."""

    home: str
    name: str
    deployment: str
    start: str


@dataclass(frozen=True)
class Found:
    """One process of ours, as the system shows it. `created` is its start in seconds since 1970."""

    pid: int
    created: float
    role: Literal["supervisor", "engine"]
    started: Started


def command(started: Started) -> list[str]:
    """The supervisor's command line: -P keeps the folder it is started in off the import path."""
    return [
        sys.executable,
        "-P",
        "-m",
        SUPERVISOR,
        "--home",
        started.home,
        "--name",
        started.name,
        "--deployment",
        started.deployment,
        "--start",
        started.start,
    ]


def parse(words: Sequence[str]) -> Started | None:
    """Read a supervisor's command line back. None for any other process, also one that only mentions ours."""
    if len(words) != 12 or list(words[1:4]) != ["-P", "-m", SUPERVISOR]:
        return None
    if list(words[4::2]) != ["--home", "--name", "--deployment", "--start"]:
        return None
    return Started(*words[5::2])


def mark(started: Started) -> str:
    """The value of MARK for the engine of this start."""
    return f"{started.name}\t{started.deployment}\t{started.start}\t{started.home}"


def _unmark(value: str) -> Started | None:
    parts = value.split("\t", 3)
    return Started(home=parts[3], name=parts[0], deployment=parts[1], start=parts[2]) if len(parts) == 4 else None


def scan(home: Path, name: str | None = None) -> tuple[Found, ...]:
    """Every live process of ours under this home, supervisors first."""
    found = [each for each in live() if each.started.home == str(home) and name in {None, each.started.name}]
    return tuple(sorted(found, key=lambda each: (each.role != "supervisor", each.created)))


def live() -> Iterator[Found]:
    """Every live process of ours, whatever its home."""
    import psutil

    for pid in psutil.pids():
        if _worth_a_look(pid):
            with suppress(psutil.Error):
                found = _look(psutil.Process(pid))
                if found is not None:
                    yield found


def _worth_a_look(pid: int) -> bool:
    """False when the raw bytes already say that it is not ours, as of nearly all: half of the time of a scan."""
    if sys.platform != "linux":
        return True
    return any(_holds(f"/proc/{pid}/{name}", word) for name, word in _RAW)


def _holds(path: str, word: bytes) -> bool:
    """Whether a file of the system holds this word. By its descriptor: a file object takes half as long again."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return False  # ended meanwhile, or somebody else's
    try:
        read = part = os.read(file, _PART)
        while len(part) == _PART:
            read += (part := os.read(file, _PART))
    except OSError:
        return False
    finally:
        os.close(file)
    return word in read


def look(pid: int, created: float, start: str) -> Found | None:
    """The supervisor that was recorded, if that pid is still it: same command line, same start time (within 2 s).

    A pid is used again sooner or later; what then has it is not ours. A clock that was corrected makes this None too:
    then `scan` finds the process by its command line.
    """
    import psutil

    try:
        found = _look(psutil.Process(pid))
    except psutil.Error:
        return None
    if found is None or found.role != "supervisor" or found.started.start != start:
        return None
    return found if abs(found.created - created) <= 2 else None


def _look(process: psutil.Process) -> Found | None:
    """One process as ours, or None. Other people's processes cannot be read, and are not ours."""
    import psutil

    try:
        words = process.cmdline()
        if not words:
            return None  # the system's own, or one that has ended
        role: Literal["supervisor", "engine"] = "supervisor"
        started = parse(words)
        if started is None:
            role, started = "engine", _unmark(process.environ().get(MARK, ""))
        if started is None or process.status() == psutil.STATUS_ZOMBIE:
            return None
        return Found(process.pid, process.create_time(), role, started)
    except (psutil.Error, OSError):
        return None


def end(found: Sequence[Found], *, hard: bool) -> None:
    """Ask them to end (SIGTERM), or end them. Psutil compares start times, so a reused pid is never hit."""
    for process in _handles(found):
        _signal(process, hard=hard)


def _handles(found: Sequence[Found]) -> Iterator[psutil.Process]:
    import psutil

    for each in found:
        try:
            process = psutil.Process(each.pid)
            now = _look(process)
            # not the start time: a corrected clock moves it, and the word of the start says enough
            if now and (now.role, now.started) == (each.role, each.started):
                yield process
        except psutil.Error:
            continue


def _signal(process: psutil.Process, *, hard: bool) -> None:
    import psutil

    try:
        process.kill() if hard else process.terminate()
    except psutil.Error:
        return


def gone(found: Sequence[Found], seconds: float) -> bool:
    """Wait until none of them is left, `seconds` at most."""
    ends = time.monotonic() + seconds
    while list(_handles(found)):
        if time.monotonic() > ends:
            return False
        time.sleep(0.02)
    return True


def created(pid: int) -> float:
    """When a process started, in seconds since 1970.

    On Linux as psutil has it, without psutil, whose import is a third of a supervisor's start.
    """
    if sys.platform == "linux":
        ticks = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[19]
        booted = next(line for line in Path("/proc/stat").read_text("ascii").splitlines() if line.startswith("btime"))
        return int(ticks) / os.sysconf("SC_CLK_TCK") + float(booted.split()[1])
    import psutil

    return float(psutil.Process(pid).create_time())
