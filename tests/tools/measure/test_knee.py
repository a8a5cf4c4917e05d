"""The knee is found where twice as many at once serve no more."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

import pytest

from tests.tools.measure.asking import run_of, value
from tests.tools.measure.truth import Truth
from tools.measure.client import Batch, Reply, Share
from tools.measure.knee import ROUNDS, figures, plan, served
from tools.measure.measurement import Ask, Objective, Taken
from tools.measure.options import Options
from tools.measure.profiles import QUICK

Serve = Callable[..., Truth]


def test_a_server_of_four_slots_has_its_knee_at_four(serve: Serve, tmp_path: Path) -> None:
    """A gain of 40 % where the truth is 100 and 0: a busy machine adds or takes a tenth."""
    truth = serve(ttft=0.007, itl=0.002, slots=4)
    options = ("knee.shape=0/16", "knee.gain=40", "knee.kept=70")
    run = run_of(truth, tmp_path, "knee", *options, objective=Objective(ttft_ms=37))
    assert run.state == "complete"
    assert value(run, "knee.at_once") == 4
    ceiling = 4 * 16 / (0.007 + 15 * 0.002)
    assert 0.6 * ceiling < value(run, "knee.tokens_per_second") <= 1.15 * ceiling
    assert value(run, "knee.within_objective_at_once") == 4
    labels = [batch.label for batch in run.parts[0].batches]
    assert labels == ["warm-up", *(str(level) for level in (1, 2, 4, 8) for _ in range(2))], "it stops behind the knee"


def served_by(places: int, level: int) -> Batch:
    """What a level asks, 16 tokens in 40 ms each, by a server that writes this many at the same time."""
    streams, free, replies = [0.0] * level, [0.0] * places, []
    for _ in range(ROUNDS * level):
        sent = heappop(streams)
        first = max(sent, heappop(free)) + 0.010
        last = first + 15 * 0.002
        heappush(streams, last)
        heappush(free, last)
        replies.append(Reply("r", sent=sent, first=first, last=last, gaps=(0.002,) * 15, chunks=16, tokens=16))
    return Batch(tuple(replies), 0.0, max(reply.last for reply in replies), Share())


@pytest.mark.parametrize("places", [5, 6])
def test_places_that_are_no_power_of_two_are_not_hidden_by_the_last_ones(places: int) -> None:
    """Eight at once in one go each would be two goes, no more than four at once; so would the end of four goes be."""
    asked = plan(Ask(QUICK, "n", options=Options({"knee.gain": "20", "knee.batches": "1", "knee.shape": "0/16"})))
    batches = [(str(level), level, served_by(places, level)) for level in (1, 2, 4, 8, 16)]
    found = {each.key: each.value for each in figures(asked, Taken(batches))}
    assert found["knee.at_once"] == 8
    assert found["knee.highest_tokens_per_second"] == pytest.approx(places * 16 / 0.040, rel=0.1)


def test_what_was_served_is_what_came_while_every_place_was_taken() -> None:
    share = Share()

    def reply(sent: float, first: float, **more: Any) -> Reply:
        gaps = (0.1,) * 9
        return Reply("r", sent=sent, first=first, last=first + 0.9, gaps=gaps, chunks=10, tokens=20, **more)

    two = (reply(0.0, 0.2), reply(0.0, 0.2), reply(1.1, 1.3), reply(1.1, 1.3))
    assert served(Batch(two, 0.0, 2.2, share)) == pytest.approx(2 * 20 / 1.1)
    late = (reply(0.0, 0.2), reply(0.0, 1.15, kind="cut"), reply(1.1, 1.3))
    assert served(Batch(late, 0.0, 2.2, share)) == pytest.approx(20 / 1.1)
    half = (reply(0.0, 0.2), reply(0.55, 0.6))
    assert served(Batch(half, 0.0, 1.5, share)) == pytest.approx(4 * 2 / 0.55)
    assert served(Batch(two[:1], 0.0, 1.1, share)) == pytest.approx(20 / 1.1)
    assert served(Batch((reply(0.0, 0.2, kind="cut"),), 0.0, 0.0, share)) is None


def test_an_endpoint_that_still_grows_has_no_knee_that_was_seen(serve: Serve, tmp_path: Path) -> None:
    run = run_of(serve(ttft=0.010, itl=0.001), tmp_path, "knee", "knee.most=4", "knee.shape=0/8")
    knee = run.figure("knee.at_once")
    assert knee is not None
    assert (knee.value, knee.why) == (None, "throughput still grew at 4 at once, the most that was tried")
    assert value(run, "knee.highest_tokens_per_second") > value(run, "knee.2.tokens_per_second")
    assert run.state == "complete"


def test_an_endpoint_that_fails_is_not_asked_for_more(serve: Serve, tmp_path: Path) -> None:
    truth = serve(ttft=0.015, itl=0.001, fault=lambda n, _body: "500" if n > 15 else "")
    run = run_of(truth, tmp_path, "knee", "knee.shape=0/4", "knee.gain=1")
    assert {batch.at_once for batch in run.parts[0].batches} == {1, 2, 4}


def test_levels_double_up_to_the_most() -> None:
    assert plan(Ask(QUICK, "n")).levels == (1, 2, 4, 8, 16, 32, 64, 128, 256)
