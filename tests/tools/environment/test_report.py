"""What is installed, on its way, failed or absent, as check_setup and a tool without its package tell it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import NotInstalled
from tools import environment
from tools.environment import build, lock, places, state
from tools.environment.report import importable

KEY = "py3.11-abc"
LOCAL = next(extra for extra in places.EXTRAS if extra.name == "local")
Inside = Callable[..., places.Place]


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Inside:
    """This process, as if it ran in an environment of ours with that state."""

    def enter(**content: Any) -> places.Place:
        place = places.Place(tmp_path / places.FOLDER, KEY)
        prefix = place.folder / f"{KEY}-123456"
        prefix.mkdir(parents=True)
        state.replace(place.marker, prefix.name)
        state.write(place.state, {"core": {"state": "installed", "by": "uv", "seconds": 1.2}, **content})
        monkeypatch.setattr(sys, "prefix", str(prefix))
        return place

    return enter


def test_an_extra_that_is_being_installed_says_how_far_it_is(inside: Inside) -> None:
    step = {
        "state": "installing",
        "step": "fetching numpy, 3 of 9 packages",
        "percent": 30,
        "since": "2026-11-29T10:00:00Z",
    }
    place = inside(local=step)
    held = lock.take(place.lock)
    assert held is not None
    found = environment.status()["local"]
    assert found == {
        "state": "installing",
        "detail": "fetching numpy, 3 of 9 packages, 30 %, since 2026-11-29T10:00:00Z",
        "since": "2026-11-29T10:00:00Z",
        "percent": 30,
        "fix": "Repeat the call when check_setup says that it is installed.",
    }
    assert environment.pending() == f"[local] is being installed ({found['detail']})"
    os.close(held)
    assert environment.pending().startswith("[local] could not be installed: the installation was stopped")
    gone = environment.status()["local"]
    assert (gone["state"], "stopped from outside" in gone["detail"]) == ("failed", True)


def test_a_tool_that_needs_it_is_told_the_same_as_an_error(inside: Inside) -> None:
    inside(local={"state": "failed", "reason": "the disk is full", "fix": "Free about 1 GB.", "since": "x"})
    with pytest.raises(NotInstalled) as raised:
        environment.require("local")
    error = raised.value
    assert (error.tried, error.answered, error.fix, error.sent) == (
        "loading the packages of [local]",
        "failed: the disk is full",
        "Free about 1 GB.",
        False,
    )


def test_an_extra_that_is_installed_is_not_in_the_way_and_an_older_one_is(inside: Inside) -> None:
    current = {"state": "installed", "of": build.fingerprint(LOCAL), "by": "uv", "seconds": 2.0}
    place = inside(local=current)
    environment.require("local")
    state.write(place.state, {"local": {**current, "of": "another release"}})
    assert environment.status()["local"]["state"] == "absent"
    with pytest.raises(NotInstalled):
        environment.require("local")


def test_an_extra_that_needs_no_packages_is_never_in_the_way(inside: Inside) -> None:
    inside()
    environment.require("a_cloud_without_packages")


def test_in_an_environment_of_somebody_else_what_can_be_found_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = places.Extra("local", ("a_package_that_is_not_there",))
    monkeypatch.setattr("tools.environment.report.EXTRAS", (nothing, places.Extra("measure", ("json",))))
    found = environment.status()
    assert (found["core"]["state"], found["measure"]) == ("installed", {"state": "installed", "detail": ""})
    assert (found["local"]["state"], found["local"]["detail"]) == ("absent", "a_package_that_is_not_there not found")
    assert "-m tools.environment.make" in found["local"]["fix"]
    assert "requirements-local.txt" in found["local"]["fix"]


def test_only_one_process_holds_a_lock_and_a_dead_one_gives_it_back(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    code = "import sys; from pathlib import Path; from tools.environment import lock; lock.take(Path(sys.argv[1]));"
    code += "print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        cwd=places.ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        assert lock.held(path)
        assert lock.take(path, patience=0) is None
        other.kill()
    assert not lock.held(path)


def test_a_sweep_keeps_what_a_marker_names_until_nobody_has_started_in_it_for_two_weeks(tmp_path: Path) -> None:
    def environment_of(key: str, days: float, marked: str = "") -> Path:
        prefix = tmp_path / f"{key}-{marked or '000000'}"
        prefix.mkdir()
        if marked:
            marker = tmp_path / f"{key}.ready"
            marker.write_text(prefix.name)
            at = marker.stat().st_mtime - days * 86400
            os.utime(marker, (at, at))
        return prefix

    recent = environment_of("py3.11-recent", 13, "111111")
    old = environment_of("py3.11-old", 15, "222222")
    half = environment_of("py3.11-recent", 0)
    mine = environment_of(KEY, 0, "333333")
    build._sweep(places.Place(tmp_path, KEY))
    assert (recent.exists(), old.exists(), half.exists(), mine.exists()) == (True, False, False, False)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"MODELRIG_ENV_DIR": "/data", "CLAUDE_PLUGIN_DATA": "/other"}, "/data"),
        ({"CLAUDE_PLUGIN_DATA": "/other"}, "/other"),
        ({"MODELRIG_ENV_DIR": "${CLAUDE_PLUGIN_DATA}", "XDG_CACHE_HOME": "/cache"}, "/cache/modelrig"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="the default folder differs by platform")
def test_the_folder_is_the_one_that_is_named_and_never_a_placeholder(given: dict[str, str], expected: str) -> None:
    assert places.base_folder(given) == Path(expected)


def test_another_core_or_another_python_is_another_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = places.current({}).key
    monkeypatch.setattr(sys, "version_info", (3, 12, 0))
    newer = places.current({}).key
    monkeypatch.undo()
    monkeypatch.setattr(places, "ROOT", tmp_path)
    (tmp_path / places.CORE_FILE).write_text("mcp==9\n")
    assert len({before, newer, places.current({}).key}) == 3


def test_a_module_inside_a_namespace_package_is_found_without_an_import() -> None:
    assert [importable(name) for name in ("json", "google.auth", "google.cloud.tpu_v2")] == [True, True, True]


def test_a_namespace_package_alone_does_not_stand_for_what_is_missing_in_it() -> None:
    assert not any(importable(name) for name in ("google.no_such_part", "no_such.part", "json.no_such"))
