"""Waiting for an operation for a while: its progress is passed on, and a caller who goes away cancels it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from clouds.errors import Cancelled
from tools.ledger import Book
from tools.ledger.operations import Operation
from tools.operations.launch import PROGRAM, anything, cancel, resume

if TYPE_CHECKING:
    from clouds.base import Progress

FIRST, LONGEST = 0.02, 0.25
"""Seconds between two looks, at first and at last."""
REVIVED_EVERY = 0.5
"""Seconds between two looks whether the worker lives; the first is at once, since who waits in slices waits shorter."""
UNDONE_WITHIN = 30.0
"""Seconds that a cancelled worker is given to undo its work before the caller is let go; it goes on undoing."""


def wait(
    book: Book,
    operation: str,
    seconds: float,
    progress: Progress,
    *,
    program: tuple[str, ...] = PROGRAM,
    undone_within: float = UNDONE_WITHIN,
    ending: threading.Event | None = None,
    may: Callable[[Operation], bool] = anything,
) -> Operation:
    """The operation when it is over, or as it is after `seconds`, or once `ending` is set. Raises NotFound.

    Where its worker dies meanwhile and `may` allows it, another one is started.

    Raises Cancelled when `progress` does, after the operation was cancelled (where it may be) and has undone its work.
    """
    try:
        return _poll(book, operation, seconds, program, progress, ending, may)
    except Cancelled:
        if not may(book.operations.get(operation)):
            raise
        cancel(book, operation, program=program)
        _poll(book, operation, undone_within, program)
        raise


def _poll(
    book: Book,
    operation: str,
    seconds: float,
    program: tuple[str, ...],
    progress: Progress | None = None,
    ending: threading.Event | None = None,
    may: Callable[[Operation], bool] = anything,
) -> Operation:
    start = time.monotonic()
    looked, pause = start - REVIVED_EVERY, FIRST
    said: tuple[str, float | None, float | None] = ("", None, None)
    while True:
        found = book.operations.get(operation)
        now = time.monotonic()
        if found.over or now - start >= seconds or (ending is not None and ending.is_set()):
            return found
        if progress is not None:
            where = (found.message, found.done, found.total)
            if where != said:
                progress.report(*where)
                said = where
            progress.check()
        if now - looked >= REVIVED_EVERY:
            resume(book, program=program, operation=operation, may=may)
            looked = now
        rest = min(pause, max(0.0, seconds - (now - start)))
        if progress is None:
            time.sleep(rest)
        else:
            progress.sleep(rest)
        pause = min(pause * 1.3, LONGEST, max(FIRST, (now - start) / 10))  # short work is not waited for long
