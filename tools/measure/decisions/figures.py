"""Figures of decisions: accuracy beside the majority, calibration beside what no miscalibration would show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from tools.measure.cost import PriceUsed
from tools.measure.decisions.comparing import order_changes
from tools.measure.decisions.keeping import decisions_of
from tools.measure.decisions.rates import rate
from tools.measure.decisions.summary import TaskSummary, summarize
from tools.measure.measurement import figure_of
from tools.measure.record import Better, Figure, Item
from tools.measure.stats import percentile

FORMULAS = {
    "decisions_right": "items whose most likely label is the true one; failed and unreadable ones count as wrong",
    "decisions_majority": "share of the most frequent true answer",
    "decisions_ece": "mean over items of |share right - mean probability| of their tenth",
    "decisions_bound": "ECE with every label that did not come back at the most it could have had",
    "decisions_zero": "the ECE that a model with exactly these probabilities would have on as many items, median",
    "decisions_temperature": "median over 20 splits of the temperature fitted on 50 items; the rest judge it",
    "decisions_after": "median ECE of the items that were not fitted on, at that temperature",
    "decisions_mass": "median probability on the labels, of all tokens",
    "decisions_returned": "labels that came back / allowed labels, mean over reads",
    "decisions_fallback": "share of reads with a label that did not come back (lowest returned - 5 is put there)",
    "decisions_top": "reads whose most likely token is a label",
    "decisions_changed": "items whose predicted option changes when the options are reversed",
    "decisions_ms": "quantile of (last delta - request handed to the socket), one item in flight",
    "decisions_rate": "items / wall time, that many in flight",
    "decisions_cost": "price of an hour / decisions in it, or tokens of a decision x their price; while busy",
}


def decision_figures(
    items: Sequence[Item],
    singles: Sequence[float],
    walls: Sequence[tuple[int, float]],
    streams: int,
    price: PriceUsed | None,
    tokens: Sequence[int],
    why: str = "",
) -> tuple[Figure, ...]:
    """`singles` are seconds of items read by themselves, `walls` items and seconds of each batch."""
    decisions = decisions_of(items)
    if not decisions:
        why = why or "nothing was read"
        return (
            figure_of(
                "decisions.right", "decisions right", "answers", None, (), formula="decisions_right", main=True, why=why
            ),
        )
    *tasks, whole = summarize(decisions)  # one task alone is the whole
    found = [*_task(whole, "decisions"), *_speed(singles, walls, streams, price, tokens)]
    for row in tasks:
        found += _task(row, f"decisions.{row.task}")
    for change in order_changes(decisions, decisions_of(items, "reversed")):
        label = f"{change.task}, another option when reversed, of {change.n}"
        changed = _figure(f"decisions.{change.task}.changed", label, "answers", change.changed, "changed", "lower")
        found.append(changed.model_copy(update={"n": change.n}))
    return tuple(found)


def _task(row: TaskSummary, key: str) -> Iterator[Figure]:
    whole = key == "decisions"
    name = "decisions" if whole else row.task
    yield figure_of(
        f"{key}.right",
        f"{name}, right of {row.n}",
        "answers",
        float(row.right),
        (),
        formula="decisions_right",
        better="higher",
        main=whole,
        n=row.n,
    )
    yield _figure(f"{key}.majority", f"{name}, majority share", "share", row.majority, "majority")
    if row.calibration is not None:
        yield _figure(f"{key}.ece", f"{name}, ECE", "", row.calibration.ece, "ece", "lower")
        yield _figure(
            f"{key}.ece_of_a_perfect_model", f"{name}, ECE of a perfect model", "", row.calibration.zero_median, "zero"
        )
    if row.ece_at_bound is not None:
        yield _figure(f"{key}.ece_at_bound", f"{name}, ECE at the bound", "", row.ece_at_bound, "bound", "lower")
    if row.temperature is not None:
        yield _figure(f"{key}.temperature", f"{name}, temperature", "", row.temperature.temperature, "temperature")
        yield _figure(f"{key}.ece_after", f"{name}, ECE after it", "", row.temperature.ece_after, "after", "lower")
    yield _figure(f"{key}.labels_returned", f"{name}, labels returned", "share", row.labels_returned, "returned")
    yield _figure(f"{key}.label_mass", f"{name}, label mass", "share", row.label_mass, "mass", "higher")
    yield _figure(
        f"{key}.fallback_share", f"{name}, reads with a fallback", "share", row.fallback_share, "fallback", "lower"
    )
    yield _figure(f"{key}.top_is_label", f"{name}, top token is a label", "answers", row.top_is_label, "top", "higher")


def _speed(
    singles: Sequence[float],
    walls: Sequence[tuple[int, float]],
    streams: int,
    price: PriceUsed | None,
    tokens: Sequence[int],
) -> Iterator[Figure]:
    times = [1000 * each for each in singles]
    for quantile in (50, 90):
        value = percentile(times, quantile / 100) if times else None
        key, label = f"decisions.p{quantile}_ms", f"one decision, p{quantile} ms"
        yield figure_of(key, label, "ms", value, (), formula="decisions_ms", better="lower", n=len(times), why="none")
    timed = [(count, wall) for count, wall in walls if wall > 0]
    if not timed:
        return
    rates = tuple(count / wall for count, wall in timed)
    total, seconds = sum(count for count, _ in timed), sum(wall for _, wall in timed)
    yield figure_of(
        "decisions.per_second",
        f"decisions a second, {streams} in flight",
        "1/s",
        total / seconds,
        rates,
        formula="decisions_rate",
        better="higher",
    )
    made = rate(
        total,
        seconds,
        streams,
        usd_per_hour=price.usd_per_hour if price else None,
        usd_per_million_tokens=price.usd_per_million_input if price else None,
        tokens_per_decision=fmean(tokens) if tokens else None,
    )
    if made.usd_per_million is not None:
        yield _figure(
            "decisions.usd_per_million", "$ per million decisions", "$", made.usd_per_million, "cost", "lower"
        )


def _figure(key: str, label: str, unit: str, value: float, formula: str, better: Better = "") -> Figure:
    return figure_of(key, label, unit, float(value), (), formula=f"decisions_{formula}", better=better, n=1)
