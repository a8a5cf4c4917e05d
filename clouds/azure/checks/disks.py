"""Managed disks attached to nothing, snapshots of disks that are gone, images and image versions that nothing uses."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from clouds.azure.checks import words
from clouds.azure.checks.reads import check, children, dated, kind, listing
from clouds.azure.checks.steps import delete, sends, snapshot
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Meter, Row, Seen, Unresolved, Waste

_DISK, _SNAPSHOT = "Microsoft.Compute/disks", "Microsoft.Compute/snapshots"
DISKS, SNAPSHOTS, IMAGES = listing(_DISK), listing(_SNAPSHOT), listing("Microsoft.Compute/images")
MACHINES = listing("Microsoft.Compute/virtualMachines")
SCALE_SETS = listing("Microsoft.Compute/virtualMachineScaleSets")
GALLERIES = listing("Microsoft.Compute/galleries")
GALLERY_IMAGES = children(GALLERIES, "Microsoft.Compute/galleries/images")
VERSIONS = children(GALLERY_IMAGES, "Microsoft.Compute/galleries/images/versions")
# Upper bounds in GiB (Azure managed disks docs and the table of 2026-09-23). Standard HDD has no rung below S4.
_STEPS = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32767)
_RUNGS = (1, 2, 3, 4, 6, 10, 15, 20, 30, 40, 50, 60, 70, 80)
_FAMILIES = {"Premium": "P", "StandardSSD": "E", "Standard": "S"}


def _disk_born(row: Row) -> Any:
    """Since when it is nobody's: the change of owner, where the disk says it, and not the day it was made."""
    return words.props(row).get("LastOwnershipUpdateTime") or words.props(row).get("timeCreated")


DISK = kind("managed disk", DISKS, _disk_born, managed=words.marked)
SNAP = kind("disk snapshot", SNAPSHOTS, lambda row: words.props(row).get("timeCreated"))
_IMAGES = dated(IMAGES)
IMAGE = _IMAGES.kind("managed image")
VERSION = kind(
    "gallery image version",
    VERSIONS,
    lambda row: (words.props(row).get("publishingProfile") or {}).get("publishedDate"),
)  # fmt: skip


def tier(sku: str, gib: int, performance: str = "") -> str:
    """The rung that a disk is billed at: "P10-LRS". `performance` is a higher tier that it was raised to."""
    sort, _, redundancy = sku.partition("_")
    family = _FAMILIES[sort]
    rung = next((rung for most, rung in zip(_STEPS, _RUNGS, strict=True) if gib <= most), _RUNGS[-1])
    if family == "S":
        rung = max(rung, 4)
    name = f"{family}{rung}"
    if performance.startswith(family) and performance[1:].isdigit() and int(performance[1:]) > rung:
        name = performance
    return f"{name}-{redundancy}"


def disk_meters(row: Row) -> tuple[Meter, ...]:
    """What a disk costs a month: its tier, flat; for Premium SSD v2 and Ultra each GiB, and what is provisioned on top.

    3,000 IOPS and 125 MB/s of a Premium SSD v2 are included (Azure managed disks docs, read 2026-11-29).
    """
    sku = str((row.get("sku") or {}).get("name", ""))
    about = words.props(row)
    gib = int(about.get("diskSizeGB") or 0)
    if sku not in ("PremiumV2_LRS", "UltraSSD_LRS"):
        if sku.partition("_")[0] not in _FAMILIES:
            return (Meter(f"disk/{sku or 'unknown'}", "disk-month"),)
        return (Meter(f"disk/{tier(sku, gib, str(about.get('tier') or ''))}", "disk-month"),)
    free_iops, free_mbps = (3000, 125) if sku == "PremiumV2_LRS" else (0, 0)
    iops = max(0, int(about.get("diskIOPSReadWrite") or 0) - free_iops)
    mbps = max(0, int(about.get("diskMBpsReadWrite") or 0) - free_mbps)
    return (
        Meter(f"disk/{sku}", "GiB-month", gib),
        *((Meter(f"disk-iops/{sku}", "IOPS-month", iops),) if iops else ()),
        *((Meter(f"disk-throughput/{sku}", "MBps-month", mbps),) if mbps else ()),
    )


def on_top(row: Row) -> str:
    """What a finding has to say of a disk whose performance is billed apart; "" for the others."""
    about = words.props(row)
    if (row.get("sku") or {}).get("name") not in ("PremiumV2_LRS", "UltraSSD_LRS"):
        return ""
    return (
        f"; provisioned IOPS ({about.get('diskIOPSReadWrite', 'not said')}) and throughput "
        f"({about.get('diskMBpsReadWrite', 'not said')} MB/s) bill on top of its GiB"
    )


def _unattached(row: Row, _seen: Seen) -> Waste | None:
    about = words.props(row)
    if not about.get("diskState"):
        raise Unresolved("its state is not given, so nobody knows whether it is attached")
    if about.get("diskState") != "Unattached" or row.get("managedBy") or row.get("managedByExtended"):
        return None
    gib, sku = about.get("diskSizeGB"), (row.get("sku") or {}).get("name", "")
    meters = disk_meters(row)
    return Waste(
        reason=f"attached to nothing; {gib} GiB {sku}{on_top(row)}",
        meters=meters,
        evidence={"GiB": gib, "sku": sku, "billed as": meters[0].key, "since": _disk_born(row) or ""},
    )


def _delete_disk(doomed: Doomed) -> tuple[CleanupStep, ...]:
    place, gib = words.place(doomed.row, doomed.at), doomed.evidence.get("GiB")
    return (
        snapshot(doomed.id, place, gib, doomed.mark, copied=bool(on_top(doomed.row))),
        delete(_DISK, doomed.id, f"delete disk {doomed.name}; it can be made again from the snapshot", "can be undone"),
    )


UNATTACHED = check(
    id="unattached-disk",
    title="Managed disk attached to nothing",
    kind=DISK,
    judge=_unattached,
    why="A disk bills at the tier of its size from its creation to its deletion, attached or not.",
    spares=(
        "reserved by a stopped machine (priced there)",
        "being read or uploaded (ActiveSAS, ActiveUpload, ReadyToUpload)",
        "of Site Recovery, Azure Backup or a Kubernetes volume claim",
        "changed its owner less than a day ago",
    ),
    unchecked=("whether it is kept for a restore",),
    meter="disk-months at its tier and redundancy; GiB-months, IOPS and throughput for Premium SSD v2 and Ultra",
    remove=_delete_disk,
    reversal="can be undone",
    recovery="An incremental snapshot is taken first and bills what it stores; a disk made from it has another id.",
    order=45,
    steps=(f"{_SNAPSHOT}.put", f"{_SNAPSHOT}.get", *sends(_DISK, "delete")),
)


def _orphaned(row: Row, seen: Seen) -> Waste | None:
    about = words.props(row)
    source = str((about.get("creationData") or {}).get("sourceResourceId") or "")
    if "/providers/microsoft.compute/disks/" not in source.lower():
        return None
    ours = source.lower().startswith(f"/subscriptions/{(seen.at.account or '').lower()}/")
    if not ours or source.lower() in seen.index(DISKS, words.key):
        return None
    gib = about.get("diskSizeGB") or 0
    return Waste(
        reason=f"the disk that it was taken of ({words.last(source)}) is gone; {gib} GiB at most",
        meters=(Meter("snapshot/standard-lrs", "GB-month", gib),),
        bound="at most",
        evidence={"source": source, "GiB": gib, "incremental": bool(about.get("incremental"))},
    )


ORPHANED = check(
    id="orphaned-snapshot",
    title="Snapshot of a disk that is gone",
    kind=SNAP,
    reads=(DISKS,),
    judge=_orphaned,
    why="A snapshot bills what it stores until somebody deletes it.",
    spares=(
        "its disk is still there: the snapshot may be its only backup",
        "of a disk in another subscription, which cannot be looked up",
        "of Azure Backup, Site Recovery and Velero",
        "younger than 30 days",
    ),
    unchecked=("whether it is the last copy of the data", "snapshots that build on each other share what they store"),
    meter="snapshot GB-months of the whole disk: an upper bound, since used blocks alone are billed",
    min_age=timedelta(days=30),
    remove=lambda doomed: (
        delete(_SNAPSHOT, doomed.id, f"delete snapshot {doomed.name}: the data is lost", "cannot be undone"),
    ),
    reversal="cannot be undone",
    recovery="The disk is gone already: a deleted snapshot cannot be made again.",
    order=70,
    steps=sends(_SNAPSHOT, "delete"),
)
_MACHINE_IMAGE = words.by("properties", "storageProfile", "imageReference", "id")
_SET_IMAGE = words.by("properties", "virtualMachineProfile", "storageProfile", "imageReference", "id")
_VERSION_SOURCE = words.by("properties", "storageProfile", "source", "id")


def _referenced(seen: Seen, resource: str) -> bool:
    name = resource.lower()
    return name in seen.index(MACHINES, _MACHINE_IMAGE) or name in seen.index(SCALE_SETS, _SET_IMAGE)


def _unused_image(row: Row, seen: Seen) -> Waste | None:
    if _referenced(seen, row["id"]) or str(row["id"]).lower() in seen.index(VERSIONS, _VERSION_SOURCE):
        return None
    storage = words.props(row).get("storageProfile") or {}
    disks = [storage.get("osDisk") or {}, *(storage.get("dataDisks") or ())]
    gib = sum(int(each.get("diskSizeGB") or 0) for each in disks)
    return Waste(
        reason=f"no machine, scale set or gallery of this subscription was made from it; {gib} GiB at most",
        meters=(Meter("snapshot/standard-lrs", "GB-month", gib),) if gib else (),
        bound="at most",
        evidence={"GiB": gib, "disks": len(disks)},
    )


UNUSED_IMAGE = check(
    id="unused-image",
    title="Managed image that nothing was made from",
    kind=IMAGE,
    reads=(_IMAGES.index, MACHINES, SCALE_SETS, VERSIONS),
    judge=_IMAGES.judge(_unused_image),
    why="An image bills the snapshots that it holds.",
    spares=("a machine, a scale set or a gallery version names it", "younger than 30 days"),
    unchecked=("other subscriptions, templates and pipelines that name it: they cannot be seen from here",),
    meter="GB-months of its disks: an upper bound",
    min_age=timedelta(days=30),
    remove="other subscriptions and templates that use an image cannot be seen from here",
    reversal="cannot be undone",
    recovery="A deleted image can only be built again.",
    order=80,
)


def _old_version(row: Row, seen: Seen) -> Waste | None:
    profile = words.props(row).get("publishingProfile") or {}
    published = profile.get("publishedDate")
    if not words.older(seen, published, days=180) or words.older(seen, profile.get("endOfLifeDate"), days=0) is False:
        return None
    siblings = seen.index(VERSIONS, _image_of).get(words.parent(row["id"]).lower(), ())
    latest = [
        each for each in siblings if not (words.props(each).get("publishingProfile") or {}).get("excludeFromLatest")
    ]
    newest = max((_published(each) for each in latest), default="")
    if newest <= str(published) or _referenced(seen, row["id"]) or _named_loosely(seen, row):
        return None
    storage = words.props(row).get("storageProfile") or {}
    disks = [storage.get("osDiskImage") or {}, *(storage.get("dataDiskImages") or ())]
    gib = sum(int(each.get("sizeInGB") or 0) for each in disks)
    regions: list[Row] = profile.get("targetRegions") or [{}]
    copies = sum(int(each.get("regionalReplicaCount") or 1) for each in regions)
    return Waste(
        reason=f"published more than 180 days ago and superseded; {words.many(copies, 'copy')} of {gib} GiB at most",
        meters=(Meter("snapshot/standard-lrs", "GB-month", gib * copies),) if gib else (),
        bound="at most",
        evidence={"GiB": gib, "copies": copies, "published": published},
    )


def _published(row: Row) -> str:
    return str((words.props(row).get("publishingProfile") or {}).get("publishedDate") or "")


def _image_of(row: Row) -> tuple[str]:
    return (words.parent(row["id"]).lower(),)


def _named_loosely(seen: Seen, row: Row) -> bool:
    """Whether the only version of its image is named through the image: then "latest" is this one."""
    return _published(row) == max(map(_published, seen.index(VERSIONS, _image_of)[words.parent(row["id"]).lower()]))


OLD_VERSION = check(
    id="gallery-old-versions",
    title="Gallery image version that a newer one has replaced",
    kind=VERSION,
    reads=(MACHINES, SCALE_SETS),
    judge=_old_version,
    why="Each version bills its size in every region and replica that it was published to.",
    spares=(
        "the newest version of its image",
        "a machine or a scale set names it",
        "its end of life is still to come",
        "published within 180 days",
    ),
    unchecked=("other subscriptions and templates that name the version",),
    meter="snapshot GB-months times copies: an upper bound",
    min_age=timedelta(days=180),
    remove="other subscriptions and templates that name a version cannot be seen from here",
    reversal="cannot be undone",
    recovery="A deleted version can only be built again.",
    order=81,
)  # fmt: skip

CHECKS = (UNATTACHED, ORPHANED, UNUSED_IMAGE, OLD_VERSION)
