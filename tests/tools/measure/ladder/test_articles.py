"""The articles' tables, recomputed by our own functions from the raw figures that they print.

Each test says whether the table comes out as printed, or within what the rounding of its printed inputs allows.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tools.measure.cost import PriceUsed, cost_of_run, per_million, rate_per_dollar
from tools.measure.ladder.across import across
from tools.measure.ladder.counts import count, grid
from tools.measure.ladder.records import Ladder, Rung, ladder
from tools.measure.statistics.drift import drift
from tools.measure.statistics.kinds import geometric_mean
from tools.measure.statistics.mcnemar import exact_p
from tools.measure.statistics.ratios import ratio_of_passes

RUNGS = ("BF16", "F16", "Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q4_0", "Q3_K_M", "Q2_K")
RIGHT = {
    "T4": (229, 229, 227, 229, 231, 224, 222, 191, 3),
    "L4": (229, 229, 228, 227, 228, 221, 220, 186, 6),
    "GTX 1650": (229, 228, 229, 226, 226, 222, 216, 183, 5),
    "RTX 3050": (232, 232, 226, 227, 226, 221, 218, 191, 3),
}
LOST = {
    "T4": (0, 1, 4, 4, 3, 9, 15, 42, 226),
    "L4": (0, 1, 3, 6, 6, 14, 16, 45, 225),
    "GTX 1650": (0, 2, 2, 7, 6, 12, 19, 49, 225),
    "RTX 3050": (0, 1, 7, 8, 8, 14, 16, 44, 229),
}
SPEED = {
    "T4": (40.0, 39.6, 64.3, 70.8, 78.7, 84.1, 93.6, 74.2, 74.0),
    "L4": (50.1, 50.0, 83.0, 98.1, 107.7, 118.7, 125.6, 111.1, 139.5),
    "GTX 1650": (9.2, 9.6, 45.9, 57.2, 61.9, 66.5, 70.8, 55.9, 62.2),
    "RTX 3050": (40.3, 40.3, 67.8, 75.3, 82.2, 91.5, 99.7, 64.2, 95.0),
}


def built(machine: str, make_rung: Callable[..., Rung]) -> Ladder:
    """A ladder of 250 questions with the printed right and lost counts; gained follows from them."""
    base = RIGHT[machine][0]
    ids = [f"q{index}" for index in range(250)]
    rungs = []
    for name, right, lost, speed in zip(RUNGS, RIGHT[machine], LOST[machine], SPEED[machine], strict=True):
        gained = right - base + lost
        have = ids[lost:base] + ids[base : base + gained]
        rungs.append(make_rung(name, have, ids, tokens_per_second=speed))
    return ladder(machine, tuple(rungs), {"accelerator": machine})


@pytest.mark.parametrize("machine", RIGHT)
def test_every_score_of_the_ladders_is_base_minus_lost_plus_gained_as_printed(
    machine: str, make_rung: Callable[..., Rung]
) -> None:
    rows = count(built(machine, make_rung)).rungs
    assert tuple(row.right for row in rows) == RIGHT[machine]
    assert tuple(row.lost for row in rows) == LOST[machine]
    assert all(row.right == RIGHT[machine][0] - row.lost + row.gained for row in rows)
    assert all(row.gained >= 0 for row in rows)


def test_the_gained_column_of_the_second_article_comes_out_as_printed(make_rung: Callable[..., Rung]) -> None:
    rows = count(built("L4", make_rung)).rungs
    assert [row.gained for row in rows] == [0, 1, 2, 4, 5, 6, 7, 2, 2]


def test_229_minus_15_plus_8_is_222(t4: Ladder) -> None:
    row = next(row for row in count(t4).rungs if row.rung == "Q4_0")
    assert (count(t4).rungs[0].right, row.lost, row.gained, row.right) == (229, 15, 8, 222)
    assert grid(t4)["Q4_0"].count("r") == 222


def test_the_speeds_of_two_cards_divide_as_printed(make_rung: Callable[..., Rung]) -> None:
    ratios = [round(l4 / t4, 2) for t4, l4 in zip(SPEED["T4"], SPEED["L4"], strict=True)]
    assert ratios == [1.25, 1.26, 1.29, 1.39, 1.37, 1.41, 1.34, 1.50, 1.89]
    own = [round(row.times_base_speed or 0, 2) for row in count(built("L4", make_rung)).rungs]
    assert own == [1.00, 1.00, 1.66, 1.96, 2.15, 2.37, 2.51, 2.22, 2.78]


def test_q5_k_m_is_121_to_135_hundredths_of_q8_0_on_every_card_as_printed() -> None:
    ratios = [ratio_of_passes([speeds[2]], [speeds[4]]).ratio for speeds in SPEED.values()]
    assert (round(min(ratios), 2), round(max(ratios), 2)) == (1.21, 1.35)


def test_bytes_as_shares_of_the_base_come_out_as_printed() -> None:
    base = 9_311_305_152
    assert [round(100 * size / base, 1) for size in (3_360_161_216, 3_201_351_104)] == [36.1, 34.4]


def test_five_against_three_happens_about_three_times_in_four() -> None:
    assert round(exact_p(3, 5), 3) == 0.727


def test_the_l4_ladder_cost_what_is_printed() -> None:
    # 4 hours 3 minutes at $0.8048 an hour: "about $3.26"
    assert round(cost_of_run(PriceUsed(usd_per_hour=0.8048), 4 * 3600 + 3 * 60, 0, 0) or 0, 2) == 3.26


def test_no_more_is_lost_on_all_than_on_any_of_four_machines(make_rung: Callable[..., Rung]) -> None:
    found = across([built(machine, make_rung) for machine in RIGHT])
    for row, printed in zip(found.rungs, zip(*LOST.values(), strict=True), strict=True):
        assert tuple(row.lost.values()) == printed
        assert row.lost_on_all <= min(printed)
    assert found.cause == "One setting differs: accelerator."


def test_costs_of_the_small_models_on_spot_come_out_as_printed() -> None:
    rows = [(133.4, 1.75), (217.6, 1.07), (129.7, 1.80), (918.9, 0.25), (778.1, 0.30)]
    assert [(rate, round(per_million(0.8393, rate), 2)) for rate, _ in rows] == rows


@pytest.mark.parametrize(
    ("price", "rate", "printed"), [(1.35, 1283, 0.29), (2.97, 1283, 0.64), (1.35, 668, 0.56), (2.97, 668, 1.23)]
)
def test_costs_of_the_repacked_model_come_out_within_the_rounding_of_its_rates(
    price: float, rate: int, printed: float
) -> None:
    low, high = per_million(price, rate + 0.5), per_million(price, rate - 0.5)
    assert low - 0.005 <= printed <= high + 0.005


@pytest.mark.parametrize(
    ("base", "other", "printed"),
    [(133.4, 185.5, 1.391), (133.4, 211.0, 1.582), (133.4, 217.6, 1.631), (133.4, 196.6, 1.474), (74.0, 129.7, 1.754)],
)
def test_drafter_ratios_come_out_within_the_rounding_of_their_rates(base: float, other: float, printed: float) -> None:
    low, high = (other - 0.05) / (base + 0.05), (other + 0.05) / (base - 0.05)
    assert low - 0.0005 <= printed <= high + 0.0005


def test_the_base_that_ran_last_drifted_by_less_than_any_drafter_gained() -> None:
    found = drift([133.4], [185.5], [133.4 * (1 - 0.007)])
    assert found.beyond
    assert round(100 * found.drift, 1) == -0.7


def test_the_ratio_of_the_kv_caches_and_of_the_throughputs_comes_out_as_printed() -> None:
    assert round(53_888 / 3_456, 1) == 15.6
    assert round(1283.3 / 668, 2) == 1.92


def test_a_geometric_mean_lies_between_the_best_and_the_worst_kind() -> None:
    # code 2.39 x and stories 1.31 x with three drafted tokens, 1.631 x over six kinds
    assert 1.31 < geometric_mean([2.39, 1.31]) < 2.39
    rest = 1.631**6 / (2.39 * 1.31)
    assert 1.31**4 < rest < 2.39**4


@pytest.mark.parametrize(
    ("price", "rates"),
    [(1.99, {1: 153, 64: 2713}), (0.58, {1: 208, 64: 1972}), (2.97, {1: 67, 64: 719})],
)
def test_tokens_per_dollar_is_the_inverse_of_dollars_per_token(price: float, rates: dict[int, int]) -> None:
    for printed in rates.values():
        rate = printed * price
        assert rate_per_dollar(price, rate) == pytest.approx(printed)
        assert per_million(price, rate) == pytest.approx(1e6 / 3600 / printed)
