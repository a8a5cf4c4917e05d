"""Room kept for a full disk: it is given back once, and the error says what that is good for."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from clouds.errors import DiskFull
from tools.faults import fault, sentence
from tools.ledger import Book, reserve

FILE = "ledger.sqlite3"


def fill(book: Book) -> None:
    """Write until SQLite says that there is no room: for this connection the disk ends where the file ends now."""
    with book._store.write() as database:
        (pages,) = database.execute("PRAGMA page_count").fetchone()
        database.execute(f"PRAGMA max_page_count = {pages}")
    for _ in range(100):
        book.journal.add("looked", detail="x" * 4000)


def test_the_reserve_lies_beside_the_ledger_for_its_owner_alone(home: Path, book: Book) -> None:
    assert book._store.path == home / FILE
    kept = (home / f"{FILE}.reserve").stat()
    assert (kept.st_size, kept.st_mode & 0o777) == (reserve.BYTES, 0o600)


def test_a_full_disk_sets_the_reserve_free_and_says_so(home: Path, book: Book) -> None:
    with pytest.raises(DiskFull) as told:
        fill(book)
    assert told.value.fix.startswith("1,024 KiB kept for this were set free: repeat what ends what bills. Then free")
    words = sentence(fault(told.value))
    assert words.startswith("**The disk is full: Writing the ledger ")
    assert "Nothing was sent" not in words  # it may be in the middle of a deployment
    assert not (home / f"{FILE}.reserve").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of a process's files")
def test_a_ledger_that_is_opened_on_a_full_disk_sets_the_reserve_free_too(home: Path, book: Book) -> None:
    import resource

    book.close()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))  # as on a full disk, no file can grow
    try:
        with pytest.raises(DiskFull) as told:
            Book(home)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert told.value.fix.startswith("1,024 KiB kept for this were set free: repeat what ends what bills. Then free")
    assert not (home / f"{FILE}.reserve").exists()


def test_a_disk_that_is_full_again_promises_nothing(home: Path, book: Book) -> None:
    assert reserve.release(home / FILE)
    with pytest.raises(DiskFull) as told:
        fill(book)
    assert told.value.fix.startswith("Free some space where")


def test_the_next_start_keeps_room_again(home: Path, book: Book) -> None:
    reserve.release(home / FILE)
    with Book(home):
        assert (home / f"{FILE}.reserve").stat().st_size == reserve.BYTES


def test_a_reserve_that_was_set_free_stays_free_until_there_is_clear_room(
    home: Path, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    reserve.release(home / FILE)
    free = reserve.BYTES + reserve.MARGIN
    for room, kept in ((free - 1, False), (free, True)):
        monkeypatch.setattr("shutil.disk_usage", lambda _path, room=room: SimpleNamespace(free=room))
        with Book(home):
            assert (home / f"{FILE}.reserve").exists() is kept


def test_what_was_set_free_is_told_as_it_was(home: Path, book: Book) -> None:
    (home / f"{FILE}.reserve").write_bytes(b"\0" * 160 * 1024)  # as an earlier version left it on a small disk
    with pytest.raises(DiskFull, match=r"full") as told:
        fill(book)
    assert told.value.fix.startswith("160 KiB kept for this were set free")


def test_a_disk_that_takes_a_part_of_the_reserve_keeps_none_of_it(
    home: Path, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    reserve.release(home / FILE)
    write = os.write
    monkeypatch.setattr("os.write", lambda handle, data: write(handle, data[: 160 * 1024]))
    reserve.keep(home / FILE)
    assert not (home / f"{FILE}.reserve").exists()
