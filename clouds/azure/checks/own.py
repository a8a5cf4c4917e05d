"""What we deployed ourselves and what has outlived its end, by the tags that it carries."""

from __future__ import annotations

from datetime import timedelta

from clouds.azure.checks import words
from clouds.azure.checks.reads import listing
from clouds.models.waste import Kind, Row, Seen, Waste, WasteCheck

DEPLOYMENT, EXPIRES = "modelrig-deployment", "modelrig-expires"
OURS = listing(
    "Microsoft.Resources/resources", **{"$filter": f"tagName eq '{DEPLOYMENT}'", "$expand": "createdTime,changedTime"}
)
_BILLS = (
    "microsoft.app/containerapps",
    "microsoft.app/managedenvironments",
    "microsoft.machinelearningservices/workspaces/onlineendpoints",
    "microsoft.machinelearningservices/workspaces/onlineendpoints/deployments",
    "microsoft.compute/virtualmachines",
    "microsoft.compute/disks",
    "microsoft.network/publicipaddresses",
    "microsoft.containerregistry/registries",
)
OWN = Kind(
    name="deployment of modelrig", of=OURS, id=words.ident, label=words.label,
    created=lambda row: row.get("createdTime"), tags=words.tags, place=words.place, moving=("changedTime",),
)  # fmt: skip


def _expired(row: Row, seen: Seen) -> Waste | None:
    found = {name.lower(): value for name, value in words.tags(row).items()}  # Azure may change the case of a name
    if DEPLOYMENT not in found or str(row.get("type", "")).lower() not in _BILLS:
        return None
    end = words.moment(found.get(EXPIRES, "").replace("_", ":"))
    if end is None:
        reason = f"deployed by modelrig ({found[DEPLOYMENT][:60]}) without an end"
    elif seen.now - end > timedelta(hours=1):
        reason = f"deployed by modelrig; it should have ended {int((seen.now - end).total_seconds() // 3600)} hours ago"
    else:
        return None
    return Waste(
        reason=reason,
        evidence={"deployment": found[DEPLOYMENT], "should have ended": found.get(EXPIRES, "never")},
    )


EXPIRED = WasteCheck(
    id="own-expired",
    title="Deployment of modelrig that has outlived its end",
    kind=OWN,
    judge=_expired,
    why="Every deployment ends by itself; one that is still there had its end prevented, and goes on billing.",
    spares=("its end is still to come", "parts that bill nothing by the hour"),
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
