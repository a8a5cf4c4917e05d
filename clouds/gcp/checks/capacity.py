"""Capacity that is paid for and not used: reservations, commitments, sole-tenant nodes, idle instance groups."""

from __future__ import annotations

from datetime import timedelta

from clouds.gcp import meters
from clouds.gcp.checks import words
from clouds.gcp.checks.metrics import LISTED, usage
from clouds.gcp.checks.reads import INSTANCES, aggregated, compute_kind, gce_key
from clouds.gcp.checks.steps import at, gone, remove, step, until
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Listing, Meter, Row, Seen, Waste, WasteCheck

RESERVATIONS = aggregated("reservations", "compute.googleapis.com/Reservation")
FUTURE = aggregated("futureReservations")
COMMITMENTS = Listing(
    "compute", "regionCommitments.aggregatedList", "items.*.commitments",
    assets=("compute.googleapis.com/Commitment",),
)  # fmt: skip
NODE_GROUPS = aggregated("nodeGroups", "compute.googleapis.com/NodeGroup")
GROUPS = aggregated("instanceGroupManagers", "compute.googleapis.com/InstanceGroupManager")

RESERVATION = compute_kind("reservation", RESERVATIONS, moving=("resourceStatus",))
FUTURE_RESERVATION = compute_kind("future reservation", FUTURE)
COMMITMENT = compute_kind("commitment", COMMITMENTS)
NODE_GROUP = compute_kind("sole-tenant node group", NODE_GROUPS)
GROUP = compute_kind("instance group", GROUPS, moving=("currentActions", "status"))


def _unused(row: Row, seen: Seen) -> Waste | None:
    del seen
    held = row.get("specificReservation") or {}
    count, used = int(words.number(held.get("count"))), int(words.number(held.get("inUseCount")))
    if row.get("status") != "READY" or count <= used:
        return None
    shared = (row.get("shareSettings") or {}).get("shareType") not in (None, "", "LOCAL")
    properties = held.get("instanceProperties") or {}
    kind, free = words.last(properties.get("machineType")), count - used
    lines = meters.machine(kind, words.spot(row), "on-demand", properties.get("guestAccelerators") or ())
    committed = bool(row.get("commitment") or row.get("linkedCommitments"))
    return Waste(
        f"{free} of {count} x {kind} are used by nobody",
        tuple(Meter(line.key, line.unit, line.quantity * free, line.location) for line in lines),
        prepaid=committed, bound="at most" if shared else "exact", until=words.moment(row.get("deleteAtTime")),
        blocked="a commitment stands on it" if committed else "some of it is in use" if used else "",
        evidence={"reserved": count, "in use": used, "type": kind, "shared": shared},
    )  # fmt: skip


def _delete_reservation(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return (remove(doomed, "reservations", "reservation", "reservation", capacity=True),)


UNUSED = WasteCheck(
    id="reservation-unused", title="Reserved machines that nobody uses", kind=RESERVATION, judge=_unused,
    why="A reservation bills like running machines, whether they run or not.", remove=_delete_reservation,
    steps=("compute.reservations.delete", "compute.reservations.get"), reversal="cannot be undone", category="ai",
    recovery="It can be asked for again; the capacity may not be had.", order=12,
    meter="its machine types by the hour", min_age=timedelta(days=7),
    spares=("all of it is in use", "younger than 7 days", "a commitment stands on it: prepaid, and not removed",
            "part of it is in use: not removed"),
    unchecked=("use between two scans", "other projects, where it is shared", "reservations of whole TPU blocks"),
)  # fmt: skip


def _future(row: Row, seen: Seen) -> Waste | None:
    del seen
    state = str((row.get("status") or {}).get("procurementStatus") or "")
    if row.get("planningStatus") != "DRAFT" and state not in (
        "DRAFTING",
        "PENDING_AMENDMENT_APPROVAL",
        "DECLINED",
        "FAILED",
    ):
        return None
    return Waste(f"{state or 'DRAFT'}: asked for, and not going on", free=True,
                 evidence={"status": state, "planning": row.get("planningStatus", "")})  # fmt: skip


def _delete_future(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return (remove(doomed, "futureReservations", "futureReservation", "future reservation", reversal="can be undone"),)


FORGOTTEN = WasteCheck(
    id="future-reservation-stale", title="Future reservation that is not going on", kind=FUTURE_RESERVATION,
    judge=_future, why="A draft that is submitted later by mistake commits to its whole time.", remove=_delete_future,
    steps=("compute.futureReservations.delete", "compute.futureReservations.get"), reversal="can be undone",
    recovery="The request can be made again.", category="ai", order=80, meter="none until it is committed",
    min_age=timedelta(days=7), spares=("approved, committed or fulfilled", "younger than 7 days"),
    unchecked=("who drafts it",),
)  # fmt: skip


_TERMS = {"TWELVE_MONTH": "year", "THIRTY_SIX_MONTH": "three years", "SIXTY_MONTH": "five years"}


def _term(row: Row) -> str:
    """How long a commitment binds; Google's own word where it is another one."""
    plan = str(row.get("plan") or "")
    return _TERMS.get(plan, plan or "term")


def _renews(row: Row, seen: Seen) -> Waste | None:
    end = words.moment(row.get("endTimestamp"))
    if row.get("status") != "ACTIVE" or not row.get("autoRenew") or end is None:
        return None
    days = (end - seen.now).days
    if not 0 <= days <= 60:
        return None
    bought = ", ".join(
        f"{words.number(each.get('amount')):g} {each.get('type', '')}" for each in row.get("resources") or ()
    )
    return Waste(
        f"renews by itself in {days} days, for another {_term(row)}",
        prepaid=True,
        evidence={"plan": row.get("plan", ""), "resources": bought, "ends": row.get("endTimestamp")},
    )


def _no_renewal(doomed: Doomed) -> tuple[CleanupStep, ...]:
    where = at(doomed.row, doomed.at.account, "commitment")
    return (
        step(
            "end",
            f"let the commitment {doomed.row['name']} end at its date",
            "compute.regionCommitments.update",
            {**where, "paths": ["autoRenew"], "body": {"name": doomed.row["name"], "autoRenew": False}},
            "can be undone",
            gone("compute.regionCommitments.get", where, "autoRenew", "false", seconds=600),
        ),
    )


RENEWS = WasteCheck(
    id="commitment-renews", title="Commitment that is about to renew by itself", kind=COMMITMENT, judge=_renews,
    why="A commitment that renews binds for another one or three years, used or not.", remove=_no_renewal,
    steps=("compute.regionCommitments.update", "compute.regionCommitments.get"), reversal="can be undone",
    recovery="Renewal can be switched on again until its last day.", order=85, meter="prepaid",
    min_age=timedelta(days=30), spares=("it ends by itself", "its end is more than 60 days away", "not active"),
    unchecked=("how much of it is used: the billing export says that",),
)  # fmt: skip


def _empty_group(row: Row, seen: Seen) -> Waste | None:
    size = int(words.number(row.get("size")))
    if row.get("status") != "READY" or not size:
        return None
    affine = [each for each in seen.rows(INSTANCES) if _bound(each)]
    if affine:  # which node group it stands on is not in the listing: any bound machine of the zone spares it
        zones = {words.spot(each) for each in affine}
        if words.spot(row) in zones:
            return None
    template = words.last(row.get("nodeTemplate"))
    return Waste(f"{size} node{'' if size == 1 else 's'}, and no machine in its zone asks for one",
                 (Meter(f"sole-tenant/{template}", "hour", float(size), words.region(words.spot(row))),),
                 evidence={"nodes": size, "template": template})  # fmt: skip


def _bound(machine: Row) -> bool:
    return bool((machine.get("scheduling") or {}).get("nodeAffinities"))


def _delete_group(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return (
        remove(doomed, "nodeGroups", "nodeGroup", "sole-tenant node group", reversal="can be undone", capacity=True),
    )


EMPTY = WasteCheck(
    id="node-group-empty", title="Sole-tenant nodes without machines", kind=NODE_GROUP, judge=_empty_group,
    reads=(INSTANCES,), why="A sole-tenant node bills as a whole, empty or full.", remove=_delete_group,
    steps=("compute.nodeGroups.delete", "compute.nodeGroups.get"), reversal="can be undone",
    recovery="It can be made again from its template; nodes may not be had.", order=36,
    meter="node type by the hour; the table has no rate for it", min_age=timedelta(days=7),
    spares=("a machine of its zone asks for sole-tenant nodes", "size 0", "younger than 7 days"),
    unchecked=("machines of other projects, where it is shared",),
)  # fmt: skip

CPU = usage(
    "highest CPU", INSTANCES, "compute.googleapis.com/instance/cpu/utilization", "gce_instance", ("instance_id",),
    gce_key, days=7, absent="unresolved", fold="max", unit="share",
    when=lambda row: row.get("status") == "RUNNING" and bool(words.made_by(row)),
    source=LISTED + "every running machine reports it",
)  # fmt: skip


def _group_of(machine: Row) -> tuple[str, ...]:
    items = (machine.get("metadata") or {}).get("items") or ()
    made = next((str(each.get("value", "")) for each in items if each.get("key") == "created-by"), "")
    return (
        (made[made.index("/zones/") if "/zones/" in made else made.index("/regions/") :],)
        if "Managers/" in made
        else ()
    )


def _idle_group(row: Row, seen: Seen) -> Waste | None:
    size = int(words.number(row.get("targetSize")))
    link = words.tail(row.get("selfLink"))
    key = link[link.index("/zones/") if "/zones/" in link else link.index("/regions/") :]
    members = [each for each in seen.index(INSTANCES, _group_of).get(key, ()) if each.get("status") == "RUNNING"]
    if any(words.managed(each) for each in members):
        return None  # a node pool of GKE or the workers of another service
    if not size or len(members) < size or any(seen.metric(CPU, each) >= 0.03 for each in members):
        return None
    lines = tuple(
        line
        for each in members
        for line in meters.machine(words.last(each.get("machineType")), words.spot(each),
                                   meters.model_of(each.get("scheduling")), each.get("guestAccelerators") or ())
    )  # fmt: skip
    return Waste(
        f"{words.count(size, 'machine')}, each under 3 % CPU for 7 days",
        lines,
        holds=tuple(words.compute_id(each, seen.at) for each in members),
        evidence={"machines": size},
    )


def _to_zero(doomed: Doomed) -> tuple[CleanupStep, ...]:
    row, where = doomed.row, at(doomed.row, doomed.at.account, "instanceGroupManager")
    kind = "instanceGroupManagers" if row.get("zone") else "regionInstanceGroupManagers"
    return (
        step("resize", f"resize the instance group {row['name']} to 0", f"compute.{kind}.resize", {**where, "size": 0},
             "can be undone", until(f"compute.{kind}.get", where, "status.isStable", "true", seconds=1800),
             capacity=True),
    )  # fmt: skip


GROUP_IDLE = WasteCheck(
    id="group-idle", title="Instance group whose machines all rest", kind=GROUP, judge=_idle_group,
    reads=(INSTANCES, CPU), why="A group keeps its size, whether there is work or not.", remove=_to_zero,
    steps=("compute.instanceGroupManagers.resize", "compute.instanceGroupManagers.get",
           "compute.regionInstanceGroupManagers.resize", "compute.regionInstanceGroupManagers.get"),
    reversal="can be undone", recovery="Resize it again; its machines are made anew from the template.", order=34,
    meter="its machines by the hour", min_age=timedelta(days=7),
    spares=("any machine was used in 7 days", "size 0", "made by GKE", "not all of its machines are up"),
    unchecked=("an autoscaler, which would size it up again",),
)  # fmt: skip
CHECKS = (UNUSED, GROUP_IDLE, EMPTY, RENEWS, FORGOTTEN)
