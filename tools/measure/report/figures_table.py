"""Tables of the figures of a run: every figure with its range, what it rests on, and the name of its formula."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tools.figures import duration, moment
from tools.measure.record import Figure, Part, Run
from tools.measure.report.loads import LOAD, levels
from tools.measure.report.page import Block, Cell, Facts, Lines, Section, Table, num

OPEN = 16
"""Figures of a measurement up to which its table is not folded."""


def part_sections(run: Run) -> Iterator[Section]:
    """A section a measurement: its figures, its shape, and what failed in it."""
    for part in run.parts:
        state = "" if part.complete else " (INCOMPLETE)"
        count = f"{len(part.figures):,} figure{'' if len(part.figures) == 1 else 's'}"
        blocks: list[Block] = [_shape(part)]
        if levels(run, part.name):
            blocks.insert(0, level_table(run, part))
        if lines := tuple(_troubles(part)):
            blocks.append(Lines(lines))
        table = figure_table(run, part.figures)
        if len(part.figures) > OPEN:
            blocks.append(Section(f"All {count} of {part.name}", (table,), folded=True))
        else:
            blocks.insert(0, table)
        yield Section(f"{part.name}: {part.title}{state}", tuple(blocks))


def figure_table(run: Run, figures: Sequence[Figure]) -> Table:
    """Every figure. A figure without a value says why."""
    rows = []
    for each in figures:
        key = f"{run.id}|{each.key}"
        several = each.low is not None and each.high is not None and len(each.samples) > 1
        rows.append(
            (
                Cell(each.label, small=each.why),
                num(each.value, f"{key}|value"),
                num(each.low, f"{key}|low") if several else Cell(""),
                num(each.high, f"{key}|high") if several else Cell(""),
                Cell(f"{each.n:,}", float(each.n), f"{key}|n") if each.n else Cell("–", None, f"{key}|n"),
                Cell(each.unit),
                Cell(each.formula),
            )
        )
    return Table(
        ("figure", "value", "lowest", "highest", "rests on", "unit", "formula"), tuple(rows), frozenset({1, 2, 3, 4})
    )


def level_table(run: Run, part: Part) -> Table:
    """A row a level of the load test, or of another measurement that walks levels."""
    walked = levels(run, part.name)
    costs = {row.at_once: row for row in run.costs} if part.name == LOAD else {}
    kept = any(run.figure(f"{part.name}.{level}.kept_percent") for level in walked)
    heads = ["at once", "tokens/s", "TTFT p50, ms", "TTFT p99, ms", "per token p50, ms", "failed"]
    heads += ["kept, %", "goodput, tokens/s"] * kept + ["$ per million", "tokens/s per $/h"] * bool(costs)
    rows = []
    for level in walked:
        key = f"{part.name}.{level}"
        batches = [batch for batch in part.batches if batch.label == str(level)]
        failed = sum(request.kind != "ok" for batch in batches for request in batch.requests)
        asked = sum(len(batch.requests) for batch in batches)
        row = [
            Cell(f"{level:,}"),
            _value(run, f"{key}.tokens_per_second", span=True),
            *(_value(run, f"{key}.{what}") for what in ("ttft_p50_ms", "ttft_p99_ms", "tpot_p50_ms")),
            Cell(f"{failed:,} of {asked:,}" if asked else "–", tone="bad" if failed else ""),
        ]
        if kept:
            row += [_value(run, f"{key}.{what}") for what in ("kept_percent", "goodput_tokens_per_second")]
        if costs:
            found, words = costs.get(level), f"{run.id}|cost.{level}"
            row.append(num(found.usd_per_million_output if found else None, words))
            row.append(num(found.tokens_per_second_per_usd_hour if found else None, f"{words}|per_dollar"))
        rows.append(tuple(row))
    return Table(tuple(heads), tuple(rows), frozenset(range(len(heads))))


def _value(run: Run, key: str, *, span: bool = False) -> Cell:
    figure = run.figure(key)
    if figure is None:
        return Cell("–")
    return num(figure.value, f"{run.id}|{key}|value", small=range_words(figure) if span else "")


def range_words(figure: Figure) -> str:
    """Lowest to highest of its repeats; empty where there is one."""
    if figure.low is None or figure.high is None or len(figure.samples) < 2:
        return ""
    return f"{num(figure.low, '').text}–{num(figure.high, '').text}"


def _shape(part: Part) -> Facts:
    shape = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in part.settings.items() if value is not None)
    asked = f"{part.requests:,} in {duration(part.seconds)}" if part.requests else "none recorded"
    return Facts({"shape": shape or "–", "requests": asked, "begun": moment(part.started)})


def _troubles(part: Part) -> Iterator[str]:
    for kind, count in part.errors.items():
        yield f"{count:,} request{'' if count == 1 else 's'} failed: {kind}. None of them is in a figure."
    for kind, count in part.cautions.items():
        yield f"{count:,} × {kind.replace('_', ' ')}"
