"""From values to places: axes that begin at zero, or in equal steps of a factor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log, log10

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Scale:
    """`low` is at `start`, `high` at `end`."""

    low: float
    high: float
    start: float
    end: float
    factor: bool = False
    """Equal distances are equal factors."""

    def at(self, value: float) -> float:
        """Where a value stands."""
        if self.factor:
            share = log(value / self.low) / log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def from_zero(values: Iterable[float], start: float, end: float) -> tuple[Scale, tuple[float, ...]]:
    """A scale from 0 to a round number above the largest value, and its ticks."""
    return spanning((0.0, *values), start, end)


def spanning(values: Iterable[float], start: float, end: float, ticks: int = 5) -> tuple[Scale, tuple[float, ...]]:
    """A linear scale between round numbers around all values, and its ticks."""
    known = list(values)
    low, high = min(known), max(known)
    if low == high:
        low, high = (0.0, high or 1.0) if high >= 0 else (low, 0.0)
    step = _step((high - low) / ticks)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    marks = tuple(round(n * step, 12) for n in range(first, last + 1))
    return Scale(marks[0], marks[-1], start, end), marks


def by_factor(values: Iterable[float], start: float, end: float) -> tuple[Scale, tuple[float, ...]]:
    """A scale of equal factors around values that are all above 0, with ticks of 1, 2 and 5 times a power of ten."""
    known = list(values)
    low, high = min(known), max(known)
    spread = log10(high / low) if high > low else 0.0
    marks = [base * 10.0**power for power in range(floor(log10(low)) - 1, ceil(log10(high)) + 2) for base in (1, 2, 5)]
    below = max((mark for mark in marks if mark <= low * 1.0001), default=low)
    above = min((mark for mark in marks if mark >= high * 0.9999 and mark > below), default=high)
    inside = [mark for mark in marks if below <= mark <= above]
    if spread > 2.5:
        inside = [mark for mark in inside if _leading_one(mark) or mark in {below, above}]
    return Scale(below, above, start, end, factor=True), tuple(float(f"{mark:.6g}") for mark in inside)


def around_one(values: Iterable[float], start: float, end: float) -> tuple[Scale, tuple[float, ...]]:
    """A scale of equal factors for ratios, always with 1 on it."""
    known = [value for value in values if value > 0]
    low, high = min([*known, 1.0]), max([*known, 1.0])
    low, high = min(low / 1.04, 0.9), max(high * 1.04, 1.1)
    offered = (
        1e-3, 1e-2, 0.1, 0.2, 0.25, 0.33, 0.5, 0.67, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 10.0, 1e2, 1e3,
    )  # fmt: skip
    scale = Scale(low, high, start, end, factor=True)
    return scale, apart([mark for mark in offered if low <= mark <= high], scale, 34, first=1.0)


def apart(marks: Sequence[float], scale: Scale, least: float, first: float | None = None) -> tuple[float, ...]:
    """The marks that can be labelled with `least` units between them; `first` is kept before all others."""
    kept: list[float] = [first] if first is not None and first in marks else []
    for mark in marks:
        if all(abs(scale.at(mark) - scale.at(other)) >= least for other in kept):
            kept.append(mark)
    return tuple(sorted(kept))


def _step(rough: float) -> float:
    power = 10.0 ** floor(log10(rough))
    return next(step * power for step in STEPS if step * power >= rough * 0.999)


def _leading_one(mark: float) -> bool:
    return abs(log10(mark) - round(log10(mark))) < 1e-9
