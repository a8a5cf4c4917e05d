"""Ratios of passes: Welch's range against scipy, extremes below five passes, and no range for one."""

import pytest

from clouds.errors import InvalidInput
from tools.measure.statistics.ratios import Ratio, ratio_of_passes
from tools.measure.statistics.student import t_cdf, t_quantile

BASE = [51.3, 51.1, 51.5, 51.2, 51.4]
OTHER = [105.1, 104.7, 105.6, 105.0, 105.3]


@pytest.mark.parametrize(
    ("share", "freedom", "value"),  # scipy 1.17.1, stats.t.ppf
    [
        (0.975, 1, 12.706204736174694),
        (0.975, 4, 2.7764451051977934),
        (0.975, 5.5, 2.501858617589239),
        (0.95, 8, 1.8595480375308973),
        (0.975, 120, 1.9799304050824402),
    ],
)
def test_quantiles_of_t_are_scipys(share: float, freedom: float, value: float) -> None:
    assert t_quantile(share, freedom) == pytest.approx(value, rel=1e-9)
    assert t_cdf(value, freedom) == pytest.approx(share, rel=1e-9)


def test_five_passes_a_side_have_a_range_and_their_extremes_beside_it() -> None:
    found = ratio_of_passes(BASE, OTHER)
    assert found.ratio == pytest.approx(105.1 / 51.3)
    # scipy: exp of stats.ttest_ind(log, log, equal_var=False).confidence_interval(0.95)
    assert (found.low, found.high) == (pytest.approx(2.040145620069022), pytest.approx(2.0589215415818227))
    assert (found.minimum, found.maximum) == (104.7 / 51.5, 105.6 / 51.1)
    assert not found.overlap


def test_below_five_passes_the_range_is_minimum_and_maximum() -> None:
    assert ratio_of_passes([10.0, 12.0], [11.0, 24.0, 22.0]) == Ratio(
        ratio=2.0,
        low=11 / 12,
        high=2.4,
        minimum=11 / 12,
        maximum=2.4,
        overlap=True,
        n_base=2,
        n_other=3,
        method="minimum and maximum of 2 and 3 passes",
    )


def test_one_pass_has_no_range() -> None:
    found = ratio_of_passes([10.0], [20.0, 21.0])
    assert (found.low, found.high, found.method) == (None, None, "no range: a side has one pass")


def test_passes_without_any_spread_give_a_range_of_no_width() -> None:
    found = ratio_of_passes([2.0] * 5, [3.0] * 5)
    assert (found.low, found.high) == (pytest.approx(1.5), pytest.approx(1.5))


@pytest.mark.parametrize(("base", "other"), [([], [1.0]), ([1.0], [0.0]), ([-1.0, 2.0], [1.0])])
def test_a_failed_pass_is_never_part_of_a_ratio(base: list[float], other: list[float]) -> None:
    with pytest.raises(InvalidInput, match="positive passes"):
        ratio_of_passes(base, other)
