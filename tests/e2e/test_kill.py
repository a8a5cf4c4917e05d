"""Killed at any moment, nothing is lost and nothing is left running unlisted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from clouds.local.processes import scan
from tests.called import called, session_of
from tests.e2e.rig import prepared
from tools.ledger import Book

ROOT = Path(__file__).resolve().parents[2]
Moment = Callable[[Book], object]


def _step(book: Book) -> object:
    return [step for each in book.deployments.live() for step in book.steps(each.id)]


MOMENTS: dict[str, Moment] = {
    "written down": lambda book: book.operations.unfinished(),
    "at work": lambda book: [each for each in book.operations.unfinished() if each.state == "running"],
    "first step": _step,
    "process there": lambda book: scan(book.home),
}
"""What is seen from outside when it is killed. Every single step is killed in tests/clouds/local."""
EVERY = "MODELRIG_ALL" in os.environ
"""Every moment with and without the worker; a usual run takes one of each."""
SETTINGS = {"threads": 1, "slots": 1, "context": 256}
pytestmark = pytest.mark.timeout(90)


def command(*words: str) -> list[str]:
    return [sys.executable, str(ROOT / "server.py"), "--clouds", "local", "--json", "call", *words]


def environment(home: Path) -> dict[str, str]:
    return {**os.environ, "MODELRIG_HOME": str(home)}


def call(home: Path, tool: str, **arguments: Any) -> dict[str, Any]:
    """The same call within this process, which is not killed."""
    with session_of(home, "local") as session:
        return dict(called(session, tool, arguments, worker=False).structured)


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


def kill_at(home: Path, moment: Moment, tool: str, *, workers: bool, **arguments: Any) -> None:
    """Start a call and SIGKILL it (and, with `workers`, every worker of it) when the moment has come."""
    words = {key: value if isinstance(value, str) else json.dumps(value) for key, value in arguments.items()}
    process = subprocess.Popen(
        command(tool, *(f"{key}={value}" for key, value in words.items())),
        env=environment(home),
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with Book(home) as book:
        before = moment(book)
        while moment(book) == before and process.poll() is None:
            time.sleep(0.01)
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
        time.sleep(0.05)  # a look at every process takes as long from the engine that is waited for
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
        time.sleep(0.02)
    return processes(home) == []


DEPLOY: dict[str, Any] = {
    "tool": "deploy_endpoint", "cloud": "local", "model": "tiny-random", "name": "k", "ttl_hours": 0.1,
    "engine_settings": SETTINGS,
}  # fmt: skip


def check_deploy(home: Path, moment: str, *, workers: bool) -> list[dict[str, Any]]:
    """Kill a deployment at this moment; what is listed then, which is all that runs."""
    kill_at(prepared(home), MOMENTS[moment], workers=workers, **DEPLOY)
    rows = settle(home)
    running = [each for each in scan(home) if each.role == "supervisor"]
    assert len(rows) >= len(running), f"killed when {moment}: running and not listed"
    return rows


@pytest.mark.more
@pytest.mark.parametrize("moment", MOMENTS if EVERY else ["at work"])
def test_a_deploy_whose_caller_is_killed_goes_on_and_can_be_deleted(tmp_path: Path, moment: str) -> None:
    home = tmp_path / "home"
    rows = check_deploy(home, moment, workers=False)
    went_on = [row["state"] for row in rows] == ["ready"]
    assert went_on or moment == "written down", "killed before the worker was started there is none"
    delete_all(home, rows)
    assert call(home, "list_endpoints")["count"] == 0
    assert nothing_is_left(home)


@pytest.mark.parametrize("moment", MOMENTS if EVERY else ["first step"])
def test_a_deploy_whose_worker_is_killed_too_is_finished_by_the_next_and_so_is_a_delete(
    tmp_path: Path, moment: str
) -> None:
    home = tmp_path / "home"
    check_deploy(home, moment, workers=True)
    assert call(home, **DEPLOY)["endpoint"] == "local:llama:this-machine:k"
    asked = call(home, "delete_endpoint", ref="k")
    kill_at(home, MOMENTS["at work"], "delete_endpoint", workers=True, ref="k", confirm=asked["confirm"])
    delete_all(home, settle(home))
    assert call(home, "list_endpoints")["count"] == 0
    assert nothing_is_left(home)
