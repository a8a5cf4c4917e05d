"""Following long work: what is over is told as over, and with --read-only nothing that changes things is touched."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import clouds
from tools import calling
from tools import tool as tool_named
from tools.context import Session
from tools.ledger import Book
from tools.progress import CallProgress
from tools.registry import FOLLOWS
from tools.settings import Settings

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
LOADING = {
    "structured": {"headline": "It is loading.", "endpoint": "local:llama:this-machine:x"},
    "text": "**It is loading.**\n\nAll else.",
}


@pytest.fixture(params=["may change", "read-only"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Session]:
    """A session; where a test does not say which, both kinds answer alike."""
    made = Session(
        Settings.load({}, tmp_path), tmp_path, clouds.names(), clouds.connect, read_only=request.param == "read-only"
    )
    yield made
    made.book.close()


read_only = pytest.mark.parametrize("session", ["read-only"], indirect=True)


def ended(home: Path, at: datetime, tool: str = "deploy_endpoint") -> str:
    """An operation that ended well at that time; its id."""
    with Book(home, clock=lambda: at) as book:
        operation = book.operations.add(tool, {}, flags=(), cwd="")
        with book.operations.alone() as database:
            book.operations.close(database, operation, "done", result=LOADING)
    return operation.id


def asked(session: Session, **arguments: Any) -> calling.Outcome:
    prepared = calling.prepare(tool_named(FOLLOWS), arguments, session)
    return prepared if isinstance(prepared, calling.Outcome) else _ran(prepared, session)


def _ran(prepared: calling.Ready | calling.Question, session: Session) -> calling.Outcome:
    assert isinstance(prepared, calling.Ready)
    return calling.carry_out(prepared, session, CallProgress())


def test_what_ended_long_ago_is_told_with_when(session: Session) -> None:
    told = asked(session, operation=ended(session.home, NOON))
    assert told.structured["headline"] == (
        "deploy_endpoint ended at 2026-11-29 12:00:00 UTC. Its answer then: It is loading."
    )
    assert told.text.endswith('All else.\n\nNext: `get_endpoint("local:llama:this-machine:x")` says how it is now.')


def test_what_has_just_ended_answers_as_it_would_have(session: Session) -> None:
    told = asked(session, operation=ended(session.home, datetime.now(UTC) - timedelta(seconds=1)))
    assert told.structured["headline"] == "It is loading."
    assert "next" not in told.structured


def test_cancelling_what_is_over_says_that_nothing_was_cancelled(session: Session) -> None:
    told = asked(session, operation=ended(session.home, NOON, "scan_waste"), cancel=True)
    assert told.structured["headline"] == (
        "Nothing was cancelled: scan_waste ended at 2026-11-29 12:00:00 UTC already. Its answer then: It is loading."
    )


@read_only
def test_read_only_stops_and_revives_nothing_that_changes_things(session: Session) -> None:
    operation = session.book.operations.add("deploy_endpoint", {}, flags=(), cwd="").id
    told = asked(session, operation=operation, wait_seconds=0.1)
    refused = asked(session, operation=operation, cancel=True)
    assert told.structured["state"] == "queued"
    assert refused.text == (
        f"**`cancel`: {operation} is a deploy_endpoint, which changes things, and this modelrig was started with "
        "--read-only.** Start it without --read-only to stop it. (Nothing was sent.)"
    )
    now = session.book.operations.get(operation)
    assert (now.attempt, now.cancel_requested) == (0, False)


@read_only
def test_read_only_stops_what_reads(session: Session) -> None:
    told = asked(session, operation=session.book.operations.add("scan_waste", {}, flags=(), cwd="").id, cancel=True)
    assert told.structured["state"] == "cancelled"


def test_a_call_that_is_told_as_an_error_is_one_when_it_is_polled(session: Session) -> None:
    operation = session.book.operations.add("apply_cleanup", {}, flags=(), cwd="")
    with session.book.operations.alone() as database:
        session.book.operations.close(database, operation, "done", result=LOADING | {"failed": True})
    assert asked(session, operation=operation.id).failed
    assert not asked(session, operation=ended(session.home, NOON)).failed


def test_a_long_answer_that_is_polled_keeps_its_notes_and_next_steps(session: Session) -> None:
    whole = "**It is loading.**\n\n" + "line\n" * 4_000 + "\nA note.\n\nNext: wait."
    said = {
        "headline": "It is loading.",
        "endpoint": "local:llama:this-machine:x",
        "notes": ["A note."],
        "next": "wait.",
    }
    operation = session.book.operations.add("deploy_endpoint", {}, flags=(), cwd="")
    with session.book.operations.alone() as database:
        kept = {"structured": said, "text": "**It is loading.**\n\ncut", "uncut": whole}
        session.book.operations.close(database, operation, "done", result=kept)
    told = asked(session, operation=operation.id)
    assert told.text.endswith("in a shell)\n\nA note.\n\nNext: wait.")
    assert len(told.text) <= 7_500
    assert told.whole == whole
