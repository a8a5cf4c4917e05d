"""EFS and FSx file systems that nobody mounts, reads or writes."""

from __future__ import annotations

from datetime import timedelta

from clouds.aws.checks import words
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import MARK, gone, step, until
from clouds.models.removal import CleanupStep, Doomed, From
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Waste, WasteCheck

GIB = 1024**3
EFS_LIST = Listing("efs", "DescribeFileSystems", "FileSystems")
EFS = Kind(
    name="EFS file system",
    of=EFS_LIST,
    id=lambda row, at: (
        row.get("FileSystemArn") or words.arn("elasticfilesystem", at, f"file-system/{row['FileSystemId']}")
    ),
    label=lambda row: f"{row['FileSystemId']} ({row['Name']})" if row.get("Name") else row["FileSystemId"],
    created=lambda row: row["CreationTime"],
    tags=words.tags,
    moving=("SizeInBytes",),
)
MOUNTS = usage(
    "AWS/EFS",
    "ClientConnections",
    EFS_LIST,
    by=lambda row: [{"FileSystemId": row["FileSystemId"]}],
    days=14,
    absent="zero",
    when=lambda row: row["LifeCycleState"] == "available" and bool(row.get("NumberOfMountTargets")),
    unit="connections",
    source="EFS docs: ClientConnections is emitted while a client is connected",
)
_HOMES = ("ManagedByAmazonSageMakerResource", "aws:elasticfilesystem:default-backup-of")


def _unmounted(row: Row, seen: Seen) -> Waste | None:
    if row["LifeCycleState"] != "available" or any(tag in words.tags(row) for tag in _HOMES):
        return None
    if row.get("FileSystemProtection", {}).get("ReplicationOverwriteProtection") == "REPLICATING":
        return None
    targets = row.get("NumberOfMountTargets") or 0
    if targets and seen.metric(MOUNTS, row):
        return None
    parts = row.get("SizeInBytes", {})
    whole = (parts.get("Value") or 0) / GIB
    size = parts["ValueInStandard"] / GIB if parts.get("ValueInStandard") is not None else whole
    zonal = "one-zone-" if row.get("AvailabilityZoneName") else ""  # One Zone has prices of its own, about half as high
    meters = [Meter(f"efs/{zonal}standard", "GB-month", round(size, 9))] if size else []
    for kind, word in (("ValueInIA", "infrequent-access"), ("ValueInArchive", "archive")):
        if parts.get(kind):
            meters.append(Meter(f"efs/{zonal}{word}", "GB-month", round(parts[kind] / GIB, 9)))
    if row.get("ThroughputMode") == "provisioned" and row.get("ProvisionedThroughputInMibps"):
        meters.append(Meter("efs/provisioned-throughput", "MiBps-month", row["ProvisionedThroughputInMibps"]))
    return Waste(
        reason=("no client connected in 14 days" if targets else "no mount target") + f"; {whole:,.2f} GB",
        meters=tuple(meters),
        free=not meters,
        evidence={"mount targets": targets, "GB": round(whole, 3), "throughput": row.get("ThroughputMode", "")},
    )


EFS_UNMOUNTED = WasteCheck(
    id="efs-unmounted",
    title="File system that nobody mounts",
    kind=EFS,
    reads=(MOUNTS,),
    judge=_unmounted,
    why="EFS is billed by what is stored, mounted or not.",
    spares=("a client connected in 14 days", "the home of a SageMaker domain", "the target of a replication"),
    unchecked=("what it holds",),
    meter="EFS storage GB-months by class, and provisioned throughput",
    min_age=timedelta(days=14),
    remove="EFS makes no snapshot: a backup needs a vault and a role of AWS Backup, which this account has to name",
    reversal="cannot be undone",
    recovery="Back it up with AWS Backup first; without that everything on it is lost.",
    order=60,
)

FSX_LIST = Listing("fsx", "DescribeFileSystems", "FileSystems")
FSX = Kind(
    name="FSx file system",
    of=FSX_LIST,
    id=lambda row, _at: row["ResourceARN"],
    label=lambda row: row["FileSystemId"],
    created=lambda row: row["CreationTime"],
    tags=words.tags,
)


def _system(row: Row) -> str:
    """windows, lustre, ontap or openzfs; where it is not said, its one configuration says it. Raises KeyError."""
    parts = ("Windows", "Lustre", "Ontap", "OpenZFS")
    told = row.get("FileSystemType") or next((each for each in parts if row.get(f"{each}Configuration")), None)
    if told is None:
        raise KeyError("FileSystemType")
    return str(told).lower()


# A file system of the newer deployment types names its links to S3 apart.
LINKS = Detail(
    FSX_LIST, "fsx", "DescribeDataRepositoryAssociations",
    lambda rows, _at: {"Filters": [{"Name": "file-system-id", "Values": [rows[0]["FileSystemId"]]}]},
    rows="Associations",
    when=lambda row: row["Lifecycle"] == "AVAILABLE" and _system(row) == "lustre" and not _scratch(row),
)  # fmt: skip


def _scratch(row: Row) -> bool:
    """Whether a Lustre file system is of a type that takes no backup (CreateBackup of the API reference)."""
    return str(row.get("LustreConfiguration", {}).get("DeploymentType") or "SCRATCH_1").startswith("SCRATCH")


FSX_BYTES = usage(
    "AWS/FSx",
    "DataReadBytes DataWriteBytes",
    FSX_LIST,
    by=lambda row: [{"FileSystemId": row["FileSystemId"]}],
    days=14,
    absent="unresolved",
    when=lambda row: row["Lifecycle"] == "AVAILABLE",
    unit="bytes",
    source="FSx docs, file system metrics: emitted every minute, also at 0",
)


def _fsx(row: Row, seen: Seen) -> Waste | None:
    if row["Lifecycle"] != "AVAILABLE" or seen.metric(FSX_BYTES, row):
        return None
    kind, tiered = _system(row), row.get("StorageType") == "INTELLIGENT_TIERING"
    size = None if tiered else row["StorageCapacity"]  # tiered storage grows with what is written: nothing is held
    about = row.get("WindowsConfiguration") or row.get("OntapConfiguration") or row.get("OpenZFSConfiguration") or {}
    only = "SINGLE_AZ_1" if kind == "windows" else "unknown"  # the one there was until November 2019, and not named
    laid = str(about.get("DeploymentType") or only).lower().replace("_", "-")
    zones = laid.split("-")[0] if kind == "windows" else laid  # Windows has one price for both of its single-zone types
    stored = Meter(f"fsx-{kind}/{row.get('StorageType', 'SSD').lower()}/{zones}", "GB-month", size or 0)
    meters = [] if tiered else [stored]
    if about.get("ThroughputCapacity"):
        meters.append(Meter(f"fsx-{kind}/throughput/{zones}", "MBps-month", about["ThroughputCapacity"]))
    return Waste(
        reason=f"neither read nor written in 14 days; {'tiered storage of' if tiered else f'{size:,} GB'} {kind}",
        meters=tuple(meters),
        bound="at least" if tiered else "exact",
        evidence={"type": kind, "GB": size, "MB/s": about.get("ThroughputCapacity")},
        blocked=_no_backup(row, kind, seen),
    )


def _no_backup(row: Row, kind: str, seen: Seen) -> str:
    """Why a file system cannot be saved in one call before it is deleted; "" where it can."""
    if kind in ("ontap", "openzfs"):
        return "its volumes have to be backed up one by one"
    if kind != "lustre":
        return ""
    if row.get("LustreConfiguration", {}).get("DataRepositoryConfiguration") or seen.of(LINKS, row):
        return "it is linked to S3: what is not exported yet would be lost"
    return "it is of a scratch type, which takes no backup" if _scratch(row) else ""


def _backup_delete(doomed: Doomed) -> tuple[CleanupStep, ...]:
    row = doomed.row
    name = {"FileSystemId": row["FileSystemId"]}
    return (
        step(
            "backup",
            f"back {doomed.name} up and wait until it is available",
            "fsx.CreateBackup",
            {**name, "ClientRequestToken": doomed.mark, "Tags": [{"Key": MARK, "Value": doomed.mark}]},
            "can be undone",
            until=until(
                "fsx.DescribeBackups",
                {"BackupIds": [From("backup", "Backup.BackupId")]},
                "Backups[].Lifecycle",
                "AVAILABLE",
                failed=("FAILED",),
                seconds=12 * 3600,
            ),
            backup=True,
            makes=From("backup", "Backup.BackupId"),  # no rate of FSx backups is in the table
        ),
        step(
            "delete",
            f"delete file system {doomed.name}; it can be restored from the backup",
            "fsx.DeleteFileSystem",
            name,
            "can be undone",
            until=gone("fsx.DescribeFileSystems", {"FileSystemIds": [row["FileSystemId"]]}, "FileSystems[].Lifecycle"),
        ),
    )


FSX_IDLE = WasteCheck(
    id="fsx-idle",
    title="FSx file system that nobody reads or writes",
    kind=FSX,
    reads=(FSX_BYTES, LINKS),
    judge=_fsx,
    why="FSx is billed by the storage and throughput that are provisioned, used or not.",
    spares=("read or written in 14 days", "being made or changed", "younger than 14 days"),
    unchecked=("clients that are mounted and wait",),
    meter="FSx storage GB-months and throughput",
    min_age=timedelta(days=14),
    remove=_backup_delete,
    reversal="can be undone",
    recovery="A backup is made first; a file system from it has another name.",
    order=40,
    steps=("fsx.CreateBackup", "fsx.DescribeBackups", "fsx.DeleteFileSystem", "fsx.DescribeFileSystems"),
)
CHECKS = (FSX_IDLE, EFS_UNMOUNTED)
