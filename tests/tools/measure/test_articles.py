"""Tables of the articles from their own raw figures, by the code that makes ours: as printed, or within rounding.

As printed: our number, rounded like theirs, is theirs. Within rounding: their number lies inside what the rounding of
the printed inputs allows, and not every input inside it would give it.
"""

from __future__ import annotations

import pytest

from clouds.enginelog import memory
from tools.measure.client import Reply
from tools.measure.cost import per_million
from tools.measure.longcontext import item
from tools.measure.statistics.ratios import ratio_of_passes

GIB = 1024**3


def ratio(base: float, other: float) -> float:
    return ratio_of_passes([base], [other]).ratio


def within(low: float, printed: float, high: float, digits: int) -> bool:
    half: float = 0.5 * 10**-digits
    return low - half <= printed <= high + half


# Inference on Google Cloud, 2026-10-25


def test_the_memory_of_one_v5e_chip_adds_up_as_printed() -> None:
    assert round(0.92 * 15.75, 2) == 14.49
    assert round(14.49 - 8.97, 2) == 5.52
    assert round(15.75 - 14.51, 2) == 1.24


def test_what_a_token_costs_in_the_kv_cache_comes_out_as_printed() -> None:
    assert memory.per_token(1, (256, 1, 2, 256), "bfloat16") == 1_024
    assert memory.per_token(15, (256, 1, 2, 256), "bfloat16") == 15_360
    assert 1_255 * 256 == 321_280
    assert 131_072 * 15_360 / GIB == 1.875


def test_full_length_requests_at_once_come_out_as_printed() -> None:
    rows = [
        (321_280, 8_192, 39.22),
        (321_280, 131_072, 2.45),
        (723_484, 8_192, 88.32),
        (867_999, 8_192, 105.96),
        (17_990, 2_048, 8.78),
    ]
    assert [(tokens, context, round(tokens / context, 2)) for tokens, context, _ in rows] == rows


@pytest.mark.parametrize(
    ("tokens", "seconds", "printed"),
    [(7_949, 0.61, 13_110.4), (124_949, 9.53, 13_116.9), (124_949, 9.54, 13_102.3), (124_949, 9.41, 13_274.6)],
)
def test_prompt_rates_come_out_within_the_rounding_of_their_seconds(
    tokens: int, seconds: float, printed: float
) -> None:
    rates = []
    for first in (seconds + 0.005, seconds - 0.005):
        reply = Reply("", first=first, last=first, tokens=1, chunks=1, prompt_tokens=tokens)
        rates.append(float(item(tokens, 50, "x", reply, None).facts["prompt_tokens_per_second"] or 0))
    assert within(rates[0], printed, rates[1], 1)


def test_a_long_prompt_fills_the_share_of_the_kv_cache_that_is_printed() -> None:
    assert 38 <= 100 * 124_949 / 321_280 <= 39


@pytest.mark.parametrize(("rate", "terabytes", "printed"), [(120, 0.859, 140), (199, 1.638, 122), (46, 0.300, 154)])
def test_rates_per_bandwidth_come_out_within_the_rounding_of_their_rates(
    rate: float, terabytes: float, printed: int
) -> None:
    """199 / 1.638 is 121.5 and 46 / 0.3 is 153.3: both need a rate above the printed one."""
    assert within((rate - 0.5) / terabytes, printed, (rate + 0.5) / terabytes, 0)


def test_the_bandwidth_that_google_quotes_comes_out_as_printed() -> None:
    assert round(800 * GIB / 1e9) == 859


@pytest.mark.parametrize(("part", "whole", "printed"), [(329, 404, 81), (738, 814, 91), (857 - 497, 857, 42)])
def test_shares_of_the_start_come_out_as_printed(part: int, whole: int, printed: int) -> None:
    assert round(100 * part / whole) == printed


def test_one_v6e_against_one_l4_comes_out_as_printed() -> None:
    assert round(ratio(393.7, 1_283.3), 1) == 3.3
    assert round(ratio(17_990, 53_888)) == 3


# QAT 26B on one v6e, 2026-09-26


def test_what_is_left_of_a_v6e_comes_out_within_rounding() -> None:
    """28.74 - 17.43 is 11.31, printed 11.32: both are rounded."""
    assert round(28.74 - 27.99, 2) == 0.75
    assert within(28.735 - 17.435, 11.32, 28.745 - 17.425, 2)


def test_the_parts_of_the_weights_add_up_within_rounding() -> None:
    """14.10 + 1.38 + 1.07 + 0.86 is 17.41, and 17.43 is in use: four roundings and one allow 0.025."""
    parts = (14.10, 1.38, 1.07, 0.86)
    assert within(sum(parts) - 0.02, 17.43, sum(parts) + 0.02, 2)
    assert round(sum(parts), 2) != 17.43


def test_the_suite_s_differences_and_the_room_for_requests_come_out_as_printed() -> None:
    assert [round(each - 76.4, 1) for each in (76.0, 75.3)] == [-0.4, -1.1]
    assert 53_888 // 2_048 == 26


# QAT on SageMaker, 2026-09-26


def test_the_parts_of_the_qat_file_have_the_shares_that_are_printed() -> None:
    parts = {4.698: 56.5, 1.611: 19.4, 1.056: 12.7, 0.614: 7.4, 0.337: 4.1}
    assert {size: round(100 * size / sum(parts), 1) for size in parts} == parts


def test_the_table_of_the_two_endpoints_comes_out_as_printed() -> None:
    rows = [(9.75, 8.01, 0.82), (723_484, 867_999, 1.2), (51.3, 105.1, 2.05), (45.6, 85.35, 1.87), (171.6, 328.7, 1.92)]
    assert all(round(ratio(base, other), 2) == printed for base, other, printed in rows)
    assert round(ratio(619.1, 1_077.25), 2) == 1.74
    assert round(100 * (1 - 8.01 / 9.75)) == 18


# E2B and E4B on an L4 and two small GPUs, 2026-10-27


def test_the_l4_over_the_3050_comes_out_as_printed() -> None:
    plain = sorted(ratio(base, other) for base, other in ((108.2, 133.4), (58.3, 74.0)))
    best = sorted(ratio(base, other) for base, other in ((151.2, 217.6), (100.0, 129.7)))
    many = sorted(ratio(base, other) for base, other in ((569.5, 918.9), (472.4, 778.1)))
    assert [[round(each, 2) for each in some] for some in (plain, best, many)] == [
        [1.23, 1.27],
        [1.30, 1.44],
        [1.61, 1.65],
    ]


def test_the_3050_as_a_share_of_the_l4_comes_out_as_printed() -> None:
    plain = sorted(100 * ratio(l4, small) for small, l4 in ((108.2, 133.4), (58.3, 74.0)))
    best = sorted(100 * ratio(l4, small) for small, l4 in ((151.2, 217.6), (100.0, 129.7)))
    assert [[round(each) for each in some] for some in (plain, best)] == [[79, 81], [69, 77]]


def test_the_larger_model_with_a_drafter_against_the_smaller_without_comes_out_as_printed() -> None:
    assert round(ratio(133.4, 129.7), 3) == 0.972
    assert [round(four - two, 4) for two, four in ((0.8992, 0.9310), (0.8984, 0.9287))] == [0.0318, 0.0303]


def test_many_users_pay_a_sixth_to_a_seventh_as_printed() -> None:
    one = [per_million(0.8393, rate) for rate in (133.4, 129.7)]
    many = [per_million(0.8393, rate) for rate in (918.9, 778.1)]
    assert [round(alone / shared) for alone, shared in zip(one, many, strict=True)] == [7, 6]


@pytest.mark.parametrize(("peak", "printed"), [(6_774, 29)])
def test_the_share_of_the_l4_in_use_comes_out_as_printed(peak: int, printed: int) -> None:
    assert round(100 * peak / 23_034) == printed
