"""What a person is told of plans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tools.measure.record import Departure, Run

SHOWN = 4


def of_run(run: Run) -> str:
    """One sentence: which plan it followed and where it departed, or that there was none."""
    plan = run.plan
    if plan is None:
        return "Exploratory: no plan was written before this run (options plan.write, then plan.file)."
    said = f"Plan `{plan.file}`, sha256 {plan.sha256[:12]}…, written {plan.written}"
    if not plan.departures:
        return f"{said}: followed as written."
    more = len(plan.departures) - SHOWN
    listed = "; ".join(_departure(each) for each in plan.departures[:SHOWN])
    return f"{said}: {len(plan.departures)} departures: {listed}" + (f"; {more} more in the file." if more > 0 else ".")


def of_comparison(runs: Sequence[Run]) -> Iterator[str]:
    """Which runs followed which plan. Nothing where none had one: then each says itself that it is exploratory."""
    if not any(run.plan for run in runs):
        return
    for run in runs:
        if run.plan is None:
            yield f"{run.id} is exploratory: no plan was written before it."
        elif run.plan.departures:
            listed = "; ".join(_departure(each) for each in run.plan.departures[:SHOWN])
            yield f"{run.id} departs from its plan in {len(run.plan.departures)} points: {listed}."


def _departure(each: Departure) -> str:
    change = f"{each.what} was {each.done or 'left out'} instead of {each.planned or 'nothing'}"
    return f"{change} ({each.at}{f': {each.reason}' if each.reason else ''})"
