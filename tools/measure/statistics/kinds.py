"""Prompts of several kinds: a ratio per kind, and the geometric mean that no single kind can dominate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log
from statistics import median

from clouds.errors import InvalidInput
from clouds.models import Record


class KindRatio(Record):
    """One kind of prompt: medians of both sides and their ratio."""

    kind: str
    base: float
    other: float
    ratio: float
    passes: int


class KindRatios(Record):
    """All kinds. `ratio` is the geometric mean of the kinds' ratios, which is the ratio of the geometric means."""

    base: float
    other: float
    ratio: float
    most: str
    """The kind that gains most."""
    least: str
    kinds: tuple[KindRatio, ...]


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive numbers; raises InvalidInput for others."""
    if not values or min(values) <= 0:
        raise InvalidInput("values", "a geometric mean needs positive values", fix="Leave out what failed.")
    return exp(sum(log(value) for value in values) / len(values))


def by_kind(base: Mapping[str, Sequence[float]], other: Mapping[str, Sequence[float]]) -> KindRatios:
    """`base` and `other` hold the repeats of every kind. Raises InvalidInput when their kinds differ."""
    if not base or set(base) != set(other):
        raise InvalidInput(
            "other",
            f"kinds {sorted(set(base) ^ set(other))} are on one side only",
            fix="Measure the same kinds of prompt on both sides.",
        )
    rows = []
    for kind in base:
        before, after = median(base[kind]), median(other[kind])
        passes = min(len(base[kind]), len(other[kind]))
        rows.append(KindRatio(kind=kind, base=before, other=after, ratio=after / before, passes=passes))
    before, after = geometric_mean([row.base for row in rows]), geometric_mean([row.other for row in rows])
    return KindRatios(
        base=before,
        other=after,
        ratio=after / before,
        most=max(rows, key=lambda row: row.ratio).kind,
        least=min(rows, key=lambda row: row.ratio).kind,
        kinds=tuple(rows),
    )
