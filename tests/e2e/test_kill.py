"""Killed at any moment, nothing is lost and nothing is left running unlisted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.called import called, session_of
from tests.e2e.rig import prepared

ROOT = Path(__file__).resolve().parents[2]
MOMENTS = (0.3, 0.5, 0.7, 1.0)
"""Seconds after the start: before the ledger, around the intent, around the worker, around the engine's start."""
EVERY = "MODELRIG_ALL" in os.environ
"""Every moment with and without the worker; a usual run takes each moment once."""
pytestmark = pytest.mark.timeout(90)


def command(*words: str) -> list[str]:
    return [sys.executable, str(ROOT / "server.py"), "--clouds", "local", "--json", "call", *words]


def environment(home: Path) -> dict[str, str]:
    return {**os.environ, "MODELRIG_HOME": str(home)}


def call(home: Path, tool: str, **arguments: Any) -> dict[str, Any]:
    """The same call within this process, which is not killed."""
    with session_of(home, "local") as session:
        return dict(called(session, tool, arguments).structured)


def processes(home: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        try:
            if str(home) in " ".join(process.info["cmdline"] or []) or (
                (process.info["environ"] or {}).get("MODELRIG_HOME") == str(home) and process.pid != os.getpid()
            ):
                found.append(process)
        except psutil.Error:
            continue
    return found


def kill_at(home: Path, seconds: float, tool: str, *, workers: bool, **arguments: Any) -> None:
    """Start a call and SIGKILL it (and, with `workers`, every worker of it) after some time."""
    process = subprocess.Popen(
        command(tool, *(f"{key}={value}" for key, value in arguments.items())),
        env=environment(home),
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(seconds)
    if workers:
        for each in processes(home):
            if "work" in each.info["cmdline"]:
                each.send_signal(signal.SIGKILL)
    process.kill()
    process.wait()


def settle(home: Path) -> list[dict[str, Any]]:
    """Look until nothing is under way any more; returns what is listed."""
    until = time.monotonic() + 30
    rows: list[dict[str, Any]] = []
    while time.monotonic() < until:
        rows = list(call(home, "list_endpoints").get("rows", []))
        busy = [each for each in processes(home) if "work" in (each.info["cmdline"] or [])]
        if not busy and all(row["state"] not in {"creating", "loading", "deleting"} for row in rows):
            return rows
        time.sleep(0.1)
    pytest.fail(f"not settled: {rows}")


def delete_all(home: Path, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        asked = call(home, "delete_endpoint", ref=row["endpoint"])
        assert asked["confirm"], asked
        gone = call(home, "delete_endpoint", ref=row["endpoint"], confirm=asked["confirm"])
        assert gone["gone"] is True, gone


def nothing_is_left(home: Path) -> bool:
    """A worker that has just written its result may still be ending."""
    until = time.monotonic() + 5
    while processes(home) and time.monotonic() < until:
        time.sleep(0.05)
    return processes(home) == []


DEPLOY = {"tool": "deploy_endpoint", "cloud": "local", "model": "tiny-random", "name": "k", "ttl_hours": 0.1}


@pytest.mark.parametrize("workers", [False, True], ids=["caller killed", "caller and worker killed"])
def test_a_deploy_killed_at_any_moment_is_found_and_can_be_deleted(tmp_path: Path, workers: bool) -> None:
    for number, moment in enumerate(MOMENTS if EVERY else MOMENTS[workers::2]):
        home = tmp_path / f"home{number}"
        kill_at(home, moment, workers=workers, **DEPLOY)
        rows = settle(home)
        running = [each for each in processes(home) if "supervisor" in " ".join(each.info["cmdline"] or [])]
        assert len(rows) >= min(1, len(running)), f"killed after {moment} s: running and not listed"
        delete_all(home, rows)
        assert call(home, "list_endpoints")["count"] == 0
        assert nothing_is_left(home)


def test_a_delete_killed_at_any_moment_is_finished_by_the_next(tmp_path: Path) -> None:
    for number, moment in enumerate(MOMENTS[2:]):
        home = prepared(tmp_path / f"home{number}")
        call(home, **DEPLOY)
        asked = call(home, "delete_endpoint", ref="k")
        kill_at(home, moment, "delete_endpoint", workers=True, ref="k", confirm=asked["confirm"])
        delete_all(home, settle(home))
        assert call(home, "list_endpoints")["count"] == 0
        assert nothing_is_left(home)


def test_a_deploy_begun_by_a_dead_worker_is_finished_when_it_is_polled(tmp_path: Path) -> None:
    home = tmp_path / "home"
    kill_at(home, 0.6, workers=True, **DEPLOY)
    again = call(home, **DEPLOY)
    assert again["endpoint"] == "local:llama:this-machine:k"
    delete_all(home, settle(home))
    assert nothing_is_left(home)
