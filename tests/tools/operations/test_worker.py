"""A worker carries one operation from being claimed to its last word, whatever happens in between."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import Cancelled, NoCapacity
from tests.tools.operations.conftest import Sleeping
from tools.ledger import Book, Operation
from tools.operations import WorkerProgress, run_worker, start
from tools.secrecy import WITHHELD

Ended = Callable[[str], Operation]
Program = tuple[str, ...]
Execute = Callable[[str, Mapping[str, Any], WorkerProgress], dict[str, Any]]


def test_the_result_of_a_long_call_is_kept(book: Book, program: Program, ended: Ended, tmp_path: Path) -> None:
    operation = start(book, "echo", {"name": "gemma", "regions": ("a", "b")}, program=program, flags=("--replay", "x"))
    assert (operation.state, operation.tool, operation.attempt, operation.over) == ("queued", "echo", 1, False)
    found = ended(operation.id)
    assert (found.state, found.error, found.message, found.done, found.total) == ("done", {}, "halfway", 1.0, 2.0)
    assert found.result == {
        "echo": {"name": "gemma", "regions": ["a", "b"]},
        "argv": ["--replay", "x", "work", operation.id],
        "cwd": str(tmp_path),
    }
    assert found.created <= found.started <= found.ended


def carried_out(book: Book, execute: Execute, tool: str = "measure_model") -> Operation:
    """One operation whose worker is a thread of this process."""
    operation = book.operations.add(tool, {"a": 1}, flags=(), cwd="/")
    codes: list[int] = []
    worker = threading.Thread(target=lambda: codes.append(run_worker(book, operation.id, execute)))
    worker.start()
    worker.join()
    assert codes == [0]
    return book.operations.get(operation.id)


def _raising(error: BaseException) -> Execute:
    def execute(tool: str, arguments: Mapping[str, Any], progress: WorkerProgress) -> dict[str, Any]:
        raise error

    return execute


def _returning(result: dict[str, Any]) -> Execute:
    return lambda tool, arguments, progress: result


NO_PID = 2**22 + 1
"""Larger than any pid."""
REPORT = "Please report this line; `list_endpoints` shows what is there."
FAILURES: list[tuple[str, Execute, dict[str, Any]]] = [
    (
        "a refusal of a cloud",
        _raising(NoCapacity("creating g", code="InsufficientInstanceCapacity", fix="Try us-east-2")),
        {
            "kind": "no_capacity",
            "what": "creating g",
            "code": "InsufficientInstanceCapacity",
            "next": "Try us-east-2",
            "sent": True,
        },
    ),
    (
        "an exception that is none of ours",
        _raising(ValueError("the key is opensesame")),
        {"kind": "bug", "what": "ValueError at tests/tools/operations/test_worker.py:", "next": REPORT, "sent": True},
    ),
    (
        "an exit",
        _raising(SystemExit(7)),
        {"kind": "bug", "what": "SystemExit at tests/tools/operations/test_worker.py:", "next": REPORT, "sent": True},
    ),
    (
        "a result that is too long",
        _returning({"text": "x" * 1_100_000}),
        {
            "kind": "bug",
            "what": "measure_model ended well, but its result of 1,100,011 characters was too long to keep "
            "(at most 1,000,000)",
            "next": "What it did is done: list_endpoints and list_runs show it.",
            "sent": True,
        },
    ),
    (
        "a result that is not JSON",
        _returning({"value": object()}),
        {"kind": "bug", "what": "TypeError at tools/ledger/values.py:", "next": REPORT, "sent": True},
    ),
]


@pytest.mark.parametrize(("execute", "error"), [each[1:] for each in FAILURES], ids=[each[0] for each in FAILURES])
def test_a_failure_is_kept_as_a_fault(
    execute: Execute, error: dict[str, Any], book: Book, capfd: pytest.CaptureFixture[str]
) -> None:
    found = carried_out(book, execute)
    assert (found.state, found.result) == ("failed", {})
    assert {**found.error, "what": found.error["what"][: len(error["what"])]} == error
    assert "opensesame" not in str(found) + capfd.readouterr().err


def test_a_cancel_that_the_work_raises_is_a_cancel(book: Book) -> None:
    found = carried_out(book, _raising(Cancelled()))
    assert (found.state, found.error["kind"]) == ("cancelled", "cancelled")


def test_work_that_ended_before_it_heard_of_a_cancel_has_ended_well(book: Book) -> None:
    def execute(tool: str, arguments: Mapping[str, Any], progress: WorkerProgress) -> dict[str, Any]:
        book.operations.request_cancel(progress.operation)
        return {"ended": "well"}

    found = carried_out(book, execute)
    assert (found.state, found.result, found.cancel_requested) == ("done", {"ended": "well"}, True)


def test_a_secret_in_a_result_is_withheld(book: Book) -> None:
    found = carried_out(book, _returning({"api_key": "opensesame", "url": "http://127.0.0.1:1/v1"}))
    assert found.result == {"api_key": WITHHELD, "url": "http://127.0.0.1:1/v1"}


def test_the_last_report_is_kept_however_fast_they_come(book: Book) -> None:
    def execute(tool: str, arguments: Mapping[str, Any], progress: WorkerProgress) -> dict[str, Any]:
        for number in range(1001):
            progress.report(f"question {number}", number, 1000)
        return {}

    found = carried_out(book, execute)
    assert (found.message, found.done, found.total) == ("question 1000", 1000.0, 1000.0)


def test_a_worker_that_was_replaced_leaves_no_result(book: Book, capfd: pytest.CaptureFixture[str]) -> None:
    def execute(tool: str, arguments: Mapping[str, Any], progress: WorkerProgress) -> dict[str, Any]:
        with book.operations.alone() as database:
            book.operations.employ(database, progress.operation, NO_PID, None)
        return {"ended": "well"}

    found = carried_out(book, execute)
    assert (found.state, found.result) == ("running", {})
    assert "another worker has taken over" in capfd.readouterr().err


def test_work_whose_ledger_is_held_by_somebody_else_goes_on(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def execute(tool: str, arguments: Mapping[str, Any], progress: WorkerProgress) -> dict[str, Any]:
        with closing(sqlite3.connect(home / "ledger.sqlite3", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            progress.report("held up")
            while "progress was not written" not in capfd.readouterr().err:
                progress.sleep(0.01)
            other.execute("COMMIT")
        return {"ended": "well"}

    with Book(home, busy_seconds=0.05) as hasty:
        found = carried_out(hasty, execute)
    assert (found.result, found.message) == ({"ended": "well"}, "held up")


def test_progress_is_seen_from_outside_while_it_works(sleeping: Sleeping) -> None:
    found = sleeping.now
    assert (found.state, found.message, found.done, found.total) == ("running", "sleeping", 0.0, 60.0)


def test_a_second_worker_of_the_same_operation_leaves(sleeping: Sleeping, program: Program) -> None:
    home = sleeping.book.home
    environment = {**os.environ, "MODELRIG_HOME": str(home)}
    second = subprocess.run(
        (*program, "work", sleeping.id), env=environment, capture_output=True, timeout=20, check=False
    )
    assert (second.returncode, second.stderr.decode()) == (3, f"{sleeping.id}: nothing to do here\n")
    assert (home / "marks").read_text("utf-8") == "sleep attempt 1\n"


def test_a_worker_of_an_unknown_operation_leaves(book: Book) -> None:
    assert run_worker(book, "op-0000", _returning({})) == 3
    assert book.operations.recent() == ()


def test_a_sigterm_is_a_cancel(
    book: Book, program: Program, until: Callable[..., None], ended: Ended, marks: Callable[[], list[str]]
) -> None:
    operation = start(book, "sleep", {}, program=program)
    until(lambda: book.operations.get(operation.id).message)
    assert operation.pid is not None
    os.kill(operation.pid, signal.SIGTERM)
    assert ended(operation.id).state == "cancelled"
    assert marks() == ["sleep attempt 1", "undone"]


def test_an_interruption_at_a_terminal_is_a_cancel_and_is_passed_on(book: Book) -> None:
    operation = book.operations.add("scan_waste", {}, flags=(), cwd="/")
    with pytest.raises(KeyboardInterrupt):
        run_worker(book, operation.id, _raising(KeyboardInterrupt()))
    found = book.operations.get(operation.id)
    assert (found.state, found.error["kind"]) == ("cancelled", "cancelled")
