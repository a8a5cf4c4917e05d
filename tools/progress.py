"""Progress of a call inside this process: reports go to a listener, cancelling wakes every wait."""

from __future__ import annotations

import threading
from collections.abc import Callable
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
