"""compare_runs: the files of runs, side by side."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from itertools import zip_longest
from typing import Annotated

from pydantic import Field

from clouds.errors import InvalidInput
from clouds.models import Record
from tools.figures import number
from tools.home import write_atomically
from tools.ledger import Book
from tools.measure import store
from tools.measure.comparing import report
from tools.measure.comparing.compare import Comparison, Versus, compare
from tools.measure.comparing.pairs import AnswersRow, Moved
from tools.measure.comparing.rows import Row
from tools.measure.ladder.telling import ladder_lines
from tools.measure.report import write_comparison
from tools.measure.stats import four, ratio_text, rounded
from tools.registry import Effect, Tool
from tools.result import SHOWN, Result, capped, escape, quoted
from tools.settings import Settings

MOST = 60
"""Figures of a run that are shown at most."""
MOVED_SHOWN = 6
NOTES = 14
"""Sentences on ladders that are shown; the file has all."""
Names = Annotated[
    tuple[Annotated[str, Field(max_length=400)], ...],
    Field(
        min_length=2, max_length=20, description="ids, names, endpoints or paths of run files; the first is the base"
    ),
]
Folder = Annotated[str, Field(max_length=400, description="look here besides the data directory")]


class FigureRow(Record):
    """One figure against the base. `range` is of the ratio."""

    figure: str
    base: float | None = None
    other: float | None = None
    ratio: float | None = None
    range: str = ""
    verdict: str
    why: str = ""


class Against(Record):
    """One run against the base."""

    run: str
    name: str
    figures: tuple[FigureRow, ...]
    showing: str = ""
    better: int
    worse: int
    within_noise: int
    cannot_say: int
    answers: str = ""
    items: tuple[str, ...] = ()
    moved: tuple[Moved, ...] = ()


class Compared(Result):
    """Runs compared: what differs first, then a verdict for each figure."""

    base: str
    differs: str
    runs: tuple[Against, ...]
    ladder: tuple[str, ...] = ()
    """A line a rung: right, lost, gained and first lost against the base."""
    file: str

    def body(self) -> str:
        """What differs, then a table a run."""
        return "\n\n".join(
            [
                self.differs,
                *(_table(each, self.base) for each in self.runs),
                *(["\n".join(f"- {line}" for line in self.ladder)] if self.ladder else ()),
                f"All figures: `{self.file}`",
            ]
        )


def compare_runs(
    runs: Names,
    settings: Settings,
    book: Book,
    folder: Folder = "",
    limit: Annotated[
        int, Field(ge=1, le=MOST, description="figures shown a run; above 10 also the finer ones")
    ] = SHOWN,
) -> Compared:
    """Compare runs with the first: what differs, ratio and range of each figure, answers in pairs, drift, verdicts.

    Each figure ends in better, worse, within noise or cannot say. A repeat of the base shows drift.
    """
    folders = [store.folder_of(folder, book.home, settings.project)] if folder else []
    folders.append(book.home / "runs")
    found = [store.find(text, folders, (settings.project, book.home))[1] for text in runs]
    ids = [run.id for run in found]
    if len(set(ids)) < len(ids):
        twice = next(each for each in ids if ids.count(each) > 1)
        raise InvalidInput("runs", f"{twice} was given twice", fix="Name runs that differ; list_runs shows their ids.")
    comparison = compare(found)
    stem = "--".join([comparison.base, *(each.run for each in comparison.versus)])[:150]
    path = book.home / "comparisons" / f"{stem}.json"
    write_atomically(path, comparison.model_dump_json(indent=1, exclude_defaults=True) + "\n")
    pages = write_comparison(path, comparison, found)
    return Compared(
        headline=report.headline(comparison),
        base=comparison.base_name,
        differs=report.difference_line(comparison.differs, sum(run.quoted is None for run in found)),
        runs=tuple(_against(each, comparison.base_name, limit) for each in comparison.versus),
        ladder=ladder_lines(comparison.ladder),
        file=str(path),
        notes=(
            *report.notes(comparison, found),
            *_on_ladders(comparison),
            pages.note,
        ),
        next=_next(comparison, {run.id for run in found if run.quoted is not None}),
    )


def _on_ladders(comparison: Comparison) -> tuple[str, ...]:
    told = comparison.ladder.notes if comparison.ladder else ()
    if len(told) <= NOTES:
        return told
    return (*told[:NOTES], f"{NOTES} of {len(told)} sentences on ladders are shown; the file has all.")


def _next(comparison: Comparison, elsewhere: AbstractSet[str]) -> str:
    """A repeat of the base is of use where something that was measured here is set against it."""
    measured = [each for each in comparison.versus if each.run not in elsewhere and comparison.base not in elsewhere]
    if measured and not comparison.repeats:
        return "measure the base once more and add that run, so that drift is known."
    return ""


def _against(versus: Versus, base: str, limit: int) -> Against:
    main = [row for row in versus.rows if row.main and not _only_one(row)]
    finer = [row for row in versus.rows if not row.main]
    facts = _facts(versus)
    if limit > SHOWN:
        listed = [*map(_figure, main), *facts, *map(_figure, finer)]
    else:
        first = sorted(main, key=_undecided) if len(main) > limit else main
        room = max(2, limit - len(main) - len(facts))  # what is better or worse is looked for before facts
        listed = [*map(_figure, [*first, *_decided(finer)[:room]]), *facts]
    shown, _ = capped(listed, limit)
    total = len(versus.rows) + len(versus.facts)
    row = versus.answers
    return Against(
        run=versus.run,
        name=versus.name,
        figures=shown,
        showing=_showing(len(shown), total, len(facts), len(main) + len(finer) + len(facts)),
        better=versus.verdicts.get("better", 0),
        worse=versus.verdicts.get("worse", 0),
        within_noise=versus.verdicts.get("within noise", 0),
        cannot_say=versus.verdicts.get("cannot say", 0),
        answers=_counted(row, base, versus.name) + _moved_shown(row) if row else "",
        items=tuple(f"{part}: {_counted(each, base, versus.name)}" for part, each in versus.items.items()),
        moved=tuple(_bounded(each) for each in row.moved[:MOVED_SHOWN]) if row else (),
    )


def _showing(shown: int, total: int, facts: int, known: int) -> str:
    """So that the verdicts and the facts add up to the total, and with the limit that shows all that are known."""
    without = f" ({facts} of the {total} {'is a fact' if facts == 1 else 'are facts'} without a verdict)"
    most = min(max(known, SHOWN + 1), MOST)
    more = f", limit={most} shows {'all' if known <= most else 'more'}" if shown < min(known, MOST) else ""
    return f"{shown} of {total}{more}{without if facts else ''}" if facts or shown < total else ""


def _undecided(row: Row) -> bool:
    return row.verdict not in {"better", "worse"}


def _decided(rows: list[Row]) -> list[Row]:
    """What is better and what is worse in turn, so that neither word stands for figures that nobody sees."""
    words = [[row for row in rows if row.verdict == word] for word in ("better", "worse")]
    return [row for pair in zip_longest(*words) for row in pair if row is not None]


def _only_one(row: Row) -> bool:
    """A figure of a measurement that one of the two did not make: what they measured stands above the table."""
    return "was not measured in one of them" in row.why


def _counted(row: AnswersRow, base: str, name: str) -> str:
    counts = f"{base} {row.base_right} and {name} {row.other_right} right of {row.asked}, {row.identical} identical"
    return f"{counts}: {row.verdict} ({row.why})"


def _moved_shown(row: AnswersRow) -> str:
    shown = min(MOVED_SHOWN, len(row.moved))
    return f"; {shown} of {len(row.moved)} that moved are shown" if len(row.moved) > 3 else ""


def _figure(row: Row) -> FigureRow:
    inside = row.low is not None and row.high is not None and row.low <= 1 <= row.high
    plain = row.verdict in {"better", "worse"} or (row.verdict == "within noise" and inside)
    return FigureRow(
        figure=row.figure,
        base=_rounded(row.base),
        other=_rounded(row.other),
        ratio=_ratio(row.ratio),
        range=report.span_of(row),
        verdict=row.verdict,
        why="no overlap" if plain and row.no_overlap else "" if plain else row.why,
    )


def _facts(versus: Versus) -> list[FigureRow]:
    return [
        FigureRow(
            figure=each.fact,
            base=_rounded(each.base),
            other=_rounded(each.other),
            ratio=_ratio(each.ratio),
            verdict="–",
        )
        for each in versus.facts
    ]


def _bounded(moved: Moved) -> Moved:
    return moved.model_copy(
        update={name: quoted(getattr(moved, name), 60)[1:-1] for name in ("question", "expected", "base", "other")}
    )


def _ratio(value: float | None) -> float | None:
    """Finer than it is shown, so that what is shown is rounded once."""
    return None if value is None else rounded(value, 7)


def _rounded(value: float | None) -> float | None:
    return None if value is None else four(value)


def _table(each: Against, base: str) -> str:
    if not each.figures:
        return f"{escape(base)} and {escape(each.name)} have no figure in common."
    lines = [f"| | {escape(base)} | {escape(each.name)} | ratio | range | verdict |", "|---|--:|--:|--:|---|---|"]
    for row in each.figures:
        cells = ["" if value is None else number(value) for value in (row.base, row.other)]
        ratio = "" if row.ratio is None else ratio_text(row.ratio)
        verdict = f"{row.verdict} ({row.why})" if row.why else row.verdict
        lines.append(f"| {escape(row.figure)} | {cells[0]} | {cells[1]} | {ratio} | {row.range} | {escape(verdict)} |")
    counts = f"{each.better} better, {each.worse} worse, {each.within_noise} within noise, {each.cannot_say} cannot say"
    parts = ["\n".join(lines), f"Of all figures: {counts}" + (f"; shown {each.showing}." if each.showing else ".")]
    if each.answers:
        parts.append(f"Answers: {each.answers}.")
    parts += [f"{line[0].upper()}{line[1:]}." for line in each.items]
    if each.moved:
        head = f"| question | expected | {escape(base)} | {escape(each.name)} | |\n|---|---|---|---|---|"
        rows = (
            f"| {escape(m.question)} | {escape(m.expected)} | {escape(m.base)} | {escape(m.other)} | {m.now} |"
            for m in each.moved
        )
        parts.append("\n".join([head, *rows]))
    return "\n\n".join(parts)


COMPARE_RUNS = Tool(compare_runs, title="Compare runs", effect=Effect.READ, open_world=False)
