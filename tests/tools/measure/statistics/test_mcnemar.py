"""Expected values: statsmodels 0.15.0, contingency_tables.mcnemar(exact=True), unless an article is named."""

import pytest

from clouds.errors import InvalidInput
from tools.measure.statistics.mcnemar import Paired, exact_p, paired


@pytest.mark.parametrize(
    ("lost", "gained", "p"),
    [
        (3, 5, 0.7265625),  # the ladder article: "about three times in four"
        (15, 8, 0.21003961563110352),
        (7, 1, 0.0703125),
        (9, 4, 0.266845703125),
        (42, 4, 5.100190492157708e-09),
        (73, 31, 4.6569869697466e-05),
        (226, 0, 1.8546030753437107e-68),
        (0, 0, 1.0),
    ],
)
def test_the_exact_p_value_is_that_of_statsmodels(lost: int, gained: int, p: float) -> None:
    assert exact_p(lost, gained) == pytest.approx(p, rel=1e-9)
    assert exact_p(gained, lost) == exact_p(lost, gained)


def test_thousands_of_moved_items_do_not_overflow() -> None:
    assert exact_p(5_000, 5_000) == 1.0
    assert 0 < exact_p(4_800, 5_200) < 0.001


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not counts"):
        exact_p(-1, 3)


def test_two_runs_are_counted_cell_by_cell() -> None:
    first = [True] * 229 + [False] * 21
    second = [False] * 15 + [True] * 214 + [True] * 8 + [False] * 13
    found = paired(first, second)
    assert found == Paired(n=250, both_right=214, lost=15, gained=8, both_wrong=13, p_value=exact_p(15, 8))
    assert found.difference == pytest.approx((222 - 229) / 250)


def test_runs_of_different_lengths_are_no_pairs() -> None:
    with pytest.raises(InvalidInput, match="2 answers against 1"):
        paired([True], [True, False])
