"""Base, change, base again: a change is judged against every measurement of the base, and so is its cost."""

from __future__ import annotations

import pytest

from tests.tools.measure.made import batch, engine, made, part, rate, request, warned
from tools.measure.comparing.compare import Comparison, compare
from tools.measure.comparing.report import headline
from tools.measure.comparing.rows import Row
from tools.measure.cost import PriceUsed
from tools.measure.record import Run

SLOTS = engine("gemma", settings={"slots": 2})
RATE, COST = "load.1.tokens_per_second", "load.1.usd_per_million"


def at_one(name: str, rates: tuple[float, float], **fields: object) -> Run:
    return made(name, None, {1: rates}, **warned("noisy_host"), **fields)


def aba(base: tuple[float, float], other: tuple[float, float], again: tuple[float, float]) -> Comparison:
    return compare([at_one("a", base), at_one("b", other, engine=SLOTS), at_one("a-again", again)])


def row(found: Comparison, key: str = RATE) -> Row:
    known = found.versus[0].row(key)
    assert known is not None
    return known


def test_what_is_beyond_the_first_base_only_is_not_judged() -> None:
    found = row(aba((36.0, 36.04), (50.5, 50.7), (48.6, 48.8)))
    assert found.verdict == "cannot say"
    assert found.why == "the base itself moved by 35 % when it was measured again"
    assert (round(found.low or 0, 2), round(found.high or 0, 2)) == (1.03, 1.41)
    # the failing twin: a change that is beyond both bases by more than what lies between them
    assert row(aba((36.0, 36.04), (90.5, 90.7), (48.6, 48.8))).verdict == "better"
    assert row(aba((36.0, 36.04), (20.0, 20.2), (48.6, 48.8))).verdict == "worse"


def test_a_base_that_hardly_moved_leaves_a_small_change_within_noise() -> None:
    assert row(aba((50.0, 50.2), (51.0, 51.1), (50.9, 51.2))).verdict == "within noise"


def test_a_cost_ends_as_the_throughput_that_it_comes_from() -> None:
    for other in ((50.5, 50.7), (90.5, 90.7), (20.0, 20.2)):
        found = aba((36.0, 36.04), other, (48.6, 48.8))
        assert row(found, COST).verdict == row(found).verdict
        assert {each.key for each in found.repeats[0].rows} == {RATE, COST}


def test_a_repeat_at_another_price_is_no_drift_of_the_cost() -> None:
    dear = PriceUsed(usd_per_hour=99.0)
    runs = [
        at_one("a", (50.0, 50.2)),
        at_one("b", (90.0, 90.2), engine=SLOTS),
        at_one("a-again", (50.0, 50.2), price=dear),
    ]
    moved = {each.key: each.drift_percent for each in compare(runs).repeats[0].rows}
    assert moved == pytest.approx({RATE: 0.0, COST: 0.0})


def test_a_steady_look_without_the_base_again_says_nothing_on_a_machine_that_was_not_steady() -> None:
    found = compare([at_one("a", (50.0, 50.2)), at_one("b", (50.0, 50.2), engine=SLOTS)])
    assert (row(found).verdict, row(found, COST).verdict) == ("cannot say", "cannot say")


def failing(name: str, failed: int, asked: int = 40, **fields: object) -> Run:
    """Its requests at 1 all came; at 4 so many failed."""
    lost = [request(kind="http_5xx") for _ in range(failed)]
    batches = (batch("1", 1, [request()] * 4), batch("4", 4, [*lost, *[request()] * (asked - failed)]))
    figures = [rate(f"load.{n}.tokens_per_second", f"{n} at once, tokens/s", 50.0, (50.0, 50.2)) for n in (1, 4)]
    errors = {"http_5xx": failed} if failed else {}
    load = part("load", figures, batches=batches, errors=errors, requests=asked + 4)
    return made(name, **fields).model_copy(update={"parts": (load,)})  # type: ignore[arg-type]


def test_a_level_of_which_requests_failed_is_not_judged_and_the_headline_counts_them() -> None:
    found = compare([failing("a", 0), failing("b", 4, engine=SLOTS)])
    assert row(found).verdict == "within noise"
    assert (row(found, "load.4.tokens_per_second").verdict, row(found, "load.4.tokens_per_second").why) == (
        "cannot say",
        "4 of 40 requests of b failed",
    )
    assert headline(found).endswith(" Note: b had 4 of 44 requests fail.")
    # few enough to be judged, and still in the headline
    spared = compare([failing("a", 0), failing("b", 1, engine=SLOTS)])
    assert row(spared, "load.4.tokens_per_second").verdict == "within noise"
    assert headline(spared).endswith(" Note: b had 1 of 44 requests fail.")
    assert "Note" not in headline(compare([failing("a", 0), failing("b", 0, engine=SLOTS)]))


def test_a_run_that_is_not_whole_is_said_so_in_the_headline() -> None:
    half = made("b", 50.0, engine=SLOTS, state="incomplete", missing=("load",))
    assert headline(compare([made("a", 50.0), half])).endswith(" Note: b is incomplete.")
