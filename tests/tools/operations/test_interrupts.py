"""Signals break into work, and wait while what it came to is written down."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from tools.operations import Interrupts
from tools.operations.interrupts import PATIENCE, SIGNALS

ALL = pytest.mark.parametrize("number", SIGNALS, ids=lambda number: signal.Signals(number).name)


@pytest.fixture(autouse=True)
def kept() -> Iterator[None]:
    before = {each: signal.getsignal(each) for each in SIGNALS}
    yield
    assert {each: signal.getsignal(each) for each in SIGNALS} == before


@ALL
def test_a_signal_breaks_into_work_once(number: int) -> None:
    done = []

    def work(interrupts: Interrupts) -> None:
        with interrupts.working():
            try:
                os.kill(os.getpid(), number)
            finally:
                os.kill(os.getpid(), number)
                done.append("cleaned up")

    with Interrupts() as interrupts:
        with pytest.raises(KeyboardInterrupt):
            work(interrupts)
        done.append("written down")
    assert done == ["cleaned up", "written down"]


@ALL
def test_a_signal_before_the_work_waits_until_it_would_begin(number: int) -> None:
    done = []
    with Interrupts() as interrupts:
        os.kill(os.getpid(), number)
        done.append("written down")
        with pytest.raises(KeyboardInterrupt), interrupts.working():
            done.append("worked")
    assert done == ["written down"]


def test_a_signal_after_the_work_changes_nothing() -> None:
    with Interrupts() as interrupts:
        with interrupts.working():
            pass
        os.kill(os.getpid(), signal.SIGINT)


def test_who_insists_ends_even_what_cleans_up() -> None:
    with Interrupts():
        for _ in range(PATIENCE - 1):
            os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_what_was_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts, interrupts.working():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_in_another_thread_it_does_nothing() -> None:
    done = []

    def work() -> None:
        with Interrupts() as interrupts, interrupts.working():
            done.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [signal.getsignal(signal.SIGINT)]
