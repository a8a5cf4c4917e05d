"""Machines that are off and not given back, or given back and still holding disks and addresses; hosts; slots."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from clouds.azure.checks import words
from clouds.azure.checks.addresses import ADDRESSES, held_by
from clouds.azure.checks.disks import DISKS, MACHINES, disk_meters
from clouds.azure.checks.reads import check, children, kind, listing, single
from clouds.azure.checks.steps import act, change, delete, sends
from clouds.models import Call
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Meter, Row, Seen, Unresolved, Unseen, Waste

_VM = "Microsoft.Compute/virtualMachines"
STATES = listing(_VM, statusOnly="true")
"""Power states of all machines of a subscription in one listing (Virtual Machines - List All, read 2026-11-29)."""
HOST_GROUPS = listing("Microsoft.Compute/hostGroups")
HOSTS = children(HOST_GROUPS, "Microsoft.Compute/hostGroups/hosts")
SLOT_GROUPS = listing("Microsoft.Compute/capacityReservationGroups")
SLOTS = children(SLOT_GROUPS, "Microsoft.Compute/capacityReservationGroups/capacityReservations")
SLOT = single(SLOTS, "Microsoft.Compute/capacityReservationGroups/capacityReservations", expand="instanceView")
MACHINE = kind("virtual machine", MACHINES, lambda row: words.props(row).get("timeCreated") or words.made(row))
HOST = kind(
    "dedicated host", HOSTS, lambda row: words.props(row).get("timeCreated") or words.props(row).get("provisioningTime")
)
RESERVATION = kind(
    "capacity reservation",
    SLOT,
    lambda row: words.props(row).get("timeCreated") or words.props(row).get("provisioningTime"),
)  # fmt: skip
STOPPED_DAYS = 14


def power(row: Row, seen: Seen) -> tuple[str, Any]:
    """("deallocated", when that was). The time is that of the last operation. Raises Unresolved where nobody says."""
    state = seen.index(STATES, words.key).get(str(row["id"]).lower(), ())
    statuses = ((words.props(state[0]).get("instanceView") or {}).get("statuses") or ()) if state else ()
    word = next(
        (
            str(each["code"]).partition("/")[2]
            for each in statuses
            if str(each.get("code", "")).startswith("PowerState/")
        ),
        "",
    )
    if not word:
        raise Unresolved("no power state is given for it, so nobody knows whether it runs")
    times = [each.get("time") for each in statuses if each.get("time")]
    return word, max(times) if times else None


def _nics(row: Row) -> list[str]:
    found = (words.props(row).get("networkProfile") or {}).get("networkInterfaces") or ()
    return [str(each["id"]) for each in found if each.get("id")]


def _disks(row: Row) -> list[str]:
    storage = words.props(row).get("storageProfile") or {}
    held = [storage.get("osDisk") or {}, *(storage.get("dataDisks") or ())]
    return [str(each["managedDisk"]["id"]) for each in held if (each.get("managedDisk") or {}).get("id")]


def _scheduled(row: Row) -> bool:
    marks = ("schedule", "autostart", "auto-start", "autostop", "auto-stop", "startstop", "offhours")
    return any(word in name.lower() for name in words.tags(row) for word in marks)


def compute_meter(row: Row) -> Meter:
    """The hour of a machine, by its size and priority; the table holds Linux rates."""
    about = words.props(row)
    spot = about.get("priority") in ("Spot", "Low")
    return Meter(
        f"vm/{words.size((about.get('hardwareProfile') or {}).get('vmSize', ''))}/{'spot' if spot else 'on-demand'}",
        "hour",
    )


def _off(row: Row, seen: Seen) -> Waste | None:
    word, _since = power(row, seen)
    if word != "stopped":
        return None
    about = words.props(row)
    windows = ((about.get("storageProfile") or {}).get("osDisk") or {}).get("osType") == "Windows"
    size = words.size((about.get("hardwareProfile") or {}).get("vmSize", ""))
    return Waste(
        reason=f"shut down inside, but not deallocated: its {size} is held and bills in full",
        meters=(compute_meter(row),),
        bound="at least" if windows else "exact",
        evidence={"size": size, "power": word, "Windows": windows, "GPU": words.accelerated(size)},
    )


OFF = check(
    id="stopped-not-deallocated-vm",
    title="Machine that is shut down and still billed",
    kind=MACHINE,
    reads=(STATES,),
    judge=_off,
    why="A machine that was shut down from inside keeps its place on a host, and bills until it is deallocated.",
    spares=("running", "deallocated, which bills no compute", "younger than a day"),
    unchecked=("since when it is off",),
    meter="VM hours of its size, Linux rate; a Windows machine costs more",
    remove=lambda doomed: (
        act(
            _VM, doomed.id, "deallocate", f"deallocate {doomed.name}; its disks and static addresses stay",
            "statuses.code", "ProvisioningState/succeeded", "PowerState/deallocated", "OSState/generalized",
            look=Call(_VM, "instanceView", {"id": doomed.id}), capacity=True,
        ),
    ),
    reversal="can be undone",
    recovery="It starts again as it was, if there is capacity then; a dynamic public address changes.",
    order=15,
    steps=(f"{_VM}.deallocate", f"{_VM}.instanceView"),
)  # fmt: skip


def _deallocated(row: Row, seen: Seen) -> Waste | None:
    word, since = power(row, seen)
    if word != "deallocated" or _scheduled(row) or words.props(row).get("priority") == "Spot":
        return None
    if not words.older(seen, since, days=STOPPED_DAYS):
        return None
    try:
        known = seen.index(DISKS, words.key)
    except Unseen:  # the scan names it as unread; that the machine is off is known without it
        known = None
    disks = [known[name.lower()][0] for name in _disks(row) if name.lower() in known] if known is not None else []
    held = [held_by(seen, nic) for nic in _nics(row)]
    meters = [meter for each in disks for meter in disk_meters(each)] + [m for each in held for m in each.meters]
    addresses = [name for each in held for name in each.ids]
    unread = next((each.words for each in held if each.unread), "")
    days = words.days_since(seen, since)
    bills = words.many(len(disks), "disk") if known is not None else "disks that could not be read"
    return Waste(
        reason=f"deallocated for {days} days or more; what bills on: {bills}, "
        + (unread or words.many(len(addresses), "public address")),
        meters=tuple(meters),
        free=not meters and known is not None and not unread,
        bound="exact" if known is not None and not unread else "at least",
        holds=(*(str(each["id"]) for each in disks), *addresses),
        evidence={
            "disks": len(disks), "public addresses": len(addresses), "days": days,
            "spot": words.props(row).get("priority") == "Spot",
        },
    )  # fmt: skip


def _delete_machine(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return (
        delete(_VM, doomed.id, f"delete machine {doomed.name}; what is not set to go with it stays", "can be undone"),
    )


def _deleted_along(row: Row) -> bool:
    storage = words.props(row).get("storageProfile") or {}
    parts = [storage.get("osDisk") or {}, *(storage.get("dataDisks") or ())]
    return any(each.get("deleteOption") == "Delete" for each in parts)


def _deallocated_blocked(row: Row, seen: Seen) -> Waste | None:
    waste = _deallocated(row, seen)
    if waste is not None and _deleted_along(row):
        return replace(waste, blocked="a disk of it is set to be deleted with it: its data would be lost")
    return waste


DEALLOCATED = check(
    id="deallocated-vm",
    title="Machine that is off for long and still pays for its disks",
    kind=MACHINE,
    reads=(STATES, DISKS, ADDRESSES),
    judge=_deallocated_blocked,
    why="A deallocated machine bills no compute, but its disks and static addresses go on.",
    spares=(
        f"off for less than {STOPPED_DAYS} days, or nobody says since when",
        "a tag says that a schedule starts and stops it",
        "spot machines, which Azure deallocates itself and which wait for capacity",
        "shut down but not deallocated (stopped-not-deallocated-vm)",
    ),
    unchecked=("whether it is kept for a recovery",),
    meter="disk-months of its disks and hours of its public addresses",
    min_age=timedelta(days=STOPPED_DAYS),
    remove=_delete_machine,
    reversal="can be undone",
    recovery="Its disks, interfaces and addresses stay and are found by themselves; a machine can be made from them.",
    order=44,
    steps=sends(_VM, "delete"),
)  # fmt: skip


def host_key(sku: str) -> str:
    """A host's SKU as the price table keys it: prices spell `Dsv3_Type3`, Compute `DSv3-Type3`."""
    return "dedicated-host/" + re.sub(r"[^a-z0-9]", "", sku.lower())


def _idle_host(row: Row, _seen: Seen) -> Waste | None:
    about = words.props(row)
    if about.get("virtualMachines") or about.get("provisioningState", "Succeeded") not in ("Succeeded", "Failed"):
        return None
    sku = str((row.get("sku") or {}).get("name", ""))
    return Waste(
        reason=f"no machine is placed on it ({sku})",
        meters=(Meter(host_key(sku), "host-hour"),),
        evidence={"sku": sku, "licence": about.get("licenseType", "")},
    )


IDLE_HOST = check(
    id="idle-dedicated-host",
    title="Dedicated host that runs no machine",
    kind=HOST,
    judge=_idle_host,
    why="A dedicated host bills by the hour as a whole, with or without machines on it.",
    spares=("a machine is placed on it, also a deallocated one that Azure still lists there", "younger than a day"),
    unchecked=("a reservation that pays for it", "a scale set that will place machines on it by itself"),
    meter="host-hours of its type",
    remove=lambda doomed: (
        delete(
            "Microsoft.Compute/hostGroups/hosts", doomed.id, f"delete host {doomed.name}", "can be undone",
            capacity=True,
        ),
    ),
    reversal="can be undone",
    recovery="A host can be made again, if there is capacity then.",
    order=20,
    steps=sends("Microsoft.Compute/hostGroups/hosts", "delete"),
)  # fmt: skip


def _allocated(row: Row) -> tuple[int, int]:
    used = (words.props(row).get("instanceView") or {})["utilizationInfo"]
    return int(used.get("currentCapacity", 0)), len(used.get("virtualMachinesAllocated") or ())


def _reservation_group(row: Row) -> Iterable[str]:
    return (str(row["id"]).lower(),)


def _slots(row: Row, seen: Seen) -> Waste | None:
    group = seen.index(SLOT_GROUPS, _reservation_group).get(words.parent(row["id"]).lower(), ({},))[0]
    if words.props(group).get("reservationType") == "Block":
        return None
    if words.props(group).get("sharingProfile"):
        return None  # machines of other subscriptions, which cannot be seen from here, may hold its slots
    held, used = _allocated(row)
    free = held - used
    if free <= 0:
        return None
    size = words.size(str((row.get("sku") or {}).get("name", "")))
    waiting = len(words.props(row).get("virtualMachinesAssociated") or ()) - used
    return Waste(
        reason=f"{free} of {held} slots of {size} hold no running machine"
        + (f"; {words.many(waiting, 'machine')} tied to it, but off" if waiting > 0 else ""),
        meters=(Meter(f"vm/{size}/on-demand", "hour", free),),
        evidence={"slots": held, "used": used, "size": size, "tied and off": max(0, waiting)},
    )


def _shrink(doomed: Doomed) -> tuple[CleanupStep, ...]:
    kind_, used = "Microsoft.Compute/capacityReservationGroups/capacityReservations", doomed.evidence.get("used", 0)
    if used:
        return (
            change(
                kind_, doomed.id, f"shrink {doomed.name} to the {used} slots in use", {"sku": {"capacity": used}},
                "sku.capacity", str(used), capacity=True,
            ),
        )  # fmt: skip
    return (delete(kind_, doomed.id, f"delete reservation {doomed.name}", "can be undone", capacity=True),)


SLOTS_UNUSED = check(
    id="unused-capacity-reservation",
    title="Reserved capacity that holds no machine",
    kind=RESERVATION,
    reads=(SLOT_GROUPS,),
    judge=_slots,
    why="Each reserved slot bills like the machine it is kept for, whether one runs in it or not.",
    spares=(
        "slots with a running machine",
        "block reservations, which are paid ahead",
        "shared with other subscriptions",
        "younger than a day",
    ),
    unchecked=("a launch or a recovery that the slots are kept for", "machines that are off and tied to it"),
    meter="VM hours of the size times free slots",
    category="ai",
    remove=_shrink,
    reversal="can be undone",
    recovery="It can be reserved again, if there is capacity then.",
    order=18,
    steps=sends("Microsoft.Compute/capacityReservationGroups/capacityReservations", "patch", "delete"),
)  # fmt: skip

CHECKS = (OFF, SLOTS_UNUSED, IDLE_HOST, DEALLOCATED)
