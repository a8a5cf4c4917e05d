"""EBS volumes: attached to nothing, attached and never used, or of a dearer sort than needed; fast restore left on."""

from __future__ import annotations

from datetime import timedelta

from clouds.aws.checks import words
from clouds.aws.checks.ec2_reads import (
    INSTANCES,
    VOLUME,
    VOLUMES,
    apart,
    attached_to,
    grouped,
    instance_key,
    volume_meters,
)
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import gone, snapshot, step, until
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Kind, Listing, Meter, Row, Seen, Waste, WasteCheck, Young

_KEEPERS = (
    "kubernetes.io/created-for", "ebs.csi.aws.com", "aws:backup", "aws:dlm", "AWSElasticDisasterRecoveryManaged",
)  # fmt: skip
"""How the tags begin by which a volume is kept (DRS: AWSElasticDisasterRecoveryServiceRolePolicy, read 2026-11-30)."""
_BACKUPS = ("ec2.CreateSnapshot", "ec2.DescribeSnapshots")


def kept_for(row: Row) -> str:
    """Who keeps a volume for later by its tags: a Kubernetes volume claim, AWS Backup, a restore; "" for nobody."""
    tags = words.tags(row)
    for key, value in tags.items():
        if key.startswith(_KEEPERS) or key == "KubernetesCluster":
            return f"{key}={value}"
    return ""


def _unattached(row: Row, _seen: Seen) -> Waste | None:
    if row["State"] != "available" or row.get("Attachments") or row.get("OutpostArn") or kept_for(row):
        return None
    return Waste(
        reason=f"attached to nothing; {row['Size']} GiB {row['VolumeType']}",
        meters=volume_meters(row),
        evidence={"GiB": row["Size"], "type": row["VolumeType"], "IOPS": row.get("Iops"), "state": row["State"]},
    )


def _delete_volume(doomed: Doomed) -> tuple[CleanupStep, ...]:
    volume = doomed.row["VolumeId"]
    return (
        snapshot(volume, doomed.row["Size"], doomed.mark),
        step(
            "delete", f"delete volume {doomed.name}; it can be restored from the snapshot", "ec2.DeleteVolume",
            {"VolumeId": volume}, "can be undone",
            until=gone("ec2.DescribeVolumes", {"VolumeIds": [volume]}, "Volumes[].State"),
        ),
    )  # fmt: skip


UNATTACHED = WasteCheck(
    id="ebs-unattached",
    title="Volume attached to nothing",
    kind=VOLUME,
    judge=_unattached,
    why="A volume is billed by its size from its creation to its deletion, attached or not.",
    spares=("younger than a day", "made for a Kubernetes claim", "under AWS Backup, DLM or DRS", "on an Outpost"),
    unchecked=("since when it is attached to nothing: only CloudTrail knows", "whether it is kept for a restore"),
    meter="EBS volume GiB-months, and IOPS and throughput beyond what is included",
    remove=_delete_volume,
    reversal="can be undone",
    recovery="A snapshot is made first and is billed for what it stores; a volume from it has another id.",
    order=40,
    steps=(*_BACKUPS, "ec2.DeleteVolume", "ec2.DescribeVolumes"),
)

READ_WRITE = usage(
    "AWS/EBS",
    "VolumeReadOps VolumeWriteOps",
    VOLUMES,
    by=lambda row: [{"VolumeId": row["VolumeId"]}],
    days=14,
    absent="unresolved",
    when=lambda row: row["State"] == "in-use" and not row.get("MultiAttachEnabled"),
    unit="operations",
    source="EBS docs, volume metrics: emitted while a volume is attached to a running instance",
)


def _younger(seen: Seen, instance: str) -> bool:
    """Whether a machine was started within the window that its volumes are judged by."""
    holders = seen.index(INSTANCES, instance_key)[instance]
    return any(words.older(seen, each["LaunchTime"], days=READ_WRITE.days) is False for each in holders)


def _attached_idle(row: Row, seen: Seen) -> Waste | None:
    if row["State"] != "in-use" or row.get("MultiAttachEnabled") or row.get("OutpostArn") or kept_for(row):
        return None
    group = ""
    for instance in attached_to(row):
        holder = next(iter(seen.index(INSTANCES, instance_key).get(instance, ())), None)
        if holder is None or holder["State"]["Name"] != "running":
            return None  # a stopped machine's disks are judged with it
        group = group or grouped(words.tags(holder))
        root = holder.get("RootDeviceName")
        if words.kept(holder) or any(each.get("Device") == root for each in row["Attachments"]):
            return None
    if not row.get("Attachments") or seen.metric(READ_WRITE, row):
        return None
    if any(_younger(seen, instance) for instance in attached_to(row)):
        raise Young  # the volume has figures only of the time that its machine runs
    where = ", ".join(attached_to(row))
    return Waste(
        reason=f"attached to {where} and neither read nor written in 14 days; {row['Size']} GiB {row['VolumeType']}",
        meters=volume_meters(row),
        evidence={"GiB": row["Size"], "type": row["VolumeType"], "instance": where},
        blocked=f"its machine is one of {group}: what starts the machines gives each such a volume" if group else "",
    )


def _detach_delete(doomed: Doomed) -> tuple[CleanupStep, ...]:
    volume = doomed.row["VolumeId"]
    return (
        snapshot(volume, doomed.row["Size"], doomed.mark),
        step(
            "detach", f"detach volume {doomed.name}: unmount it on the machine first", "ec2.DetachVolume",
            {"VolumeId": volume, "InstanceId": doomed.row["Attachments"][0]["InstanceId"]}, "can be undone",
            until=until("ec2.DescribeVolumes", {"VolumeIds": [volume]}, "Volumes[].State", "available", seconds=600),
        ),
        step(
            "delete", f"delete volume {doomed.name}; it can be restored from the snapshot", "ec2.DeleteVolume",
            {"VolumeId": volume}, "can be undone",
            until=gone("ec2.DescribeVolumes", {"VolumeIds": [volume]}, "Volumes[].State"),
        ),
    )  # fmt: skip


ATTACHED_IDLE = WasteCheck(
    id="ebs-idle-attached",
    title="Volume that is attached and never used",
    kind=VOLUME,
    reads=(INSTANCES, READ_WRITE),
    judge=_attached_idle,
    why="It is billed by its size, and nothing was read from it or written to it.",
    spares=(
        "root volumes", "multi-attach", "of a stopped machine (priced there)", "read or written in 14 days",
        "made for a Kubernetes claim", "of a machine that is tagged to be kept, or that was started in 14 days",
    ),
    unchecked=("a standby that is used only in a failover",),
    meter="EBS volume GiB-months, and IOPS and throughput beyond what is included",
    min_age=timedelta(days=14),
    remove=_detach_delete,
    reversal="can be undone",
    recovery="A snapshot is made first; a volume from it has another id.",
    order=19,  # before its machine is stopped: a stopped one is judged with its disks
    steps=(*_BACKUPS, "ec2.DetachVolume", "ec2.DeleteVolume", "ec2.DescribeVolumes"),
)  # fmt: skip


HOME = "us-east-1"
"""Where the tables have a rate of a faster gp3; it is dearer in most other regions."""
_SLOW_GP2, _EVEN_GP2, _FAST_GP2 = 170, 250, 250
"""GiB up to which a gp2 is no faster than a plain gp3, or saves nothing against a faster one; MiB/s it has above."""


def _dearer(row: Row, seen: Seen) -> Waste | None:
    # gp3 gives 3,000 IOPS and 125 MiB/s to every size; a gp2 above 1,000 GiB has more IOPS. Up to 170 GiB a gp2 reaches
    # 128 MiB/s, above that 250 MiB/s, which a gp3 pays for; up to 250 GiB that costs what it saves (EBS docs, read
    # 2026-11-29).
    size = row["Size"]
    if row["VolumeType"] != "gp2" or row["State"] != "in-use" or size > 1000 or _SLOW_GP2 < size <= _EVEN_GP2:
        return None  # one that is attached to nothing is waste as a whole
    if row.get("OutpostArn") or apart(row.get("AvailabilityZone")):
        return None  # there may be no gp3 there
    more = size > _SLOW_GP2
    meters = [Meter("ebs/gp2", "GiB-month", size), Meter("ebs/gp3", "GiB-month", -size)]
    if more:
        meters.append(Meter("ebs/gp3-throughput", "MiBps-month", -125, location=HOME))
    return Waste(
        reason=f"{size} GiB gp2 would cost less as gp3{' with 250 MiB/s' if more else ''}, and be no slower",
        meters=tuple(meters),
        saving=True,
        bound="at most" if more and seen.at.location != HOME else "exact",
        evidence={"GiB": size, "type": "gp2"},
    )


def _to_gp3(doomed: Doomed) -> tuple[CleanupStep, ...]:
    volume = doomed.row["VolumeId"]
    fast = {"Throughput": _FAST_GP2} if doomed.row["Size"] > _SLOW_GP2 else {}
    return (
        step(
            "modify", f"change volume {doomed.name} from gp2 to gp3 while it is in use", "ec2.ModifyVolume",
            {"VolumeId": volume, "VolumeType": "gp3", **fast}, "can be undone",
            until=until("ec2.DescribeVolumes", {"VolumeIds": [volume]}, "Volumes[].VolumeType", "gp3", seconds=900),
        ),
    )  # fmt: skip


GP2 = WasteCheck(
    id="ebs-gp2-to-gp3",
    title="Volume of the sort gp2 that would cost less as gp3",
    kind=VOLUME,
    judge=_dearer,
    why="gp3 costs about a fifth less for the same size; the change is made while the volume is in use.",
    spares=(
        "above 1,000 GiB, where gp2 has more IOPS than gp3 includes",
        "attached to nothing (ebs-unattached)",
        "on an Outpost or in a Local or Wavelength Zone, where there may be no gp3",
        "171 to 250 GiB, where the throughput of gp2 costs as much on gp3 as that saves",
    ),
    unchecked=("bursts above 3,000 IOPS", "a change within the last 6 hours, which AWS refuses"),
    meter="gp2 less gp3 GiB-months and the throughput that gp2 has: what would be saved",
    remove=_to_gp3,
    reversal="can be undone",
    recovery="It can be changed back after 6 hours.",
    order=90,
    steps=("ec2.ModifyVolume", "ec2.DescribeVolumes"),
)

RESTORES = Listing("ec2", "DescribeFastSnapshotRestores", "FastSnapshotRestores")
RESTORE = Kind(
    name="fast snapshot restore",
    of=RESTORES,
    id=lambda row, at: words.arn("ec2", at, f"snapshot/{row['SnapshotId']}/fsr/{row['AvailabilityZone']}"),
    label=lambda row: f"{row['SnapshotId']} in {row['AvailabilityZone']}",
    created=lambda row: row.get("EnabledTime") or row.get("EnablingTime"),
)


def _made_from(row: Row) -> list[str]:
    return [row["SnapshotId"]] if row.get("SnapshotId") else []


def _restore(row: Row, seen: Seen) -> Waste | None:
    if row["State"] != "enabled":
        return None
    recent = [
        volume
        for volume in seen.index(VOLUMES, _made_from).get(row["SnapshotId"], ())
        if not words.older(seen, volume["CreateTime"], days=14)
    ]
    if recent:
        return None
    return Waste(
        reason=f"kept ready in {row['AvailabilityZone']}; no volume of today was made from it in 14 days",
        meters=(Meter("ebs/fast-snapshot-restore", "hour"),),
        evidence={"snapshot": row["SnapshotId"], "zone": row["AvailabilityZone"]},
    )


def _disable(doomed: Doomed) -> tuple[CleanupStep, ...]:
    row = doomed.row
    zone = {"SourceSnapshotIds": [row["SnapshotId"]], "AvailabilityZones": [row["AvailabilityZone"]]}
    look = {
        "Filters": [
            {"Name": "snapshot-id", "Values": [row["SnapshotId"]]},
            {"Name": "availability-zone", "Values": [row["AvailabilityZone"]]},
        ]
    }
    return (
        step(
            "disable",
            f"switch fast restore of {doomed.name} off",
            "ec2.DisableFastSnapshotRestores",
            zone,
            "can be undone",
            until=gone(
                "ec2.DescribeFastSnapshotRestores", look, "FastSnapshotRestores[].State", "disabled", "disabling"
            ),
        ),
    )


FAST_RESTORE = WasteCheck(
    id="snapshot-fsr",
    title="Fast snapshot restore that is not used",
    kind=RESTORE,
    reads=(VOLUMES,),
    judge=_restore,
    why="Fast restore is billed by the hour for every snapshot and zone, dearer than most volumes.",
    spares=("a volume that is there was made from it in 14 days", "being switched on or off"),
    unchecked=("volumes that were made from it and deleted since", "a pipeline that makes them"),
    meter="fast snapshot restore hours a zone",
    min_age=timedelta(days=14),
    remove=_disable,
    reversal="can be undone",
    recovery="It can be switched on again; a snapshot takes an hour per TiB to be ready.",
    order=30,
    steps=("ec2.DisableFastSnapshotRestores", "ec2.DescribeFastSnapshotRestores"),
)
CHECKS = (UNATTACHED, ATTACHED_IDLE, FAST_RESTORE, GP2)
