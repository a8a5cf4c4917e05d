"""Limits as Google lists them: Cloud Quotas by id, and the quotas of Compute Engine's regions and project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from clouds.errors import NotFound
from clouds.gcp.quota_pools import Pool
from clouds.models import Call, Scope

if TYPE_CHECKING:
    from clouds.gcp.api import GcpApi

LIST = Call("cloudquotas", "projects.locations.services.quotaInfos.list")
ONE = Call("cloudquotas", "projects.locations.services.quotaInfos.get")
REGIONS = Call("compute", "regions.list")
PROJECT = Call("compute", "projects.get")
READS = (LIST, ONE, REGIONS, PROJECT)
LISTED = frozenset({"tpu.googleapis.com", "run.googleapis.com"})
"""Services whose whole list is short. Compute Engine's has hundreds of quotas in forty regions: asked one by one."""


@dataclass(frozen=True)
class Limit:
    """What a quota allows in each place. `used` is there where Google says it beside the limit."""

    places: Mapping[str, float]
    used: Mapping[str, float] = field(default_factory=dict)
    adjustable: bool | None = None


def listed(api: GcpApi, service: str, account: str) -> dict[str, Mapping[str, Any]]:
    """Quota id -> its description, of a service whose list is short. Raises CloudError."""
    parent = f"projects/{account}/locations/global/services/{service}"
    answer = api.send(Call(LIST.service, LIST.operation, {"parent": parent}), scope=Scope(account=account))
    return {str(row["quotaId"]): row for row in answer.get("quotaInfos") or ()}


def one(api: GcpApi, service: str, quota: str, account: str) -> Mapping[str, Any] | None:
    """One quota's description; None where Google knows no such id. Raises CloudError."""
    name = f"projects/{account}/locations/global/services/{service}/quotaInfos/{quota}"
    try:
        found: Mapping[str, Any] = api.send(
            Call(ONE.service, ONE.operation, {"name": name}), scope=Scope(account=account)
        )
    except NotFound:
        return None
    return found


def limit(info: Mapping[str, Any], pool: Pool) -> Limit:
    """The places of one quota. What is said for a place itself comes before what is said for several."""
    said: dict[str, float] = {}
    general: dict[str, float] = {}
    for row in info.get("dimensionsInfos") or ():
        dimensions = row.get("dimensions") or {}
        if any(dimensions.get(name) != value for name, value in pool.dimensions.items()):
            continue
        value = float((row.get("details") or {}).get("value") or 0) / pool.divisor
        place = dimensions.get("zone") or dimensions.get("region")
        if place:
            said[place] = value
        else:
            general |= dict.fromkeys(row.get("applicableLocations") or ("global",), value)
    eligible = (info.get("quotaIncreaseEligibility") or {}).get("isEligible")
    return Limit(general | said, adjustable=False if info.get("isFixed") else eligible)


def of_regions(regions: Mapping[str, Any], pool: Pool) -> Limit | None:
    """A metric of every region, with what is used; None where no region has it: then the name is wrong."""
    places, used = {}, {}
    for region in regions.get("items") or ():
        for row in region.get("quotas") or ():
            if row.get("metric") == pool.id:
                places[str(region["name"])] = float(row.get("limit") or 0)
                used[str(region["name"])] = float(row.get("usage") or 0)
    return Limit(places, used) if places else None


def of_project(project: Mapping[str, Any], pool: Pool) -> Limit | None:
    """A metric of the whole project, with what is used; None where the project does not have it."""
    for row in project.get("quotas") or ():
        if row.get("metric") == pool.id:
            return Limit({"global": float(row.get("limit") or 0)}, {"global": float(row.get("usage") or 0)})
    return None
