"""The data directory, and the two ways in which a file gets into it."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from clouds.errors import DiskFull, InvalidInput
from tools.home import home, inside, write_atomically


def test_the_home_is_where_the_variable_says_and_private(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MODELRIG_HOME", str(tmp_path / "a" / "b"))
    assert home() == tmp_path / "a" / "b"
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700


@pytest.mark.parametrize("value", ["", "${CLAUDE_PLUGIN_DATA}"])
def test_without_a_variable_it_is_where_the_platform_keeps_data(
    value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MODELRIG_HOME", value)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert tmp_path in home().parents
    assert home().name == "modelrig"


@pytest.mark.parametrize("value", ["{file}", "{file}/below", "x" * 300])
def test_a_home_that_cannot_be_made_is_refused_by_name(
    value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("here", encoding="utf-8")
    monkeypatch.setenv("MODELRIG_HOME", value.format(file=tmp_path / "file"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match="cannot be made or used as a folder") as refused:
        home()
    assert refused.value.field == "MODELRIG_HOME"


def test_a_path_inside_is_resolved_from_the_first_root(tmp_path: Path) -> None:
    project, data = tmp_path / "project", tmp_path / "data"
    assert inside("runs/a.json", project, data) == project / "runs" / "a.json"
    assert inside(str(data / "runs"), project, data) == data / "runs"
    assert inside("runs/../b", project) == project / "b"
    assert inside(".", project) == project


OUTSIDE = ["../other", "/etc/passwd", "runs/../../other", "~root", "../project2/a"]


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_path_outside_is_refused_with_what_is_allowed(path: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is outside") as refused:
        inside(path, tmp_path / "project", field="folder")
    assert (refused.value.field, refused.value.allowed) == ("folder", (str(tmp_path / "project"),))


def test_a_link_that_leads_outside_is_followed_and_refused(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "runs").symlink_to("/etc")
    with pytest.raises(InvalidInput, match="is outside"):
        inside("runs/passwd", tmp_path / "project")


@pytest.mark.parametrize("path", ["a\0b", "a\nb", "x" * 5000, "~nobody-of-that-name/x"])
def test_what_is_no_path_is_refused_in_one_line(path: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        inside(path, tmp_path)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 500


def test_a_file_is_written_whole_and_private(tmp_path: Path) -> None:
    path = write_atomically(tmp_path / "runs" / "a.json", "{}")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"{}", 0o600)
    write_atomically(path, b"\x00\x01", mode=0o644)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"\x00\x01", 0o644)
    assert [each.name for each in path.parent.iterdir()] == ["a.json"]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = write_atomically(tmp_path / "a.json", "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "\ud800")
    (tmp_path / "folder" / "in the way").mkdir(parents=True)
    with pytest.raises(OSError, match="folder"):
        write_atomically(tmp_path / "folder", "new")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.json", "folder"]
    assert path.read_text(encoding="utf-8") == "old"


def test_a_full_disk_is_called_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = write_atomically(tmp_path / "a.json", "old")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(DiskFull) as told:
        write_atomically(path, "new")
    assert (told.value.code, told.value.fix) == ("ENOSPC", f"Free some space where {tmp_path} is.")
    assert (path.read_text(encoding="utf-8"), len(list(tmp_path.iterdir()))) == ("old", 1)
