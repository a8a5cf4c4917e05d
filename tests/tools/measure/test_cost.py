"""The tables of the article of 2026-09-26 (bf16 against 4-bit weights on one L4), from its own raw figures."""

from __future__ import annotations

import pytest

from tools.measure.cost import PriceUsed, cost_at, cost_of_run, per_million, rate_per_dollar

HOURLY = PriceUsed(usd_per_hour=1.1267, as_of="2026-09-26", source="article")
PER_TOKEN = PriceUsed(usd_per_million_input=0.5, usd_per_million_output=2.0)


@pytest.mark.parametrize(
    ("tokens_per_second", "printed"),
    [(45.6, 6.86), (85.35, 3.67), (171.6, 1.82), (328.7, 0.95), (619.1, 0.51), (1077.25, 0.29)],
)
def test_the_cost_table_comes_out_as_printed(tokens_per_second: float, printed: float) -> None:
    assert round(per_million(1.1267, tokens_per_second), 2) == printed
    assert cost_at(HOURLY, tokens_per_second, 3.0) == per_million(1.1267, tokens_per_second)


def test_the_spot_table_of_the_article_of_2026_10_27_comes_out_as_printed() -> None:
    rows = [(133.4, 1.75), (217.6, 1.07), (129.7, 1.80), (918.9, 0.25), (778.1, 0.30)]
    assert [(rate, round(per_million(0.8393, rate), 2)) for rate, _ in rows] == rows


def test_the_inverse_is_tokens_per_second_for_a_dollar_an_hour() -> None:
    assert rate_per_dollar(1.1267, 1077.25) == pytest.approx(956.11, abs=0.01)


def test_a_price_per_token_counts_the_prompt_that_came_with_each_output_token() -> None:
    assert cost_at(PER_TOKEN, 100.0, 0.25) == 2.125
    assert cost_at(PER_TOKEN, None, 0.25) == 2.125


def test_what_a_run_cost_is_time_or_tokens() -> None:
    assert cost_of_run(HOURLY, 250.0, 1, 1) == pytest.approx(0.0782, abs=1e-4)
    assert cost_of_run(PER_TOKEN, 250.0, 1_000_000, 500_000) == 1.5


def test_an_unknown_price_or_rate_gives_no_cost_and_never_zero() -> None:
    assert cost_at(None, 100.0, 0.0) is None
    assert cost_at(PriceUsed(), 100.0, 0.0) is None
    assert cost_at(HOURLY, None, 0.0) is None
    assert cost_of_run(None, 1.0, 1, 1) is None
    assert cost_of_run(PriceUsed(), 1.0, 1, 1) is None
