"""Paired bootstrap: the items (or the groups they came in) are drawn again with replacement, from a seed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from clouds.errors import InvalidInput
from tools.measure.statistics.words import LEVEL, Interval

DRAWS = 10_000
SEED = 20_260_926


def paired_difference(
    first: Sequence[float],
    second: Sequence[float],
    *,
    groups: Sequence[Hashable] | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Interval:
    """Mean of `second - first` over the same items, with its percentile range.

    `groups` names for each item what it shares with others (a passage, a conversation). Items of one group are not
    independent, so whole groups are drawn, which widens the range to what the data can bear.
    """
    sums, counts = _by_group(first, second, groups)
    low, high = _percentiles(_draw(sums, counts, draws, seed))
    return Interval(
        estimate=sum(sums) / sum(counts),
        low=low,
        high=high,
        method=f"paired bootstrap of {'groups' if groups is not None else 'items'}, {draws:,} draws, seed {seed}",
        n=int(sum(counts)),
        groups=len(sums) if groups is not None else None,
    )


def paired_ratio(
    base: Sequence[float],
    other: Sequence[float],
    *,
    groups: Sequence[Hashable] | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Interval:
    """Sum of `other` over sum of `base` for the same items (total time, total tokens), with its percentile range."""
    if any(value <= 0 for value in base):
        raise InvalidInput("base", "a ratio needs positive values", fix="Leave out items without a positive base.")
    numerators, denominators = _by_group([0.0] * len(other), other, groups, weights=base)
    low, high = _percentiles(_draw(numerators, denominators, draws, seed))
    return Interval(
        estimate=sum(numerators) / sum(denominators),
        low=low,
        high=high,
        method=f"paired bootstrap of a ratio of sums, {draws:,} draws, seed {seed}",
        n=len(base),
        groups=len(numerators) if groups is not None else None,
    )


def _by_group(
    first: Sequence[float],
    second: Sequence[float],
    groups: Sequence[Hashable] | None,
    weights: Sequence[float] | None = None,
) -> tuple[list[float], list[float]]:
    """Per independent unit: the sum of differences and the sum of weights (the number of items without weights)."""
    sizes = {len(first), len(second)} | ({len(groups)} if groups is not None else set())
    sizes |= {len(weights)} if weights is not None else set()
    if len(sizes) != 1:
        raise InvalidInput("second", f"lengths {sorted(sizes)} are no pairs", fix="Pair the runs by item first.")
    if not first:
        raise InvalidInput("first", "there are no items", fix="Compare runs that share at least one item.")
    keys: Sequence[Hashable] = groups if groups is not None else range(len(first))
    totals: dict[Hashable, list[float]] = {}
    for index, key in enumerate(keys):
        unit = totals.setdefault(key, [0.0, 0.0])
        unit[0] += float(second[index]) - float(first[index])
        unit[1] += float(weights[index]) if weights is not None else 1.0
    return [unit[0] for unit in totals.values()], [unit[1] for unit in totals.values()]


def _draw(sums: Sequence[float], counts: Sequence[float], draws: int, seed: int) -> Any:
    """One statistic per draw. Equal units are drawn together: right and wrong have three values, however many items."""
    import numpy as np

    units, times = np.unique(np.column_stack([sums, counts]), axis=0, return_counts=True)
    rng = np.random.default_rng(seed)
    total = int(times.sum())
    parts = []
    step = max(1, 4_000_000 // len(units))
    for start in range(0, draws, step):
        drawn = rng.multinomial(total, times / total, size=min(step, draws - start))
        parts.append((drawn @ units[:, 0]) / (drawn @ units[:, 1]))
    return np.concatenate(parts)


def _percentiles(values: Any) -> tuple[float, float]:
    import numpy as np

    low, high = np.percentile(values, [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    return float(low), float(high)
