"""The rungs worth choosing from: no other rung is at least as good on every count and better on one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from clouds.models import Record
from tools.measure.ladder.counts import speed
from tools.measure.ladder.records import Ladder, Rung, by_id
from tools.measure.statistics.mcnemar import paired
from tools.measure.statistics.verdict import of_pairs
from tools.measure.statistics.words import Word


class Standing(Record):
    """One rung: who beats it. Both empty is a rung that nothing beats."""

    rung: str
    right: int
    tokens_per_second: float | None
    bytes: int | None
    beaten_on_both: tuple[str, ...]
    """Rungs at least as right and as fast, and better in one of the two."""
    beaten_on_all: tuple[str, ...]
    """The same with bytes counted as well: a smaller file can only be beaten by one that is no larger."""


class Step(Record):
    """Two neighbours among the undominated rungs: what the faster one costs in answers."""

    slower: str
    faster: str
    lost: int
    gained: int
    p_value: float
    times_speed: float | None
    verdict: Word


class Frontier(Record):
    """Undominated rungs by right x speed and by right x speed x bytes."""

    standings: tuple[Standing, ...]
    on_right_and_speed: tuple[str, ...]
    on_right_speed_and_bytes: tuple[str, ...]
    steps: tuple[Step, ...]
    not_ranked: tuple[str, ...]
    """Rungs without a speed, or whose speed is not that of the whole accelerator."""


def frontier(ladder: Ladder) -> Frontier:
    """A count that is unknown beats nothing and saves a rung from being beaten on it."""
    ranked = [rung for rung in ladder.rungs if speed(rung) is not None and not rung.split]
    standings = []
    for rung in ranked:
        others = [other for other in ranked if other is not rung]
        standings.append(
            Standing(
                rung=rung.name,
                right=rung.right,
                tokens_per_second=speed(rung),
                bytes=rung.bytes,
                beaten_on_both=_beaten(_marks(rung)[:2], [(o.name, _marks(o)[:2]) for o in others]),
                beaten_on_all=_beaten(_marks(rung), [(o.name, _marks(o)) for o in others]),
            )
        )
    best = [each.rung for each in standings if not each.beaten_on_both]
    chosen = sorted((rung for rung in ranked if rung.name in best), key=lambda rung: speed(rung) or 0.0)
    return Frontier(
        standings=tuple(standings),
        on_right_and_speed=tuple(best),
        on_right_speed_and_bytes=tuple(each.rung for each in standings if not each.beaten_on_all),
        steps=tuple(_step(slower, faster) for slower, faster in pairwise(chosen)),
        not_ranked=tuple(rung.name for rung in ladder.rungs if rung not in ranked),
    )


def _marks(rung: Rung) -> tuple[float | None, ...]:
    """Right, speed, and bytes turned round, so that more is better on all three."""
    return (float(rung.right), speed(rung), None if rung.bytes is None else -float(rung.bytes))


def _beaten(own: Sequence[float | None], others: Sequence[tuple[str, Sequence[float | None]]]) -> tuple[str, ...]:
    found = []
    for name, marks in others:
        pairs = list(zip(own, marks, strict=True))
        known = [(mine, theirs) for mine, theirs in pairs if mine is not None and theirs is not None]
        if len(known) == len(pairs) and all(t >= m for m, t in known) and any(t > m for m, t in known):
            found.append(name)
    return tuple(found)


def _step(slower: Rung, faster: Rung) -> Step:
    before, after = by_id(slower), by_id(faster)
    pairs = paired([each.right for each in before.values()], [after[id_].right for id_ in before])
    first, second = speed(slower), speed(faster)
    return Step(
        slower=slower.name,
        faster=faster.name,
        lost=pairs.lost,
        gained=pairs.gained,
        p_value=pairs.p_value,
        times_speed=second / first if first and second else None,
        verdict=of_pairs(pairs).word,
    )
