"""A sweep of drafters on a page: what each setting gains over none, by how many are at once."""

from __future__ import annotations

from collections.abc import Iterator

from tools.measure.drafters.sweep import Sweep, SweepRow
from tools.measure.report.lines import SERIES, Point, Series, line_chart
from tools.measure.report.page import Cell, Charts, Lines, Section, Table, num

HEADS = (
    "run", "guesses a step", "tokens/s", "× none", "kept, %", "tokens a step", "step against a plain one", "ms a guess",
)  # fmt: skip
NAMES = ("drafted", "tokens_per_second", "times_plain", "kept_percent", "tokens_per_step", "step_ratio", "ms_per_guess")


def drafter_sections(found: Sweep | None) -> Iterator[Section]:
    """Nothing where no drafter was swept."""
    if found is None:
        return
    rows = tuple(
        (Cell(row.name), *(num(getattr(row, name), f"sweep|{row.name}|{name}") for name in NAMES)) for row in found.rows
    )
    drafting = [row for row in found.rows if row.drafted]
    series = [
        Series(row.name, tuple(_points(row)), position, position) for position, row in enumerate(drafting[:SERIES])
    ]
    chart = line_chart(
        "Throughput with a drafter over that without",
        series,
        x_words="requests at once",
        y_words=f"times {found.plain}",
        caption="Above 1 the drafter pays, below 1 it costs output.",
    )
    table = Table(HEADS, rows, frozenset(range(1, len(HEADS))))
    yield Section("Drafters", (Charts((chart,) if chart else ()), table, Lines(found.notes)))


def _points(row: SweepRow) -> Iterator[Point]:
    levels = {**({1: row.times_plain} if row.times_plain is not None else {}), **row.at}
    for level, ratio in sorted(levels.items()):
        yield Point(level, ratio, f"sweep|{row.name}|at.{level}")
