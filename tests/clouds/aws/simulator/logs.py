"""CloudWatch Logs as SageMaker fills it: a group outlives its endpoint, and a reused name shares it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tests.clouds.aws.simulator.account import Account, Stream, page
from tests.clouds.aws.simulator.seam import Refused

Params = Mapping[str, Any]


def _group(account: Account, region: str, name: str) -> dict[str, Stream]:
    group = account[region].streams.get(name)
    if group is None:
        raise Refused("ResourceNotFoundException", "The specified log group does not exist.")
    return group


def _ms(time: datetime) -> int:
    return int(time.timestamp() * 1000)


def describe_streams(account: Account, region: str, params: Params) -> dict[str, Any]:
    group = _group(account, region, params["logGroupName"])
    rows = []
    for stream in sorted(group.values(), key=lambda s: s.name):
        row: dict[str, Any] = {"logStreamName": stream.name, "creationTime": _ms(stream.created)}
        if stream.events:
            row["firstEventTimestamp"] = _ms(stream.events[0][0])
            row["lastEventTimestamp"] = _ms(stream.events[-1][0])
        rows.append(row)
    if params.get("orderBy") == "LastEventTime":
        rows.sort(key=lambda row: row.get("lastEventTimestamp", 0))
    if params.get("descending"):
        rows.reverse()
    shown, more = page(rows, params, 50, token="nextToken", limit="limit")
    return {"logStreams": shown, **more}


def get_events(account: Account, region: str, params: Params) -> dict[str, Any]:
    group = _group(account, region, params["logGroupName"])
    stream = group.get(params["logStreamName"])
    if stream is None:
        raise Refused("ResourceNotFoundException", "The specified log stream does not exist.")
    start, end = params.get("startTime", 0), params.get("endTime", 2**62)
    events = [(at, line) for at, line in stream.events if start <= _ms(at) < end]
    limit = params.get("limit", 10000)
    shown = events[:limit] if params.get("startFromHead") else events[-limit:]
    return {
        "events": [{"timestamp": _ms(at), "message": line, "ingestionTime": _ms(at)} for at, line in shown],
        "nextForwardToken": "f/0",
        "nextBackwardToken": "b/0",
    }


OPERATIONS = {"logs.DescribeLogStreams": describe_streams, "logs.GetLogEvents": get_events}
