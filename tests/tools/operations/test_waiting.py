"""Waiting passes progress on, ends with the operation or with the time, and cancels when the caller goes away."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

import pytest

from clouds.errors import Cancelled, NotFound
from tests.tools.operations.conftest import Sleeping
from tools.ledger import Book
from tools.operations import start, wait
from tools.progress import CallProgress

Program = tuple[str, ...]
Marks = Callable[[], list[str]]


def test_waiting_ends_when_the_operation_does(book: Book, program: Program) -> None:
    operation = start(book, "echo", {}, program=program)
    assert wait(book, operation.id, 20, CallProgress(), program=program).state == "done"


def test_waiting_passes_progress_on_once(sleeping: Sleeping, program: Program) -> None:
    said: list[tuple[str, float | None, float | None]] = []
    progress = CallProgress(lambda *where: said.append(where))
    assert wait(sleeping.book, sleeping.id, 0.1, progress, program=program).state == "running"
    assert said == [("sleeping", 0.0, 60.0)]


def test_waiting_ends_with_its_time_and_the_work_goes_on(sleeping: Sleeping, program: Program) -> None:
    begun = time.monotonic()
    assert not wait(sleeping.book, sleeping.id, 0.05, CallProgress(), program=program).over
    assert time.monotonic() - begun >= 0.05
    assert not sleeping.now.cancel_requested


def test_waiting_ends_with_the_callers_input_and_the_work_goes_on(sleeping: Sleeping, program: Program) -> None:
    ending, slept = threading.Event(), []

    class Progress(CallProgress):
        def sleep(self, seconds: float) -> None:
            slept.append(seconds)
            ending.set()

    found = wait(sleeping.book, sleeping.id, 20, Progress(), program=program, ending=ending)
    assert (found.state, len(slept), sleeping.now.cancel_requested) == ("running", 1, False)


def test_not_waiting_is_one_look(sleeping: Sleeping, program: Program) -> None:
    class Awake(CallProgress):
        def sleep(self, seconds: float) -> None:
            pytest.fail(f"it would have slept {seconds} s")

    assert wait(sleeping.book, sleeping.id, 0, Awake(), program=program).state == "running"


def test_a_caller_that_goes_away_is_let_go_when_the_work_is_undone(book: Book, program: Program, marks: Marks) -> None:
    operation = start(book, "sleep", {}, program=program)
    progress = CallProgress(lambda *_: progress.cancel())
    with pytest.raises(Cancelled):
        wait(book, operation.id, 20, progress, program=program)
    assert book.operations.get(operation.id).state == "cancelled"
    assert marks() == ["sleep attempt 1", "undone"]


def test_a_caller_that_goes_away_is_let_go_in_bounded_time(book: Book, program: Program) -> None:
    operation = start(book, "stubborn", {}, program=program)
    progress = CallProgress()
    progress.cancel()
    with pytest.raises(Cancelled):
        wait(book, operation.id, 20, progress, program=program, undone_within=0.1)
    found = book.operations.get(operation.id)
    assert (found.over, found.cancel_requested) == (False, True)


@pytest.mark.parametrize("seconds", [20, 0.01] if "MODELRIG_ALL" in os.environ else [0.01])
def test_waiting_replaces_a_worker_that_dies_meanwhile(
    book: Book, program: Program, until: Callable[..., None], seconds: float
) -> None:
    operation = start(book, "dies", {"times": 1}, program=program)
    until(lambda: wait(book, operation.id, seconds, CallProgress(), program=program).over)
    assert book.operations.get(operation.id).result == {"attempt": 2}


def test_waiting_for_what_does_not_exist_says_so(book: Book) -> None:
    with pytest.raises(NotFound):
        wait(book, "op-0000", 1, CallProgress())
