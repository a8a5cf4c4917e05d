"""The body of a worker: one operation, from being claimed to its last word. Started as `server.py work OPERATION`."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal

from clouds.errors import Cancelled, CloudError
from tools.faults import fault
from tools.ledger import Book

Execute = Callable[[str, Mapping[str, Any], "WorkerProgress"], Mapping[str, Any]]
"""(tool, arguments, progress) -> the result as plain JSON. Raises Cancelled or CloudError."""

TICK = 0.1
"""Seconds between two looks for a cancel."""
REPORTED_EVERY = 0.2
BEAT_EVERY = 2.0


class WorkerProgress:
    """Progress through the ledger. The work itself only touches memory; one thread carries it to the file and back."""

    def __init__(self, book: Book, operation: str, attempt: int) -> None:
        """`attempt` above 1 means that an earlier worker died half-way."""
        self.operation, self.attempt = operation, attempt
        self._book, self._pid = book, os.getpid()
        self._stop, self._ended = threading.Event(), threading.Event()
        self._terminated = False
        self._said: tuple[str, float | None, float | None] | None = None
        self._thread = threading.Thread(target=self._carry, name="progress", daemon=True)

    def report(self, message: str, done: float | None = None, total: float | None = None) -> None:
        """Say where we are; written at most five times a second. Raises Cancelled when we were asked to stop."""
        self.check()
        self._said = (message, done, total)

    def check(self) -> None:
        """Raises Cancelled when we were asked to stop: at most 0.1 s after it was written into the ledger."""
        if self._terminated or self._stop.is_set():
            raise Cancelled

    def sleep(self, seconds: float) -> None:
        """Wait; raises Cancelled as soon as we are asked to stop."""
        self.check()
        if self._stop.wait(seconds):
            raise Cancelled

    def begin(self, *, signals: bool = True) -> None:
        """Start carrying. With `signals` a SIGTERM is a cancel from now on."""
        if self._book.operations.should_stop(self.operation, self._pid):
            self._stop.set()
        if signals and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self._terminate)
        self._thread.start()

    def end(self) -> None:
        """Stop carrying; the last report is written."""
        self._ended.set()
        self._thread.join()

    def _terminate(self, _number: int, _frame: object) -> None:
        # Only a plain flag: setting an Event here could wait for a lock that the interrupted code holds.
        self._terminated = True

    def _carry(self) -> None:
        written, beat, reported = None, 0.0, 0.0
        while True:
            last = self._ended.wait(TICK)
            now = time.monotonic()
            try:
                if self._terminated or self._book.operations.should_stop(self.operation, self._pid):
                    self._stop.set()
                said = self._said if self._said is not written and (last or now - reported >= REPORTED_EVERY) else None
                if said is not None or now - beat >= BEAT_EVERY:
                    self._book.operations.pulse(self.operation, self._pid, said)
                    beat = now
                if said is not None:
                    written, reported = said, now
            except CloudError as error:  # another process holds the file: the next tick tries again
                _say(f"progress was not written: {error}")
            if last:
                return


def run_worker(book: Book, operation: str, execute: Execute, *, alone: bool = True) -> int:
    """Carry one operation out and write down how it ended; returns the exit code of the process.

    `alone` is false where the process that works is the one that asked: it hears signals and tells a person itself.

    0 it ended (well or not), 3 there was nothing to do: it is over, not known, or another worker has it.
    A KeyboardInterrupt, which only a worker at a terminal gets, is a cancel and raised again once that is written.
    """
    pid = os.getpid()
    found = book.operations.claim(operation, pid)
    if found is None:
        _say(f"{operation}: nothing to do here")
        return 3
    book.journal.operation = operation
    progress = WorkerProgress(book, operation, found.attempt)
    progress.begin(signals=alone)
    state: Literal["done", "failed", "cancelled"] = "failed"
    result: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    interrupted: KeyboardInterrupt | None = None
    try:
        result, state = execute(found.tool, found.arguments, progress), "done"
    except Cancelled as stopped:
        state, error = "cancelled", fault(stopped)
    except KeyboardInterrupt as stopped:
        state, error, interrupted = "cancelled", fault(Cancelled()), stopped
    except BaseException as wrong:  # noqa: BLE001 - whatever happened is written down; there is nobody else to tell
        error = fault(wrong)
        if alone or error["kind"] == "bug":
            _log(wrong)
    progress.end()
    try:
        ours = book.operations.finish(operation, pid, state, result=result, error=error)
    except (TypeError, ValueError) as wrong:  # a result that is not JSON is a bug of the tool
        _log(wrong)
        ours = book.operations.finish(operation, pid, "failed", error=fault(wrong))
    if not ours:
        _say(f"{operation}: another worker has taken over; this one's result was left out")
    if interrupted is not None:
        raise interrupted
    return 0


def _log(error: BaseException) -> None:
    """The type and place of an exception into the operation's log, without its text, which may hold a secret."""
    told = fault(error)
    _say(f"{told['kind']}: {told['what']}")


def _say(words: str) -> None:
    """Into the log; a log that cannot be written (a full disk, a closed pipe) keeps no operation from its end."""
    with suppress(OSError, ValueError):
        print(words, file=sys.stderr)
