"""What we deployed ourselves and what has outlived its end, by the tags that it carries."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from clouds.aws.checks import words
from clouds.models.waste import Kind, Listing, Row, Seen, Waste, WasteCheck

DEPLOYMENT, EXPIRES = "modelrig-deployment", "modelrig-expires"
OURS = Listing(
    "resourcegroupstaggingapi", "GetResources", "ResourceTagMappingList", {"TagFilters": [{"Key": DEPLOYMENT}]}
)
_BILLS = (":endpoint/", ":instance/", ":volume/", ":natgateway/", ":elastic-ip/", ":cluster/")


def _tags(row: Row) -> Mapping[str, str]:
    return words.tags(row)


OWN = Kind(
    name="deployment of modelrig",
    of=OURS,
    id=lambda row, _at: row["ResourceARN"],
    label=lambda row: row["ResourceARN"].rsplit("/", 1)[-1],
    tags=_tags,
)


def _expired(row: Row, seen: Seen) -> Waste | None:
    found = words.tags(row)
    if DEPLOYMENT not in found:
        return None
    end = words.moment(found.get(EXPIRES, "").replace("_", ":"))
    if not any(part in row["ResourceARN"] for part in _BILLS):
        return None
    if end is None:
        reason = f"deployed by modelrig ({found.get(DEPLOYMENT, '')}) without an end"
    elif seen.now - end > timedelta(hours=1):
        hours = int((seen.now - end).total_seconds() // 3600)
        reason = f"deployed by modelrig; it should have ended {hours} hours ago"
    else:
        return None
    return Waste(
        reason=reason,
        evidence={"deployment": found.get(DEPLOYMENT, ""), "should have ended": found.get(EXPIRES, "never")},
    )


EXPIRED = WasteCheck(
    id="own-expired",
    title="Deployment of modelrig that has outlived its end",
    kind=OWN,
    judge=_expired,
    why="Every deployment ends by itself; one that is still there had its end prevented, and goes on billing.",
    spares=("its end is still to come", "parts that bill nothing by the hour: roles, configurations, schedules"),
    unchecked=("what it costs: another check prices it where it is idle",),
    meter="that of the resource itself",
    category="own",
    min_age=timedelta(0),
    remove="delete_endpoint takes down the whole deployment, with every part of it",
    reversal="can be undone",
    recovery="deploy_endpoint deploys it again.",
    order=5,
)
CHECKS = (EXPIRED,)
