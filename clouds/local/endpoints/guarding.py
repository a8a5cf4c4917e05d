"""One call at a time on an endpoint, and how the one at work hears that it was deleted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from clouds.base import Progress
from clouds.errors import Cancelled, Conflict
from clouds.local import lock
from clouds.local.lock import Lock
from clouds.local.places import Place


@contextmanager
def guarded(
    place: Place,
    progress: Progress,
    *,
    wait: float,
    make: bool = False,
    unless: Callable[[], None] = lambda: None,
) -> Iterator[None]:
    """Hold the endpoint's guard. `unless` may raise while somebody else holds it.

    Raises Conflict after `wait` seconds, and FileNotFoundError when the folder is not there and is not to be made.
    """
    ends = time.monotonic() + wait
    while True:
        if make:
            place.make()
        guard = Lock(place.guard)
        try:
            if guard.take():
                break
        except FileNotFoundError:
            if not make:
                raise
            continue  # removed between our two steps
        unless()
        if time.monotonic() > ends:
            raise Conflict(
                f"changing {place.name}",
                answered=f"another call has been working on it for {wait:g} s",
                fix="Try again when that call has ended.",
                sent=False,
            )
        progress.report(f"waiting for another call that works on {place.name}")
        progress.sleep(0.1)
    with guard:
        yield


class Watched:
    """A Progress that also hears a deletion: whoever deletes holds the endpoint's stop lock."""

    def __init__(self, progress: Progress, place: Place) -> None:
        self._progress, self._place = progress, place

    def report(self, message: str, done: float | None = None, total: float | None = None) -> None:
        """As Progress."""
        self._progress.report(message, done, total)
        self.check()

    def check(self) -> None:
        """As Progress; raises Cancelled too when a deletion has begun."""
        self._progress.check()
        if lock.held(self._place.stop):
            raise Cancelled

    def sleep(self, seconds: float) -> None:
        """As Progress."""
        self._progress.sleep(seconds)
        self.check()
