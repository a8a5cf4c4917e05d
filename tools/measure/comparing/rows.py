"""One figure of two runs: ratio, range and verdict."""

from __future__ import annotations

from collections.abc import Iterator

from clouds.models import Record
from tools.measure.cautions import client_limits
from tools.measure.comparing.differences import shape_problems
from tools.measure.measurement import figure_of
from tools.measure.record import Figure, Run
from tools.measure.statistics.ratios import ENOUGH, Ratio, ratio_of_passes
from tools.measure.statistics.verdict import of_range
from tools.measure.statistics.words import Verdict, Word

FLOOR = 0.02
"""Below 2 % nothing is claimed from fewer than five repeats a side, of which two fall apart by chance in one of three
cases; nor, while no repeat of the base shows its drift, between two endpoints: machines of one kind differ by as much
(2026-09-26), and the repeats of one machine do not hold that."""


class Row(Record):
    """One figure, base against another. `low` and `high` are the range of the ratio, made as `method` says."""

    key: str
    figure: str
    unit: str
    base: float | None
    other: float | None
    ratio: float | None
    low: float | None = None
    high: float | None = None
    method: str = ""
    no_overlap: bool = False
    """Every repeat of one side lies beyond every repeat of the other."""
    verdict: Word
    why: str
    main: bool = False


def rows(base: Run, other: Run, drifts: dict[str, float]) -> tuple[Row, ...]:
    """Every figure that either run has, but the answers, which are paired question by question.

    `drifts` holds, by key, how far the base moved when it was measured again.
    """
    found: list[Row] = []
    limits = {run.id: client_limits(run) for run in (base, other)}
    for part in dict.fromkeys(part.name for run in (base, other) for part in run.parts):
        problems = shape_problems(base, other, part)
        unsteady = bool(_warned(base, other, "noisy_host"))
        apart = base.subject.ref != other.subject.ref
        figures = {run.id: dict(_figures(run, part)) for run in (base, other)}
        first, second = figures[base.id], figures[other.id]
        keys = [key for key in dict.fromkeys((*first, *second)) if _compared(key, first, second)]
        for key in keys:
            known = drifts.get(key)
            floored = apart and known is None
            limited = [run.id for run in (base, other) if run.part(part) and limits[run.id](part, key)]
            client = (f"the client was the limit in {' and '.join(limited)}",) if limited else ()
            cannot = (*problems, *client)
            found.append(_row(first.get(key), second.get(key), cannot, known, unsteady=unsteady, apart=floored))
    return tuple(found)


def _compared(key: str, first: dict[str, Figure], second: dict[str, Figure]) -> bool:
    """Counts of answers are paired by question instead; a cost that only one run has is a price that is not known."""
    known = first.get(key) or second.get(key)
    if known is None or known.unit == "answers":
        return False
    return not key.endswith(".usd_per_million") or (key in first and key in second)


def _figures(run: Run, part_name: str) -> Iterator[tuple[str, Figure]]:
    part = run.part(part_name)
    for figure in part.figures if part else ():
        yield figure.key, figure
        if part_name == "load" and figure.key.endswith(".tokens_per_second") and figure.value:
            yield from _cost(run, figure)


def _cost(run: Run, throughput: Figure) -> Iterator[tuple[str, Figure]]:
    """The cost of a million output tokens as a figure: by the hour it has the throughput's repeats."""
    level = throughput.key.split(".")[1]
    row = next((each for each in run.costs if str(each.at_once) == level), None)
    if row is None or run.price is None or not throughput.value:
        return
    scale = row.usd_per_million_output * throughput.value
    samples = tuple(scale / rate for rate in throughput.samples) if run.price.hourly else ()
    key, label = f"load.{level}.usd_per_million", f"{level} at once, $ per million"
    usd = row.usd_per_million_output
    yield key, figure_of(key, label, "$", usd, samples, formula="cost", better="lower", main=True)


def _warned(base: Run, other: Run, kind: str) -> tuple[str, ...]:
    return tuple(run.id for run in (base, other) if any(each.kind == kind for each in run.warnings))


def _row(
    first: Figure | None,
    second: Figure | None,
    problems: tuple[str, ...],
    drift: float | None,
    *,
    unsteady: bool,
    apart: bool,
) -> Row:
    known = first or second
    if known is None:
        raise ValueError("a row needs a figure")
    ratio = passes = None
    if first is None or second is None or first.value is None or second.value is None:
        problems = problems or ("only one run has it",)
    elif first.value > 0:
        ratio = second.value / first.value
        passes = _passes(first, second)
    verdict = _verdict(known, passes, problems, drift, unsteady=unsteady, apart=apart)
    return Row(
        key=known.key,
        figure=known.label,
        unit=known.unit,
        base=first.value if first else None,
        other=second.value if second else None,
        ratio=ratio,
        low=passes.low if passes else None,
        high=passes.high if passes else None,
        method=passes.method if passes else "",
        no_overlap=passes is not None and not passes.overlap and min(passes.n_base, passes.n_other) > 1,
        verdict=verdict.word,
        why=verdict.why,
        main=known.main,
    )


def _passes(first: Figure, second: Figure) -> Ratio | None:
    if min(first.samples, default=0) <= 0 or min(second.samples, default=0) <= 0:
        return None
    return ratio_of_passes(first.samples, second.samples)


def _verdict(
    figure: Figure,
    passes: Ratio | None,
    problems: tuple[str, ...],
    drift: float | None,
    *,
    unsteady: bool,
    apart: bool,
) -> Verdict:
    higher = {"higher": True, "lower": False}.get(figure.better)
    if passes is None:
        return of_range(None, None, cannot=problems or ("there are no repeats to tell a difference from noise",))
    verdict = of_range(passes.low, passes.high, higher_is_better=higher, drift=drift, cannot=problems)
    few = min(passes.n_base, passes.n_other) < ENOUGH
    known = passes.low is not None and passes.high is not None
    if verdict.word in {"better", "worse"} and unsteady and drift is None:
        return Verdict(word="cannot say", why="the machine was not steady and the base was not measured again")
    if verdict.word in {"better", "worse"} and (few or apart) and known:
        edge = (passes.low or 1) - 1 if (passes.low or 1) > 1 else 1 - (passes.high or 1)
        if edge <= FLOOR:
            what = f"fewer than {ENOUGH} repeats a side show nothing" if few else "two machines of one kind differ too"
            near = f"the range comes within {100 * edge:.1f} % of 1"
            return Verdict(word="within noise", why=f"{near}; below {100 * FLOOR:.0f} % {what}")
    return verdict
