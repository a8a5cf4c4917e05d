from __future__ import annotations

import random
import statistics

import pytest

from tools.measure.stats import percentile, spread


def test_a_percentile_lies_between_the_two_closest_ranks() -> None:
    assert [percentile([40, 10, 20, 30], q) for q in (0, 0.5, 0.9, 1)] == [10, 25, pytest.approx(37), 40]
    assert percentile([7], 0.99) == 7


@pytest.mark.parametrize("count", [2, 3, 10, 257])
def test_percentiles_are_the_inclusive_quantiles_of_the_standard_library(count: int) -> None:
    source = random.Random(count)  # noqa: S311 - numbers that repeat
    values = [source.uniform(-5, 5) for _ in range(count)]
    inclusive = statistics.quantiles(values, n=100, method="inclusive")
    assert [percentile(values, q / 100) for q in range(1, 100)] == pytest.approx(inclusive)


def test_a_spread_is_the_range_over_the_median() -> None:
    assert spread([90, 100, 110]) == pytest.approx(0.2)
    assert spread([5]) == 0


def test_nothing_has_neither() -> None:
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)
    with pytest.raises(ValueError, match="no values"):
        spread([])
