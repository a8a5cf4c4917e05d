"""The lines of a deployment's container, from Azure ML itself; they are gone with the deployment."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from clouds.azure.api import AzureApi
from clouds.azure.endpoints import ids, parts, tags
from clouds.enginelog import Line
from clouds.errors import CloudError
from clouds.models import Call, LogPage, Scope

KEPT, LONGEST = 2000, 2000
_TIMED = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:[.,]\d+)?(?:Z|\+00:00)?\s+(.*)")


def read(api: AzureApi, deployment: str, limit: int = KEPT) -> tuple[Line, ...]:
    """The newest lines, oldest first; one without a time has that of the line before. Raises CloudError."""
    body = {"containerType": "InferenceServer", "tail": min(limit, KEPT)}
    answer = api.send(
        Call(parts.SERVED, "getLogs", {"id": deployment, "body": body}),
        scope=Scope(account=ids.subscription_of(deployment)),
    )
    lines, at = list[Line](), datetime.fromtimestamp(0, UTC)
    for text in str((answer or {}).get("content") or "").splitlines():
        timed = _TIMED.match(text)
        at = (timed and tags.moment(timed[1].replace(" ", "T"))) or at
        words = timed[2] if timed else text
        if words.strip():
            lines.append((at, words.rstrip()[:LONGEST]))
    return tuple(lines[-limit:])


def tail(api: AzureApi, deployment: str, limit: int = KEPT) -> tuple[Line, ...] | None:
    """The newest lines; None when they cannot be read."""
    try:
        return read(api, deployment, limit)
    except CloudError:
        return None


def page(api: AzureApi, deployment: str, *, now: datetime, since: timedelta, limit: int) -> LogPage:
    """The newest lines that are not older than `since`. Raises CloudError."""
    lines = read(api, deployment)
    new = [text for at, text in lines if at.timestamp() == 0 or at >= now - since]
    note = "" if lines else "no line yet: its container has not started; Azure ML does not say whether it has a machine"
    if len(lines) >= KEPT:
        note = f"only the newest {KEPT} lines can be read"
    return LogPage(tuple(new[-limit:]), f"container of {deployment.rsplit('/', 1)[-1]}", len(new), note)
