"""The decisions of a run against those of the base: equal labels record by record, and how far accuracy moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clouds.models import Record
from tools.measure.comparing.differences import shape_problems
from tools.measure.decisions.comparing import Agreement, agreement, hardware_note
from tools.measure.decisions.keeping import decisions_of
from tools.measure.decisions.summary import Decision
from tools.measure.record import Run

PART = "decisions"
TASKS = 6
"""Tasks of a comparison that are told; the file has all."""


class DecisionsVersus(Record):
    """One run against the base; the last row is over all tasks where there are several."""

    run: str
    rows: tuple[Agreement, ...]
    note: str = ""
    """What has to be said of the checkpoints when the hardware differs."""


def decisions_versus(base: Run, others: Sequence[Run]) -> tuple[DecisionsVersus, ...]:
    """Every run that decided the same items in the same shape."""
    first = _decided(base)
    found = []
    for other in others:
        second = _decided(other)
        same = first and second and not shape_problems(base, other, PART)
        if same and {each.item.id for each in first} & {each.item.id for each in second}:
            found.append(DecisionsVersus(run=other.id, rows=agreement(first, second), note=_note(base, other)))
    return tuple(found)


def _decided(run: Run) -> tuple[Decision, ...]:
    part = run.part(PART)
    return decisions_of(part.items) if part else ()


def _note(base: Run, other: Run) -> str:
    """Two platforms show a difference of platforms only where both served one checkpoint."""
    if base.hardware == other.hardware and base.hardware is not None:
        return ""
    first, second = (run.engine.model_sha256 if run.engine else "" for run in (base, other))
    return hardware_note(first, second)


def decision_lines(found: Sequence[DecisionsVersus], base: str, names: Mapping[str, str]) -> Iterator[str]:
    """A sentence a task, the whole last, and what has to be said of the checkpoints."""
    for each in found:
        name = names.get(each.run, each.run)
        for row in each.rows[-TASKS:]:
            yield _line(row, base, name)
        if each.note:
            yield f"{name}: {each.note}"


def _line(row: Agreement, base: str, name: str) -> str:
    change = row.difference
    groups = f", {change.groups} groups drawn whole" if change.groups else ""
    left = f"; {row.not_comparable} that one of them could not read" if row.not_comparable else ""
    return (
        f"Decisions, {row.task}: {base} and {name} predict the same label for {row.equal:,} of {row.n:,}{left}; right "
        f"{100 * change.estimate:+.1f} points ({100 * change.low:+.1f} to {100 * change.high:+.1f}, 95 %{groups}): "
        f"{row.verdict.word} (McNemar p = {row.pairs.p_value:.2g})."
    )
