"""Progress of a call inside this process: reports go to a listener, cancelling wakes every wait."""

from __future__ import annotations

import threading
from collections.abc import Callable

from clouds.errors import Cancelled

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
