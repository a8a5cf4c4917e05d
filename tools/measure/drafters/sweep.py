"""Runs with and without a drafter side by side: what it gains, what a guess costs, and where it begins to cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from clouds.models import Record
from tools.measure.comparing.differences import AGAIN, BASE
from tools.measure.drafters.prompts import KINDS
from tools.measure.record import Run
from tools.measure.statistics.drift import drift
from tools.measure.statistics.kinds import KindRatios, by_kind

PART = "drafters"
RATE = "drafters.tokens_per_second"
BASES = {"", BASE, BASE + AGAIN}
FEWEST = 0.5
"""Guesses a step below which a step's time says nothing of what a guess costs."""


class SweepRow(Record):
    """One setting of the drafter against none. Ratios are to the run without one; None is: not known."""

    name: str
    drafted: float | None
    """Guesses a step, as the engine counted them; 0 is no drafter."""
    tokens_per_second: float | None
    times_plain: float | None
    kept_percent: float | None
    tokens_per_step: float | None
    step_ratio: float | None
    """The time of a step over that of a plain one. times_plain is tokens_per_step / step_ratio."""
    ms_per_guess: float | None
    kinds: KindRatios | None = None
    """The same by kind of prompt, and which kinds gain most and least."""
    at: Mapping[int, float] = {}
    """By how many at once: throughput over that of the run without a drafter."""
    behind: Mapping[int, float] = {}
    """By tokens ahead: decode rate over that of the run without a drafter."""


class Sweep(Record):
    """The rows in the order of the runs; the first is the run without a drafter."""

    plain: str
    rows: tuple[SweepRow, ...]
    notes: tuple[str, ...]


def sweep(runs: Sequence[Run], names: Mapping[str, str]) -> Sweep | None:
    """None unless some run without a drafter and another one measured the same prompts."""
    measured = [run for run in runs if run.quoted is None]
    having = [run for run in measured if (part := run.part(PART)) is not None and part.complete]
    plain = next((run for run in having if _value(run, "drafters.drafted_per_step") == 0), None)
    if plain is None or len(having) < 2:
        return None
    shape = _shape(plain)
    alike = [plain, *(run for run in having if run is not plain and _shape(run) == shape)]
    rows = tuple(_row(plain, run, names.get(run.id, run.id)) for run in alike)
    idle = {row.name for row, run in zip(rows, alike, strict=True) if run.subject.variant not in BASES}
    notes = tuple(_notes(rows, len(having) - len(alike), idle))
    return Sweep(plain=names.get(plain.id, plain.id), rows=rows, notes=notes)


def _shape(run: Run) -> object:
    part = run.part(PART)
    return (dict(part.settings), run.profile) if part else None


def _value(run: Run, key: str) -> float | None:
    figure = run.figure(key)
    return figure.value if figure else None


def _row(plain: Run, run: Run, name: str) -> SweepRow:
    step, base = _value(run, "drafters.step_ms"), _value(plain, "drafters.step_ms")
    drafted = _value(run, "drafters.drafted_per_step")
    enough = drafted is not None and drafted >= FEWEST
    guess = (step - base) / drafted if step is not None and base is not None and drafted and enough else None
    return SweepRow(
        name=name,
        drafted=drafted,
        tokens_per_second=_value(run, RATE),
        times_plain=_ratio(run, plain, RATE),
        kept_percent=_value(run, "drafters.kept_percent"),
        tokens_per_step=_value(run, "drafters.tokens_per_step"),
        step_ratio=step / base if step is not None and base else None,
        ms_per_guess=guess,
        kinds=_kinds(plain, run),
        at=_ratios(run, plain, "drafters.at_", ".tokens_per_second"),
        behind=_ratios(run, plain, "longcontext.decode_at.", ""),
    )


def _kinds(plain: Run, run: Run) -> KindRatios | None:
    """None where a kind is missing on a side: the mean would be one of other prompts."""
    first, second = _repeats(plain), _repeats(run)
    return by_kind(first, second) if first and set(first) == set(second) else None


def _repeats(run: Run) -> dict[str, tuple[float, ...]]:
    figures = {kind: run.figure(f"{PART}.{kind}.tokens_per_second") for kind in KINDS}
    return {kind: figure.samples for kind, figure in figures.items() if figure is not None and figure.samples}


def _ratio(run: Run, plain: Run, key: str) -> float | None:
    value, base = _value(run, key), _value(plain, key)
    return value / base if value is not None and base else None


def _ratios(run: Run, plain: Run, before: str, after: str) -> dict[int, float]:
    found = {}
    for figure in (figure for part in run.parts for figure in part.figures):
        middle = figure.key.removeprefix(before).removesuffix(after)
        known = figure.key == f"{before}{middle}{after}" and middle.isdecimal()
        if known and (ratio := _ratio(run, plain, figure.key)) is not None:
            found[int(middle)] = ratio
    return dict(sorted(found.items()))


def _notes(rows: Sequence[SweepRow], other_shape: int, idle: set[str]) -> Iterator[str]:
    """`idle` names the settings of which one that drafted nothing is no base: its drafter found nothing to guess."""
    yield from (_line(row) for row in rows if row.drafted)
    drafting = [row for row in rows if row.drafted and row.times_plain is not None]
    if drafting:
        best = max(drafting, key=lambda row: row.times_plain or 0.0)
        times = f"{best.times_plain:.2f} x none"
        if (best.times_plain or 0) > 1:
            yield f"{best.name} is the fastest for one at a time, {times}{_most(best.kinds)}"
        else:
            yield f"no setting is faster than none for one at a time; the best, {best.name}, is {times}"
    for row in drafting:
        yield from _turning(row, "at once", {1: row.times_plain or 0.0, **row.at})
    plains = [row for row in rows[1:] if row.drafted == 0 and row.times_plain is not None]
    for row in plains:
        what = "drafted nothing in these replies and is" if row.name in idle else "without a drafter again, is"
        yield f"{row.name}{' ' if row.name in idle else ', '}{what} {_away(rows[0], drafting, row)}"
    if other_shape:
        yield f"{other_shape} runs measured other prompts and are not in the sweep"


def _away(first: SweepRow, drafting: Sequence[SweepRow], again: SweepRow) -> str:
    """How far the base moved by itself, and which settings moved it no further than that."""
    base, last = first.tokens_per_second or 1.0, again.tokens_per_second or 1.0
    moved = {row.name: drift([base], [row.tokens_per_second or 1.0], [last]) for row in drafting}
    lost = [name for name, each in moved.items() if not each.beyond]
    away = f"{100 * (last / base - 1):+.1f} % away from the first"
    return f"{away}: no more was moved by {', '.join(lost)}" if lost else away


def _most(kinds: KindRatios | None) -> str:
    if kinds is None or len(kinds.kinds) < 2:
        return ""
    ratios = {row.kind: row.ratio for row in kinds.kinds}
    return f"; {kinds.most} gains most ({ratios[kinds.most]:.2f} x), {kinds.least} least ({ratios[kinds.least]:.2f} x)"


def _line(row: SweepRow) -> str:
    parts = [f"{row.drafted:.3g} guesses a step"]
    for value, words in (
        (row.tokens_per_second, "{:.4g} tokens/s"),
        (row.times_plain, "{:.2f} x none"),
        (row.kept_percent, "{:.0f} % kept"),
        (row.tokens_per_step, "{:.2f} tokens a step"),
        (row.step_ratio, "a step {:.2f} x a plain one"),
        (row.ms_per_guess, "{:.2f} ms a guess"),
    ):
        if value is not None:
            parts.append(words.format(value))
    if row.behind:
        parts.append("decoding " + ", ".join(f"{ratio:.2f} x behind {ahead:,}" for ahead, ratio in row.behind.items()))
    return f"{row.name}: {', '.join(parts)}"


def _turning(row: SweepRow, words: str, ratios: Mapping[int, float]) -> Iterator[str]:
    """Up to where it helps, and from where on it costs."""
    if len(ratios) < 2:
        return
    costs = next((level for level, ratio in sorted(ratios.items()) if ratio < 1), None)
    helps = [level for level, ratio in sorted(ratios.items()) if ratio > 1 and (costs is None or level < costs)]
    told = ", ".join(f"{ratio:.2f} x at {level}" for level, ratio in sorted(ratios.items()))
    if costs and helps:
        yield f"{row.name} helps up to {max(helps)} {words} and costs output from {costs} on ({told})"
    elif costs:
        yield f"{row.name} costs output from {costs} {words} on ({told})"
    else:
        yield f"{row.name} helps at every level, {fmean(ratios.values()):.2f} x on average ({told})"
