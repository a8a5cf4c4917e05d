"""One holder at a time, also among threads; a file that was replaced is not the lock any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from clouds.local.lock import Lock, held
from clouds.local.places import Place, make_key, places, read, read_key, write


def test_a_lock_is_held_until_it_is_given_back(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not held(path)
    first, second = Lock(path), Lock(path)
    assert first.take()
    assert held(path)
    assert not second.take(seconds=0)
    first.give_back()
    assert not held(path)
    assert second.take()
    second.give_back()


def test_a_lock_on_a_removed_file_excludes_nobody(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    old, new = Lock(path), Lock(path)
    assert old.take()
    path.unlink()
    assert new.take(seconds=0)
    old.give_back()
    assert held(path)
    new.give_back()


def test_a_lock_in_a_folder_that_is_gone_cannot_be_taken(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Lock(tmp_path / "gone" / "lock").take()
    assert not held(tmp_path / "gone" / "lock")


def test_a_file_is_written_in_one_step_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    write(path, {"a": 1})
    assert read(path) == {"a": 1}
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(TypeError):
        write(path, {"a": object()})
    assert read(path) == {"a": 1}
    assert [each.name for each in tmp_path.iterdir()] == ["state.json"]
    assert read(tmp_path / "nothing") is None


@pytest.mark.parametrize("text", ["", "{", "[1]", '"x"'])
def test_a_damaged_file_is_an_error_and_not_absent(tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(ValueError, match=r".+"):
        read(tmp_path / "x")


def test_two_keys_differ_and_none_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "key"
    assert read_key(path) == ""
    first, second = make_key(path), make_key(path)
    assert first != second == read_key(path)
    assert len(second) > 40


def test_a_folder_is_removed_in_one_step_and_only_endpoints_are_listed(tmp_path: Path) -> None:
    place = Place(tmp_path, "one")
    place.make()
    place.log.write_text("x")
    (tmp_path / "local" / ".gone-1").mkdir()
    assert [each.name for each in places(tmp_path)] == ["one"]
    place.remove()
    place.remove()
    assert list(places(tmp_path)) == []
