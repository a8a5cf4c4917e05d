"""A-B-A: the base is run again after the other side, and what moved between the two is the machine's own."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from clouds.models import Record
from tools.measure.statistics.ratios import Ratio, ratio_of_passes


class Drift(Record):
    """How far the base moved between its first and its last run, beside what the other side differs by."""

    drift: float
    """Median of the last base run over the first, minus 1: -0.007 is 0.7 % slower."""
    change: float
    """Median of the other side over the first base run, minus 1."""
    beyond: bool
    """True when the change is larger than the drift, whatever its sign."""
    ratio: Ratio
    """The other side over both base runs together, so that a steady drift cancels out."""


def drift(first: Sequence[float], other: Sequence[float], again: Sequence[float]) -> Drift:
    """Base, other side, base again."""
    moved = median(again) / median(first) - 1
    change = median(other) / median(first) - 1
    ratio = ratio_of_passes([*first, *again], other)
    return Drift(drift=moved, change=change, beyond=abs(change) > abs(moved), ratio=ratio)
