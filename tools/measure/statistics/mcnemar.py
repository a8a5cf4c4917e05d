"""Exact McNemar: the same items answered twice, right or wrong, compared item by item."""

from __future__ import annotations

from collections.abc import Sequence

from clouds.errors import InvalidInput
from clouds.models import Record


class Paired(Record):
    """The four cells of two runs over the same items, and the exact two-sided p-value."""

    n: int
    both_right: int
    lost: int
    """Right in the first run only."""
    gained: int
    """Right in the second run only."""
    both_wrong: int
    p_value: float

    @property
    def difference(self) -> float:
        """Share right in the second run minus share right in the first."""
        return (self.gained - self.lost) / self.n if self.n else 0.0


def exact_p(lost: int, gained: int) -> float:
    """Two-sided p-value: how often equally good runs would split the moved items at least so unevenly.

    Sum of the binomial tail at one half, doubled (at most 1). 5 against 3 gives 0.727; no moved item gives 1.
    """
    if lost < 0 or gained < 0:
        raise InvalidInput("lost, gained", f"{lost} and {gained} are not counts", fix="Give two counts of items.")
    moved = lost + gained
    tail = ways = 1
    for k in range(min(lost, gained)):
        ways = ways * (moved - k) // (k + 1)  # the next binomial from the last one; `math.comb` anew takes seconds
        tail += ways
    return min(1.0, 2 * tail / (1 << moved))


def paired(first: Sequence[bool], second: Sequence[bool]) -> Paired:
    """Two runs over the same items in the same order. Raises InvalidInput when their lengths differ."""
    if len(first) != len(second):
        raise InvalidInput(
            "second",
            f"{len(second)} answers against {len(first)}",
            fix="Pair the runs by item first; items that only one run has are no pairs.",
        )
    cells = [(bool(a), bool(b)) for a, b in zip(first, second, strict=True)]
    lost, gained = cells.count((True, False)), cells.count((False, True))
    return Paired(
        n=len(cells),
        both_right=cells.count((True, True)),
        lost=lost,
        gained=gained,
        both_wrong=cells.count((False, False)),
        p_value=exact_p(lost, gained),
    )
