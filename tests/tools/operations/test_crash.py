"""Killed between any two statements that write, nothing is lost: one forked child per place, killed just there.

By default at every third place; at every one with MODELRIG_ALL=1.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
STRIDE = 1 if "MODELRIG_ALL" in os.environ else 3

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this steps through a process with fork")

WALK = """
import json, os, signal, sqlite3, sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
import psutil
from clouds.models import Call, DeploymentPlan, DeploymentSpec, EndpointRef
from tools import operations
from tools.ledger import Book

written = 0


def killed_at(place):
    '''Kill this process before the place-th writing statement of any connection that is opened from now on.'''
    def statement(text):
        global written
        if text.split(None, 1)[0] in ("BEGIN", "INSERT", "UPDATE", "COMMIT", "CREATE"):
            written += 1
            if written == place:
                os.kill(os.getpid(), signal.SIGKILL)
    connect = sqlite3.connect
    def watched(*arguments, **options):
        connection = connect(*arguments, **options)
        connection.set_trace_callback(statement)
        return connection
    sqlite3.connect = watched


def child(run, place):
    '''Run in a fork; False when it was killed before it came to its end.'''
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            killed_at(place)
            run()
            code = 0
        finally:
            os._exit(code)
    status = os.waitpid(pid, 0)[1]
    assert status in (0, signal.SIGKILL), f"the child failed by itself ({status})"
    return status == 0


def walk(prepare, run, look):
    '''Kill at place 1, 2, ... until it gets through; what is found afterwards at each place.'''
    found = []
    for place in range(1, 100, int(sys.argv[3])):
        home = top / str(place)
        home.mkdir()
        with Book(home) as book:
            prepare(book)
        through = child(lambda: run(Book(home)), place)
        with Book(home) as book:
            found.append(look(book, home))
        if through:
            return found
    raise SystemExit("it never got through")
"""

DEPLOYING = """
spec = DeploymentSpec("local", "llama", "g", "m")
plan = DeploymentPlan(spec, EndpointRef("local", "llama", "here", "g"), ())


def deploy(book):
    '''Two parts, each a file in the world; what is there already is not made twice.'''
    known = book.deployments.live()
    deployment = known[0].id if known else book.deployments.begin(spec, plan)
    for part in ("model", "endpoint"):
        step = book.intent(deployment, Call("world", part))
        (book.home / part).touch()
        book.done(step, {"part": part})
    book.deployments.active(deployment)


def look(book, home):
    world = sorted(part for part in ("model", "endpoint") if (home / part).exists())
    steps = [(step.call.operation, step.state) for each in book.deployments.live() for step in book.steps(each.id)]
    return {"world": world, "steps": steps, "states": [each.state for each in book.deployments.live()]}


print(json.dumps(walk(lambda book: None, deploy, look)))
"""

WORKING = """
def execute(tool, arguments, progress):
    with (Path(os.environ["MODELRIG_HOME"]) / "ran").open("a") as file:
        file.write(str(progress.attempt))
    return {"ended": "well"}


def prepare(book):
    book.operations.add("x", {}, flags=(), cwd="/")


def work(book):
    os.environ["MODELRIG_HOME"] = str(book.home)
    operations.run_worker(book, book.operations.recent()[0].id, execute)


def look(book, home):
    before = book.operations.recent()[0]
    child(lambda: work(Book(home)), 0)
    after = book.operations.recent()[0]
    return {"before": before.state, "after": after.state, "result": after.result, "attempt": after.attempt}


print(json.dumps(walk(prepare, work, look)))
"""

STARTING = """
def begin(book):
    operations.start(book, "x", {}, program=("/bin/true",))


def look(book, home):
    return [[each.state, each.attempt] for each in book.operations.recent()]


print(json.dumps(walk(lambda book: None, begin, look)))
"""


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> list[list[Any]]:
    """What is found at each place of the three walks, which are taken by one process."""
    script = WALK
    for number, walk in enumerate((DEPLOYING, WORKING, STARTING)):
        script += f"top = Path(sys.argv[2]) / '{number}'\ntop.mkdir()\n{walk}"
    command = (sys.executable, "-c", script, str(ROOT), str(tmp_path_factory.mktemp("walks")), str(STRIDE))
    output = subprocess.run(command, capture_output=True, check=True, timeout=50).stdout
    return [json.loads(line) for line in output.splitlines()]


def test_a_deployment_killed_anywhere_leaves_nothing_that_the_ledger_does_not_list(walked: list[list[Any]]) -> None:
    found = walked[0]
    assert len(found) > 15 // STRIDE
    for each in found:
        listed = {part for part, _ in each["steps"]}
        assert set(each["world"]) <= listed
        assert {part for part, state in each["steps"] if state == "done"} <= set(each["world"])
    assert found[-1] == {
        "world": ["endpoint", "model"],
        "steps": [["model", "done"], ["endpoint", "done"]],
        "states": ["active"],
    }


def test_a_worker_killed_anywhere_is_followed_by_one_that_ends_the_work(walked: list[list[Any]]) -> None:
    found = walked[1]
    assert len(found) > 8 // STRIDE
    assert {each["before"] for each in found} == {"queued", "running", "done"}
    assert [(each["after"], each["result"]) for each in found] == [("done", {"ended": "well"})] * len(found)


def test_a_server_killed_while_it_starts_a_worker_leaves_a_row_or_nothing_at_all(walked: list[list[Any]]) -> None:
    found = walked[2]
    assert len(found) > 8 // STRIDE
    assert [rows for rows in found if rows not in ([], [["queued", 0]], [["queued", 1]])] == []
    assert (found[0], found[-1]) == ([], [["queued", 1]])
