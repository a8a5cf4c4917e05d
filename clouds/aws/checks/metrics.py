"""CloudWatch usage as a reading: up to 500 series a request, each page merged by its id.

GetMetricData costs $0.01 for 1,000 metrics asked (Amazon CloudWatch pricing, read 2026-11-29), and is why a scan asks
only for what a check has not cleared already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from clouds.models import Scope
from clouds.models.waste import Charge, Metric, Question, Row, Source

SERIES = 500
"""MetricDataQueries of one GetMetricData (botocore 1.44.8 model)."""
CHARGE = Charge(0.01 / 1000, "metric", "2026-11-29", "Amazon CloudWatch pricing, GetMetricData")
Dimensions = Callable[[Row], Sequence[Mapping[str, str]]]


def usage(
    namespace: str,
    names: str,
    of: Source,
    *,
    by: Dimensions,
    days: float,
    absent: Literal["zero", "unresolved"],
    stat: Literal["Sum", "Maximum"] = "Sum",
    when: Callable[[Row], bool] | None = None,
    unit: str = "",
    source: str = "",
    where: Callable[[Row], str] | None = None,
) -> Metric:
    """Usage of each row: `names` (one, or several parted by blanks that are added up) over the last `days`.

    `by` gives the dimensions of every series of a row. `absent` is "zero" only for a metric that is emitted on use.
    """
    words = names.split()
    period = 3600 if days < 2 else 86400

    def ask(rows: Sequence[Row], scope: Scope, start: datetime, end: datetime) -> Iterator[Question]:
        parts: dict[str, tuple[list[Mapping[str, Any]], list[int]]] = {}

        def whole(place: str) -> Question:
            queries, owners = parts.pop(place)
            times = {"StartTime": start.isoformat(timespec="seconds"), "EndTime": end.isoformat(timespec="seconds")}
            at = Scope(place, scope.account) if place else None
            return Question({"MetricDataQueries": queries, **times}, tuple(owners), at)

        for position, row in enumerate(rows):
            place = where(row) if where is not None else ""
            for dims in by(row):
                shown = [{"Name": key, "Value": value} for key, value in dims.items()]
                for word in words:
                    queries, owners = parts.setdefault(place, ([], []))
                    one = {"Namespace": namespace, "MetricName": word, "Dimensions": shown}
                    asked = {"Metric": one, "Period": period, "Stat": stat}
                    queries.append({"Id": f"m{len(queries)}", "MetricStat": asked, "ReturnData": True})
                    owners.append(position)
                    if len(queries) == SERIES:
                        yield whole(place)
        for place in tuple(parts):
            yield whole(place)

    return Metric(
        name=" + ".join(words),
        of=of,
        days=days,
        absent=absent,
        service="cloudwatch",
        operation="GetMetricData",
        ask=ask,
        points=points,
        fold="sum" if stat == "Sum" else "max",
        unit=unit,
        when=when,
        charge=CHARGE,
        source=source or f"{namespace} in the CloudWatch documentation",
    )


def points(answer: Any, question: Question) -> Sequence[Sequence[float] | str | None]:
    """The values of each series asked, in the order of asking; None for no series, a text where it was not read.

    A series may go on over several pages: entries of one id are put together. An id that is missing is not a zero.
    """
    values: dict[str, list[float]] = {}
    problem: dict[str, str] = {}
    ended: dict[str, str] = {}
    for entry in answer.get("MetricDataResults", ()):
        name = str(entry.get("Id"))
        values.setdefault(name, []).extend(entry.get("Values") or ())
        ended[name] = str(entry.get("StatusCode") or "")
        if entry.get("StatusCode") in ("InternalError", "Forbidden"):
            words = "; ".join(str(each.get("Value") or each.get("Code")) for each in entry.get("Messages") or ())
            problem[name] = f"CloudWatch answered {entry['StatusCode']}{f': {words}' if words else ''}"[:200]
    whole = "; ".join(str(each.get("Code") or each.get("Value")) for each in answer.get("Messages") or ())
    found: list[Sequence[float] | str | None] = []
    for number in range(len(question.owners)):
        name = f"m{number}"
        if name in problem:
            found.append(problem[name])
        elif name not in values:
            found.append(f"CloudWatch left this series out of its answer{f' ({whole})' if whole else ''}"[:200])
        elif ended[name] == "PartialData":  # of a page that another follows this is usual; the last one ends Complete
            found.append("CloudWatch answered a part of this series and no page with the rest")
        else:
            found.append(values[name] or None)
    return found
