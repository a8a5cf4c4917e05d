"""The first start of an installed plugin, and every later one: real venv and pip, small packages, no network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools.environment.rig import BARE, KEPT, PATIENCE, Rig
from tools.environment import state


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if "__pycache__" not in path.parts}


def wait_for(rig: Rig, pattern: str) -> Path:
    until = time.monotonic() + PATIENCE
    while True:
        found: Iterator[Path] = rig.folder.glob(pattern)
        for path in found:
            return path
        assert time.monotonic() < until, f"no {pattern}"
        time.sleep(0.005)


def test_a_first_start_makes_the_core_and_a_later_one_goes_on_with_the_rest(rig: Rig) -> None:
    before = files(rig.root)
    waiting = rig.start("call")
    half = wait_for(rig, "py3*-*-*/pyvenv.cfg").parent
    rig.kill_builders()
    _, err = waiting.communicate(timeout=PATIENCE)
    assert (waiting.returncode, "stopped from outside" in err) == (1, True)
    first = rig.answer()
    rig.kill_builders()
    left = rig.answer()["status"]
    assert Path(first["prefix"]).parent == rig.folder
    assert (Path(first["prefix"]) == half, half.exists()) == (False, False), "what the killed builder left is removed"
    assert first["status"]["core"]["state"] == "installed"
    assert "failed" not in {entry["state"] for entry in first["status"].values()}
    assert "installing" not in {entry["state"] for entry in left.values()}, "nobody does, and it is not said"
    serving = rig.start()
    until = time.monotonic() + PATIENCE
    while {entry["state"] for entry in state.read(rig.only("*.json")).values()} != {"installed"}:
        assert time.monotonic() < until
        time.sleep(0.01)
    now = rig.answer()
    serving.communicate("", timeout=PATIENCE)
    assert serving.returncode == 0
    assert now["prefix"] == first["prefix"]
    assert {name: entry["state"] for name, entry in now["status"].items()} == dict.fromkeys(
        ("core", *KEPT), "installed"
    )
    assert files(rig.root) == before, "the plugin's own folder is not written to"
    assert not list(rig.folder.glob(".*")), "nothing temporary is left"


def test_two_starts_at_once_make_one_environment(built: Rig) -> None:
    one, other = built.first
    assert one["prefix"] == other["prefix"]
    assert [path for path in built.folder.iterdir() if path.is_dir()] == [Path(built.answer()["prefix"])]


@pytest.mark.more
def test_an_environment_that_lost_a_package_is_made_again(built: Rig) -> None:
    broken = Path(built.answer()["prefix"])
    built.kill_builders()
    shutil.rmtree(next(broken.glob("lib/python3*/site-packages/psutil")))
    again = Path(built.answer()["prefix"])
    assert again != broken
    assert not broken.exists()


def test_a_folder_that_cannot_be_made_is_named(rig: Rig) -> None:
    rig.environments.write_text("a file in the way")
    done = rig.call()
    assert (done.returncode, done.stdout) == (1, "")
    assert f"the folder for packages, {rig.folder}, cannot be written" in done.stderr
    assert "MODELRIG_ENV_DIR" in done.stderr


def test_a_clone_runs_in_its_own_venv_and_leaves_a_half_made_one_alone(built: Rig) -> None:
    venv = built.root / ".venv"
    for command in (["venv", "--without-pip", ".venv"], ["tools.environment.make", ".venv", "requirements-core.txt"]):
        words = [BARE, "-m", *command]
        subprocess.run(words, cwd=built.root, env=built.environment, check=True, capture_output=True, timeout=PATIENCE)
    whole = built.answer()["prefix"]
    shutil.rmtree(next(venv.glob("lib/python3*/site-packages/mcp_types")))
    half = built.answer()["prefix"]
    shutil.rmtree(venv)
    assert (whole, Path(half).parent) == (str(venv), built.folder)


OLD = ("3.8", "3.9", "3.10")
EVERY = "MODELRIG_ALL" in os.environ


@pytest.mark.parametrize("version", OLD if EVERY else OLD[:1])
def test_an_old_python_that_finds_no_newer_one_says_so(rig: Rig, version: str) -> None:
    rig.settings = {"PATH": "/nonexistent", "HOME": "/nonexistent"}
    done = rig.call(python=old_python(version))
    assert (done.returncode, done.stdout) == (1, "")
    assert "modelrig needs Python 3.11 or newer" in done.stderr


def test_an_old_python_makes_the_environment_with_a_newer_one(rig: Rig) -> None:
    rig.settings = {"PATH": str(Path(BARE).parent)}
    waiting = rig.start("call", python=old_python(*OLD))
    prefix = wait_for(rig, "py3*-*-*/pyvenv.cfg").parent
    (library,) = prefix.glob("lib/python3.*")
    assert int(library.name.partition(".")[2]) >= 11
    if EVERY:  # from here on it is a first start like any other
        assert json.loads(waiting.communicate(timeout=PATIENCE)[0])["prefix"] == str(prefix)


def old_python(*versions: str) -> str:
    """An interpreter of one of them: beside the running one in a version manager's folder, or on the PATH."""
    for version in versions:
        beside = Path(BARE).resolve().parents[2].glob(f"{version}.*/bin/python{version}")
        for path in (*map(str, beside), shutil.which(f"python{version}")):
            if path and not subprocess.run([path, "-c", "pass"], capture_output=True, check=False).returncode:
                return path
    pytest.skip(f"no Python {' or '.join(versions)} on this machine")
