"""Ratios of repeated passes: few numbers a side, so a t-range of logarithms, with the extremes beside it."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, sqrt
from statistics import median, stdev

from clouds.errors import InvalidInput
from clouds.models import Record
from tools.measure.statistics.student import t_quantile
from tools.measure.statistics.words import LEVEL

ENOUGH = 5
"""Passes a side from which a 95 % range is computed; below it only minimum and maximum are honest."""


class Ratio(Record):
    """Median of the second over median of the first; `method` says what `low` and `high` are."""

    ratio: float
    low: float | None
    high: float | None
    minimum: float
    """The slowest second pass over the fastest first one."""
    maximum: float
    overlap: bool
    """False when every pass of one side lies beyond every pass of the other."""
    n_base: int
    n_other: int
    method: str


def ratio_of_passes(base: Sequence[float], other: Sequence[float]) -> Ratio:
    """How much the second is of the first. With one pass on a side there is no range at all (`low` is None).

    From five passes a side: Welch's t-range of the difference of mean logarithms. A percentile bootstrap of so few
    passes would be too narrow. From two to four: the extremes themselves.
    """
    for name, values in (("base", base), ("other", other)):
        if not values or min(values) <= 0:
            raise InvalidInput(
                name, "a ratio needs positive passes", fix="Leave out failed passes; count them instead."
            )
    minimum, maximum = min(other) / max(base), max(other) / min(base)
    low: float | None
    high: float | None
    if min(len(base), len(other)) >= ENOUGH:
        low, high = _welch(base, other)
        method = f"95 % range, Welch's t of logarithms, {len(base)} and {len(other)} passes"
    elif min(len(base), len(other)) > 1:
        low, high = minimum, maximum
        method = f"minimum and maximum of {len(base)} and {len(other)} passes"
    else:
        low = high = None
        method = "no range: a side has one pass"
    return Ratio(
        ratio=median(other) / median(base),
        low=low,
        high=high,
        minimum=minimum,
        maximum=maximum,
        overlap=not (min(other) > max(base) or max(other) < min(base)),
        n_base=len(base),
        n_other=len(other),
        method=method,
    )


def spanned(ratios: Sequence[Ratio]) -> Ratio:
    """One ratio against every measurement of a base: the first one's, with the ends of all their ranges.

    A base that moved is two bases, and what lies beyond the first one only may be the machine's own move.
    """
    first = ratios[0]
    if len(ratios) == 1 or first.low is None or first.high is None:
        return first
    lows = [each.low for each in ratios if each.low is not None]
    highs = [each.high for each in ratios if each.high is not None]
    return first.model_copy(
        update={
            "low": min(lows),
            "high": max(highs),
            "minimum": min(each.minimum for each in ratios),
            "maximum": max(each.maximum for each in ratios),
            "overlap": any(each.overlap for each in ratios),
            "method": f"{first.method}; widest over {len(ratios)} measurements of the base",
        }
    )


def _welch(base: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    first, second = [log(value) for value in base], [log(value) for value in other]
    middle = sum(second) / len(second) - sum(first) / len(first)
    parts = [stdev(first) ** 2 / len(first), stdev(second) ** 2 / len(second)]
    error = sqrt(sum(parts))
    if error == 0:
        return exp(middle), exp(middle)
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / (len(first) - 1) + parts[1] ** 2 / (len(second) - 1))
    reach = t_quantile((1 + LEVEL) / 2, freedom) * error
    return exp(middle - reach), exp(middle + reach)
