from __future__ import annotations

import pytest

from tools.measure.client import Batch, Reply, Share
from tools.measure.load import LOAD, LoadPlan, keeps, plan
from tools.measure.measurement import Ask, Objective, Taken
from tools.measure.profiles import STANDARD
from tools.measure.record import Figure


def reply(ttft: float = 0.05, per_token: float = 0.01, tokens: int = 256, kind: str = "ok") -> Reply:
    last = ttft + (tokens - 1) * per_token
    return Reply("", kind=kind, first=ttft, last=last, ended=last, chunks=tokens, tokens=tokens)


def figures(batches: list[list[Reply]], objective: Objective | None = None) -> dict[str, Figure]:
    taken = Taken()
    for replies in batches:
        wall = max((each.last for each in replies if each.ok), default=0.0)
        taken.batches.append(("16", 16, Batch(tuple(replies), 0.0, wall, Share())))
    found = LOAD.figures(LoadPlan((16,), len(batches), 256, objective or Objective(), "n"), taken)
    return {figure.key: figure for figure in found}


def test_the_standard_plan_has_three_levels_and_two_batches_of_256_tokens() -> None:
    standard = plan(Ask(STANDARD, "n"))
    assert (standard.levels, standard.batches, standard.tokens) == ((1, 4, 16), 2, 256)
    assert plan(Ask(STANDARD, "n", levels=(64, 256))).levels == (64, 256)


def test_throughput_is_tokens_over_the_batchs_wall_time_median_and_range_over_batches() -> None:
    found = figures([[reply()] * 16, [reply(per_token=0.02)] * 16])
    rate = found["load.16.tokens_per_second"]
    fast, slow = 16 * 256 / (0.05 + 255 * 0.01), 16 * 256 / (0.05 + 255 * 0.02)
    assert rate.samples == (pytest.approx(fast), pytest.approx(slow))
    assert (rate.value, rate.low, rate.high) == (pytest.approx((fast + slow) / 2), rate.samples[1], rate.samples[0])


def test_a_failed_reply_adds_neither_tokens_nor_time() -> None:
    found = figures([[*[reply()] * 15, reply(ttft=30.0, kind="stalled")]])
    assert found["load.16.tokens_per_second"].value == pytest.approx(15 * 256 / (0.05 + 255 * 0.01))
    assert found["load.16.ttft_p99_ms"].value == pytest.approx(50)
    assert found["load.16.ttft_p99_ms"].n == 15


def test_goodput_counts_what_kept_the_objective_of_all_that_was_asked() -> None:
    batch = [*[reply()] * 8, *[reply(ttft=0.2)] * 4, *[reply(per_token=0.03)] * 3, reply(kind="cut")]
    found = figures([batch], Objective(ttft_ms=100, tpot_ms=20))
    wall = 0.05 + 255 * 0.03
    assert found["load.16.kept_percent"].value == 50
    assert found["load.16.goodput_tokens_per_second"].value == pytest.approx(8 * 256 / wall)
    assert "load.16.kept_percent" not in figures([batch])


@pytest.mark.parametrize(
    ("objective", "kept"),
    [((None, None), True), ((50, None), True), ((49, None), False), ((None, 10.1), True), ((None, 9.9), False)],
)
def test_an_objective_is_kept_or_not(objective: tuple[float | None, float | None], kept: bool) -> None:
    assert keeps(reply(), Objective(*objective)) is kept


def test_no_two_requests_of_a_plan_have_the_same_first_line() -> None:
    todo = LoadPlan((1, 64), 2, 8, Objective(), "n")
    prompts = [
        each.prompt.split("\n")[0] for level in todo.levels for batch in (0, 1) for each in todo.requests(level, batch)
    ]
    assert len(prompts) == len(set(prompts)) == 130
