"""Usage as Cloud Monitoring has it: one query a metric and project for all resources at once, one number for each.

A query groups the series by the labels that name the resource, so that a project of 1,000 machines is one paged read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from clouds.models import Scope
from clouds.models.waste import Detail, Listing, Metric, Question, Row

Key = Callable[[Row], tuple[str, ...]]
LISTED = "Cloud Monitoring metric list (a stored copy of 2026-11-29; not tried live): "


@dataclass(frozen=True)
class Keyed(Question):
    """A question that knows by which labels each of its rows is found again."""

    labels: tuple[str, ...] = ()
    keys: tuple[tuple[str, ...], ...] = ()


def usage(
    name: str,
    of: Listing | Detail,
    type_: str,
    resource: str,
    labels: tuple[str, ...],
    key: Key,
    *,
    days: float,
    absent: Literal["zero", "unresolved"],
    source: str,
    fold: Literal["sum", "max"] = "sum",
    least: bool = False,
    unit: str = "",
    when: Callable[[Row], bool] | None = None,
) -> Metric:
    """One metric of Cloud Monitoring. `labels` of the monitored resource, in the order in which `key` gives them.

    `fold` "max" takes the greatest value of the window, or with `least` the smallest.
    """
    aligner, reducer = ("ALIGN_SUM", "REDUCE_SUM") if fold == "sum" else ("ALIGN_MAX", "REDUCE_MAX")
    if least:
        aligner, reducer = "ALIGN_MIN", "REDUCE_MIN"

    def ask(rows: Sequence[Row], at: Scope, start: datetime, end: datetime) -> Iterable[Question]:
        yield Keyed(
            {
                "name": f"projects/{at.account}",
                "filter": f'metric.type = "{type_}" AND resource.type = "{resource}"',
                "interval.startTime": _iso(start),
                "interval.endTime": _iso(end),
                "aggregation.alignmentPeriod": f"{int((end - start).total_seconds())}s",
                "aggregation.perSeriesAligner": aligner,
                "aggregation.crossSeriesReducer": reducer,
                "aggregation.groupByFields": [f"resource.label.{label}" for label in labels],
            },
            tuple(range(len(rows))),
            labels=labels,
            keys=tuple(key(row) for row in rows),
        )

    return Metric(
        name=name, of=of, days=days, absent=absent, service="monitoring", operation="projects.timeSeries.list",
        ask=ask, points=points, fold=fold, unit=unit, when=when, source=source,
    )  # fmt: skip


def points(answer: Any, question: Question) -> Sequence[Sequence[float] | str | None]:
    """The values of every row that was asked for; a text where Monitoring itself says that the answer is not whole."""
    if not isinstance(question, Keyed):
        raise TypeError("a question of another reading")
    if problems := answer.get("executionErrors"):
        words = "; ".join(str(each.get("message", ""))[:120] for each in problems)
        return [f"Monitoring answered in part: {words}"] * len(question.keys)
    found: dict[tuple[str, ...], list[float]] = {}
    for series in answer.get("timeSeries") or ():
        named = (series.get("resource") or {}).get("labels") or {}
        values = [_value(each.get("value") or {}) for each in series.get("points") or ()]
        found.setdefault(tuple(str(named.get(label, "")) for label in question.labels), []).extend(values)
    return [found.get(key) for key in question.keys]


def _value(value: Mapping[str, Any]) -> float:
    """A typed value: an int64 comes as text."""
    return float(value.get("doubleValue", value.get("int64Value", 0)) or 0)


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
