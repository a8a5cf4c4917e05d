"""Medians, percentiles and spreads of a few numbers. Comparisons are in `statistics/`."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median


def percentile(values: Sequence[float], q: float) -> float:
    """The q-quantile (0 to 1), linear between the two closest ranks. Raises ValueError when there are none."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    position = q * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def spread(values: Sequence[float]) -> float:
    """(max - min) / median: 0 for one value. Raises ValueError when there are none."""
    if not values:
        raise ValueError("no values")
    middle = median(values)
    return (max(values) - min(values)) / middle if middle else 0.0


def ratio_text(ratio: float) -> str:
    """A ratio for a person: two decimals, but two digits of a small one (0.0013) and none of a large one (1,234)."""
    if ratio >= 100:
        return f"{ratio:,.0f}"
    return f"{ratio:.2f}" if ratio >= 0.095 or ratio <= 0 else f"{float(f'{ratio:.2g}'):f}".rstrip("0")


def four(value: float) -> float:
    """Four significant digits, and one decimal above a thousand; from the whole value, so that it is rounded once."""
    return rounded(value, 4 if abs(value) < 1000 else len(str(int(abs(value)))) + 1)


def rounded(value: float, digits: int = 5) -> float:
    """Rounded for a person, halves away from zero as on paper: 1077.25 is 1077.3, not 1077.2. Whole numbers stay."""
    return value if value == int(value) else float(f"{value * (1 + 1e-12):.{digits}g}")
