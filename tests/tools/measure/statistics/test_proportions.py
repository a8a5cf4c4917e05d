"""Newcombe's and Wilson's ranges against statsmodels 0.15.0, and the Jev article's printed ranges."""

import pytest

from clouds.errors import InvalidInput
from tools.measure.statistics.proportions import independent_difference, wilson


def test_wilson_is_statsmodels() -> None:
    assert wilson(37, 40) == (pytest.approx(0.8013576647568946), pytest.approx(0.9741639742254119))
    assert wilson(0, 40) == (pytest.approx(0.0, abs=1e-12), pytest.approx(0.08762160119728668))


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [
        ((3000, 3880, 2957, 3880), -0.029867430382089596, 0.007711762461826012),
        ((37, 40, 37, 40), -0.133058345946451, 0.133058345946451),
        ((0, 40, 40, 40), 0.8760843432299507, 1.0),
    ],
)
def test_newcombe_is_statsmodels(counts: tuple[int, int, int, int], low: float, high: float) -> None:
    found = independent_difference(*counts)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert "independent" in found.method


@pytest.mark.parametrize(
    ("build", "printed"),
    # Jev 77.3 % of 3,880; "by 1.1 points (-0.8 to +3.0)", "by 1.3 (-0.6 to +3.2)": as printed
    [(0.762, (1.1, -0.8, 3.0)), (0.760, (1.3, -0.6, 3.2))],
)
def test_the_ranges_against_jev_come_out_as_printed(build: float, printed: tuple[float, float, float]) -> None:
    found = independent_difference(build * 3880, 3880, 0.773 * 3880, 3880)
    assert tuple(round(100 * value, 1) for value in (found.estimate, found.low, found.high)) == printed


def test_the_third_range_against_jev_comes_out_within_the_rounding_of_its_inputs() -> None:
    # "75.3 %, 2.1 points behind with a range from 0.2 to 4.0": both shares are rounded to 0.1
    ranges = [
        independent_difference(build * 3880, 3880, jev * 3880, 3880)
        for build in (0.7525, 0.753, 0.7535)
        for jev in (0.7725, 0.773, 0.7735)
    ]
    assert any(
        (round(100 * found.estimate, 1), round(100 * found.low, 1), round(100 * found.high, 1)) == (2.1, 0.2, 4.0)
        for found in ranges
    )


@pytest.mark.parametrize(("right", "n"), [(1, 0), (-1, 5), (6, 5)])
def test_what_is_no_share_is_refused(right: int, n: int) -> None:
    with pytest.raises(InvalidInput, match="no share"):
        wilson(right, n)
