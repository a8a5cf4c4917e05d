"""What only one operation may do at a time: who else holds it is said, and a dead worker holds nothing."""

from __future__ import annotations

import os

import pytest

from tools.ledger import Book, Holder
from tools.ledger.values import now


def worker(book: Book, pid: int = 2**22 + 1) -> str:
    """An operation that is running, in the process of that pid."""
    operation = book.operations.add("apply_cleanup", {}, flags=(), cwd="/").id
    assert book.operations.claim(operation, pid) is not None
    book.journal.operation = operation
    return operation


def test_the_second_is_told_who_holds_it_and_the_first_goes_on(book: Book, clock) -> None:
    clock.now = now()
    first = worker(book, os.getpid())
    assert book.holds.take("cleanup", "c-000001") is None
    assert (book.holds.take("cleanup", "c-000001"), book.holds.holder("cleanup")) == (None, None)
    worker(book)
    assert book.holds.holder("cleanup") == book.holds.take("cleanup", "c-000002") == Holder(first, "c-000001")
    assert book.holds.take("something else", "c-000002") is None


@pytest.mark.parametrize("over", ["it has ended", "its worker is dead"])
def test_a_hold_does_not_outlast_its_worker(over: str, book: Book) -> None:
    first = worker(book)
    assert book.holds.take("cleanup", "c-000001") is None
    if over == "it has ended":
        assert book.operations.finish(first, 2**22 + 1, "failed")
    worker(book)
    assert book.holds.holder("cleanup") is None
    assert book.holds.take("cleanup", "c-000002") is None
    book.journal.operation = first
    assert book.holds.holder("cleanup") is None  # the second is dead as well
