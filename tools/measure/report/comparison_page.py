"""A comparison as a report: what differs first, then each figure's ratio, range and verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tools.measure.comparing import report
from tools.measure.comparing.compare import Comparison, Versus, display_names
from tools.measure.comparing.differences import Difference
from tools.measure.comparing.repeats import SPEEDS, drifts
from tools.measure.comparing.rows import Row
from tools.measure.record import Run
from tools.measure.report.about import about
from tools.measure.report.badges import badges_of_all, troubles
from tools.measure.report.decision_blocks import decision_section
from tools.measure.report.drafter_blocks import drafter_sections
from tools.measure.report.forest import Move, Ratio, drift_chart, ratio_chart
from tools.measure.report.ladder_blocks import ladder_sections
from tools.measure.report.loads import load_charts_across
from tools.measure.report.page import Block, Cell, Chart, Charts, Lines, Page, Section, Table
from tools.measure.report.questions_table import clipped
from tools.measure.report.run_page import lead
from tools.measure.report.toolcall_blocks import toolcall_sections
from tools.measure.report.versus_blocks import drift_table, versus_section

MANY = 4
"""Runs up to which they stand in columns, and each comparison is open."""
DRAWN = 6
"""Runs against the base that get a chart of their ratios."""


def comparison_page(found: Comparison, runs: Sequence[Run]) -> Page:
    """The whole report, from the comparison and the runs that it was made from."""
    names = {run.id: _named(run, name) for run, name in zip(runs, display_names(runs).values(), strict=True)}
    warned = [line for run in runs for line in troubles(run, names[run.id]).lines]
    many = len(runs) > MANY
    blocks: list[Block] = [
        Lines(tuple(warned), "warn", "Before reading the numbers"),
        Section("What differs", tuple(_differs(found.differs, runs, names))),
        Charts(tuple(_charts(found, runs, names))),
        *ladder_sections(found.ladder, runs),
        *decision_section(runs, names),
        *toolcall_sections(runs, names),
        *drafter_sections(found.drafters),
        *(versus_section(each, found.base_name, folded=many) for each in found.versus),
        Section("What to know besides", (Lines(tuple(report.notes(found, runs))),)),
    ]
    if found.repeats:
        blocks.append(Section("Drift, every figure", tuple(drift_table(each) for each in found.repeats), folded=True))
    blocks += [Section(f"How {names[run.id]} was measured", about(run).blocks, folded=True) for run in runs]
    who = tuple(f"{'Base' if run is runs[0] else 'Run'} {names[run.id]}: {lead(run)}" for run in runs)
    if many:
        who = (who[0], f"{len(runs) - 1} other runs; how each was measured stands at the end.")
    return Page(report.headline(found), who, tuple(badges_of_all(runs)), tuple(blocks))


def _named(run: Run, name: str) -> str:
    return name if run.quoted is None else f"{name} (quoted)"


def _differs(differs: Sequence[Difference], runs: Sequence[Run], names: Mapping[str, str]) -> Iterator[Block]:
    """A row a difference; with many runs a row a run. Of quoted figures nothing of this is known."""
    runs = [run for run in runs if run.quoted is None]
    if not differs:
        yield Lines(("Nothing that was recorded." if len(runs) > 1 else "Not known: only one of them was measured.",))
        return
    grid = [[names[run.id] for run in runs], *([clipped(value) for value in each.values] for each in differs)]
    heads = ["run", *(each.what for each in differs)]
    if len(runs) <= MANY:
        rows = [[word, *line] for word, line in zip(heads, grid, strict=True)]
        heads, rows = rows[0], rows[1:]
    else:
        rows = [list(line) for line in zip(*grid, strict=True)]
    yield Table(tuple(heads), tuple(tuple(_said(word) for word in row) for row in rows))


def _said(word: str) -> Cell:
    return Cell(word) if word else Cell("not recorded", tone="quiet")


def _charts(found: Comparison, runs: Sequence[Run], names: Mapping[str, str]) -> Iterator[Chart]:
    moved = drifts(found.repeats)
    for versus in found.versus[:DRAWN]:
        ratios = [*_ratios(versus, moved)]
        if chart := ratio_chart(f"{versus.name} against {found.base_name}", ratios, found.base_name):
            yield chart
    if chart := drift_chart("Drift: the base measured again", list(_moves(found)), found.base_name):
        yield chart
    yield from load_charts_across(runs, names, {each.run for each in found.repeats})


def _ratios(versus: Versus, moved: Mapping[str, float]) -> Iterator[Ratio]:
    """Main figures, those of one kind together."""
    kinds = list(dict.fromkeys(_kind(row) for row in versus.rows))
    for row in sorted(versus.rows, key=lambda each: kinds.index(_kind(each))):
        if row.main and row.ratio is not None and row.ratio > 0:
            key = f"{versus.run}|{row.key}|ratio"
            yield Ratio(row.figure, row.ratio, row.low, row.high, row.verdict, key, moved.get(row.key))


def _kind(row: Row) -> str:
    return row.key.rpartition(".")[2]


def _moves(found: Comparison) -> Iterator[Move]:
    keys = dict.fromkeys(row.key for each in found.repeats for row in each.rows if row.key.endswith(SPEEDS))
    for key in keys:
        rows = [(each.run, row) for each in found.repeats for row in each.rows if row.key == key]
        again = tuple((f"{run}|{key}|drift", row.drift_percent) for run, row in rows)
        others = tuple(
            (versus.name, f"{versus.run}|{key}|change", 100 * (row.ratio - 1))
            for versus in found.versus
            if (row := versus.row(key)) is not None and row.ratio is not None
        )
        yield Move(rows[0][1].figure, again, others)
