"""Disks, snapshots, images and storage pools that nothing needs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from clouds.gcp import meters
from clouds.gcp.checks import words
from clouds.gcp.checks.reads import DISKS, INSTANCES, aggregated, compute_kind
from clouds.gcp.checks.steps import collection, remove, snapshot
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Listing, Meter, Row, Seen, Waste, WasteCheck

SNAPSHOTS = Listing("compute", "snapshots.list", "items", assets=("compute.googleapis.com/Snapshot",))
IMAGES = Listing("compute", "images.list", "items", assets=("compute.googleapis.com/Image",))
TEMPLATES = Listing("compute", "instanceTemplates.aggregatedList", "items.*.instanceTemplates")
MACHINE_IMAGES = Listing("compute", "machineImages.list", "items", assets=("compute.googleapis.com/MachineImage",))
INSTANT = aggregated("instantSnapshots", "compute.googleapis.com/InstantSnapshot")
POOLS = aggregated("storagePools", "compute.googleapis.com/StoragePool")


def _volume_of(row: Row) -> str:
    """Kubernetes writes whose volume a disk is into its description."""
    return words.managed(row) or ("Kubernetes" if "kubernetes.io/created-for" in str(row.get("description")) else "")


_BACKED_UP = ("GCE-PD CSI Driver", "kubernetes.io/", "velero.io/")


def _snapshot_of(row: Row) -> str:
    """Kubernetes and Velero write into a description what a snapshot is for: theirs is broken without it.

    As the sources of the GCE PD CSI driver and of Velero's plugin have it (read 2026-11-30).
    """
    text = str(row.get("description") or "")
    ours = any(word in text for word in _BACKED_UP)
    return words.managed(row) or ("a Kubernetes volume snapshot or a backup of Velero's" if ours else "")


DISK = compute_kind("disk", DISKS, managed=_volume_of, moving=("lastAttachTimestamp",))
SNAPSHOT = compute_kind("snapshot", SNAPSHOTS, managed=_snapshot_of, moving=("storageBytes", "storageBytesStatus"))
IMAGE = compute_kind("image", IMAGES)
MACHINE_IMAGE = compute_kind("machine image", MACHINE_IMAGES)
INSTANT_SNAPSHOT = compute_kind("instant snapshot", INSTANT, moving=("resourceStatus",))
POOL = compute_kind("storage pool", POOLS, moving=("resourceStatus", "status"))
OLD_DAYS = 90


def _disk_facts(row: Row) -> dict[str, Any]:
    return {"GiB": words.number(row.get("sizeGb")), "type": words.last(row.get("type")), "status": row.get("status")}


def _unattached(row: Row, seen: Seen) -> Waste | None:
    if row.get("users") or row.get("status") != "READY" or row.get("storagePool"):
        return None
    since = row.get("lastDetachTimestamp") or row.get("creationTimestamp")
    if not words.older(seen, since, days=7):
        return None
    return Waste(
        f"attached to nothing for {words.days_since(seen, since)} days; {row.get('sizeGb')} GiB "
        f"{words.last(row.get('type'))}",
        meters.disk(row, words.spot(row)), evidence={**_disk_facts(row), "since": since},
    )  # fmt: skip


def _delete_disk(doomed: Doomed) -> tuple[CleanupStep, ...]:
    kind = collection(doomed.row, "disks", "regionDisks")
    return (
        snapshot(doomed.row, doomed.at.account, doomed.mark),
        remove(doomed, kind, "disk", "disk", reversal="can be undone"),
    )


_DISK_STEPS = (
    "compute.disks.createSnapshot", "compute.regionDisks.createSnapshot", "compute.snapshots.get",
    "compute.snapshots.list", "compute.disks.delete", "compute.regionDisks.delete", "compute.disks.get",
    "compute.regionDisks.get",
)  # fmt: skip
UNATTACHED = WasteCheck(
    id="disk-unattached", title="Disk that is attached to nothing", kind=DISK, judge=_unattached,
    why="A disk bills for its provisioned size whether a machine uses it or not.", remove=_delete_disk,
    steps=_DISK_STEPS, reversal="can be undone", recovery="A snapshot is made first; the disk can be made from it.",
    order=60, meter="GiB-month of its type", min_age=timedelta(days=7),
    spares=("attached to a machine", "detached within 7 days", "not READY", "inside a storage pool", "made by GKE"),
    unchecked=("what is on it", "provisioned IOPS and throughput, which have no rate in the table"),
)  # fmt: skip


def _by_disk(machine: Row) -> tuple[str, ...]:
    return tuple(words.tail(each.get("source")) for each in machine.get("disks") or () if each.get("source"))


def _of_stopped(row: Row, seen: Seen) -> Waste | None:
    users = row.get("users") or ()
    machines = seen.index(INSTANCES, _by_disk).get(words.tail(row.get("selfLink")), ()) if users else ()
    if len(machines) != len(users) or not machines:
        return None  # attached to nothing, or to a machine that is not in this listing
    if not all(_long_stopped(each, seen) for each in machines):
        return None
    return Waste(f"its machine {machines[0]['name']} has been stopped for more than 14 days",
                 meters.disk(row, words.spot(row)), evidence=_disk_facts(row))  # fmt: skip


def _long_stopped(machine: Row, seen: Seen) -> bool:
    if machine.get("status") not in ("TERMINATED", "STOPPED"):
        return False
    return bool(words.older(seen, words.stopped_since(machine), days=14))


OF_STOPPED = WasteCheck(
    id="disk-of-stopped", title="Disk of a machine that has been stopped for long", kind=DISK, judge=_of_stopped,
    reads=(INSTANCES,), why="The disks of a stopped machine go on billing.",
    remove="it goes with its machine: see vm-stopped", reversal="can be undone", recovery="", order=61,
    meter="GiB-month of its type, booked on its machine",
    spares=("its machine runs", "stopped for less than 14 days", "also attached to another machine"),
)  # fmt: skip


def _sources(disk: Row) -> tuple[str, ...]:
    return (str(disk.get("id")), words.tail(disk.get("selfLink")))


def _from_snapshot(disk: Row) -> tuple[str, ...]:
    return (words.tail(disk["sourceSnapshot"]),) if disk.get("sourceSnapshot") else ()


def _of_disk(row: Row) -> tuple[str, ...]:
    return (str(row.get("sourceDiskId") or words.tail(row.get("sourceDisk"))),)


def _old_snapshot(row: Row, seen: Seen) -> Waste | None:
    if row.get("status") != "READY" or row.get("snapshotType") == "ARCHIVE" or row.get("sourceSnapshotSchedulePolicy"):
        return None
    if not words.older(seen, row.get("creationTimestamp"), days=OLD_DAYS):
        return None
    disks = seen.index(DISKS, _sources)
    if row.get("sourceDiskId") in disks or words.tail(row.get("sourceDisk")) in disks:
        return None
    newest = max(seen.index(SNAPSHOTS, _of_disk)[_of_disk(row)[0]], key=lambda each: str(each["creationTimestamp"]))
    if newest["selfLink"] == row["selfLink"]:
        return None  # the last copy of a disk that is gone
    gib = words.gib(row.get("storageBytes"))
    return Waste(
        f"{words.days_since(seen, row['creationTimestamp'])} days old; its disk is gone and a newer one of it is kept",
        meters.stored("snapshot/standard", gib, row.get("storageLocations")), bound="at most",
        evidence={"GiB stored": round(gib, 2), "disk": words.last(row.get("sourceDisk"))},
    )  # fmt: skip


def _delete_snapshot(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return (remove(doomed, "snapshots", "snapshot", "snapshot"),)


OLD_SNAPSHOT = WasteCheck(
    id="snapshot-old", title="Old snapshot of a disk that is gone", kind=SNAPSHOT, judge=_old_snapshot,
    reads=(DISKS,), why="Snapshots bill for what they store for as long as they are kept.", remove=_delete_snapshot,
    steps=("compute.snapshots.delete", "compute.snapshots.get"), reversal="cannot be undone",
    recovery="It cannot come back; the newest snapshot of the same disk stays.", order=70,
    meter="GiB-month stored, at most: later snapshots may take over what they share",
    min_age=timedelta(days=OLD_DAYS),
    spares=("its disk is still there", "the newest of its disk", "made by a schedule, Kubernetes or Velero",
            "archive snapshots", "younger than 90 days"),
    unchecked=("whether an audit needs it", "templates of other projects that name it"),
)  # fmt: skip


def _from_image(row: Row) -> tuple[str, ...]:
    """The image that a disk or another image was made from."""
    return (words.tail(row["sourceImage"]),) if row.get("sourceImage") else ()


def _makes_from(row: Row) -> tuple[str, ...]:
    """The images that a template makes machines from."""
    disks = (row.get("properties") or {}).get("disks") or ()
    named = [(each.get("initializeParams") or {}).get("sourceImage") for each in disks]
    return tuple(words.tail(each) for each in named if each)


def _family(row: Row) -> tuple[str, ...]:
    return (str(row["family"]),) if row.get("family") else ()


def _unused_image(row: Row, seen: Seen) -> Waste | None:
    if row.get("status") != "READY" or not words.older(seen, row.get("creationTimestamp"), days=OLD_DAYS):
        return None
    link, family = words.tail(row.get("selfLink")), f"global/images/family/{row.get('family')}"
    for read, by in ((DISKS, _from_image), (TEMPLATES, _makes_from), (IMAGES, _from_image)):
        used = seen.index(read, by)
        if link in used or any(name.endswith(family) for name in used):
            return None
    if row.get("family"):
        newest = max(seen.index(IMAGES, _family)[row["family"]], key=lambda each: str(each["creationTimestamp"]))
        if newest["selfLink"] == row["selfLink"]:
            return None
    gib = words.gib(row.get("archiveSizeBytes"))
    return Waste(f"{words.days_since(seen, row['creationTimestamp'])} days old, and nothing here was made from it",
                 meters.stored("image/storage", gib, row.get("storageLocations")),
                 evidence={"GiB stored": round(gib, 2), "family": row.get("family", "")})  # fmt: skip


def _delete_image(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return (remove(doomed, "images", "image", "image"),)


UNUSED_IMAGE = WasteCheck(
    id="image-unused", title="Image that nothing is made from", kind=IMAGE, judge=_unused_image,
    reads=(DISKS, TEMPLATES), why="A custom image bills for its archive every month.", remove=_delete_image,
    steps=("compute.images.delete", "compute.images.get"), reversal="cannot be undone",
    recovery="It has to be built again.", order=71, meter="GiB-month of its archive",
    min_age=timedelta(days=OLD_DAYS),
    spares=("a disk, template or image was made from it", "the newest of its family", "younger than 90 days"),
    unchecked=("other projects that it is shared with", "build pipelines that name it"),
)  # fmt: skip


def _old_machine_image(row: Row, seen: Seen) -> Waste | None:
    if row.get("status") != "READY" or not words.older(seen, row.get("creationTimestamp"), days=OLD_DAYS):
        return None
    gib = words.gib(row.get("totalStorageBytes"))
    return Waste(f"{words.days_since(seen, row['creationTimestamp'])} days old",
                 meters.stored("machine-image/storage", gib, row.get("storageLocations")),
                 evidence={"GiB stored": round(gib, 2), "machine": words.last(row.get("sourceInstance"))})  # fmt: skip


def _delete_machine_image(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return (remove(doomed, "machineImages", "machineImage", "machine image"),)


OLD_MACHINE_IMAGE = WasteCheck(
    id="machine-image-old", title="Old machine image", kind=MACHINE_IMAGE, judge=_old_machine_image,
    why="A machine image keeps a copy of every disk of a machine.", remove=_delete_machine_image,
    steps=("compute.machineImages.delete", "compute.machineImages.get"), reversal="cannot be undone",
    recovery="It cannot come back.", order=72, meter="GiB-month stored; the table has no rate for it",
    min_age=timedelta(days=OLD_DAYS), spares=("younger than 90 days", "not READY"),
    unchecked=("whether its machine still exists", "who would restore from it"),
)  # fmt: skip


def _old_instant(row: Row, seen: Seen) -> Waste | None:
    if row.get("status") != "READY" or not words.older(seen, row.get("creationTimestamp"), days=7):
        return None
    gib = words.gib((row.get("resourceStatus") or {}).get("storageSizeBytes"))
    return Waste(f"{words.days_since(seen, row['creationTimestamp'])} days old; instant snapshots are made for hours",
                 meters.stored("instant-snapshot/storage", gib, [words.region(words.spot(row))]),
                 evidence={"GiB stored": round(gib, 2), "disk": words.last(row.get("sourceDisk"))})  # fmt: skip


def _delete_instant(doomed: Doomed) -> tuple[CleanupStep, ...]:
    kind = collection(doomed.row, "instantSnapshots", "regionInstantSnapshots")
    return (remove(doomed, kind, "instantSnapshot", "instant snapshot"),)


OLD_INSTANT = WasteCheck(
    id="instant-snapshot-old", title="Old instant snapshot", kind=INSTANT_SNAPSHOT, judge=_old_instant,
    why="An instant snapshot stands beside its disk at the rate of a disk, and protects against no lost zone.",
    remove=_delete_instant,
    steps=("compute.instantSnapshots.delete", "compute.instantSnapshots.get", "compute.regionInstantSnapshots.delete",
           "compute.regionInstantSnapshots.get"),
    reversal="cannot be undone", recovery="It cannot come back; its disk stays.", order=73,
    meter="GiB-month stored; the table has no rate for it", min_age=timedelta(days=7),
    spares=("younger than 7 days", "not READY"), unchecked=("whether a change that it protects is still under way",),
)  # fmt: skip


def _empty_pool(row: Row, seen: Seen) -> Waste | None:
    del seen
    status = row.get("resourceStatus") or row.get("status") or {}
    if row.get("state") != "READY" or int(words.number(status.get("diskCount"))):
        return None
    kind, place = words.last(row.get("storagePoolType")), words.region(words.spot(row))
    gib = words.number(row.get("poolProvisionedCapacityGb"))
    return Waste(
        f"holds no disk; {gib:g} GiB are provisioned",
        (Meter(f"storage-pool/{kind}", "GiB-month", gib, place),),
        evidence={"GiB": gib, "type": kind, "IOPS": words.number(row.get("poolProvisionedIops"))},
    )


def _delete_pool(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return (remove(doomed, "storagePools", "storagePool", "storage pool"),)


EMPTY_POOL = WasteCheck(
    id="storage-pool-empty",
    title="Storage pool without disks",
    kind=POOL,
    judge=_empty_pool,
    why="A pool bills for its provisioned capacity, IOPS and throughput, also when it is empty.",
    remove=_delete_pool,
    steps=("compute.storagePools.delete", "compute.storagePools.get"),
    reversal="can be undone",
    recovery="A pool of the same size can be made again; nothing is in it.",
    order=62,
    meter="GiB-month provisioned; the table has no rate for it",
    min_age=timedelta(days=7),
    spares=("it holds a disk", "younger than 7 days", "not READY"),
    unchecked=("disks that are about to be made in it",),
)
CHECKS = (UNATTACHED, EMPTY_POOL, OF_STOPPED, OLD_SNAPSHOT, UNUSED_IMAGE, OLD_MACHINE_IMAGE, OLD_INSTANT)
