"""One run against the base on a page: every figure, and every set of answers in pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tools.measure.comparing.compare import Versus
from tools.measure.comparing.facts import FactRow
from tools.measure.comparing.pairs import AnswersRow
from tools.measure.comparing.repeats import Repeat
from tools.measure.comparing.rows import Row
from tools.measure.report.ladder_blocks import verdict_cell
from tools.measure.report.page import Block, Cell, Lines, Section, Table, num, ratio
from tools.measure.report.questions_table import clipped

MOVED = 100
"""Questions that moved, on a page; the comparison file has all."""
NUMBERS = frozenset({1, 2, 3, 4, 5})


def versus_section(versus: Versus, base: str, *, folded: bool = False) -> Section:
    """Main figures open, the finer ones folded, then the answers. `folded`: one of many."""
    main = [row for row in versus.rows if row.main]
    rest = [row for row in versus.rows if not row.main]
    counts = ", ".join(
        f"{versus.verdicts.get(word, 0)} {word}" for word in ("better", "worse", "within noise", "cannot say")
    )
    blocks: list[Block] = [_rows(versus, main, base, versus.facts)]
    if versus.rows:
        blocks.append(Lines((f"Of all {len(versus.rows):,} figures: {counts}.",)))
    if rest:
        blocks.append(Section(f"Finer figures: {len(rest):,}", (_rows(versus, rest, base),), folded=True))
    asked = {"answers": versus.answers, **versus.items}
    for part, row in asked.items():
        if row is not None:
            blocks += _answers(versus.run, part, row, base, versus.name)
    return Section(f"{versus.name} against {base}", tuple(blocks), folded=folded)


def _rows(versus: Versus, rows: Sequence[Row], base: str, facts: Sequence[FactRow] = ()) -> Table:
    heads = ("figure", base, versus.name, "ratio", "range from", "range to", "how the range is made", "verdict")
    made = [
        (
            Cell(row.figure),
            *(num(getattr(row, name), f"{versus.run}|{row.key}|{name}") for name in ("base", "other")),
            *(ratio(getattr(row, name), f"{versus.run}|{row.key}|{name}") for name in ("ratio", "low", "high")),
            Cell(row.method),
            verdict_cell(row.verdict, _why(row)),
        )
        for row in rows
    ]
    made += [
        (
            Cell(each.fact),
            *(num(getattr(each, name), f"{versus.run}|fact.{each.fact}|{name}") for name in ("base", "other")),
            ratio(each.ratio, f"{versus.run}|fact.{each.fact}|ratio"),
            Cell(""),
            Cell(""),
            Cell(""),
            Cell("– (a fact, neither better nor worse)", tone="quiet"),
        )
        for each in facts
    ]
    return Table(heads, tuple(made), NUMBERS)


def _why(row: Row) -> str:
    """A range that lies on one side of 1 speaks for itself."""
    if row.verdict in {"better", "worse"}:
        return "no overlap" if row.no_overlap else ""
    return row.why


def _answers(run: str, part: str, row: AnswersRow, base: str, name: str) -> Iterator[Block]:
    key = f"{run}|pairs.{part}|"
    both = row.base_right - row.lost
    neither = row.asked - both - row.lost - row.gained
    heads = (
        "asked of both", f"{base} right", f"{name} right", "both right", "lost", "gained", "both wrong", "identical",
        "McNemar p", "verdict",
    )  # fmt: skip
    cells = [
        num(float(value), f"{key}{word}")
        for word, value in (
            ("asked", row.asked), ("base_right", row.base_right), ("other_right", row.other_right),
            ("both_right", both), ("lost", row.lost), ("gained", row.gained), ("both_wrong", neither),
            ("identical", row.identical), ("p_value", row.p_value),
        )
    ]  # fmt: skip
    blocks: list[Block] = [Table(heads, ((*cells, verdict_cell(row.verdict, row.why)),), frozenset(range(9)))]
    if row.unpaired:
        blocks.append(Lines((f"{row.unpaired:,} questions are not the same in both and are in no figure.",)))
    if row.moved:
        shown = row.moved[:MOVED]
        count = f"{len(row.moved):,}" if len(shown) == len(row.moved) else f"{MOVED} of {len(row.moved):,}"
        rows = tuple(
            (
                *(Cell(clipped(words)) for words in (each.question, each.expected, each.base, each.other)),
                Cell(each.now, tone="bad" if each.now == "lost" else "good"),
            )
            for each in shown
        )
        table = Table(("question", "expected", base, name, ""), rows)
        blocks.append(Section(f"Questions that moved: {count}", (table,), folded=len(shown) > 12))
    yield Section(f"{part[0].upper()}{part[1:]}, question by question", tuple(blocks))


def drift_table(repeat: Repeat) -> Section:
    """Every figure of the base and of its repeat."""
    rows = tuple(
        (
            Cell(row.figure),
            num(row.first, f"{repeat.run}|{row.key}|first"),
            num(row.again, f"{repeat.run}|{row.key}|again"),
            num(row.drift_percent, f"{repeat.run}|{row.key}|drift"),
        )
        for row in repeat.rows
    )
    table = Table(("figure", "first", "again", "drift, %"), rows, frozenset({1, 2, 3}))
    same = (f"{repeat.identical} of {repeat.asked} answers identical.",) if repeat.asked else ()
    return Section(repeat.run, (table, Lines(same)))
