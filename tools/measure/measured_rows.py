"""Rows and figures of a run as measure_model shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clouds.models import Record
from tools.figures import number, usd
from tools.measure.record import Figure, Part, Run
from tools.measure.stats import four, rounded
from tools.measure.walk import Measured
from tools.result import escape

OWN = {"decode", "load", "answers"}
"""Measurements whose figures have fields of their own."""
FIGURES = 30
"""Other figures that are shown; the file has all."""
MANY = re.compile(r"(?:knee\.|drafters\.at_)\d+\.tokens_per_second")
"""Throughput at a level of measurements that have no table of levels."""
FINER = re.compile(r"_p9\d_ms$|\.itl_|\.ttfa_|\.tokens_per_chunk$|_late_|\.due_per_second$")


class LevelRow(Record):
    """One level of the load test. Throughput is the median of its batches, `range` their smallest and largest."""

    at_once: int
    tokens_per_second: float | None
    range: str = ""
    ttft_p50_ms: float | None = None
    ttft_p99_ms: float | None = None
    tpot_p50_ms: float | None = None
    errors: int
    kept_percent: float | None = None
    """Replies within the objective, of all requests."""
    usd_per_million: float | None = None


class VariantRow(Record):
    """One run of a walk."""

    variant: str
    run: str
    state: str
    decode_tokens_per_second: float | None = None
    best_tokens_per_second: float | None = None
    right: str = ""
    error: str = ""


class OtherFigure(Record):
    """One figure of a measurement that has no place of its own here."""

    figure: str
    value: float | None
    range: str = ""
    why: str = ""


def level_table(rows: Sequence[LevelRow]) -> str:
    """The load test; columns for an objective and a price only where there is one."""
    if not rows:
        return ""
    priced = any(row.usd_per_million is not None for row in rows)
    aimed = any(row.kept_percent is not None for row in rows)
    head = ["at once", "tokens/s", "range", "TTFT p50 / p99", "per token p50", "errors"]
    head += ["kept"] * aimed + ["$ per million"] * priced
    lines = ["| " + " | ".join(head) + " |", "|--:|--:|---|---|--:|--:|" + "--:|" * (aimed + priced)]
    for row in rows:
        cells = [str(row.at_once), _or_dash(row.tokens_per_second), row.range]
        cells.append(f"{_or_dash(row.ttft_p50_ms)} / {_or_dash(row.ttft_p99_ms)} ms")
        cells += [f"{_or_dash(row.tpot_p50_ms)} ms", str(row.errors)]
        cells += [f"{_or_dash(row.kept_percent)} %"] * aimed
        cells += ["–" if row.usd_per_million is None else usd(row.usd_per_million).removeprefix("$")] * priced
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def variant_table(rows: Sequence[VariantRow]) -> str:
    """The runs of a walk."""
    if not rows:
        return ""
    lines = ["| variant | run | decode tokens/s | best tokens/s | right | |", "|---|---|--:|--:|---|---|"]
    for row in rows:
        cells = [
            row.variant,
            row.run,
            _or_dash(row.decode_tokens_per_second),
            _or_dash(row.best_tokens_per_second),
            row.right,
        ]
        lines.append("| " + " | ".join(escape(cell) for cell in [*cells, row.error or row.state]) + " |")
    return "\n".join(lines)


def _or_dash(value: float | None) -> str:
    return "–" if value is None else number(value)


def main_figures(run: Run) -> Iterator[Figure]:
    """What a person looks for first in every part that has no place of its own."""
    for part in run.parts:
        if part.name not in OWN:
            yield from (figure for figure in part.figures if figure.main)


def headline_part(run: Run, figure: Figure) -> str:
    """One main figure in words: a count with what it is of, an accuracy beside what is right without any skill."""
    value = number(four(figure.value or 0.0))
    match = re.fullmatch(r"(.*?),? (right|found) of \d+", figure.label)
    if figure.unit != "answers" or match is None:
        return f"{figure.label}: {value}"
    text = f"{match[1]}: {value} of {figure.n} {match[2]}"
    majority = run.figure(figure.key.removesuffix("right") + "majority")
    if majority is None or majority.value is None:
        return text
    return f"{text} (always the most frequent answer: {number(four(100 * majority.value))} %)"


def other_figures(run: Run) -> list[OtherFigure]:
    """All figures of those parts: of each part in turn what is looked for first, the finer ones last."""
    ranked = [sorted(part.figures, key=_rank) for part in run.parts if part.name not in OWN]
    share = max(1, FIGURES // max(1, len(ranked)))
    first = [each for figures in ranked for each in figures[:share]]
    rest = sorted((each for figures in ranked for each in figures[share:]), key=_rank)
    return [
        OtherFigure(figure=each.label, value=value_of(each), range=range_of(each), why=each.why)
        for each in (*first, *rest)
    ]


def _rank(figure: Figure) -> int:
    """0 main, 1 usual, 2 finer than a glance needs: high quantiles, gaps, shares of chunks."""
    return 0 if figure.main else 2 if FINER.search(figure.key) else 1


def level_rows(run: Run) -> Iterator[LevelRow]:
    """A row a level of the load test."""
    load = run.part("load")
    for level in dict.fromkeys(batch.at_once for batch in load.counted) if load else ():
        key = f"load.{level}"
        rate = run.figure(f"{key}.tokens_per_second")
        cost = next((each.usd_per_million_output for each in run.costs if each.at_once == level), None)
        yield LevelRow(
            at_once=level,
            tokens_per_second=value_of(rate),
            range=range_of(rate),
            ttft_p50_ms=value_of(run.figure(f"{key}.ttft_p50_ms")),
            ttft_p99_ms=value_of(run.figure(f"{key}.ttft_p99_ms")),
            tpot_p50_ms=value_of(run.figure(f"{key}.tpot_p50_ms")),
            errors=_failed(load, level),
            kept_percent=value_of(run.figure(f"{key}.kept_percent")),
            usd_per_million=None if cost is None else rounded(cost, 4),
        )


def _failed(load: Part | None, level: int) -> int:
    batches = [batch for batch in load.counted if batch.at_once == level] if load else []
    return sum(request.kind != "ok" for batch in batches for request in batch.requests)


def variant_row(each: Measured) -> VariantRow:
    """One run of a walk in a row."""
    run = each.run
    alone = run.figure("decode.tokens_per_second") or run.figure("drafters.tokens_per_second")
    rates = [row.tokens_per_second for row in level_rows(run) if row.tokens_per_second is not None]
    rates += [
        four(each.value)
        for part in run.parts
        for each in part.figures
        if MANY.fullmatch(each.key) and each.value is not None
    ]
    return VariantRow(
        variant=run.subject.variant,
        run=run.id,
        state=run.state,
        decode_tokens_per_second=value_of(alone),
        best_tokens_per_second=max(rates, default=None),
        right="; ".join(right_words(run)),
        error=each.error,
    )


def right_words(run: Run) -> Iterator[str]:
    """Right answers of each measurement that asks; the forty of `answers` need no name."""
    for part in run.parts:
        for each in part.figures:
            if each.main and each.unit == "answers" and each.value is not None:
                arm = each.key.split(".")[1]
                name = part.name if arm in {"right", "found"} else f"{part.name} {arm}"
                yield f"{each.value:.0f} of {each.n}" + ("" if name == "answers" else f" ({name})")


def range_of(figure: Figure | None) -> str:
    """Smallest and largest of its samples; empty where there is one."""
    if figure is None or figure.low is None or figure.high is None or figure.n < 2:
        return ""
    return f"{number(four(figure.low))}–{number(four(figure.high))}"


def value_of(figure: Figure | None) -> float | None:
    """Rounded as it is shown."""
    return None if figure is None or figure.value is None else four(figure.value)
