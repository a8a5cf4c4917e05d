"""What a look at the system's files about a process finds in them."""

from __future__ import annotations

from pathlib import Path

from clouds.local import processes


def test_a_word_is_found_wherever_it_is_in_a_long_file(tmp_path: Path) -> None:
    """An environment may be megabytes long; it is read in parts, and a word may lie across two of them."""
    word, part = processes.MARK.encode(), processes._PART
    file = tmp_path / "environ"
    for before in (0, part - 5, part, 2 * part - 5, 2 * part):
        file.write_bytes(b"\0" * before + word + b"\0")
        assert processes._holds(str(file), word), before
    file.write_bytes(b"\0" * 2 * part + word[:-1])
    assert not processes._holds(str(file), word)


def test_a_file_that_cannot_be_read_holds_nothing(tmp_path: Path) -> None:
    assert not processes._holds(str(tmp_path / "gone"), b"word")
    assert not processes._holds(str(tmp_path), b"word")
