"""Decisions on a page: a reliability chart a task, and the accuracy of each beside its majority share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tools.measure.decisions.keeping import decisions_of
from tools.measure.decisions.summary import TaskSummary, summarize
from tools.measure.record import Run
from tools.measure.report.page import Cell, Chart, Charts, Lines, Section, Table, num
from tools.measure.report.reliability import reliability_chart

HEADS = (
    "task", "right", "accuracy", "majority share", "ECE", "ECE of a perfect model", "temperature", "ECE after it",
    "label mass", "with a fallback", "p50, ms", "p90, ms",
)  # fmt: skip
NEEDS = "Calibration is not drawn: the package numpy is not installed on the machine that made this page."


def decision_section(runs: Sequence[Run], names: Mapping[str, str] = {}) -> Iterator[Section]:
    """What the decisions of runs show, all charts side by side; nothing where none was made."""
    charts: list[Chart] = []
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        part = run.part("decisions")
        decisions = decisions_of(part.items) if part else ()
        if not decisions:
            continue
        try:
            tasks = summarize(decisions)
        except ImportError:
            yield Section("Decisions", (Lines((NEEDS,)),))
            return
        charts += _charts(run, tasks, names.get(run.id, ""))
        rows += _rows(run, tasks, names.get(run.id, ""))
    if rows:
        table = Table(HEADS, tuple(rows), frozenset(range(1, len(HEADS))))
        none = () if charts else ("No read had all it needs for a calibration chart.",)
        yield Section("Decisions", (Charts(tuple(charts)), Lines(none), table))


def _charts(run: Run, tasks: tuple[TaskSummary, ...], name: str) -> Iterator[Chart]:
    for task in tasks:
        if task.calibration is not None:
            heading = f"Reliability, {task.task}" + (f", {name}" if name else "")
            yield reliability_chart(heading, task.calibration, f"{run.id}|reliability.{task.task}")


def _rows(run: Run, tasks: tuple[TaskSummary, ...], name: str) -> Iterator[tuple[Cell, ...]]:
    for task in tasks:
        key = f"{run.id}|summary.{task.task}|"
        found, fitted = task.calibration, task.temperature
        values = {
            "accuracy": task.accuracy,
            "majority": task.majority,
            "ece": found.ece if found else None,
            "zero_median": found.zero_median if found else None,
            "temperature": fitted.temperature if fitted else None,
            "ece_after": fitted.ece_after if fitted else None,
            "label_mass": task.label_mass,
            "fallback_share": task.fallback_share,
            "p50_ms": task.p50_ms,
            "p90_ms": task.p90_ms,
        }
        lost = [f"{n:,} {word}" for n, word in ((task.failed, "failed"), (task.unreadable, "unreadable")) if n]
        right = Cell(f"{task.right:,} of {task.n:,}", float(task.right), f"{key}right", small=", ".join(lost))
        yield (Cell(task.task, small=name), right, *(num(value, f"{key}{what}") for what, value in values.items()))
