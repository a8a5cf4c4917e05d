"""Progress of a call inside this process: reports go to a listener, cancelling wakes every wait."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from clouds.errors import Cancelled

if TYPE_CHECKING:
    from clouds.base import Progress

Listener = Callable[[str, float | None, float | None], None]


class CallProgress:
    """Implements `clouds.base.Progress` for a call that runs in a thread. `cancel` may come from any thread."""

    def __init__(self, listener: Listener | None = None) -> None:
        self._listener, self._stop = listener, threading.Event()

    def cancel(self) -> None:
        """Ask the work to stop: its next report, check or sleep raises Cancelled."""
        self._stop.set()

    def report(self, message: str, done: float | None = None, total: float | None = None) -> None:
        """Pass it on. Raises Cancelled when we were asked to stop."""
        self.check()
        if self._listener is not None:
            self._listener(message, done, total)

    def check(self) -> None:
        """Raises Cancelled when we were asked to stop."""
        if self._stop.is_set():
            raise Cancelled

    def sleep(self, seconds: float) -> None:
        """Wait; raises Cancelled at once when asked to stop."""
        if self._stop.wait(seconds):
            raise Cancelled


class Both:
    """Progress that two hear of: reports go to both, and a wish of either to stop is heard; the first one waits."""

    def __init__(self, first: Progress, second: Progress) -> None:
        self._first, self._second = first, second

    def report(self, message: str, done: float | None = None, total: float | None = None) -> None:
        """Tell both. Raises Cancelled when one of them was asked to stop."""
        self._first.report(message, done, total)
        self._second.report(message, done, total)

    def check(self) -> None:
        """Raises Cancelled when one of them was asked to stop."""
        self._first.check()
        self._second.check()

    def sleep(self, seconds: float) -> None:
        """Wait; raises Cancelled when one of them was asked to stop, at once when it is the first."""
        self._first.sleep(seconds)
        self._second.check()


class Part:
    """Progress of one of several parts of a call: every report begins with the part's name."""

    def __init__(self, whole: Progress, name: str) -> None:
        self._whole, self._name = whole, name

    def report(self, message: str, done: float | None = None, total: float | None = None) -> None:
        """As the whole's, with the name. Raises Cancelled when it was asked to stop."""
        self._whole.report(f"{self._name}: {message}", done, total)

    def check(self) -> None:
        """Raises Cancelled when the whole was asked to stop."""
        self._whole.check()

    def sleep(self, seconds: float) -> None:
        """Wait as the whole does."""
        self._whole.sleep(seconds)


class Lines:
    """Progress on stderr, each line once: a worker that is polled reports the same again."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, message: str, done: float | None, total: float | None) -> None:
        """Write a line, where it says something new."""
        share = f"{done:.0f} of {total:.0f}" if done is not None and total else ""
        line = message if not share or share in message else f"{message} ({share})"
        if line != self._last:
            with suppress(OSError):  # nobody reads it (any more): the work goes on
                print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)
        self._last = line
