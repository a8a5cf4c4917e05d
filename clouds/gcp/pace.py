"""How many requests run at once, and how long everybody waits after Google said "too often"."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock

AT_ONCE = 16
"""Per service and project, as Google counts them; sixteen at once stay under the usual 1,500 a minute."""


class Pace:
    """The gate of one service in one project, shared by all threads."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._clock, self._sleep = clock, sleep
        self._slots, self._lock, self._not_before = BoundedSemaphore(AT_ONCE), Lock(), 0.0

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold one of the slots; before that, wait out what a throttled request of any thread asked for."""
        with self._slots:
            while (left := self._not_before - self._clock()) > 0:
                self._sleep(left)
            yield

    def slow_down(self, seconds: float) -> None:
        """Nobody sends for so long."""
        with self._lock:
            self._not_before = max(self._not_before, self._clock() + seconds)
