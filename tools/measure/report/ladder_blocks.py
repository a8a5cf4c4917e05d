"""Ladders on a page: the grid of cells, a row a rung, what is first lost where, and machines over each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tools.measure.ladder.across import Across, overlay
from tools.measure.ladder.autopsy import Autopsy
from tools.measure.ladder.counts import Counted, RungCount, grid, lost
from tools.measure.ladder.from_runs import ladders_of
from tools.measure.ladder.frontier import Frontier
from tools.measure.ladder.records import Ladder
from tools.measure.ladder.telling import LadderSection
from tools.measure.record import Run
from tools.measure.report.cells import grid_chart
from tools.measure.report.page import Block, Cell, Chart, Charts, Lines, Section, Table, num
from tools.measure.report.questions_table import clipped
from tools.measure.report.scatter import Spot, frontier_chart

STONES = 300
"""Questions in a table of what is lost; the comparison file has all."""


def ladder_sections(section: LadderSection | None, runs: Sequence[Run]) -> Iterator[Section]:
    """A section a ladder, and one over all of them where they can be lined up."""
    if section is None:
        return
    ladders, _ = ladders_of(runs)
    for ladder, counted, autopsies, frontier in zip(
        ladders, section.counted, section.autopsies, section.frontiers, strict=True
    ):
        yield _ladder(ladder, counted, autopsies, frontier)
    if section.across is not None:
        yield _across(section.across, ladders)
    if section.notes:
        yield Section("What the ladder says", (Lines(section.notes),))


def rung_chart(run: Run) -> Chart | None:
    """The questions of one run as a single row."""
    ladders, _ = ladders_of((run,))
    if not ladders:
        return None
    ladder = ladders[0]
    ends = {rung.name: f"{rung.right} of {len(rung.answers)}" for rung in ladder.rungs}
    ids = [answer.id for answer in ladder.base.answers]
    heading = f"{ladder.base.right} of {len(ids)} questions right"
    return grid_chart(heading, grid(ladder), ids, ends, caption="One cell a question, in the order of the set.")


def _ladder(ladder: Ladder, counted: Counted, autopsies: Sequence[Autopsy], frontier: Frontier) -> Section:
    ids = [answer.id for answer in ladder.base.answers]
    ends = {row.rung: _end(row, counted.base) for row in counted.rungs}
    caption = (
        f"One row a rung, {counted.base} at the top; one cell a question. Right = the base's right - lost + gained. "
        f"{len(counted.tombstones):,} questions are lost at some rung, {counted.rose_again:,} of them are right again "
        f"further down; {len(counted.ghosts):,} that the base has wrong are right somewhere."
    )
    charts = [grid_chart(f"{counted.ladder}: question by question", grid(ladder), ids, ends, caption=caption)]
    beaten = {each.rung: bool(each.beaten_on_both) for each in frontier.standings}
    spots = [
        Spot(
            row.rung,
            row.tokens_per_second,
            row.right,
            beaten.get(row.rung, False),
            f"{counted.ladder}|{row.rung}|right",
        )
        for row in counted.rungs
        if row.tokens_per_second is not None and not row.split
    ]
    out = {row.rung: "partly beside the accelerator" if row.split else "no speed known" for row in counted.rungs}
    left_out = {name: why for name, why in out.items() if name not in {spot.name for spot in spots}}
    charts.append(frontier_chart("Right answers against speed", spots, counted.n, left_out))
    blocks: list[Block] = [Charts(tuple(each for each in charts if each is not None)), _counts(counted)]
    if autopsies:
        blocks.append(Section("How answers fail", (_autopsies(autopsies),)))
    if len(ladder.rungs) > 2:
        blocks.append(Section("Questions that two rungs both lose", (_shared(ladder),), folded=True))
    blocks += _stones(counted)
    return Section(f"Ladder: {counted.ladder}", tuple(blocks))


def _end(row: RungCount, base: str) -> str:
    return f"{row.right} of {row.n}" + ("" if row.rung == base else f" (−{row.lost} +{row.gained})")


def _counts(counted: Counted) -> Table:
    heads = (
        "rung", "right", "lost", "gained", "read differently", "first lost here", "cut off", "errors", "tokens/s",
        "× base", "% of bytes", "McNemar p", "verdict",
    )  # fmt: skip
    rows = []
    for row in counted.rungs:
        key = f"{counted.ladder}|{row.rung}|"
        whole = ("right", "lost", "gained", "changed", "first_lost", "cut_off", "errors")
        cells = [num(float(getattr(row, name)), f"{key}{name}") for name in whole]
        cells += [
            num(getattr(row, name), f"{key}{name}")
            for name in ("tokens_per_second", "times_base_speed", "percent_of_base_bytes")
        ]
        base = row.rung == counted.base
        cells.append(Cell("") if base else num(row.p_value, f"{key}p_value"))
        verdict = Cell("base", tone="quiet") if base else verdict_cell(row.verdict)
        rows.append((Cell(row.rung, small="split" if row.split else ""), *cells, verdict))
    return Table(heads, tuple(rows), frozenset(range(1, 12)))


def verdict_cell(verdict: str, why: str = "") -> Cell:
    """A verdict in its colour, its reason under it."""
    if verdict == "better":
        return Cell(verdict, tone="good", small=why)
    return Cell(verdict, tone="bad" if verdict == "worse" else "quiet", small=why)


def _autopsies(rows: Sequence[Autopsy]) -> Table:
    names = ("cut_off", "looped", "thought", "empty", "errors", "lost", "lost_cut_off", "lost_looped", "lost_empty")
    heads = ("rung", *(name.replace("_", " ").replace("lost ", "lost, ") for name in names))
    made = tuple((Cell(row.rung), *(Cell(f"{getattr(row, name):,}") for name in names)) for row in rows)
    return Table(heads, made, frozenset(range(1, len(heads))))


def _shared(ladder: Ladder) -> Table:
    """How many questions each pair of rungs loses; a rung with itself is what it loses."""
    gone = {rung.name: lost(ladder, rung.name) for rung in ladder.rungs[1:]}
    rows = tuple((Cell(one), *(Cell(f"{len(gone[one] & gone[other]):,}") for other in gone)) for one in gone)
    return Table(("both lose", *gone), rows, frozenset(range(1, len(gone) + 1)))


def _stones(counted: Counted) -> Iterator[Section]:
    stones, ghosts = counted.tombstones, counted.ghosts
    if stones:
        count = f"{len(stones):,}" if len(stones) <= STONES else f"{STONES} of {len(stones):,}"
        rows = tuple(
            _texts(each.id, each.rung, each.expected, each.said or "–", ", ".join(each.rose_again))
            for each in stones[:STONES]
        )
        table = Table(("question", "first lost at", "expected", "said there", "right again at"), rows)
        yield Section(f"Questions lost at some rung: {count}", (table,), folded=True)
    if ghosts:
        count = f"{len(ghosts):,}" if len(ghosts) <= STONES else f"{STONES} of {len(ghosts):,}"
        rows = tuple(
            _texts(each.id, each.expected, each.base_said or "–", ", ".join(each.rungs)) for each in ghosts[:STONES]
        )
        table = Table(("question", "expected", f"{counted.base} said", "right at"), rows)
        yield Section(f"Wrong at {counted.base} and right at some rung: {count}", (table,), folded=True)


def _texts(*words: str) -> tuple[Cell, ...]:
    return tuple(Cell(clipped(each, 80)) for each in words)


def _across(found: Across, ladders: Sequence[Ladder]) -> Section:
    ids = [answer.id for answer in ladders[0].base.answers]
    shared = overlay(ladders)
    ends = {row.rung: f"lost on all {row.lost_on_all}" for row in found.rungs}
    names = " and ".join(found.ladders)
    width = len(next(iter(shared.values()), ""))
    caption = f"{names} over each other: one cell a question."
    chart = grid_chart("Ladders over each other", shared, ids[:width], ends, caption=caption, overlay=True)
    times = {"times_tokens": "times the tokens", "times_seconds": "times the time"} if len(found.ladders) == 2 else {}
    rows = tuple(
        (
            Cell(row.rung),
            *(num(float(row.right[name]), f"across|{row.rung}|right|{name}") for name in found.ladders),
            Cell(f"{row.closest.different:,}", small=_pair(row.closest.first, row.closest.second, len(found.ladders))),
            Cell(
                f"{row.furthest.different:,}", small=_pair(row.furthest.first, row.furthest.second, len(found.ladders))
            ),
            num(float(row.lost_on_all), f"across|{row.rung}|lost_on_all"),
            *(num(getattr(row, name), f"across|{row.rung}|{name}") for name in times),
        )
        for row in found.rungs
    )
    heads = (
        "rung", *(f"right, {name}" for name in found.ladders), "graded differently, closest pair", "furthest pair",
        "lost on all", *times.values(),
    )  # fmt: skip
    table = Table(heads, rows, frozenset(range(1, len(heads))))
    out = (f"Not compared, since not every ladder has them: {', '.join(found.left_out)}.",) if found.left_out else ()
    blocks = (Charts((chart,) if chart else ()), table, Lines((found.cause, *out)))
    return Section("Side by side", blocks)


def _pair(first: str, second: str, ladders: int) -> str:
    return f"{first}, {second}" if ladders > 2 else ""
