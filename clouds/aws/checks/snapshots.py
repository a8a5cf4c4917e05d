"""Snapshots of volumes that are gone, and images that nothing starts from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from clouds.aws.checks import words
from clouds.aws.checks.ec2_reads import (
    GROUPS,
    IMAGE,
    IMAGES,
    INSTANCES,
    LAUNCH_CONFIGS,
    PINNED,
    SNAPSHOT,
    SNAPSHOTS,
    TEMPLATES,
    VOLUMES,
    override_images,
    volume_key,
)
from clouds.aws.checks.steps import MARK, gone, step
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Listing, Meter, Row, Seen, Waste, WasteCheck

GIB = 1024**3
_STARTERS: tuple[Listing | Detail, ...] = (TEMPLATES, *PINNED, LAUNCH_CONFIGS)
"""What instances are started from."""
_MANAGERS = (
    "aws:backup:", "aws:dlm:", "dlm:", "aws:ec2:vm-import", "AWSElasticDisasterRecoveryManaged",
    "CSIVolumeSnapshotName", "velero.io/",
)  # fmt: skip
"""How the tags begin of what keeps a snapshot: backup services, DRS's points in time, a Kubernetes volume snapshot or a
backup of Velero's, which both are broken without it (policies and READMEs of these, read 2026-11-30)."""


_PUBLIC = re.compile(r"resolve:ssm:(arn:[^/]+:parameter)?/aws/service/")


def disks(row: Row) -> Iterable[Any]:
    """The snapshots that the disks of an image, template version or launch configuration are made from."""
    about = row.get("LaunchTemplateData", row)
    for disk in about.get("BlockDeviceMappings", ()):
        if disk.get("Ebs", {}).get("SnapshotId"):
            yield disk["Ebs"]["SnapshotId"]


def image_of(row: Row) -> Iterable[Any]:
    """The image that an instance, template version or launch configuration starts from."""
    if "InstanceId" in row or "LaunchConfigurationName" in row:  # these always name one
        return [row["ImageId"]]
    about = row["LaunchTemplateData"]
    return [about["ImageId"]] if about.get("ImageId") else []


def _from_parameters(row: Row) -> Iterable[Any]:
    """The parameter that a template or launch configuration takes its image from: which image that is stands there.

    Not AWS's public ones, which name no image of ours: nobody else's begin with aws (SSM API, PutParameter, 2026-11).
    """
    named = [str(each) for each in image_of(row) if str(each).startswith("resolve:ssm:")]
    return [each for each in named if not _PUBLIC.match(each)]


def _parameter(seen: Seen) -> str:
    """A parameter that something is started from; "" for none."""
    return next((str(key) for read in _STARTERS for key in seen.index(read, _from_parameters)), "")


def in_use_by(row: Row, seen: Seen) -> bool:
    """Whether an image of ours, a launch template or a launch configuration is made from a snapshot."""
    return any(row["SnapshotId"] in seen.index(read, disks) for read in (IMAGES, *_STARTERS))


def managed_by(row: Row) -> str:
    """The backup service that keeps a snapshot, by its tags or by what it writes into the description."""
    for key in words.tags(row):
        if key.startswith(_MANAGERS):
            return key
    text = row.get("Description", "")
    return "AWS Backup" if text.startswith("This snapshot is created by the AWS Backup service") else ""


def stored_gib(row: Row) -> float:
    """How much a snapshot may store: its full size where AWS gives it, else its volume's, which is more."""
    full = row.get("FullSnapshotSizeInBytes")
    return float(full / GIB) if full else float(row["VolumeSize"])


def _orphan(row: Row, seen: Seen) -> Waste | None:
    source = row.get("VolumeId", "")
    if row["State"] != "completed" or source in ("", "vol-ffffffff") or managed_by(row) or row.get("OutpostArn"):
        return None
    if row.get("StorageTier", "standard") != "standard" or source in seen.index(VOLUMES, volume_key):
        return None
    if in_use_by(row, seen):
        return None
    size = stored_gib(row)
    return Waste(
        reason=f"its volume {source} is gone; up to {size:,.0f} GiB are stored"
        + ("; modelrig made it before deleting the volume, as its only backup" if MARK in words.tags(row) else ""),
        meters=(Meter("ebs-snapshot/standard", "GiB-month", round(size, 9)),),
        bound="at most",
        evidence={"volume": source, "GiB at most": round(size, 2), "description": row.get("Description", "")[:100]},
    )


def _delete(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"SnapshotId": doomed.row["SnapshotId"]}
    return (
        step(
            "delete",
            f"delete snapshot {doomed.name}; a recycle bin rule may keep it for a while",
            "ec2.DeleteSnapshot",
            name,
            "cannot be undone",
            until=gone("ec2.DescribeSnapshots", {"SnapshotIds": [doomed.row["SnapshotId"]]}, "Snapshots[].State"),
        ),
    )


ORPHAN = WasteCheck(
    id="snapshot-orphan",
    title="Snapshot of a volume that is gone",
    kind=SNAPSHOT,
    reads=(VOLUMES, IMAGES, TEMPLATES, GROUPS, *PINNED, LAUNCH_CONFIGS),
    judge=_orphan,
    why="It is billed by what it stores; the volume that it was taken of is no longer there.",
    spares=(
        "named by an image, a launch template, an Auto Scaling group's pinned version or a launch configuration",
        "kept by AWS Backup, DLM, DRS, Velero or a Kubernetes volume snapshot",
        "archived (at least 90 days are billed)", "copied, so that it has no volume", "younger than 30 days",
    ),
    unchecked=(
        "whether it is shared with another account", "an image in the Recycle Bin that would come back with it",
        "templates that a fleet is pinned to at an older version, and a fifth one of a group",
        "how little it stores beside its neighbours: each holds only what changed, so the price is an upper bound",
    ),
    meter="EBS snapshot GiB-months of the volume's size: an upper bound",
    min_age=timedelta(days=30),
    remove=_delete,
    reversal="cannot be undone",
    recovery="Only a recycle bin rule that was there before keeps it for a while.",
    order=60,
    steps=("ec2.DeleteSnapshot", "ec2.DescribeSnapshots"),
)  # fmt: skip

_LISTED = (INSTANCES, TEMPLATES, LAUNCH_CONFIGS)


def _not_started(row: Row, seen: Seen) -> bool:
    """Whether nothing that a listing shows starts from an image."""
    return not any(row["ImageId"] in seen.index(read, image_of) for read in _LISTED)


PERMISSION = Detail(
    IMAGES,
    "ec2",
    "DescribeImageAttribute",
    lambda rows, _at: {"ImageId": rows[0]["ImageId"], "Attribute": "launchPermission"},
    rows="LaunchPermissions",
    when=lambda row: not row.get("Public"),
    after=_LISTED,
    needed=_not_started,
)


def _snapshot_key(row: Row) -> Iterable[Any]:
    return [row["SnapshotId"]]


def _known_disks(row: Row) -> list[Any]:
    """As `disks`; an image of another form than expected needs none that we know of, and AWS keeps what it needs."""
    try:
        return list(disks(row))
    except (AttributeError, KeyError, TypeError):
        return []


def _own_disks(row: Row, seen: Seen) -> list[Row]:
    """The snapshots that go with an image: not those that another image or a template needs too, or that are kept."""
    found = []
    for snapshot in dict.fromkeys(disks(row)):
        images = seen.index(IMAGES, _known_disks).get(snapshot, ())
        shared = any(each.get("ImageId") != row["ImageId"] for each in images) or any(
            snapshot in seen.index(read, disks) for read in _STARTERS
        )
        if not shared:
            rows = seen.index(SNAPSHOTS, _snapshot_key).get(snapshot, ())
            found += [each for each in rows[:1] if not words.kept(each)]
    return found


def _bundled(row: Row) -> bool:
    """Whether an image of instance store lies in a bucket, where S3 bills it."""
    return bool(row.get("RootDeviceType") == "instance-store" and row.get("ImageLocation"))


def _without(row: Row) -> str:
    """What is said of an image with which no snapshot would go."""
    return (
        f"; its bundle {row['ImageLocation'][:100]} is billed by S3" if _bundled(row) else "; no snapshot goes with it"
    )


def _image_unused(row: Row, seen: Seen) -> Waste | None:
    image = row["ImageId"]
    if row.get("Public") or row["State"] != "available" or row.get("ProductCodes") or managed_by(row):
        return None
    if any(image in seen.index(read, image_of) for read in (INSTANCES, *_STARTERS)):
        return None
    if image in seen.index(GROUPS, override_images):
        return None
    last = row.get("LastLaunchedTime")
    if last and not words.older(seen, last, days=90):
        return None
    if seen.of(PERMISSION, row):
        return None
    own = _own_disks(row, seen)
    ids = [seen.id(SNAPSHOT, each) for each in own]
    size = round(sum(stored_gib(each) for each in own), 9)
    return Waste(
        reason="nothing starts from it"
        + (f", last started {words.days_since(seen, last)} days ago" if last else ", and nothing is known to have")
        + (f"; up to {size:,.0f} GiB are stored in {words.many(len(ids), 'snapshot')}" if ids else _without(row)),
        meters=(Meter("ebs-snapshot/standard", "GiB-month", size),) if size else (),
        free=not size and not _bundled(row),
        bound="at most",
        holds=tuple(ids),
        evidence={
            "snapshots": len(ids),
            "GiB at most": round(size, 3),
            "last launched": str(last or "not recorded"),
            "deletes": ", ".join(each["SnapshotId"] for each in own),
        },
        blocked=_held(row, seen),
    )


def _held(row: Row, seen: Seen) -> str:
    """Why an image cannot be deregistered, or should not be without a look; "" for neither."""
    if str(row.get("DeregistrationProtection", "disabled")).startswith("enabled"):
        return "its deregistration protection is on"
    named = _parameter(seen)
    return f"a launch template takes its image from {named[12:][:100]}, which may name this one" if named else ""


def _deregister(doomed: Doomed) -> tuple[CleanupStep, ...]:
    image = doomed.row["ImageId"]
    steps = [
        step(
            "deregister", f"deregister image {doomed.name}", "ec2.DeregisterImage", {"ImageId": image},
            "cannot be undone",
            until=gone("ec2.DescribeImages", {"ImageIds": [image]}, "Images[].State", "deregistered"),
        )
    ]  # fmt: skip
    for number, snapshot in enumerate(filter(None, str(doomed.evidence["deletes"]).split(", ")), 1):
        steps.append(
            step(
                f"delete-{number}", f"delete its snapshot {snapshot}", "ec2.DeleteSnapshot", {"SnapshotId": snapshot},
                "cannot be undone",
                until=gone("ec2.DescribeSnapshots", {"SnapshotIds": [snapshot]}, "Snapshots[].State"),
            )
        )  # fmt: skip
    return tuple(steps)


IMAGE_UNUSED = WasteCheck(
    id="ami-unused",
    title="Image that nothing starts from",
    kind=IMAGE,
    reads=(INSTANCES, TEMPLATES, GROUPS, *PINNED, LAUNCH_CONFIGS, SNAPSHOTS, PERMISSION),
    judge=_image_unused,
    why="An image costs nothing; the snapshots behind it are billed by what they store.",
    spares=(
        "an instance, a launch template, a group, a version that one is pinned to or a launch configuration uses it",
        "started in the last 90 days", "public, or shared with another account", "from the Marketplace",
        "made by AWS Backup or DLM", "disabled", "younger than 90 days",
        "its snapshots that another image or a template needs too, or that are tagged to be kept: they stay",
    ),
    unchecked=(
        "names in parameters, pipelines and code", "EC2 Image Builder recipes",
        "what AWS Batch, EMR, Karpenter and CloudFormation name in their own settings",
        "templates that a fleet is pinned to at an older version, and a fifth one of a group",
    ),
    meter="EBS snapshot GiB-months of its snapshots: an upper bound",
    min_age=timedelta(days=90),
    remove=_deregister,
    reversal="cannot be undone",
    recovery="Only a recycle bin rule that was there before keeps image and snapshots for a while.",
    order=58,
    steps=("ec2.DeregisterImage", "ec2.DescribeImages", "ec2.DeleteSnapshot", "ec2.DescribeSnapshots"),
)  # fmt: skip
CHECKS = (ORPHAN, IMAGE_UNUSED)
