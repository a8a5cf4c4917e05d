"""The lines of a replica, from the replica itself. They are gone with it: no log workspace is made, none is paid.

The app gives a token for its own log (getAuthToken), a replica's container says at which address the log is; that is
what `az containerapp logs show` reads (azure-cli 2.91.0, read 2026-11-29). At most 300 lines are kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from clouds.azure.api import AzureApi
from clouds.azure.endpoints import ids, parts, tags
from clouds.azure.endpoints.containerapps.state import Seen
from clouds.azure.endpoints.web import Web
from clouds.enginelog import Line
from clouds.errors import CloudError, Unexpected
from clouds.models import Call, LogPage, Scope

KEPT = 300
LONGEST = 2000
_HOST = re.compile(r"([a-z0-9-]+\.)+azurecontainerapps(-[a-z]+)?\.[a-z.]+")


def tail(api: AzureApi, web: Web, seen: Seen, limit: int) -> tuple[Line, ...]:
    """The newest lines of every container, in order of time; empty when they cannot be read."""
    try:
        return read(api, web, seen, limit)
    except CloudError:
        return ()


def read(api: AzureApi, web: Web, seen: Seen, limit: int) -> tuple[Line, ...]:
    """The newest lines of every container that is up. Raises CloudError."""
    places = [str(one.get("logStreamEndpoint") or "") for one in seen.containers]
    places = [place for place in places if place]
    if not places:
        return ()
    app = str(seen.app["id"])
    answer = api.send(Call(parts.APP, "getAuthToken", {"id": app}), scope=Scope(account=ids.subscription_of(app)))
    token = str(((answer or {}).get("properties") or {}).get("token") or "")
    lines = [line for place in places for line in _of(web, place, token, limit)]
    return tuple(sorted(lines, key=lambda line: line[0])[-limit:])


def _of(web: Web, place: str, token: str, limit: int) -> list[Line]:
    parts_of = urlsplit(place)
    if parts_of.scheme != "https" or not _HOST.fullmatch(parts_of.hostname or ""):
        raise Unexpected(
            "reading the log of a replica",
            answered=f"its address is not one of Container Apps: {(parts_of.hostname or '')[:80]}",
            fix="Nothing was sent there. Read the log in the Azure portal.",
        )
    url = f"{place.partition('?')[0]}?follow=false&output=json&tailLines={min(limit, KEPT)}"
    page = web.ask("log-stream", url, headers={"Authorization": f"Bearer {token}"}, seconds=20.0)
    if page.status != 200:
        raise Unexpected("reading the log of a replica", answered=f"HTTP {page.status}", fix="Ask again in a minute.")
    return [line for text in page.text.splitlines() if (line := one(text)) is not None]


def one(text: str) -> Line | None:
    """One line as it is streamed: JSON with its time, or bare text; None for an empty one."""
    said: Any = None
    if text.startswith("{"):
        try:
            said = json.loads(text)
        except ValueError:
            said = None
    if isinstance(said, Mapping) and "Log" in said:
        moment, words = str(said.get("TimeStamp", "")), str(said["Log"])
    else:
        moment, _, words = text.partition(" ")
        if tags.moment(moment) is None:
            moment, words = "", text
    # the runtime's own marks in front of a line: which stream, and whether it is whole
    words = re.sub(r"^(stdout|stderr) [FP] |^F ", "", words).rstrip()
    at = tags.moment(moment) or datetime.fromtimestamp(0, UTC)
    return (at, words[:LONGEST]) if words else None


def page(api: AzureApi, web: Web, seen: Seen, *, now: datetime, since: timedelta, limit: int) -> LogPage:
    """The newest lines that are not older than `since`. Raises CloudError."""
    source = f"container {seen.app.get('name', '')} of {seen.properties.get('latestRevisionName', 'no revision')}"
    lines = read(api, web, seen, KEPT)
    new = [text for at, text in lines if at.timestamp() == 0 or at >= now - since]
    note = ""
    if not lines:
        note = "no replica is up, and its lines go with it (no log workspace was made)"
        if seen.count:
            note = "no line yet: a replica was placed and its container has not started"
        if seen.words:
            note = f"{note}. Azure says: {seen.words}"
    elif len(lines) >= KEPT:
        note = f"only the newest {KEPT} lines of a replica can be read"
    return LogPage(tuple(new[-limit:]), source, len(new), note)
