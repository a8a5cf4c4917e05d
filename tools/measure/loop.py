"""An event loop in a thread of its own: what the caller's thread does never enters a timing."""

from __future__ import annotations

import asyncio
import queue
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from clouds.base import Progress

T = TypeVar("T")
LOOK = 0.2
"""Seconds between two looks of the waiting thread at reports and at a wish to stop."""


class Feed:
    """Reports from the loop's thread to the thread that waits for it."""

    def __init__(self) -> None:
        self._said: queue.SimpleQueue[tuple[str, float | None, float | None] | None] = queue.SimpleQueue()

    def say(self, message: str, done: float | None = None, total: float | None = None) -> None:
        """Never blocks."""
        self._said.put((message, done, total))

    def wake(self) -> None:
        """End the other thread's wait: there is nothing more to come."""
        self._said.put(None)

    def pass_on(self, progress: Progress, wait: float) -> bool:
        """Report the next one if it comes within `wait` seconds. Raises Cancelled when asked to stop."""
        try:
            said = self._said.get(timeout=wait)
        except queue.Empty:
            progress.check()
            return False
        if said is None:
            return False
        progress.report(*said)
        return True


class _Worker(threading.Thread, Generic[T]):
    def __init__(self, work: Callable[[Feed], Coroutine[Any, Any, T]], feed: Feed) -> None:
        super().__init__(name="measure", daemon=True)
        self._work, self._feed, self._task, self._ready = work, feed, None, threading.Event()
        self.over = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.result: T | None = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=loop_factory()) as runner:
                self._loop = runner.get_loop()
                self.result = runner.run(self._main())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self.error = error
        finally:
            self._ready.set()
            self.over.set()
            self._feed.wake()

    async def _main(self) -> T:
        self._task = asyncio.current_task()  # type: ignore[assignment]  # set once, read by `stop`
        self._ready.set()
        return await self._work(self._feed)

    def stop(self) -> None:
        """Cancel the work and wait until it has cleaned up."""
        self._ready.wait()
        if self._loop is not None and self._task is not None and self.is_alive():
            self._loop.call_soon_threadsafe(self._task.cancel)
        self.join()


def in_own_loop(work: Callable[[Feed], Coroutine[Any, Any, T]], progress: Progress) -> T:
    """Run `work` to its end. Raises what it raises, and Cancelled when asked to stop, after it has cleaned up."""
    feed = Feed()
    worker: _Worker[T] = _Worker(work, feed)
    worker.start()
    try:
        while not worker.over.is_set():
            feed.pass_on(progress, LOOK)
        while feed.pass_on(progress, 0):
            pass
        worker.join()
    except BaseException:
        worker.stop()
        raise
    if worker.error is not None:
        raise worker.error
    return worker.result  # type: ignore[return-value]  # set whenever there is no error


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """The loop of uvloop where that installs, else the standard one."""
    if sys.platform == "win32":
        return asyncio.new_event_loop
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def loop_name() -> str:
    """Which loop that is, for the record."""
    return "asyncio" if loop_factory() is asyncio.new_event_loop else "uvloop"
