"""What has to be seen before any number is believed: not whole, failed, warnings, no plan, a quick look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tools.figures import few
from tools.measure.profiles import PROFILES
from tools.measure.quoted import WORDS
from tools.measure.record import Run
from tools.measure.registering import telling
from tools.measure.report.page import Lines, Tone


def badges(run: Run) -> Iterator[tuple[Tone, str]]:
    """Of one run."""
    if run.quoted is not None:
        yield "warn", WORDS
        return
    yield ("good", "complete") if run.state == "complete" else ("warn", run.state.upper())
    if run.warnings:
        yield "warn", f"{len(run.warnings)} warning{'' if len(run.warnings) == 1 else 's'}"
    if run.profile in PROFILES and PROFILES[run.profile].caveat:
        yield "warn", f"{run.profile} profile: shows large differences only"
    yield from _planned(run)
    if run.price is None:
        yield "quiet", "no price known"


def _planned(run: Run, name: str = "") -> Iterator[tuple[Tone, str]]:
    start = f"{name} " if name else ""
    if run.plan is None:
        yield "quiet", f"{start}exploratory"
    elif run.plan.departures:
        count = len(run.plan.departures)
        yield "warn", f"{start}{count} departure{'' if count == 1 else 's'} from its plan"
    else:
        yield "good", f"{start}followed its plan"


def badges_of_all(runs: Sequence[Run]) -> Iterator[tuple[Tone, str]]:
    """Of several runs: what any of them has, with its name."""
    for run in runs:
        if run.quoted is not None:
            yield "warn", f"{run.id}: {WORDS}"
    runs = [run for run in runs if run.quoted is None]
    if runs and all(run.state == "complete" for run in runs):
        yield "good", f"all {len(runs)} runs complete" if len(runs) > 1 else f"{runs[0].id} complete"
    for run in runs:
        if run.state != "complete":
            yield "warn", f"{run.id} {run.state.upper()}"
    warned = [run.id for run in runs if run.warnings]
    if warned:
        yield "warn", f"warnings in {few(warned, 4)}"
    if runs and all(run.plan is None for run in runs):
        yield "quiet", "exploratory"
    else:
        yield from (badge for run in runs for badge in _planned(run, run.id))
    if any(run.profile in PROFILES and PROFILES[run.profile].caveat for run in runs):
        yield "warn", "quick profile: shows large differences only"


def troubles(run: Run, name: str = "") -> Lines:
    """Everything that stands against a run, in sentences; empty where nothing does."""
    start = f"{name}: " if name else ""
    lines = []
    if run.quoted is not None:
        told = run.quoted
        lines.append(f"{start}{WORDS}, and part of no verdict: {told.source} ({told.date}; {told.method})")
    if run.state != "complete":
        reason = f"; it ended with: {run.failure}" if run.failure else ""
        lines.append(f"{start}{run.state}; missing: {', '.join(run.missing) or 'not known'}{reason}")
    elif run.failure:
        lines.append(f"{start}{run.failure}")
    lines += [f"{start}{each.text}" for each in run.warnings]
    if run.plan is not None and run.plan.departures:
        lines.append(f"{start}{telling.of_run(run)}")
    if run.profile in PROFILES and PROFILES[run.profile].caveat:
        lines.append(f"{start}{PROFILES[run.profile].caveat}")
    return Lines(tuple(lines), "warn", "Before reading the numbers")
