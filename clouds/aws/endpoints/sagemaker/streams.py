"""The log of an endpoint in CloudWatch: which streams are this endpoint's, their first lines, their newest lines."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from clouds.aws.api import AwsApi
from clouds.enginelog import Line
from clouds.errors import CloudError, NotFound
from clouds.models import Call, LogPage, Scope

HEAD, MOST_STREAMS = 2000, 3
MOST_EVENTS, FULL = 10_000, 500_000
"""GetLogEvents gives 10,000 events or 1 MB, whichever is less (API reference, read 2026-11-29); from half of that in
characters on, an answer is not said to be the whole log."""
_EARLY = timedelta(seconds=1)
"""CreationTime and a stream's creationTime come from two clocks."""


def group(name: str) -> str:
    """SageMaker's log group of an endpoint."""
    return f"/aws/sagemaker/Endpoints/{name}"


def of(api: AwsApi, region: str, name: str, since: datetime | None) -> tuple[str, ...] | None:
    """The streams that began after `since` (None: all), newest first. Empty without a group; None when unreadable."""
    call = Call("logs", "DescribeLogStreams", {"logGroupName": group(name)})
    try:
        rows = api.send(call, scope=Scope(region)).get("logStreams", [])
    except NotFound:
        return ()
    except CloudError:
        return None
    limit = int((since - _EARLY).timestamp() * 1000) if since is not None else 0
    mine = [row for row in rows if int(row.get("creationTime", 0)) >= limit]
    mine.sort(key=lambda row: int(row.get("creationTime", 0)), reverse=True)
    return tuple(str(row["logStreamName"]) for row in mine)


def head(api: AwsApi, region: str, name: str, streams: Sequence[str]) -> tuple[Line, ...]:
    """The first lines of the newest stream, where a start is told. Empty when there is none or it is unreadable."""
    if not streams:
        return ()
    try:
        return _lines(_events(api, region, name, streams[0], {"startFromHead": True, "limit": HEAD}))
    except CloudError:
        return ()


def newest(
    api: AwsApi, region: str, name: str, streams: Sequence[str], *, now: datetime, since: timedelta, limit: int
) -> LogPage:
    """The newest `limit` lines of the newest streams, newest last."""
    start = int((now - since).timestamp() * 1000)
    found: list[Line] = []
    most, whole = min(limit, MOST_EVENTS), True
    for stream in streams[:MOST_STREAMS]:
        events = _events(api, region, name, stream, {"startTime": start, "limit": most})
        whole = whole and len(events) < most and sum(len(str(each.get("message", ""))) for each in events) < FULL
        found += _lines(events)
    found.sort(key=lambda line: line[0])
    lines = tuple(f"{at:%Y-%m-%dT%H:%M:%SZ} {text}" for at, text in found[-limit:])
    others = f"; {len(streams) - MOST_STREAMS} older streams were not read" if len(streams) > MOST_STREAMS else ""
    whole = whole and len(found) < limit
    return LogPage(
        lines=lines,
        source=f"CloudWatch {group(name)} {streams[0]}",
        total=len(found) if whole and not others else None,
        note=("" if whole else f"the newest {len(lines)} lines; there may be older ones") + others,
    )


def _events(api: AwsApi, region: str, name: str, stream: str, more: dict[str, Any]) -> list[dict[str, Any]]:
    call = Call("logs", "GetLogEvents", {"logGroupName": group(name), "logStreamName": stream, **more})
    events: list[dict[str, Any]] = api.send(call, scope=Scope(region)).get("events", [])
    return events


def _lines(events: Sequence[dict[str, Any]]) -> tuple[Line, ...]:
    return tuple(
        (datetime.fromtimestamp(int(event["timestamp"]) / 1000, UTC), _plain(str(event.get("message", ""))))
        for event in events
    )


def _plain(text: str) -> str:
    """One line without control characters; a message from outside may hold anything."""
    return "".join(char if char.isprintable() else " " for char in text[:4000]).strip()
