"""Azure Monitor usage as a reading: one request a resource, whose definition was confirmed before silence means zero.

`timeseries` is empty for a metric that nothing was written to. That is a zero only when the answer says Success, the
metric is one of those that the type defines, Microsoft.Insights is registered, and the resource is older than the
window. `$filter` answers with 10 series unless `top` says otherwise (Metrics - List, read 2026-11-29): a deployment
beyond the tenth would read as idle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from clouds.azure.checks import words
from clouds.azure.checks.reads import EVERY, REGISTRATIONS, registered
from clouds.models import Scope
from clouds.models.waste import Detail, Listing, Metric, Question, Reading, Row, Seen, Unresolved, Unseen

METRICS, DEFINITIONS = "Microsoft.Insights/metrics", "Microsoft.Insights/metricDefinitions"
SERIES = "1000"
Aggregation = Literal["Total", "Maximum", "Average", "Count"]


@dataclass(frozen=True)
class Split(Question):
    """A question whose answer is split by a dimension: the value of each owner."""

    values: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Usage:
    """A metric, and the definitions that have to confirm it."""

    metric: Metric
    definitions: Detail
    names: tuple[str, ...]
    aggregation: Aggregation

    @property
    def reads(self) -> tuple[Reading, ...]:
        """What a check that uses it has to declare: the metrics provider's registration among them."""
        return (REGISTRATIONS, self.definitions, self.metric)

    def of(self, seen: Seen, row: Row) -> float:
        """Usage of one row. Raises Unseen, or Unresolved where the definition is not confirmed."""
        try:
            value = seen.metric(self.metric, row)
        except Unseen:
            self._confirm(seen, row)
            raise
        self._confirm(seen, row)
        return value

    def _confirm(self, seen: Seen, row: Row) -> None:
        registered(seen, "Microsoft.Insights")
        defined = {str(each["name"]["value"]): each for each in seen.of(self.definitions, row)}
        for name in self.names:
            if name not in defined:
                raise Unresolved(f"{name} is not among the metrics that this type defines, so its silence says nothing")
            known = defined[name].get("supportedAggregationTypes")
            if known and self.aggregation not in known:
                raise Unresolved(f"{name} is not kept as {self.aggregation}, so its silence says nothing")


def usage(
    names: str,
    of: Listing | Detail,
    *,
    days: float,
    absent: Literal["zero", "unresolved"],
    source: str,
    aggregation: Aggregation = "Total",
    unit: str = "",
    when: Callable[[Row], bool] | None = None,
    by: str = "",
    each: bool = False,
) -> Usage:
    """Usage of each row over the last `days`: `names`, parted by commas, are added up (Total, Count) or the
    largest is taken.

    `by`: a dimension; rows are children whose name is its value, and their parent is asked once for all of them.
    `each`: the definitions differ between resources of the type, and are read for each of them.
    """
    listed = tuple(names.split(","))  # a name may hold spaces: "Percentage CPU"

    def query(start: datetime, end: datetime) -> dict[str, str]:
        asked = {
            "metricnames": ",".join(listed),
            "timespan": f"{start.strftime('%Y-%m-%dT%H:%M:%SZ')}/{end.strftime('%Y-%m-%dT%H:%M:%SZ')}",
            "interval": "P1D",
            "aggregation": aggregation,
            "AutoAdjustTimegrain": "true",
        }
        return {**asked, "$filter": f"{by} eq '*'", "top": SERIES} if by else asked

    def ask(rows: Sequence[Row], _scope: Scope, start: datetime, end: datetime) -> Iterator[Question]:
        asked = query(start, end)
        if not by:
            for position, row in enumerate(rows):
                yield Question({"parent": row["id"], "query": asked}, (position,))
            return
        held: dict[str, list[int]] = {}
        for position, row in enumerate(rows):
            held.setdefault(words.parent(row["id"]), []).append(position)
        for parent, positions in held.items():
            values = tuple(words.last(rows[position]["id"]).lower() for position in positions)
            yield Split({"parent": parent, "query": asked}, tuple(positions), None, values)

    about = f"{' + '.join(listed)} ({aggregation})"
    metric = Metric(
        name=about, of=of, days=days, absent=absent, service=METRICS, operation="list_in", ask=ask,
        points=lambda answer, question: points(answer, question, listed, aggregation),
        fold="sum" if aggregation in ("Total", "Count") else "max", unit=unit, when=when, source=source,
    )  # fmt: skip
    definitions = Detail(
        of, DEFINITIONS, "list_in",
        lambda rows, _at: {"parent": words.parent(rows[0]["id"]) if by else rows[0]["id"]},
        rows="value", when=when, batch=1 if each else EVERY,
    )  # fmt: skip
    return Usage(metric, definitions, listed, aggregation)


def points(
    answer: Any, question: Question, names: Sequence[str], aggregation: str
) -> Sequence[Sequence[float] | str | None]:
    """The values of each owner: None for no series, a text where a metric was not answered with Success."""
    values: list[list[float]] = [[] for _ in question.owners]
    answered = {str(each["name"]["value"]).lower(): each for each in answer.get("value") or ()}
    for name in names:
        metric = answered.get(name.lower())
        if metric is None:
            return [f"Azure Monitor left {name} out of its answer"] * len(question.owners)
        code = metric.get("errorCode", "Success")
        if code != "Success":
            return [f"Azure Monitor answered {code} for {name}: {metric.get('errorMessage', '')}"[:200]] * len(values)
        for series in metric.get("timeseries") or ():
            numbers = [each[aggregation.lower()] for each in series.get("data") or () if aggregation.lower() in each]
            for owner in _owners(series, question):
                values[owner] += [float(each) for each in numbers if each is not None]
    return [found or None for found in values]


def _owners(series: Mapping[str, Any], question: Question) -> Iterator[int]:
    """Which owners a series is of; the names of dimensions come back in lower case, their values in any."""
    if not isinstance(question, Split):
        yield 0
        return
    said = {str(each.get("value", "")).lower() for each in series.get("metadatavalues") or ()}
    yield from (number for number, value in enumerate(question.values) if value in said)
