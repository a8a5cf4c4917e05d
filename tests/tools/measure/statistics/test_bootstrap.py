"""Paired bootstrap: ranges against scipy's and against the articles, groups, and what must be refused."""

import pytest

from clouds.errors import InvalidInput
from tools.measure.statistics.bootstrap import paired_difference, paired_ratio
from tools.measure.statistics.mcnemar import exact_p


def moved(n: int, lost: int, gained: int) -> tuple[list[float], list[float]]:
    """Answers of two runs over n items of which `lost` and `gained` moved."""
    first = [1.0] * lost + [0.0] * gained + [1.0] * (n - lost - gained)
    second = [0.0] * lost + [1.0] * gained + [1.0] * (n - lost - gained)
    return first, second


def test_the_range_of_a_difference_is_scipys() -> None:
    # scipy.stats.bootstrap(percentile, 20,000 draws) of 227 zeros, 15 times -1, 8 times +1: (-0.064, 0.008)
    found = paired_difference(*moved(250, 15, 8))
    assert found.estimate == pytest.approx(-0.028)
    assert (found.low, found.high) == (pytest.approx(-0.064, abs=0.0041), pytest.approx(0.008, abs=0.0041))
    assert (found.n, found.groups) == (250, None)


def test_the_gsm8k_range_of_the_two_small_gpus_article_comes_out() -> None:
    # +0.0318 (+0.0167 to +0.0470) over 1,319 questions; how many moved is not printed, 42 more right is
    ranges = {
        (round(found.low, 4), round(found.high, 4))
        for lost in range(29, 35)
        for found in [paired_difference(*moved(1319, lost, lost + 42))]
        if round(found.estimate, 4) == 0.0318
    }
    assert (0.0167, 0.0470) in ranges


def test_the_same_seed_gives_the_same_range_and_another_seed_another() -> None:
    first = [0.0] * 20
    second = [index**0.5 for index in range(20)]
    assert paired_difference(first, second) == paired_difference(first, second)
    assert paired_difference(first, second, seed=1).low != paired_difference(first, second, seed=2).low


def test_with_few_moved_items_the_bootstrap_claims_what_mcnemar_does_not() -> None:
    found = paired_difference(*moved(250, 7, 1))
    assert found.high < 0
    assert exact_p(7, 1) > 0.05


def test_items_that_share_a_group_widen_the_range() -> None:
    first, second = [0.0] * 200, [1.0] * 60 + [0.0] * 140
    alone = paired_difference(first, second)
    grouped = paired_difference(first, second, groups=[index // 20 for index in range(200)])
    assert grouped.estimate == alone.estimate == pytest.approx(0.3)
    assert grouped.groups == 10
    assert grouped.high - grouped.low > 3 * (alone.high - alone.low)


def test_groups_of_one_item_change_nothing() -> None:
    first, second = moved(250, 15, 8)
    assert paired_difference(first, second, groups=range(250)).low == paired_difference(first, second).low


def test_a_ratio_of_sums_has_its_range() -> None:
    base = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]
    found = paired_ratio(base, [2 * value for value in base])
    assert (found.estimate, found.low, found.high) == (2.0, 2.0, 2.0)
    uneven = paired_ratio(base, [11.0, 19.0, 33.0, 38.0, 55.0, 57.0])
    assert uneven.low < uneven.estimate < uneven.high


@pytest.mark.parametrize(
    ("first", "second", "groups"),
    [([1.0], [1.0, 0.0], None), ([], [], None), ([1.0, 0.0], [1.0, 0.0], ["one group name"])],
)
def test_what_is_not_paired_is_refused(first: list[float], second: list[float], groups: list[str] | None) -> None:
    with pytest.raises(InvalidInput):
        paired_difference(first, second, groups=groups)


def test_a_ratio_over_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="positive"):
        paired_ratio([0.0, 1.0], [1.0, 1.0])
