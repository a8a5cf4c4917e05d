"""What costs little and stands in the way: route tables, availability sets, private zones that no network reads."""

from __future__ import annotations

from datetime import timedelta

from clouds.azure.checks import words
from clouds.azure.checks.reads import check, dated, listing
from clouds.azure.checks.steps import delete, sends
from clouds.models.waste import Meter, Row, Seen, Unresolved, Waste

_ROUTES, _SETS, _ZONES = (
    "Microsoft.Network/routeTables",
    "Microsoft.Compute/availabilitySets",
    "Microsoft.Network/privateDnsZones",
)
ROUTES, SETS, ZONES = dated(listing(_ROUTES)), dated(listing(_SETS)), dated(listing(_ZONES))


def _table(row: Row, _seen: Seen) -> Waste | None:
    about = words.props(row)
    if about.get("subnets"):
        return None
    return Waste(reason="no subnet follows it", free=True, evidence={"routes": len(about.get("routes") or ())})


UNUSED_TABLE = check(
    id="unused-route-table",
    title="Route table that no subnet follows",
    kind=ROUTES.kind("route table"),
    reads=(ROUTES.index,),
    judge=ROUTES.judge(_table),
    why="It costs nothing; its routes look as if traffic followed them.",
    spares=("a subnet follows it", "younger than 7 days"),
    unchecked=("templates that expect it by name",),
    meter="none",
    min_age=timedelta(days=7),
    remove=lambda doomed: (delete(_ROUTES, doomed.id, f"delete route table {doomed.name}", "can be undone"),),
    reversal="can be undone",
    recovery="Its routes can be written again; the activity log keeps how they were made for 90 days.",
    order=93,
    steps=sends(_ROUTES, "delete"),
)


def _set(row: Row, _seen: Seen) -> Waste | None:
    if words.props(row).get("virtualMachines"):
        return None
    return Waste(reason="no machine is in it", free=True, evidence={"sku": (row.get("sku") or {}).get("name", "")})


EMPTY_SET = check(
    id="empty-availability-set",
    title="Availability set with no machine",
    kind=SETS.kind("availability set"),
    reads=(SETS.index,),
    judge=SETS.judge(_set),
    why="It costs nothing, and takes a name.",
    spares=("a machine is in it, also one that is off", "younger than 7 days"),
    unchecked=("templates that expect it by name",),
    meter="none",
    min_age=timedelta(days=7),
    remove=lambda doomed: (delete(_SETS, doomed.id, f"delete availability set {doomed.name}", "can be undone"),),
    reversal="can be undone",
    recovery="It can be made again.",
    order=93,
    steps=sends(_SETS, "delete"),
)


def _zone(row: Row, seen: Seen) -> Waste | None:
    about = words.props(row)
    links = about.get("numberOfVirtualNetworkLinks")
    if links is None:
        raise Unresolved("how many networks are linked to it is not given")
    if links:
        return None
    return Waste(
        reason=f"no network reads it; it holds {about.get('numberOfRecordSets', '?')} record sets",
        meters=(Meter(f"dns/private-zone/{'first' if len(seen.rows(ZONES.of)) <= 25 else 'beyond'}-25", "zone-month"),),
        evidence={"record sets": about.get("numberOfRecordSets"), "links": links},
    )


UNLINKED_ZONE = check(
    id="private-dns-zone-unlinked",
    title="Private DNS zone that no network reads",
    kind=ZONES.kind("private DNS zone"),
    reads=(ZONES.index,),
    judge=ZONES.judge(_zone),
    why="A private zone bills by the month; without a link to a network nobody can ask it.",
    spares=("a network is linked to it", "younger than 7 days"),
    unchecked=("a network that is to be linked, and private endpoints that still write records into it",),
    meter="zone-months at the marginal rate: the first 25 zones cost more than the others",
    min_age=timedelta(days=7),
    remove="private endpoints may write records into it, and lose them with it",
    reversal="cannot be undone",
    recovery="Its records have to be written again.",
    order=88,
)
CHECKS = (UNLINKED_ZONE, UNUSED_TABLE, EMPTY_SET)
