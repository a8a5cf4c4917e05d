"""The log of an endpoint: bounded, without secrets, and no reason to end when it cannot be written."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from clouds.local.supervisor import journal
from clouds.local.supervisor.journal import Journal


def texts(path: Path) -> list[str]:
    return [line.partition(" ")[2] for line in path.read_text(encoding="utf-8").splitlines()]


@contextmanager
def full_at(size: int) -> Iterator[None]:
    """No file of this process grows over `size` bytes: the system's own refusal, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_lines_have_their_source_and_no_secret_and_any_text_can_be_written(tmp_path: Path) -> None:
    log = Journal(tmp_path / "log", ["s3cret"])
    log.write("engine", "key s3cret and half a pair \ud83d")
    log.close()
    assert texts(tmp_path / "log") == ["engine | key *** and half a pair ?"]


def test_what_does_not_fit_is_counted_and_said_when_there_is_room_again(tmp_path: Path) -> None:
    log = Journal(tmp_path / "log", [])
    log.write("engine", "first")
    with full_at(100):
        for _ in range(3):
            log.write("engine", "x" * 200)
    log.write("engine", "last")
    log.close()
    assert texts(tmp_path / "log") == [
        "engine | first",
        "supervisor | 3 lines could not be written: the disk was full",
        "engine | last",
    ]


def test_a_part_that_is_full_is_kept_as_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "LIMIT", 60)
    log = Journal(tmp_path / "log", [])
    for number in range(3):
        log.write("engine", f"line {number}")
    log.close()
    assert texts(tmp_path / "log.1") == ["engine | line 0", "engine | line 1"]
    assert texts(tmp_path / "log") == ["engine | line 2"]
