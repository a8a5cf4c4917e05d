"""The knee is found where twice as many at once serve no more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.tools.measure.asking import run_of, value
from tests.tools.measure.truth import Truth
from tools.measure.knee import plan
from tools.measure.measurement import Ask, Objective
from tools.measure.profiles import QUICK

Serve = Callable[..., Truth]


def test_a_server_of_four_slots_has_its_knee_at_four(serve: Serve, tmp_path: Path) -> None:
    """A gain of 40 % where the truth is 100 and 0: a busy machine adds or takes a tenth."""
    truth = serve(ttft=0.020, itl=0.004, slots=4)
    run = run_of(truth, tmp_path, "knee", "knee.shape=0/16", "knee.gain=40", objective=Objective(ttft_ms=70))
    assert run.state == "complete"
    assert value(run, "knee.at_once") == 4
    ceiling = 4 * 16 / (0.020 + 15 * 0.004)
    assert 0.6 * ceiling < value(run, "knee.tokens_per_second") <= ceiling
    assert value(run, "knee.within_objective_at_once") == 4
    labels = [batch.label for batch in run.parts[0].batches]
    assert labels == ["warm-up", *(str(level) for level in (1, 2, 4, 8) for _ in range(2))], "it stops behind the knee"


def test_an_endpoint_that_still_grows_has_no_knee_that_was_seen(serve: Serve, tmp_path: Path) -> None:
    run = run_of(serve(ttft=0.010, itl=0.001), tmp_path, "knee", "knee.most=4", "knee.shape=0/8")
    knee = run.figure("knee.at_once")
    assert knee is not None
    assert (knee.value, knee.why) == (None, "throughput still grew at 4 at once, the most that was tried")
    assert value(run, "knee.highest_tokens_per_second") > value(run, "knee.2.tokens_per_second")
    assert run.state == "complete"


def test_an_endpoint_that_fails_is_not_asked_for_more(serve: Serve, tmp_path: Path) -> None:
    truth = serve(ttft=0.002, itl=0.0005, fault=lambda n, _body: "500" if n > 9 else "")
    run = run_of(truth, tmp_path, "knee", "knee.shape=0/4")
    assert {batch.at_once for batch in run.parts[0].batches} == {1, 2, 4}


def test_levels_double_up_to_the_most() -> None:
    assert plan(Ask(QUICK, "n")).levels == (1, 2, 4, 8, 16, 32, 64, 128, 256)
