"""A clock that only moves when somebody waits, and runs what is due on the way."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count

START = datetime(2026, 11, 29, 15, 0, tzinfo=UTC)


class Clock:
    """Simulated time. `sleep` is what code under test is given in place of waiting."""

    def __init__(self, start: datetime = START) -> None:
        self.time = start
        self.due: list[tuple[datetime, int, Callable[[], None]]] = []
        self._order = count()

    def now(self) -> datetime:
        return self.time

    def later(self, seconds: float, run: Callable[[], None]) -> None:
        """Run something `seconds` from now, when the clock gets there."""
        self.at(self.time + timedelta(seconds=seconds), run)

    def at(self, when: datetime, run: Callable[[], None]) -> None:
        heapq.heappush(self.due, (max(when, self.time), next(self._order), run))

    def sleep(self, seconds: float) -> None:
        """Move on; everything due on the way happens at its own moment."""
        end = self.time + timedelta(seconds=seconds)
        while self.due and self.due[0][0] <= end:
            self.time, _, run = heapq.heappop(self.due)
            run()
        self.time = end
