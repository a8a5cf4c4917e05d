"""Our processes on this machine: found by what they were started with, since a file can be missing and a pid reused."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import psutil

SUPERVISOR = "clouds.local.supervisor"
MARK = "MODELRIG_LOCAL_ENGINE"
"""The variable in an engine's environment (and its children's) that says whose it is: see `mark`."""
ROOT = Path(__file__).resolve().parents[2]
_PART = 128 * 1024
_LOOKS, _PAUSE, _YOUNG = 20, 0.005, 5.0
"""How often and how long apart, in seconds, a process without words is looked at, and how young it has to be."""
_KERNEL = 0x00200000
"""PF_KTHREAD: a thread of the kernel's, which never has words (Linux, include/linux/sched.h; proc_pid_stat(5), 9)."""
_PASSES = 10
"""How often all are looked at, at most, while some end meanwhile: on a busy machine each look may miss a fork."""


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


def live() -> tuple[Found, ...]:
    """Every live process of ours, whatever its home.

    A supervisor goes on in a fork of itself. One that ends while we look may have left a process that was not yet there
    when we listed them, so that we look again; and of the two, while both are there, the fork is the one that stays.
    """
    known: set[int] = set()
    for _ in range(_PASSES):
        found, ended = _look_at_all()
        if ended <= known:
            break
        known |= ended
    supervisors = sorted((each for each in found if each.role == "supervisor"), key=lambda one: (one.created, one.pid))
    forks = {each.started: each.pid for each in supervisors}
    return tuple(each for each in found if each.role == "engine" or forks[each.started] == each.pid)


def _look_at_all() -> tuple[list[Found], set[int]]:
    """What is ours, and the pids of what ended, or had just ended, when it was looked at."""
    import psutil

    found, ended = [], set()
    for pid in psutil.pids():
        try:
            if not _worth_a_look(pid):
                continue
            ours = _look(psutil.Process(pid))
        except (psutil.Error, OSError):
            ended.add(pid)
            continue
        if ours is not None:
            found.append(ours)
        elif sys.platform == "linux":  # elsewhere each of them is worth a look
            ended.add(pid)
    return found, ended


def _worth_a_look(pid: int) -> bool:
    """False when the raw bytes already say that it is not ours, as of nearly all: half of the time of a scan.

    Raises ProcessLookupError where it has ended.
    """
    if sys.platform != "linux":
        return True
    words = _raw(f"/proc/{pid}/cmdline")
    for _ in range(_LOOKS):
        if words or not _begins(pid):
            break
        time.sleep(_PAUSE)
        words = _raw(f"/proc/{pid}/cmdline")
    return SUPERVISOR.encode() in words or MARK.encode() in _raw(f"/proc/{pid}/environ")


def _begins(pid: int) -> bool:
    """Whether a process is becoming another program: for a moment the system shows the words of neither.

    Whoever started it goes on as soon as its pipe closes, which is before that (Linux 6.1, `begin_new_exec`). Raises
    ProcessLookupError where it has ended in the last seconds.
    """
    if sys.platform != "linux":
        return False
    state, *words = _raw(f"/proc/{pid}/stat").rpartition(b")")[2].split() or [b"Z"]
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - int(words[18]) / os.sysconf("SC_CLK_TCK") if words else 0.0
    if age >= _YOUNG:
        return False
    if state in (b"Z", b"X"):
        raise ProcessLookupError
    return not int(words[5]) & _KERNEL


def _raw(path: str) -> bytes:
    """A file of a process; empty where it is somebody else's. Raises FileNotFoundError or ProcessLookupError.

    By its descriptor: a file object takes half as long again.
    """
    try:
        file = os.open(path, os.O_RDONLY)
    except PermissionError:
        return b""
    try:
        read = part = os.read(file, _PART)
        while len(part) == _PART:
            read += (part := os.read(file, _PART))
    except PermissionError:
        return b""
    finally:
        os.close(file)
    return read


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
