"""The server or its worker can be killed outright at any moment: the next call finds everything and can end it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clouds.local import processes
from clouds.models import EndpointRef, Scope

REF = EndpointRef("local", "llama", "this-machine", "one")
SCRIPT = Path(__file__).with_name("killed_at_step.py")
EVERY = "MODELRIG_ALL" in os.environ
"""Every step from the first to the end; a usual run kills each call once, just after what it does to a process."""


Killed = Callable[[Path, str, str], list[tuple[Path, str]]]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killed]:
    """Every home in which an action was killed, with the step at which it was; with EVERY the last one was not."""
    errors = tmp_path_factory.mktemp("killed") / "errors"
    with errors.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            text=True,
            cwd=processes.ROOT,
            env={"PYTHONPATH": str(processes.ROOT), "PATH": "/usr/bin:/bin"},
        )

    def kill(root: Path, action: str, usual: str) -> list[tuple[Path, str]]:
        assert process.stdin is not None
        assert process.stdout is not None
        root.mkdir()
        process.stdin.write(f"{root}\t{action}\t{'1-99' if EVERY else usual}\n")
        process.stdin.flush()
        found = []
        while (line := process.stdout.readline()) != "\n":
            assert line, errors.read_text()
            number, where = line.rstrip("\n").split(" ", 1)
            found.append((root / number, where))
        return found

    with process:
        yield kill
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(20) == 0


def check_found(bench: Any, where: str) -> None:
    """Every process is of an endpoint that is listed, and `get` agrees with the list."""
    listed = bench.llama.list(scope=Scope())
    assert listed.complete
    names = [endpoint.ref.rpartition(":")[2] for endpoint in listed.found]
    assert {each.started.name for each in processes.scan(bench.home)} <= set(names), where
    for endpoint in listed.found:
        assert endpoint.state in {"creating", "loading", "ready", "updating", "stopping", "stopped", "failed"}, where
        assert endpoint.deployment in {"", _deployment(bench)}, where


def check_gone(bench: Any, where: str) -> None:
    """Deleting ends everything, and the ledger has no open step."""
    deletion = bench.delete(REF)
    assert deletion.gone, where
    assert processes.scan(bench.home) == (), where
    assert bench.names() == [], where
    assert [state for _, state in bench.steps(_deployment(bench)) if state == "intent"] == [], where


def _deployment(bench: Any) -> str:
    return str(bench.book.deployments.recent()[0].id)


def test_a_creation_killed_at_any_step_is_found_finished_and_deleted(
    tmp_path: Path, benches: Any, killed: Killed
) -> None:
    tries = killed(tmp_path / "tries", "create", "8-8")
    steps = {where for _, where in tries}
    assert "Popen.__init__" in steps
    assert not EVERY or {"Book.intent", "clouds.local.places.make_key", "Book.done", "done"} <= steps
    for number, (home, where) in enumerate(tries):
        bench = benches(home)
        check_found(bench, where)
        if number % 2 or "Popen" in where:  # the others are deleted as they are
            plan = bench.book.deployments.plan(_deployment(bench))
            bench.create(plan)
            supervisors = [each for each in processes.scan(home) if each.role == "supervisor"]
            assert len(supervisors) == 1, where
            assert bench.until(REF, "ready").deployment == plan.deployment
            assert {state for _, state in bench.steps(plan.deployment)} <= {"done", "undone"}, where
            assert bench.steps(plan.deployment)[-1] == ("StartEngine", "done"), where
        check_gone(bench, where)


def test_an_update_killed_at_any_step_leaves_one_engine_that_serves(
    tmp_path: Path, benches: Any, killed: Killed
) -> None:
    tries = killed(tmp_path / "tries", "update", "3-3")
    steps = {where for _, where in tries}
    assert "clouds.local.places.write" in steps
    assert not EVERY or {"Book.intent", "done"} <= steps
    for home, where in tries:
        bench = benches(home)
        check_found(bench, where)
        endpoint = bench.until(REF, "ready")
        assert endpoint.engine.context_tokens in {256, 512}, where
        check_gone(bench, where)


def test_a_deletion_killed_at_any_step_is_finished_by_the_next(tmp_path: Path, benches: Any, killed: Killed) -> None:
    tries = killed(tmp_path / "tries", "delete", "1-1")
    steps = {where for _, where in tries}
    assert "clouds.local.processes.end" in steps
    assert not EVERY or {"Place.remove", "done"} <= steps
    for home, where in tries:
        bench = benches(home)
        check_found(bench, where)
        check_gone(bench, where)
