"""The journal says what happened, when and who did it, and cannot be rewritten."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import pytest

from tools.ledger import Book, Event
from tools.ledger.events import Page

Begin = Callable[..., str]


def test_what_changes_a_deployment_is_in_the_journal(book: Book, begun: Begin, clock) -> None:
    found = begun()
    clock.forward(minutes=10)
    book.deployments.active(found)
    assert book.journal.recent() == Page(
        (
            Event("2026-11-29T19:04:00.000Z", "test", "deployment begun", found, "", "aws:sagemaker:us-east-2:gemma"),
            Event("2026-11-29T19:14:00.000Z", "test", "deployment active", found),
        ),
        2,
    )


def test_the_journal_is_read_in_bounds_and_says_how_many_there_are(book: Book, begun: Begin) -> None:
    found = begun()
    for number in range(5):
        book.journal.add("looked", detail=str(number))
    page = book.journal.recent(2)
    assert ([each.detail for each in page.events], page.total) == (["3", "4"], 6)
    assert book.journal.recent(deployment=found).total == 1


def test_a_detail_is_bounded_and_holds_no_secret(book: Book) -> None:
    book.journal.add("looked", detail="hf_abcdefghijklmnopqrstuvwxyz " + "x" * 1000)
    assert book.journal.recent().events[0].detail.startswith("(withheld: looks like a secret) xxx")
    assert len(book.journal.recent().events[0].detail) < 530


@pytest.mark.parametrize("statement", ["UPDATE events SET who = 'nobody'", "DELETE FROM events"])
def test_the_journal_cannot_be_rewritten(statement: str, book: Book) -> None:
    book.journal.add("looked")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"), book.store.write() as database:
        database.execute(statement)
    assert book.journal.recent().events[0].who == "test"
