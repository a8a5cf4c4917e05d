from __future__ import annotations

import pytest

from tools.measure.client import Batch, Reply, Share
from tools.measure.decode import DECODE, DecodePlan, plan
from tools.measure.measurement import Ask, Taken
from tools.measure.profiles import QUICK, STANDARD
from tools.measure.record import Figure

PLAN = DecodePlan(16, 512, 5, "n")


def reply(tokens: int, ttft: float, per_token: float, kind: str = "ok") -> Reply:
    last = ttft + (tokens - 1) * per_token
    gaps = (per_token,) * (tokens - 1)
    return Reply("", kind=kind, sent=0.0, first=ttft, last=last, ended=last, gaps=gaps, chunks=tokens, tokens=tokens)


def taken(shorts: list[Reply], longs: list[Reply]) -> Taken:
    found = Taken()
    for short, long in zip(shorts, longs, strict=True):
        for label, each in (("short", short), ("long", long)):
            found.batches.append((label, 1, Batch((each,), 0.0, each.seconds, Share())))
    return found


def figures(shorts: list[Reply], longs: list[Reply]) -> dict[str, Figure]:
    return {figure.key: figure for figure in DECODE.figures(PLAN, taken(shorts, longs))}


def test_the_standard_plan_is_that_of_the_articles_and_the_quick_one_is_smaller() -> None:
    assert plan(Ask(STANDARD, "n")).settings == {"short_tokens": 16, "long_tokens": 512, "pairs": 5, "at_once": 1}
    assert plan(Ask(QUICK, "n")).settings == {"short_tokens": 8, "long_tokens": 72, "pairs": 3, "at_once": 1}


def test_the_decode_rate_cancels_whatever_a_call_costs() -> None:
    """The article's bf16 endpoint: 51.3 tokens/s with 0.633 s of fixed cost in every call."""
    step = 1 / 51.3
    found = figures([reply(16, 0.633 + step, step)] * 5, [reply(512, 0.633 + step, step)] * 5)
    assert found["decode.tokens_per_second"].value == pytest.approx(51.3)
    assert found["decode.itl_tokens_per_second"].value == pytest.approx(51.3)
    assert found["decode.fixed_cost_seconds"].value == pytest.approx(0.633)
    assert found["decode.long_seconds"].value == pytest.approx(0.633 + 512 / 51.3)
    assert found["decode.ttft_p50_ms"].value == pytest.approx(1e3 * (0.633 + step))


def test_minimum_and_maximum_stand_beside_every_median() -> None:
    longs = [reply(512, 0.1, step) for step in (0.0100, 0.0102, 0.0101, 0.0103, 0.0099)]
    found = figures([reply(16, 0.1, 0.01)] * 5, longs)
    rate = found["decode.tokens_per_second"]
    assert (len(rate.samples), rate.n) == (5, 5)
    assert (rate.low, rate.high) == (min(rate.samples), max(rate.samples))
    assert rate.low == pytest.approx(496 / (511 * 0.0103 - 15 * 0.01))
    slow = found["decode.long_seconds"]
    assert (slow.low, slow.high) == (pytest.approx(0.1 + 511 * 0.0099), pytest.approx(0.1 + 511 * 0.0103))


def test_a_failed_reply_is_in_no_figure_and_two_good_pairs_are_needed() -> None:
    dead = reply(512, 9.0, 9.0, kind="cut")
    two = figures([reply(16, 0.1, 0.01)] * 5, [dead, dead, dead, *[reply(512, 0.1, 0.01)] * 2])
    assert two["decode.tokens_per_second"].value == pytest.approx(100)
    assert two["decode.ttft_p99_ms"].value == pytest.approx(100)
    one = figures([reply(16, 0.1, 0.01)] * 5, [dead] * 4 + [reply(512, 0.1, 0.01)])
    assert one["decode.tokens_per_second"].value is None
    assert one["decode.tokens_per_second"].why == "1 good pairs, at least 2 are needed"


def test_a_long_reply_that_was_not_slower_gives_no_rate() -> None:
    found = figures([reply(16, 5.0, 0.01)] * 5, [reply(512, 0.0, 0.001)] * 5)
    assert found["decode.tokens_per_second"].value is None


def test_every_request_of_the_plan_asks_for_a_fixed_length_with_a_prompt_of_its_own() -> None:
    requests = [PLAN.request(kind, pair) for pair in range(5) for kind in ("short", "long")]
    assert [request.max_tokens for request in requests] == [16, 512] * 5
    assert all(request.fixed_length for request in requests)
    assert len({request.prompt.split("\n")[0] for request in requests}) == 10
