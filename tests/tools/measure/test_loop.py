from __future__ import annotations

import asyncio
import threading
import time

import pytest

from clouds.errors import Cancelled
from tools.measure.loop import Feed, in_own_loop
from tools.progress import CallProgress


def test_the_result_comes_back_and_reports_are_passed_on_in_the_callers_thread() -> None:
    said: list[tuple[str, int]] = []

    async def work(feed: Feed) -> str:
        feed.say("one", 1, 2)
        feed.say("two", 2, 2)
        return threading.current_thread().name

    found = in_own_loop(work, CallProgress(lambda words, *_: said.append((words, threading.get_ident()))))
    assert found == "measure"
    assert said == [("one", threading.get_ident()), ("two", threading.get_ident())]


def test_what_the_work_raises_is_raised_here() -> None:
    async def work(_feed: Feed) -> None:
        raise ValueError("as it was")

    with pytest.raises(ValueError, match="as it was"):
        in_own_loop(work, CallProgress())


def test_a_wish_to_stop_cancels_the_work_and_waits_until_it_has_cleaned_up() -> None:
    progress, cleaned = CallProgress(), threading.Event()

    async def work(feed: Feed) -> None:
        try:
            feed.say("begun")
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0.01)
            cleaned.set()

    progress = CallProgress(lambda *_: progress.cancel())
    begun = time.monotonic()
    with pytest.raises(Cancelled):
        in_own_loop(work, progress)
    assert cleaned.is_set()
    assert time.monotonic() - begun < 20


def test_a_wish_to_stop_from_another_thread_is_heard_while_nothing_is_reported() -> None:
    progress = CallProgress()

    async def work(_feed: Feed) -> None:
        progress.cancel()
        await asyncio.sleep(30)

    with pytest.raises(Cancelled):
        in_own_loop(work, progress)
