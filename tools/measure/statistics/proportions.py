"""Two shares that are no pairs: only where one side's answers item by item are not known, and the result says so."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

from clouds.errors import InvalidInput
from tools.measure.statistics.words import LEVEL, Interval

METHOD = "independent proportions (Newcombe): the items are not paired, so this range is wider than a paired one"


def wilson(right: float, n: int) -> tuple[float, float]:
    """The range of one share. It stays inside 0 and 1, and 0 of 40 does not claim certainty."""
    if n <= 0 or not 0 <= right <= n:
        raise InvalidInput("right", f"{right} of {n} is no share", fix="Give a count between 0 and a positive n.")
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    share = right / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return middle - reach, middle + reach


def independent_difference(first_right: float, first_n: int, second_right: float, second_n: int) -> Interval:
    """Share right of the second minus that of the first. Items that share a passage would widen it further."""
    first_low, first_high = wilson(first_right, first_n)
    second_low, second_high = wilson(second_right, second_n)
    first, second = first_right / first_n, second_right / second_n
    change = second - first
    return Interval(
        estimate=change,
        low=change - sqrt((second - second_low) ** 2 + (first_high - first) ** 2),
        high=change + sqrt((second_high - second) ** 2 + (first - first_low) ** 2),
        method=METHOD,
        n=min(first_n, second_n),
    )
