"""A-B-A: the base measured again. What moved between its first and its last run is the machine's own."""

from __future__ import annotations

from collections.abc import Sequence

from clouds.models import Record
from tools.measure.comparing.differences import identity, shape_problems
from tools.measure.comparing.figures import figures
from tools.measure.comparing.pairs import answers
from tools.measure.record import Run

SPEEDS = (".tokens_per_second",)


class DriftRow(Record):
    """One figure of the base and of its repeat."""

    key: str
    figure: str
    first: float
    again: float
    drift_percent: float
    """Again over first, minus 1: -0.7 is 0.7 % slower."""


class Repeat(Record):
    """One repeat of the base: how far each speed moved, and how many answers stayed the same."""

    run: str
    rows: tuple[DriftRow, ...]
    largest_percent: float | None
    """The largest move of a speed in either direction, without sign."""
    identical: int | None = None
    asked: int | None = None


def split(runs: Sequence[Run]) -> tuple[Run, tuple[Run, ...], tuple[Run, ...]]:
    """The base (the first), the runs of other things, and the repeats of the base. What is quoted repeats nothing."""
    base = runs[0]
    mine = identity(base)
    repeats = tuple(run for run in runs[1:] if run.quoted is None and base.quoted is None and identity(run) == mine)
    others = tuple(run for run in runs[1:] if run not in repeats)
    return base, others, repeats


def repeat(base: Run, again: Run) -> Repeat:
    """Every figure that both have, costs at the price of the first. Parts of another shape are no repeat."""
    found = []
    for part in base.parts:
        if shape_problems(base, again, part.name):
            continue
        repeated = dict(figures(again, part.name, base))
        for key, figure in figures(base, part.name):
            other = repeated.get(key)
            if not figure.value or other is None or other.value is None:
                continue
            moved = 100 * (other.value / figure.value - 1)
            row = DriftRow(
                key=figure.key, figure=figure.label, first=figure.value, again=other.value, drift_percent=moved
            )
            found.append(row)
    speeds = [row for row in found if row.key.endswith(SPEEDS)]
    same = answers(base, again)
    return Repeat(
        run=again.id,
        rows=tuple(found),
        largest_percent=max((abs(row.drift_percent) for row in speeds), default=None),
        identical=same.identical if same else None,
        asked=same.asked if same else None,
    )


def drifts(repeats: Sequence[Repeat]) -> dict[str, float]:
    """By key, the largest move of a figure over all repeats, as a share without sign."""
    found: dict[str, float] = {}
    for each in repeats:
        for row in each.rows:
            found[row.key] = max(found.get(row.key, 0.0), abs(row.drift_percent) / 100)
    return found
