"""Who waits for an answer: a worker for each request to a network, nobody where answers are recorded."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from clouds.errors import Throttled, Unreachable
from clouds.models import Call, Scope
from tools.progress import CallProgress
from tools.waste.traffic import Traffic

HERE = Scope("here")


class Answering:
    """An api that tells on which thread it was asked; `refusals` are raised first."""

    def __init__(self, *refusals: Exception, at_once: bool) -> None:
        self.at_once, self.refusals, self.threads = at_once, list(refusals), set[str]()

    def send(self, call: Call, *, scope: Scope) -> Any:
        self.threads.add(threading.current_thread().name)
        if self.refusals:
            raise self.refusals.pop(0)
        return f"{call} {scope.location}"


def told(api: Answering) -> list[tuple[Any, Any, BaseException | None]]:
    """What three requests are answered, by their tokens."""
    traffic = Traffic(api, in_flight=2, clock=lambda: 0.0)
    for number in range(3):
        traffic.ask(Call("compute", "disks.list"), HERE, number)
    found = [traffic.take(CallProgress()) for _ in range(3)]
    assert (traffic.open, traffic.done) == (0, 3)
    traffic.close()
    return sorted(found, key=lambda each: int(each[0]))


@pytest.mark.parametrize("at_once", [True, False])
def test_recorded_answers_need_no_thread_and_are_the_same(at_once: bool) -> None:
    api = Answering(at_once=at_once)
    assert told(api) == [(number, "compute.disks.list here", None) for number in range(3)]
    assert (api.threads == {threading.current_thread().name}) is at_once


@pytest.mark.parametrize("at_once", [True, False])
def test_what_fails_is_told_and_stops_nothing(at_once: bool) -> None:
    lost, bad = Unreachable("asking", fix="Again."), ValueError("a bug")
    found = told(Answering(lost, bad, at_once=at_once))
    assert {repr(error) for _, _, error in found} == {repr(lost), repr(bad), "None"}


@pytest.mark.parametrize("at_once", [True, False])
def test_a_throttled_request_has_another_turn(at_once: bool) -> None:
    throttled = Throttled("asking", fix="Wait.", retry_after=-1.0)
    assert [error for _, _, error in told(Answering(throttled, at_once=at_once))] == [None] * 3
