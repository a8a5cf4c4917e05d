"""Starting, resuming and cancelling: one worker at a time, none lost, none twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Literal

import psutil
import pytest

from clouds.errors import InvalidInput, NotFound
from tests.tools.operations.conftest import Sleeping
from tools.ledger import Book, Operation
from tools.ledger.alive import alive
from tools.operations import cancel, find, log_file, resume, start

Ended = Callable[[str], Operation]
Program = tuple[str, ...]
Until = Callable[..., None]
Marks = Callable[[], list[str]]
ROOT = Path(__file__).resolve().parents[3]


def killed(book: Book, operation: Operation, until: Until) -> None:
    """SIGKILL the worker of an operation once its tool has said where it is."""
    until(lambda: book.operations.get(operation.id).message)
    assert operation.pid is not None
    os.kill(operation.pid, signal.SIGKILL)
    until(lambda: not alive(book.operations.get(operation.id)))


def test_a_worker_outlives_and_is_not_bound_to_its_starter(sleeping: Sleeping, program: Program) -> None:
    pid = sleeping.now.pid
    assert pid is not None
    assert os.getsid(pid) == pid
    assert log_file(sleeping.book, sleeping.id).stat().st_mode & 0o777 == 0o600
    assert psutil.Process(pid).cmdline()[-3:] == [program[1], "work", sleeping.id]


def test_a_secret_is_refused_before_anything_is_written(book: Book, program: Program) -> None:
    with pytest.raises(InvalidInput, match="looks like a secret"):
        start(book, "echo", {"settings": {"api_key": "opensesame"}}, program=program)
    with pytest.raises(InvalidInput, match="characters"):
        start(book, "echo", {"prompt": "x" * 300_000}, program=program)
    assert book.operations.recent() == ()


def test_a_program_that_cannot_be_started_is_a_failure_with_its_reason(book: Book, tmp_path: Path) -> None:
    found = start(book, "echo", {}, program=(str(tmp_path / "gone"),))
    assert (found.state, found.error["kind"], found.error["sent"]) == ("failed", "not_installed", False)
    assert str(tmp_path / "gone") in found.error["what"]


def test_a_killed_worker_is_replaced_and_the_work_is_done(
    book: Book, program: Program, until: Until, ended: Ended, marks: Marks
) -> None:
    operation = start(book, "dies", {"times": 1}, program=program)
    until(lambda: not alive(book.operations.get(operation.id)))
    [resumed] = resume(book, program=program)
    assert (resumed.id, resumed.attempt) == (operation.id, 2)
    assert resume(book, program=program) == ()
    assert ended(operation.id).result == {"attempt": 2}
    assert marks() == ["dies attempt 1", "dies attempt 2"]


@pytest.mark.more
def test_after_three_workers_it_has_failed_and_says_where_to_look(book: Book, program: Program, until: Until) -> None:
    operation = start(book, "dies", {"times": 9}, program=program)
    for _ in range(3):
        until(lambda: not alive(book.operations.get(operation.id)))
        [found] = resume(book, program=program)
    assert found.state == "failed"
    assert found.error["what"].startswith("dies stopped 3 times without ending (last pid ")
    assert str(log_file(book, operation.id)) in found.error["next"]
    assert resume(book, program=program) == ()


def test_a_worker_that_lives_is_left_alone(sleeping: Sleeping, program: Program) -> None:
    book, began = sleeping.book, sleeping.now.process_created
    assert resume(book, program=program) == ()
    rewritten(book, sleeping.id, process_created=1.0)  # as after the clock was set: its heartbeat is fresh
    assert resume(book, program=program) == ()
    rewritten(book, sleeping.id, process_created=began)
    assert sleeping.now.attempt == 1


def rewritten(book: Book, operation: str, **values: object) -> None:
    with book.operations.alone() as database:
        for name, value in values.items():
            database.execute(f"UPDATE operations SET {name} = ? WHERE id = ?", (value, operation))  # noqa: S608 - names above


def test_a_pid_that_another_process_has_now_is_not_taken_for_the_worker(
    book: Book, program: Program, ended: Ended
) -> None:
    operation = book.operations.add("echo", {}, flags=(), cwd=str(Path.cwd()))
    mine = psutil.Process().create_time()
    earlier = (book.clock() - timedelta(minutes=5)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    rewritten(book, operation.id, pid=os.getpid(), process_created=mine, attempt=1, heartbeat=earlier)
    assert resume(book, program=program) == ()
    rewritten(book, operation.id, process_created=mine - 3600)
    assert [each.attempt for each in resume(book, program=program)] == [2]
    assert ended(operation.id).state == "done"


def test_work_that_stopped_long_ago_is_not_taken_up_again_unasked(book: Book, program: Program, marks: Marks) -> None:
    operation = book.operations.add("echo", {}, flags=(), cwd=str(Path.cwd()))
    long_ago = (book.clock() - timedelta(hours=14)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    rewritten(book, operation.id, pid=2**22 + 1, process_created=1.0, attempt=1, heartbeat=long_ago)
    [found] = resume(book, program=program)
    assert (found.state, found.error["what"]) == (
        "failed",
        f"echo stopped at {long_ago}, too long ago to be taken up again unasked",
    )
    assert marks() == []


def test_a_call_whose_server_died_before_the_worker_was_started_is_done_at_home_when_its_folder_is_gone(
    book: Book, program: Program, ended: Ended, home: Path
) -> None:
    operation = book.operations.add("echo", {"a": 1}, flags=(), cwd="/no/such/folder")
    assert [(each.id, each.attempt) for each in resume(book, program=program)] == [(operation.id, 1)]
    result = ended(operation.id).result
    assert (result["echo"], result["cwd"]) == ({"a": 1}, str(home))


SERVER = """
import sys, threading
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tools.ledger import Book
from tools.operations import resume
book = Book(Path(sys.argv[2]))
sys.stdin.readline()
threads = [threading.Thread(target=resume, args=(book,), kwargs={"program": tuple(sys.argv[3:])}) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
book.close()
"""


def test_servers_that_resume_at_once_start_one_worker(
    book: Book, program: Program, home: Path, until: Until, marks: Marks
) -> None:
    operation = start(book, "sleep", {}, program=program)
    killed(book, operation, until)
    command = (sys.executable, "-c", SERVER, str(ROOT), str(home), *program)
    servers = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(2)]
    for server in servers:
        server.communicate(b"go\n", timeout=20)
    assert [server.returncode for server in servers] == [0, 0]
    until(lambda: "sleep attempt 2" in marks())
    found = book.operations.get(operation.id)
    assert (found.attempt, found.state) == (2, "running")
    assert marks() == ["sleep attempt 1", "sleep attempt 2"]


def test_cancelling_what_was_never_started_ends_it_at_once(book: Book, program: Program, marks: Marks) -> None:
    operation = book.operations.add("sleep", {}, flags=(), cwd=str(Path.cwd()))
    found = cancel(book, operation.id, program=program)
    assert (found.state, found.error["kind"]) == ("cancelled", "cancelled")
    assert marks() == []


@pytest.mark.parametrize("tool", ["sleep", "spin"] if "MODELRIG_ALL" in os.environ else ["spin"])
def test_cancelling_what_runs_makes_it_undo(
    tool: str, book: Book, program: Program, until: Until, ended: Ended, marks: Marks
) -> None:
    operation = start(book, tool, {}, program=program)
    until(lambda: f"{tool} attempt 1" in marks())
    assert cancel(book, operation.id, program=program).cancel_requested
    assert ended(operation.id).state == "cancelled"
    assert marks() == [f"{tool} attempt 1", *(["undone"] if tool == "sleep" else [])]


def test_cancelling_before_the_worker_is_up_reaches_it(
    book: Book, program: Program, ended: Ended, marks: Marks
) -> None:
    operation = start(book, "sleep", {}, program=program)
    cancel(book, operation.id, program=program)
    assert ended(operation.id).state == "cancelled"
    assert marks() == ["sleep attempt 1", "undone"]


def test_cancelling_what_lost_its_worker_starts_one_that_undoes(
    book: Book, program: Program, until: Until, ended: Ended, marks: Marks
) -> None:
    operation = start(book, "sleep", {}, program=program)
    killed(book, operation, until)
    assert cancel(book, operation.id, program=program).attempt == 2
    assert ended(operation.id).state == "cancelled"
    assert marks() == ["sleep attempt 1", "sleep attempt 2", "undone"]


@pytest.mark.parametrize("state", ["done", "failed", "cancelled"])
def test_cancelling_what_is_over_changes_nothing(state: Literal["done", "failed", "cancelled"], book: Book) -> None:
    operation = book.operations.add("echo", {}, flags=(), cwd="/")
    assert book.operations.claim(operation.id, 2**22 + 1) is not None
    assert book.operations.finish(operation.id, 2**22 + 1, state)
    assert cancel(book, operation.id) == book.operations.get(operation.id)
    assert book.operations.get(operation.id).state == state


def test_an_operation_that_does_not_exist_is_said_not_to(book: Book) -> None:
    assert find(book, "op-0000") is None
    with pytest.raises(NotFound, match="none of that id"):
        cancel(book, "op-0000")


@pytest.mark.parametrize(("asked_to_stop", "state"), [(False, "failed"), (True, "cancelled")])
def test_nobody_goes_on_with_what_a_command_did_itself(asked_to_stop: bool, state: str, book: Book) -> None:
    gone = subprocess.Popen([sys.executable, "-S", "-c", ""])
    operation = book.operations.add("scan_waste", {}, flags=(), cwd="/", worker=gone.pid)
    assert (operation.pid, operation.attempt, operation.cwd) == (gone.pid, 1, "")
    gone.wait()
    if asked_to_stop:
        book.operations.request_cancel(operation.id)
    (ended,) = resume(book, program=("/no/such",))
    assert (ended.state, ended.attempt) == (state, 1)
    if not asked_to_stop:
        assert ended.error["what"].startswith("the command that did scan_waste ended before it had (last sign of life ")


def test_what_a_command_does_itself_is_its_own_while_it_lives(book: Book) -> None:
    operation = book.operations.add("scan_waste", {}, flags=(), cwd="/", worker=os.getpid())
    assert resume(book, program=("/no/such",)) == ()
    claimed = book.operations.claim(operation.id, os.getpid())
    assert claimed is not None
    assert (claimed.state, claimed.attempt) == ("running", 1)
