"""get_operation: poll or cancel work that goes on after its call returned."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from clouds.base import Progress
from tools import faults, operations
from tools.ledger import Book
from tools.registry import Effect, Tool
from tools.result import Result

CANCEL_WAIT = 10.0
"""Seconds that a cancelled operation is given to undo its work before the answer goes out."""


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

    def body(self) -> str:
        """The finished call's own text, or where the work is."""
        if self.shown:
            return self.shown.partition("\n\n")[2]
        parts = [f"{self.operation} · {self.tool} · {self.state}"]
        if self.done is not None and self.total:
            parts.append(f"{self.done:g} of {self.total:g}")
        return " · ".join(
            [*parts, *(f"{word} {at}" for word, at in (("started", self.started), ("ended", self.ended)) if at)]
        )


def get_operation(
    operation: Annotated[str, Field(description="op-… as a call returned it", max_length=40)],
    book: Book,
    progress: Progress,
    ending: threading.Event,
    cancel: Annotated[bool, Field(description="stop it and undo what is half-made")] = False,
    wait_seconds: Annotated[float, Field(ge=0, le=40)] = 0,
) -> OperationView:
    """Poll or cancel a long operation, and get its result once it has ended."""
    operations.resume(book, operation=book.operations.get(operation).id)
    if cancel:
        operations.cancel(book, operation)
    seconds = max(wait_seconds, CANCEL_WAIT if cancel else 0.0)
    found = operations.wait(book, operation, seconds, progress, ending=ending)
    result = found.result or {}
    return OperationView(
        headline=str(
            dict(result.get("structured", {})).get("headline") or f"{found.tool}: {found.state}{_why(found)}."
        ),
        operation=found.id,
        tool=found.tool,
        state=found.state,
        message=found.message,
        done=found.done,
        total=found.total,
        started=found.started,
        ended=found.ended,
        result=dict(result.get("structured", {})),
        shown=str(result.get("text", "")),
        next="" if found.over else f'`get_operation("{found.id}")` again.',
    )


def _why(found: operations.Operation) -> str:
    if found.error:
        return ": " + faults.sentence(found.error).replace("**", "").rstrip(".")
    return f", {found.message}" if found.message and not found.over else ""


GET_OPERATION = Tool(get_operation, title="Get operation", effect=Effect.WRITE)
