"""Zones of the TPU API: where to begin, and which have an accelerator."""

from __future__ import annotations

from collections.abc import Mapping

from clouds.errors import CloudError
from clouds.gcp.api import GcpApi
from clouds.gcp.endpoints.preflight import is_zone
from clouds.gcp.endpoints.tpu.calls import parent
from clouds.models import Call, Scope, Unread

FLEX_SEEN: Mapping[str, tuple[str, ...]] = {
    "v5e": ("us-west4-a",),
    "v6e": ("us-east5-a", "us-east5-b", "europe-west4-a"),
}
"""Zones where flex-start of one chip was granted or queued (gemma4-dev, August 2026: v5e in one of 44 zones tried)."""
DEFAULT: Mapping[str, tuple[str, ...]] = {
    "v5e": ("us-west4-a", "us-central1-a", "us-west1-c", "us-east1-c", "europe-west4-b"),
    "v6e": ("us-east5-a", "us-east5-b", "europe-west4-a", "us-east1-d", "us-central1-b"),
    "v5p": ("us-east5-a", "us-central1-a", "europe-west4-b"),
}
"""Zones to begin with where none is named; each is checked before it is used."""


def zones(api: GcpApi, project: str, place: str) -> tuple[tuple[str, ...], list[Unread]]:
    """The zone that was named, or all zones of the TPU API, those of one region when one was named."""
    if is_zone(place):
        return (place,), []
    call = Call("tpu", "projects.locations.list", {"name": f"projects/{project}"})
    try:
        answer = api.send(call, scope=Scope(account=project))
    except CloudError as error:
        return (), [Unread(call=str(call), scope=place or project, reason=str(error)[:300])]
    found = [str(row.get("locationId", "")) for row in answer.get("locations", [])]
    return tuple(sorted(zone for zone in found if is_zone(zone) and zone.startswith(place))), []


def offers(api: GcpApi, project: str, zone: str, kind: str) -> bool:
    """Whether the zone has the hardware. Raises what cannot be read."""
    call = Call("tpu", "projects.locations.acceleratorTypes.list", {"parent": parent(project, zone)})
    answer = api.send(call, scope=Scope(zone))
    return any(
        str(row.get("type") or row.get("name", "")).rsplit("/", 1)[-1] == kind
        for row in answer.get("acceleratorTypes", [])
    )
