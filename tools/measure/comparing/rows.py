"""One figure of two runs: ratio, range and verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clouds.models import Record
from tools.measure.cautions import client_limits
from tools.measure.comparing.differences import shape_problems
from tools.measure.comparing.failures import failures
from tools.measure.comparing.figures import COST, cost_key, figures
from tools.measure.record import Figure, Run
from tools.measure.statistics.ratios import ENOUGH, Ratio, ratio_of_passes, spanned
from tools.measure.statistics.verdict import of_range
from tools.measure.statistics.words import Verdict, Word

FLOOR = 0.02
"""Below 2 % nothing is claimed from fewer than five repeats a side, of which two fall apart by chance in one of three
cases; nor, while no repeat of the base shows its drift, between two endpoints: machines of one kind differ by as much
(2026-09-26), and the repeats of one machine do not hold that."""

ONLY_ONE = "only one run has it"
STEADY = 0.05
"""A base that moved by more than this can hide, or make, a change of that size: it is not called noise, which would
say that the two are alike."""


class Row(Record):
    """One figure, base against another. `low` and `high` are the range of the ratio, made as `method` says:
    against every measurement of the base, where there are several."""

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


def rows(base: Run, other: Run, drifts: dict[str, float], again: Sequence[Run] = ()) -> tuple[Row, ...]:
    """Every figure that either run has, but the answers, which are paired question by question.

    `drifts` holds, by key, how far the base moved when it was measured again, and `again` are those measurements: a
    range is against all of them.
    """
    found: list[Row] = []
    limits = {run.id: client_limits(run) for run in (base, other)}
    unsteady = bool(_warned(base, other, "noisy_host"))
    apart = base.subject.ref != other.subject.ref
    for part in dict.fromkeys(part.name for run in (base, other) for part in run.parts):
        problems = shape_problems(base, other, part)
        first, second = dict(figures(base, part)), dict(figures(other, part))
        repeats = [dict(figures(run, part, base)) for run in again if not shape_problems(base, run, part)]
        for key in dict.fromkeys((*first, *second)):
            if not _compared(key, first, second):
                continue
            limited = [run.id for run in (base, other) if run.part(part) and limits[run.id](part, key)]
            client = (f"the client was the limit in {' and '.join(limited)}",) if limited else ()
            cannot = (*problems, *client, *(() if problems else failures((base, other), part, key)))
            if (key in first) != (key in second) and first and second and not (base.quoted or other.quoted):
                cannot = (ONLY_ONE,)  # whatever else differs, this is why
            known = drifts.get(key)
            others = tuple(each[key].samples for each in repeats if key in each)
            found.append(
                _row(first.get(key), second.get(key), cannot, _Base(known, others, unsteady, apart and known is None))
            )
    return tuple(_as_its_throughput(row, found) if _one_price(base, other) else row for row in found)


def _one_price(base: Run, other: Run) -> bool:
    prices = [run.price.usd_per_hour if run.price else None for run in (base, other)]
    return prices[0] is not None and prices[0] == prices[1]


def _as_its_throughput(row: Row, found: Sequence[Row]) -> Row:
    """A cost by the hour is its throughput upside down, and ends as that does: near an edge a range and its inverse
    could end in two words."""
    rate = next((each for each in found if row.key.endswith(COST) and cost_key(each.key) == row.key), None)
    if rate is None or rate.verdict == row.verdict:
        return row
    return row.model_copy(update={"verdict": rate.verdict, "why": f"as its throughput: {rate.why}"})


def _compared(key: str, first: dict[str, Figure], second: dict[str, Figure]) -> bool:
    """Counts of answers are paired by question instead; a cost that only one run has is a price that is not known."""
    known = first.get(key) or second.get(key)
    if known is None or known.unit == "answers":
        return False
    return not key.endswith(".usd_per_million") or (key in first and key in second)


def _warned(base: Run, other: Run, kind: str) -> tuple[str, ...]:
    return tuple(run.id for run in (base, other) if any(each.kind == kind for each in run.warnings))


@dataclass(frozen=True)
class _Base:
    """What is known of the base besides its figure: how far it moved, its repeats' samples, and where it stood."""

    drift: float | None
    again: tuple[Sequence[float], ...]
    unsteady: bool
    apart: bool


def _row(first: Figure | None, second: Figure | None, problems: tuple[str, ...], base: _Base) -> Row:
    known = second if first is None or (second is not None and first.label == first.key) else first
    if known is None:
        raise ValueError("a row needs a figure")
    ratio = None
    passes: tuple[Ratio, ...] = ()
    if first is None or second is None or first.value is None or second.value is None:
        problems = problems or (ONLY_ONE,)
    elif first.value > 0:
        ratio = second.value / first.value
        passes = tuple(_passes((first.samples, *base.again), second.samples))
    whole = spanned(passes) if passes else None
    verdict = _verdict(known, passes, problems, base)
    return Row(
        key=known.key,
        figure=known.label,
        unit=known.unit,
        base=first.value if first else None,
        other=second.value if second else None,
        ratio=ratio,
        low=whole.low if whole else None,
        high=whole.high if whole else None,
        method=whole.method if whole else "",
        no_overlap=whole is not None and not whole.overlap and min(whole.n_base, whole.n_other) > 1,
        verdict=verdict.word,
        why=verdict.why,
        main=known.main,
    )


def _passes(bases: Sequence[Sequence[float]], other: Sequence[float]) -> Iterator[Ratio]:
    """The other against the base, then against each repeat of the base that has as many passes as make a range."""
    for place, samples in enumerate(bases):
        if min(samples, default=0) <= 0 or min(other, default=0) <= 0:
            if not place:
                return
            continue
        found = ratio_of_passes(samples, other)
        if not place or found.low is not None:
            yield found


def _verdict(figure: Figure, passes: Sequence[Ratio], problems: tuple[str, ...], base: _Base) -> Verdict:
    higher = {"higher": True, "lower": False}.get(figure.better)
    if not passes:
        return of_range(None, None, cannot=problems or ("there are no repeats to tell a difference from noise",))
    whole = spanned(passes)
    verdict = of_range(whole.low, whole.high, higher_is_better=higher, drift=base.drift, cannot=problems)
    if whole.low is None or whole.high is None or verdict.word == "cannot say":
        return verdict
    if base.unsteady and base.drift is None:
        return Verdict(word="cannot say", why="the machine was not steady and the base was not measured again")
    if verdict.word == "within noise":
        away = any(not (each.low or 0) <= 1 <= (each.high or 0) for each in passes)
        if away and (base.drift or 0) > STEADY:
            moved = f"the base itself moved by {100 * (base.drift or 0):.2g} % when it was measured again"
            return Verdict(word="cannot say", why=moved)
        return verdict
    few = min(whole.n_base, whole.n_other) < ENOUGH
    edge = whole.low - 1 if whole.low > 1 else 1 - whole.high
    if (few or base.apart) and edge <= FLOOR:
        what = f"fewer than {ENOUGH} repeats a side show nothing" if few else "two machines of one kind differ too"
        near = f"the range comes within {100 * edge:.1f} % of 1"
        return Verdict(word="within noise", why=f"{near}; below {100 * FLOOR:.0f} % {what}")
    return verdict
