"""Lightsail: bundles, disks, addresses, balancers, snapshots and container services that serve nothing.

A stopped instance is billed like a running one, and a container service by its power and scale even while it is
disabled (Lightsail docs, billing FAQ, read 2026-11-29). Lightsail has its own names, tags and price rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any

from clouds.aws.checks.steps import gone, step, until
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Kind, Listing, Meter, Row, Seen, Waste, WasteCheck

ADDRESSES = Listing("lightsail", "GetStaticIps", "staticIps")
DISKS = Listing("lightsail", "GetDisks", "disks")
INSTANCES = Listing("lightsail", "GetInstances", "instances")
BALANCERS = Listing("lightsail", "GetLoadBalancers", "loadBalancers")
INSTANCE_SNAPSHOTS = Listing("lightsail", "GetInstanceSnapshots", "instanceSnapshots")
DISK_SNAPSHOTS = Listing("lightsail", "GetDiskSnapshots", "diskSnapshots")
SERVICES = Listing("lightsail", "GetContainerServices", "containerServices")
_CHANGING = ("PENDING", "UPDATING", "DEPLOYING", "DELETING")


def _tags(row: Row) -> Mapping[str, str]:
    return {each["key"]: each.get("value", "") for each in row.get("tags", ())}


def _kind(name: str, of: Listing, label: str = "name") -> Kind:
    return Kind(
        name=f"Lightsail {name}",
        of=of,
        id=lambda row, _at: row["arn"],
        label=lambda row: row[label],
        created=lambda row: row["createdAt"],
        tags=_tags,
    )


def _delete(operation: str, look: str, key: str, path: str, word: str) -> Callable[[Doomed], tuple[CleanupStep, ...]]:
    """One step that deletes by name and waits until Lightsail no longer knows the name."""

    def steps(doomed: Doomed) -> tuple[CleanupStep, ...]:
        name = {key: doomed.row.get("name") or doomed.row["containerServiceName"]}
        text = f"{word} {name[key]}"
        return (
            step("delete", text, f"lightsail.{operation}", name, "cannot be undone",
                 until=gone(f"lightsail.{look}", name, path)),
        )  # fmt: skip

    return steps


def _address(row: Row, _seen: Seen) -> Waste | None:
    if row["isAttached"]:
        return None
    return Waste(
        "belongs to no instance",
        (Meter("lightsail/static-ip-unattached", "hour"),),
        evidence={"address": row["ipAddress"]},
    )


ADDRESS = WasteCheck(
    id="lightsail-static-ip-unattached",
    title="Lightsail address that belongs to nothing",
    kind=_kind("static IP", ADDRESSES),
    judge=_address,
    why="An attached address costs nothing; an unattached one is billed by the hour.",
    spares=("attached to an instance",),
    unchecked=("a DNS record or somebody's firewall rule that names it",),
    meter="Lightsail unattached static IP hours",
    remove=_delete("ReleaseStaticIp", "GetStaticIp", "staticIpName", "staticIp.name", "release"),
    reversal="cannot be undone",
    recovery="The address is lost.",
    order=65,
    steps=("lightsail.ReleaseStaticIp", "lightsail.GetStaticIp"),
)


def _disk(row: Row, _seen: Seen) -> Waste | None:
    if row["isAttached"] or row.get("isSystemDisk") or row["state"] != "available":
        return None
    size = row["sizeInGb"]
    return Waste("attached to nothing", (Meter("lightsail/disk", "GB-month", size),), evidence={"GB": size})


def _stored(gib: float) -> tuple[Meter, ...]:
    """What a snapshot of so many GB bills at most; nothing is said where no size is known."""
    return (Meter("lightsail/snapshot", "GB-month", float(gib)),) if gib else ()


def _delete_disk(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = doomed.row["name"]
    backup = f"modelrig-{doomed.mark}-{name}"[:255]
    return (
        step(
            "snapshot", f"snapshot disk {name} as {backup} and wait until it is complete",
            "lightsail.CreateDiskSnapshot", {"diskName": name, "diskSnapshotName": backup}, "can be undone",
            until=until("lightsail.GetDiskSnapshot", {"diskSnapshotName": backup}, "diskSnapshot.state", "completed",
                        failed=("error",)),
            backup=True, makes=backup, bills=_stored(doomed.row["sizeInGb"]),
        ),
        step(
            "delete", f"delete disk {name}; it can be made again from {backup}", "lightsail.DeleteDisk",
            {"diskName": name}, "can be undone", until=gone("lightsail.GetDisk", {"diskName": name}, "disk.name"),
        ),
    )  # fmt: skip


DISK = WasteCheck(
    id="lightsail-disk-unattached",
    title="Lightsail disk that is attached to nothing",
    kind=_kind("disk", DISKS),
    judge=_disk,
    why="A disk is billed by its size, attached or not.",
    spares=("attached", "a system disk", "being made or deleted"),
    unchecked=("what is on it",),
    meter="Lightsail disk storage",
    remove=_delete_disk,
    reversal="can be undone",
    recovery="A snapshot is made first; a disk can be made from it.",
    order=40,
    steps=("lightsail.CreateDiskSnapshot", "lightsail.GetDiskSnapshot", "lightsail.DeleteDisk", "lightsail.GetDisk"),
)


def _stopped(row: Row, _seen: Seen) -> Waste | None:
    if row["state"]["name"] != "stopped":
        return None
    bundle = row["bundleId"]
    return Waste(
        f"stopped, and billed as if it ran ({bundle})",
        (Meter(f"lightsail/bundle/{bundle}", "month"),),
        evidence={"bundle": bundle, "blueprint": row.get("blueprintId", "")},
    )


def _delete_instance(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = doomed.row["name"]
    disks = (doomed.row.get("hardware") or {}).get("disks") or ()
    backup = f"modelrig-{doomed.mark}-{name}"[:255]
    return (
        step(
            "snapshot", f"snapshot instance {name} as {backup} and wait until it is available",
            "lightsail.CreateInstanceSnapshot", {"instanceName": name, "instanceSnapshotName": backup},
            "can be undone",
            until=until("lightsail.GetInstanceSnapshot", {"instanceSnapshotName": backup}, "instanceSnapshot.state",
                        "available", failed=("error",)),
            backup=True, makes=backup, bills=_stored(sum(each.get("sizeInGb") or 0 for each in disks)),
        ),
        step(
            "delete", f"delete instance {name}; it can be made again from {backup}", "lightsail.DeleteInstance",
            {"instanceName": name}, "can be undone",
            until=gone("lightsail.GetInstance", {"instanceName": name}, "instance.name"),
        ),
    )  # fmt: skip


STOPPED = WasteCheck(
    id="lightsail-instance-stopped",
    title="Lightsail instance that is stopped and billed",
    kind=_kind("instance", INSTANCES),
    judge=_stopped,
    why="The whole bundle of a stopped instance is billed.",
    spares=("running, starting or stopping",),
    unchecked=("since when it is stopped: Lightsail does not say", "whether somebody starts it now and then"),
    meter="Lightsail bundle months",
    remove=_delete_instance,
    reversal="can be undone",
    recovery="A snapshot is made first; an instance from it has another address unless a static IP is attached.",
    order=24,
    steps=(
        "lightsail.CreateInstanceSnapshot",
        "lightsail.GetInstanceSnapshot",
        "lightsail.DeleteInstance",
        "lightsail.GetInstance",
    ),
)


def _balancer(row: Row, _seen: Seen) -> Waste | None:
    if row["instanceHealthSummary"] or row["state"] != "active":
        return None
    return Waste("no instance behind it", (Meter("lightsail/load-balancer", "hour"),))


BALANCER = WasteCheck(
    id="lightsail-balancer-empty",
    title="Lightsail load balancer with nothing behind it",
    kind=_kind("load balancer", BALANCERS),
    judge=_balancer,
    why="A load balancer is billed by the hour.",
    spares=("an instance is attached", "being made"),
    unchecked=("certificates that go with it",),
    meter="Lightsail load balancer hours",
    remove=_delete("DeleteLoadBalancer", "GetLoadBalancer", "loadBalancerName", "loadBalancer.name", "delete"),
    reversal="cannot be undone",
    recovery="Another one has another DNS name; its certificates are made anew.",
    order=30,
    steps=("lightsail.DeleteLoadBalancer", "lightsail.GetLoadBalancer"),
)


def _names(row: Row) -> Iterable[Any]:
    return (row["name"],)


def _orphan(row: Row, seen: Seen, sources: Listing, key: str, word: str) -> Waste | None:
    source = row.get(key)
    if row["state"] not in ("available", "completed") or not source or source in seen.index(sources, _names):
        return None
    whole = str(row.get(key.replace("Name", "Arn")) or "").split(":")
    if len(whole) > 5 and whole[3] != seen.at.location:
        return None  # copied from another region: what it was taken of is not looked for here
    return Waste(
        f"its {word} {source} is gone",
        (Meter("lightsail/snapshot", "GB-month", row["sizeInGb"]),),
        bound="at most",
        evidence={"GB": row["sizeInGb"], word: source},
    )


def _orphan_check(noun: str, of: Listing, sources: Listing, key: str, operations: tuple[str, str, str]) -> WasteCheck:
    delete, look, parameter = operations
    return WasteCheck(
        id=f"lightsail-{noun}-snapshot-orphan",
        title=f"Lightsail {noun} snapshot whose {noun} is gone",
        kind=_kind(f"{noun} snapshot", of),
        reads=(sources,),
        judge=lambda row, seen: _orphan(row, seen, sources, key, noun),
        why="It is billed by what it stores; what it was taken of is no longer there.",
        spares=(
            f"a {noun} of that name is there",
            "copied from another region",
            "being made",
            "younger than 30 days",
        ),
        unchecked=("whether it is kept as an archive",),
        meter="Lightsail snapshot storage; billed by what changed, so its size is the most",
        min_age=timedelta(days=30),
        remove=_delete(delete, look, parameter, f"{noun}Snapshot.name", "delete snapshot"),
        reversal="cannot be undone",
        recovery="None: it may be the last copy.",
        order=60,
        steps=(f"lightsail.{delete}", f"lightsail.{look}"),
    )


def _service(row: Row, _seen: Seen) -> Waste | None:
    if row["state"] in _CHANGING or row.get("nextDeployment"):
        return None
    if row.get("currentDeployment") and not row.get("isDisabled"):
        return None
    power, scale = row["power"], row["scale"]
    return Waste(
        "disabled, and billed as if it ran" if row.get("isDisabled") else "nothing was ever deployed to it",
        (Meter(f"lightsail/container/{power}", "node-month", scale),),
        evidence={"power": power, "nodes": scale, "state": row["state"]},
    )


CONTAINERS = WasteCheck(
    id="lightsail-container-idle",
    title="Lightsail container service without a deployment",
    kind=_kind("container service", SERVICES, "containerServiceName"),
    judge=_service,
    why="A container service is billed by its power and number of nodes, deployed to or not.",
    spares=("a deployment is there and it is enabled", "being made, updated or deployed to"),
    unchecked=("images that are stored in it", "requests to a deployment that is there"),
    meter="Lightsail container node months",
    remove=_delete(
        "DeleteContainerService",
        "GetContainerServices",
        "serviceName",
        "containerServices[].containerServiceName",
        "delete",
    ),
    reversal="cannot be undone",
    recovery="Another one has another address; images pushed to it are lost.",
    order=24,
    steps=("lightsail.DeleteContainerService", "lightsail.GetContainerServices"),
)
CHECKS = (
    ADDRESS,
    DISK,
    STOPPED,
    BALANCER,
    _orphan_check(
        "instance", INSTANCE_SNAPSHOTS, INSTANCES, "fromInstanceName",
        ("DeleteInstanceSnapshot", "GetInstanceSnapshot", "instanceSnapshotName"),
    ),
    _orphan_check(
        "disk", DISK_SNAPSHOTS, DISKS, "fromDiskName", ("DeleteDiskSnapshot", "GetDiskSnapshot", "diskSnapshotName")
    ),
    CONTAINERS,
)  # fmt: skip
