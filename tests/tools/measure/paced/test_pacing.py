"""An open loop meets the stalls that a closed one hides, as its requests go on when nothing comes back."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from clouds.errors import InvalidInput
from tests.tools.measure.asking import run_of, value
from tests.tools.measure.truth import Truth
from tools.measure.measurement import Ask, Objective
from tools.measure.options import Options
from tools.measure.paced.arrivals import due
from tools.measure.paced.plan import plan
from tools.measure.profiles import QUICK, STANDARD
from tools.measure.record import Run

Serve = Callable[..., Truth]
EVERY, STILL = 0.45, 0.18
"""The server stands still for 180 ms of every 450 ms, for everybody."""
SLOW_MS = 45
"""Far above what a busy machine adds, far below what a stall does."""


def stalls(at: float) -> float:
    """What is due in the last 180 ms of such a stretch leaves at its end."""
    inside = at % EVERY
    return at if inside < EVERY - STILL else at - inside + EVERY


def slow(run: Run, label: str) -> float:
    """The share of replies whose first token came more than 45 ms after the client was ready to send."""
    batch = next(each for each in run.parts[0].batches if each.label == label)
    late = [(each.ttft_ms or 0) + 1e3 * (each.sent - (each.due or each.sent)) for each in batch.requests]
    return sum(each > SLOW_MS for each in late) / len(late)


def test_a_closed_loop_hides_the_stalls_that_an_open_loop_shows(serve: Serve, tmp_path: Path) -> None:
    """5 ms a reply. The closed loop of one stream asks one request in a stall. Users ask on: 40 % of theirs wait,
    evenly from 0 to 180 ms, so that 30 % of all wait longer than 45 ms, and a tenth longer than 135."""
    truth = serve(ttft=0.004, itl=0.001, pause=stalls)
    options = ("paced.rates=80", "paced.seconds=0.45", "paced.arrivals=even", "paced.shape=0/2")
    run = run_of(truth, tmp_path, "paced", *options, levels=(1,), objective=Objective(ttft_ms=SLOW_MS))
    assert slow(run, "closed loop") <= 1 / 8
    assert 0.22 < slow(run, "80_per_second") < 0.5
    assert value(run, "paced.closed.ttft_p50_ms") < SLOW_MS
    assert 95 < value(run, "paced.80_per_second.ttft_p90_ms") < 250
    assert 50 < value(run, "paced.80_per_second.kept_percent") < 78
    assert value(run, "paced.80_per_second.due_per_second") == pytest.approx(80)


@pytest.mark.more
def test_a_steady_server_keeps_up_with_every_rate(serve: Serve, tmp_path: Path) -> None:
    truth = serve(ttft=0.004, itl=0.0005)
    run = run_of(truth, tmp_path, "paced", "paced.rates=40,80", "paced.seconds=0.2", "paced.shape=0/8", levels=(2,))
    assert run.state == "complete"
    assert value(run, "paced.kept_up_per_second") > 50
    assert 4 <= value(run, "paced.40_per_second.ttft_p50_ms") < 60
    assert run.parts[0].batches[0].label == "warm-up"
    assert all(each.due is not None for each in run.parts[0].batches[-1].requests)


def test_a_rate_above_what_is_served_is_not_kept_up_with(serve: Serve, tmp_path: Path) -> None:
    """One slot, 10 ms a reply: 100 a second at most. At 300 a second the queue grows, and so do the times from due."""
    truth = serve(ttft=0.008, itl=0.002, slots=1)
    options = ("paced.rates=40,300", "paced.seconds=0.15", "paced.arrivals=even", "paced.shape=0/2")
    run = run_of(truth, tmp_path, "paced", *options, levels=(1,))
    assert value(run, "paced.kept_up_per_second") == pytest.approx(40)
    assert value(run, "paced.300_per_second.ttft_p90_ms") > 200
    assert value(run, "paced.300_per_second.tokens_per_second") < 2 * 110


@pytest.mark.more
def test_a_wait_for_a_place_counts_from_when_the_request_was_due(serve: Serve, tmp_path: Path) -> None:
    truth = serve(ttft=0.025, itl=0.001)
    options = ("paced.rates=200", "paced.seconds=0.12", "paced.arrivals=even", "paced.shape=0/2", "paced.most=2")
    run = run_of(truth, tmp_path, "paced", *options, levels=(1,))
    assert truth.most_together <= 2
    assert value(run, "paced.200_per_second.ttft_p90_ms") > 100
    assert value(run, "paced.200_per_second.sent_late_p99_ms") > 100


def test_nothing_that_fails_is_kept_or_timed(serve: Serve, tmp_path: Path) -> None:
    truth = serve(ttft=0.004, itl=0.0005, fault=lambda n, _body: "500" if n % 2 == 0 else "")
    options = ("paced.rates=80", "paced.seconds=0.25", "paced.arrivals=even", "paced.shape=0/8")
    run = run_of(truth, tmp_path, "paced", *options, levels=(2,), objective=Objective(ttft_ms=1_000))
    assert value(run, "paced.80_per_second.kept_percent") == pytest.approx(50, abs=4)
    kept = run.figure("paced.kept_up_per_second")
    assert kept is not None
    assert (kept.value, kept.why) == (None, "it kept up with none of these rates")
    assert run.state == "complete"


def test_independent_users_come_at_random_and_the_same_in_every_run() -> None:
    found = due(50, 100, "poisson")
    assert found == due(50, 100, "poisson")
    assert len(found) == pytest.approx(5_000, rel=0.05)
    gaps = [b - a for a, b in pairwise(found)]
    mean = sum(gaps) / len(gaps)
    spread = (sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) ** 0.5
    assert spread == pytest.approx(mean, rel=0.1), "as of an exponential distribution"
    assert due(4, 1, "even") == (0, 0.25, 0.5, 0.75)
    assert due(0.001, 1, "poisson") == (0,)


def test_rates_are_given_or_shares_of_the_closed_loop() -> None:
    standard = plan(Ask(STANDARD, "n"))
    assert (standard.rates, standard.shares, standard.seconds, standard.streams) == ((50, 80, 95), True, 30, 16)
    given = plan(Ask(QUICK, "n", options=Options({"paced.rates": "0.5,2", "paced.shape": "1,024/128"})))
    assert (given.rates, given.shares, given.seconds) == ((0.5, 2), False, 6)
    assert (given.settings["prompt_tokens"], given.settings["tokens"]) == (1024, 128)
    assert [given.name(rate) for rate in given.rates] == ["0_5_per_second", "2_per_second"]


@pytest.mark.parametrize("text", ["0", "fast", "-1", "1e9", ",".join(map(str, range(1, 14)))])
def test_a_rate_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"paced\.rates"):
        plan(Ask(QUICK, "n", options=Options({"paced.rates": text})))
