"""get_operation: poll or cancel work that goes on after its call returned."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated

from pydantic import Field

from clouds.base import Progress
from clouds.errors import InvalidInput
from tools import faults, operations
from tools.context import Session
from tools.fitting import fitted, joined
from tools.ledger import Book
from tools.ledger.values import moment
from tools.registry import Effect, Tool
from tools.result import TEXT_LIMIT, Result, visible

CANCEL_WAIT = 10.0
"""Seconds that a cancelled operation is given to undo its work before the answer goes out."""

STILL_NEW = timedelta(seconds=60)
"""An operation that ended longer ago is told with the time when it did: since then much may have changed."""


class OperationView(Result):
    """One operation: where it is, or how it ended. `result` is what the first call would have returned."""

    operation: str
    tool: str
    state: str
    message: str = ""
    done: float | None = None
    total: float | None = None
    started: str = ""
    ended: str = ""
    result: Mapping[str, object] = {}
    shown: str = Field(default="", exclude=True)

    def text(self, limit: int | None = TEXT_LIMIT) -> str:
        """The finished call's own text, whose notes and next step stay whole; before that where the work is."""
        if not self.shown:
            return super().text(limit)
        listed = self.result.get("notes")
        notes = [str(note) for note in listed] if isinstance(listed, list | tuple) else []
        told = self.result.get("next")
        own = joined("", "", notes, f"Next: {told}" if told else "")
        body = self.shown.partition("\n\n")[2]
        if body.endswith(own):  # else it was written by another version: it is taken as one text
            body = body.removesuffix(own).rstrip()
        else:
            notes, told = [], None
        steps = [step for step in (told, self.next) if step]
        last = "\n\n".join(f"Next: {step}" for step in steps)
        head = visible(f"**{self.headline}**")
        return joined(head, body, notes, last) if limit is None else fitted(head, body, notes, last, limit)

    def body(self) -> str:
        """Where the work is."""
        parts = [f"{self.operation} · {self.tool} · {self.state}"]
        if self.done is not None and self.total:
            parts.append(f"{self.done:g} of {self.total:g}")
        return " · ".join(
            [*parts, *(f"{word} {at}" for word, at in (("started", self.started), ("ended", self.ended)) if at)]
        )


class FailedView(OperationView):
    """An operation whose call would have been told as an error, so that whoever polls it is told the same."""

    @property
    def is_error(self) -> bool:
        """True."""
        return True


def get_operation(
    operation: Annotated[str, Field(description="op-… as a call returned it", max_length=40)],
    book: Book,
    progress: Progress,
    session: Session,
    cancel: Annotated[bool, Field(description="stop it and undo what is half-made")] = False,
    wait_seconds: Annotated[float, Field(ge=0, le=40)] = 0,
) -> OperationView:
    """Poll or cancel a long operation, and get its result once it has ended."""
    before = book.operations.get(operation)
    may = session.may_work_on
    if cancel and not may(before):
        raise InvalidInput(
            "cancel",
            f"{operation} is a {before.tool}, which changes things, and this modelrig was started with --read-only",
            fix="Start it without --read-only to stop it.",
        )
    if cancel and not before.over:
        operations.cancel(book, operation)
    else:
        operations.resume(book, operation=before.id, may=may)
    seconds = max(wait_seconds, CANCEL_WAIT if cancel else 0.0)
    found = operations.wait(book, operation, seconds, progress, ending=session.ending, may=may)
    result = found.result or {}
    told = str(dict(result.get("structured", {})).get("headline") or f"{found.tool}: {found.state}{_why(found)}.")
    when = _when(before, book, cancel=cancel)
    endpoint = dict(result.get("structured", {})).get("endpoint", "")
    view = FailedView if result.get("failed") else OperationView
    return view(
        headline=when + told,
        operation=found.id,
        tool=found.tool,
        state=found.state,
        message=found.message,
        done=found.done,
        total=found.total,
        started=found.started,
        ended=found.ended,
        result=dict(result.get("structured", {})),
        shown=str(result.get("uncut") or result.get("text", "")),
        next=f'`get_operation("{found.id}")` again.'
        if not found.over
        else f'`get_endpoint("{endpoint}")` says how it is now.'
        if when and endpoint
        else "",
    )


def _when(before: operations.Operation, book: Book, *, cancel: bool) -> str:
    """What stands before an answer that is not of now: what it says has long been so, and nothing of it is stopped."""
    if not before.over or not before.ended:
        return ""
    ended = f"{before.tool} ended at {moment(before.ended):%Y-%m-%d %H:%M:%S} UTC"
    if cancel:
        return f"Nothing was cancelled: {ended} already. Its answer then: "
    return f"{ended}. Its answer then: " if book.clock() - moment(before.ended) > STILL_NEW else ""


def _why(found: operations.Operation) -> str:
    if found.error:
        return ": " + faults.sentence(found.error).replace("**", "").rstrip(".")
    return f", {found.message}" if found.message and not found.over else ""


GET_OPERATION = Tool(get_operation, title="Get operation", effect=Effect.WRITE)
