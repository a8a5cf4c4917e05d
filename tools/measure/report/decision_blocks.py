"""Decisions on a page: a reliability chart a task, and the accuracy of each beside its majority share."""

from __future__ import annotations

from collections.abc import Iterator

from tools.measure.decisions.keeping import decisions_of
from tools.measure.decisions.summary import TaskSummary, summarize
from tools.measure.record import Run
from tools.measure.report.page import Block, Cell, Chart, Charts, Lines, Section, Table, num
from tools.measure.report.reliability import reliability_chart

NEEDS = "Calibration is not drawn: the package numpy is not installed on the machine that made this page."


def decision_sections(run: Run, name: str = "") -> Iterator[Section]:
    """What the decisions of a run show; nothing where it made none."""
    part = run.part("decisions")
    decisions = decisions_of(part.items) if part else ()
    if not decisions:
        return
    heading = "Decisions" + (f": {name}" if name else "")
    try:
        tasks = summarize(decisions)
    except ImportError:
        yield Section(heading, (Lines((NEEDS,)),))
        return
    charts = tuple(_charts(run, tasks, name))
    blocks: list[Block] = [Charts(charts), _table(run, tasks)]
    if not charts:
        blocks.insert(0, Lines(("No read had all it needs for a calibration chart.",)))
    yield Section(heading, tuple(blocks))


def _charts(run: Run, tasks: tuple[TaskSummary, ...], name: str) -> Iterator[Chart]:
    for task in tasks:
        if task.calibration is not None:
            heading = f"Reliability, {task.task}" + (f", {name}" if name else "")
            yield reliability_chart(heading, task.calibration, f"{run.id}|reliability.{task.task}")


def _table(run: Run, tasks: tuple[TaskSummary, ...]) -> Table:
    heads = (
        "task", "right", "accuracy", "majority share", "ECE", "ECE of a perfect model", "temperature", "ECE after it",
        "label mass", "with a fallback", "p50, ms", "p90, ms",
    )  # fmt: skip
    rows = []
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
        lost = [
            f"{count:,} {word}" for count, word in ((task.failed, "failed"), (task.unreadable, "unreadable")) if count
        ]
        right = Cell(f"{task.right:,} of {task.n:,}", float(task.right), f"{key}right", small=", ".join(lost))
        rows.append((Cell(task.task), right, *(num(value, f"{key}{name}") for name, value in values.items())))
    return Table(heads, tuple(rows), frozenset(range(1, len(heads))))
