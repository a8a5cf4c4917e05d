"""What a look at the system's files about a process finds in them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from clouds.local import processes


def test_a_word_is_found_wherever_it_is_in_a_long_file(tmp_path: Path) -> None:
    """An environment may be megabytes long; it is read in parts, and a word may lie across two of them."""
    word, part = processes.MARK.encode(), processes._PART
    file = tmp_path / "environ"
    for before in (0, part - 5, part, 2 * part - 5, 2 * part):
        file.write_bytes(b"\0" * before + word + b"\0")
        assert word in processes._raw(str(file)), before
    file.write_bytes(b"\0" * 2 * part + word[:-1])
    assert word not in processes._raw(str(file))


HANDING_ON = """
import os, time
for _ in range(8):
    if os.fork():
        os._exit(0)
    os.setsid()
    time.sleep(0.02)
time.sleep(20)
"""
"""As a supervisor begins, eight times over: it goes on in a fork of itself, and ends."""


def test_a_supervisor_that_goes_on_in_a_fork_of_itself_is_one_at_every_moment(tmp_path: Path) -> None:
    package = tmp_path / "clouds" / "local" / "supervisor"
    package.mkdir(parents=True)
    (package / "__main__.py").write_text(HANDING_ON)
    command = processes.command(processes.Started(str(tmp_path), "one", "d-20261130-0001", "0123456789abcdef"))
    first = subprocess.Popen(command, env={"PYTHONPATH": str(tmp_path)}, start_new_session=True)
    seen: list[int] = []
    try:
        first.wait(20)
        ends = time.monotonic() + 0.25
        while time.monotonic() < ends:
            found = processes.scan(tmp_path)
            assert len(found) == 1, seen
            seen.append(found[0].pid)
    finally:
        processes.end(processes.scan(tmp_path), hard=True)
    assert seen == sorted(seen)
    assert len(set(seen)) > 2


@pytest.fixture
def waiting() -> Iterator[int]:
    """The pid of a process that has just started, and waits."""
    child = subprocess.Popen([sys.executable, "-S", "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    yield child.pid
    child.communicate()


@pytest.mark.parametrize("session", ["its own", "outside of the container"])
def test_a_process_without_words_is_waited_for_while_it_becomes_another(
    session: str, waiting: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the system shows of a process that is becoming another program can only be made up here.

    In a container the session of what was started from outside is shown as 0, as a kernel thread's is everywhere.
    """
    answers, raw = iter([b"", b"", processes.SUPERVISOR.encode()]), processes._raw
    if session != "its own":
        monkeypatch.setattr(os, "getsid", lambda pid: 0)
    monkeypatch.setattr(processes, "_raw", lambda path: next(answers) if path.endswith("cmdline") else raw(path))
    assert processes._worth_a_look(waiting)


def test_a_kernel_thread_never_has_words_and_is_not_waited_for(waiting: int, monkeypatch: pytest.MonkeyPatch) -> None:
    answers, raw = iter([b""]), processes._raw

    def shown(path: str) -> bytes:
        if path.endswith("cmdline"):
            return next(answers)
        if not path.endswith("stat"):
            return raw(path)
        name, _, words = raw(path).rpartition(b") ")
        state, *numbers = words.split()
        numbers[5] = b"%d" % (int(numbers[5]) | processes._KERNEL)
        return name + b") " + b" ".join([state, *numbers])

    monkeypatch.setattr(processes, "_raw", shown)
    assert not processes._worth_a_look(waiting)


def test_a_process_that_has_just_ended_is_told_from_one_that_is_not_ours() -> None:
    child = subprocess.Popen([sys.executable, "-S", "-c", ""], stdout=subprocess.PIPE)
    child.stdout.read()  # type: ignore[union-attr]
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    with pytest.raises(ProcessLookupError):
        processes._worth_a_look(child.pid)
    assert not processes._worth_a_look(os.getpid())
    child.communicate()
