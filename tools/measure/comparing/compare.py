"""Runs side by side: the first is the base, runs of the same thing are its repeats, everything else is against it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from clouds.models import Record
from tools.measure.comparing.differences import Difference, besides, causes, differences
from tools.measure.comparing.facts import FactRow, facts
from tools.measure.comparing.failures import troubles
from tools.measure.comparing.pairs import AnswersRow, answers
from tools.measure.comparing.repeats import Repeat, drifts, repeat, split
from tools.measure.comparing.rows import Row, rows
from tools.measure.decisions.between import DecisionsVersus, decisions_versus
from tools.measure.drafters.sweep import Sweep, sweep
from tools.measure.ladder.telling import LadderSection, ladder_section
from tools.measure.record import Run
from tools.measure.statistics.words import Word

ASKING = ("longcontext", "ladder", "decisions", "toolcalls", "functions")
"""Measurements besides the answers that keep every question they ask."""


class Versus(Record):
    """One run against the base."""

    run: str
    name: str
    causes: tuple[str, ...]
    """Kinds of thing that differ and can make a figure differ; with more than one, none of them is shown to."""
    besides: tuple[str, ...] = ()
    """What else differs that can: profile, shapes, the measuring client."""
    rows: tuple[Row, ...]
    facts: tuple[FactRow, ...] = ()
    answers: AnswersRow | None = None
    items: Mapping[str, AnswersRow] = {}
    """The same for every other measurement that asks questions, by its name."""
    verdicts: Mapping[Word, int]

    def row(self, key: str) -> Row | None:
        """One figure by key."""
        return next((row for row in self.rows if row.key == key), None)


class Comparison(Record):
    """Everything that runs say of each other."""

    base: str
    base_name: str
    differs: tuple[Difference, ...]
    """Over all runs, in the order in which they were given."""
    versus: tuple[Versus, ...]
    repeats: tuple[Repeat, ...]
    troubles: tuple[str, ...] = ()
    """Runs that are not whole or had failed requests, in words: they stand in the headline."""
    ladder: LadderSection | None = None
    drafters: Sweep | None = None
    decisions: tuple[DecisionsVersus, ...] = ()


def compare(runs: Sequence[Run]) -> Comparison:
    """Compare two runs or more. Pure: it knows nothing but the records.

    Where nothing was recorded that differs, all are repeats of the base and are set against it all the same: what made
    a difference may not have been recorded.
    """
    base, others, again = split(runs)
    names = display_names(runs)
    repeats = tuple(repeat(base, run) for run in again)
    moved = drifts(repeats) if others else {}  # a drift does not explain itself
    return Comparison(
        base=base.id,
        base_name=names[base.id],
        differs=differences(runs),
        versus=tuple(
            _versus(base, other, names[other.id], moved, again if others else ()) for other in others or again
        ),
        repeats=repeats,
        troubles=tuple(f"{names[run.id]} {words}" for run in runs if (words := troubles(run))),
        ladder=ladder_section(runs),
        drafters=sweep(runs, names),
        decisions=decisions_versus(base, others),
    )


def _versus(base: Run, other: Run, name: str, moved: dict[str, float], again: Sequence[Run]) -> Versus:
    found = rows(base, other, moved, again)
    differs = differences((base, other))
    return Versus(
        run=other.id,
        name=name,
        causes=causes(differs),
        besides=besides(differs),
        rows=found,
        facts=facts(base, other),
        answers=answers(base, other),
        items={part: row for part in ASKING if (row := answers(base, other, part)) is not None},
        verdicts=dict(Counter(row.verdict for row in found)),
    )


def display_names(runs: Sequence[Run]) -> dict[str, str]:
    """A name for each run, by id: its variant, else its name, else its id: the first that is not shared."""
    variants = [run.subject.variant for run in runs]
    names = [run.name for run in runs]
    found: dict[str, str] = {}
    for run in runs:
        if run.subject.variant and variants.count(run.subject.variant) == 1:
            found[run.id] = run.subject.variant
        else:
            found[run.id] = run.name if names.count(run.name) == 1 else run.id
    return found
