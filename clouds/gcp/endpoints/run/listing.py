"""Every service of ours, region by region: Cloud Run v2 takes no wildcard for a place (discovery, 2026-11-29)."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from clouds.errors import CloudError
from clouds.gcp.api import GcpApi
from clouds.gcp.endpoints import labels as tags
from clouds.gcp.endpoints.preflight import region_of
from clouds.models import Call, Read, Scope, Unread

AT_ONCE = 12


def services(api: GcpApi, scope: Scope) -> Read[Mapping[str, Any]]:
    """The rows with our label; a region that could not be looked at is unread."""
    project = scope.account or api.project
    if scope.location:
        return _in(api, project, region_of(scope.location))
    call = Call("run-v1", "projects.locations.list", {"name": f"projects/{project}"})
    try:
        answer = api.send(call, scope=Scope(account=project))
    except CloudError as error:
        return Read(unread=(Unread(call=str(call), scope=project, reason=str(error)[:300]),))
    regions = sorted(str(row["locationId"]) for row in answer.get("locations", []))
    with ThreadPoolExecutor(max(1, min(AT_ONCE, len(regions)))) as pool:
        read = [*pool.map(lambda region: _in(api, project, region), regions)]
    return Read(
        found=tuple(row for one in read for row in one.found),
        unread=tuple(word for one in read for word in one.unread),
    )


def _in(api: GcpApi, project: str, region: str) -> Read[Mapping[str, Any]]:
    parent = f"projects/{project}/locations/{region}"
    call = Call("run", "projects.locations.services.list", {"parent": parent})
    try:
        answer = api.send(call, scope=Scope(region, project))
    except CloudError as error:
        return Read(unread=(Unread(call=str(call), scope=region, reason=str(error)[:300]),))
    rows = answer.get("services", [])
    return Read(found=tuple(row for row in rows if row.get("labels", {}).get(tags.DEPLOYMENT)))
