"""RDS: instances that nobody connects to, that are stopped and still pay, and manual snapshots of what is gone."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from clouds.aws.checks import words
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import MARK, gone, step, until
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Bound, Kind, Listing, Meter, Row, Seen, Waste, WasteCheck

DATABASES = Listing("rds", "DescribeDBInstances", "DBInstances")
CLUSTERS = Listing("rds", "DescribeDBClusters", "DBClusters")
SNAPSHOTS = Listing("rds", "DescribeDBSnapshots", "DBSnapshots", {"SnapshotType": "manual"})
CLUSTER_SNAPSHOTS = Listing("rds", "DescribeDBClusterSnapshots", "DBClusterSnapshots", {"SnapshotType": "manual"})
DATABASE = Kind(
    name="RDS instance",
    of=DATABASES,
    id=lambda row, at: row.get("DBInstanceArn") or words.arn("rds", at, f"db:{row['DBInstanceIdentifier']}"),
    label=lambda row: row["DBInstanceIdentifier"],
    created=lambda row: row.get("InstanceCreateTime"),
    tags=words.tags,
    moving=("LatestRestorableTime", "CertificateDetails", "PendingModifiedValues", "AutomaticRestartTime"),
)
CONNECTIONS = usage(
    "AWS/RDS",
    "DatabaseConnections",
    DATABASES,
    by=lambda row: [{"DBInstanceIdentifier": row["DBInstanceIdentifier"]}],
    days=14,
    absent="unresolved",
    stat="Maximum",
    when=lambda row: row["DBInstanceStatus"] == "available",
    unit="connections",
    source="RDS docs, instance metrics: emitted every minute while an instance is up, also at 0",
)


def storage(row: Row) -> tuple[Meter, ...]:
    """What an instance's storage costs; Aurora's is its cluster's."""
    size, kind = row.get("AllocatedStorage") or 0, row.get("StorageType", "gp2")
    if row.get("DBClusterIdentifier") or kind.startswith("aurora") or not size:
        return ()
    return (Meter(f"rds-storage/{'multi' if row.get('MultiAZ') else 'single'}/{kind}", "GB-month", size),)


def bound(row: Row) -> Bound:
    """Input and output that is provisioned (io1, io2) costs on top, by a rate that the tables do not hold."""
    return "at least" if row.get("Iops") and str(row.get("StorageType", "")).startswith("io") else "exact"


def _replica(row: Row) -> bool:
    """Whether it copies another instance, or a Multi-AZ cluster: it is there to be promoted."""
    return bool(row.get("ReadReplicaSourceDBInstanceIdentifier") or row.get("ReadReplicaSourceDBClusterIdentifier"))


def _idle(row: Row, seen: Seen) -> Waste | None:
    if row["DBInstanceStatus"] != "available" or _replica(row):
        return None
    if row.get("DBClusterIdentifier"):
        return None  # judged as a cluster by whoever runs it: members share connections
    if seen.metric(CONNECTIONS, row):
        return None
    many = "multi" if row.get("MultiAZ") else "single"
    engine = row["Engine"]
    return Waste(
        reason=f"nobody connected in 14 days; {row['DBInstanceClass']} {engine}",
        meters=(Meter(f"rds/{row['DBInstanceClass']}/{engine}/{many}", "hour"), *storage(row)),
        bound=bound(row),
        evidence={"class": row["DBInstanceClass"], "engine": engine, "GB": row.get("AllocatedStorage"), "zones": many},
        blocked="its deletion protection is on" if row.get("DeletionProtection") else "",
    )


def _backup_and_delete(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = doomed.row["DBInstanceIdentifier"]
    snapshot = f"modelrig-{doomed.mark}-{name}"[:200]
    return (
        step(
            "snapshot",
            f"snapshot database {name} as {snapshot} and wait until it is available",
            "rds.CreateDBSnapshot",
            {
                "DBSnapshotIdentifier": snapshot,
                "DBInstanceIdentifier": name,
                "Tags": [{"Key": MARK, "Value": doomed.mark}],
            },
            "can be undone",
            until=until(
                "rds.DescribeDBSnapshots", {"DBSnapshotIdentifier": snapshot}, "DBSnapshots[].Status", "available",
                failed=("failed", "incompatible-restore"), seconds=6 * 3600,
            ),
            backup=True,
            already=("DBSnapshotAlreadyExists",),
        ),
        step(
            "delete",
            f"delete database {name}; it can be restored from {snapshot}",
            "rds.DeleteDBInstance",
            {"DBInstanceIdentifier": name, "SkipFinalSnapshot": True, "DeleteAutomatedBackups": False},
            "can be undone",
            until=gone("rds.DescribeDBInstances", {"DBInstanceIdentifier": name}, "DBInstances[].DBInstanceStatus"),
        ),
    )  # fmt: skip


_STEPS = ("rds.CreateDBSnapshot", "rds.DescribeDBSnapshots", "rds.DeleteDBInstance", "rds.DescribeDBInstances")
IDLE = WasteCheck(
    id="rds-idle",
    title="Database that nobody connects to",
    kind=DATABASE,
    reads=(CONNECTIONS,),
    judge=_idle,
    why="A database instance is billed by the hour and by its storage, connected to or not.",
    spares=("anybody connected in 14 days", "read replicas", "members of a cluster", "younger than 14 days"),
    unchecked=("a job that connects less often than every 14 days", "licences"),
    meter="RDS instance hours by class, engine and zones, and its storage",
    min_age=timedelta(days=14),
    remove=_backup_and_delete,
    reversal="can be undone",
    recovery="A snapshot is made first; a database from it has another endpoint unless the name is taken again.",
    order=22,
    steps=_STEPS,
)


def _stopped(row: Row, _seen: Seen) -> Waste | None:
    if row["DBInstanceStatus"] != "stopped" or row.get("DBClusterIdentifier"):
        return None
    meters = storage(row)
    when = row.get("AutomaticRestartTime")
    return Waste(
        reason=f"stopped; its {row.get('AllocatedStorage') or 'unknown'} GB are billed, and RDS starts it by itself"
        + (f" at {when}" if when else " after 7 days"),
        meters=meters,
        bound=bound(row),
        evidence={
            "GB": row.get("AllocatedStorage"),
            "storage": row.get("StorageType", ""),
            "restarts": str(when or ""),
        },
        blocked="its deletion protection is on" if row.get("DeletionProtection") else "",
    )


STOPPED = WasteCheck(
    id="rds-stopped",
    title="Stopped database that still pays for storage",
    kind=DATABASE,
    judge=_stopped,
    why="Storage is billed while a database is stopped, and after 7 days RDS starts it again, hours and all.",
    spares=("members of a cluster",),
    unchecked=("a schedule that stops it every night",),
    meter="RDS storage GB-months; its instance hours come back with the restart",
    min_age=timedelta(days=7),
    # botocore 1.44.8, CreateDBSnapshot: the instance "must be in the available or storage-optimization state".
    remove="RDS makes a snapshot only of a database that runs: start it, and rds-idle removes it with a snapshot",
    reversal="can be undone",
    recovery="A snapshot costs less than the storage of an instance; a database from it has another endpoint.",
    order=22,
)

SNAPSHOT = Kind(
    name="RDS snapshot",
    of=SNAPSHOTS,
    id=lambda row, at: row.get("DBSnapshotArn") or words.arn("rds", at, f"snapshot:{row['DBSnapshotIdentifier']}"),
    label=lambda row: row["DBSnapshotIdentifier"],
    created=lambda row: row.get("SnapshotCreateTime"),
    tags=words.tags,
)
CLUSTER_SNAPSHOT = Kind(
    name="RDS cluster snapshot",
    of=CLUSTER_SNAPSHOTS,
    id=lambda row, at: (
        row.get("DBClusterSnapshotArn")
        or words.arn("rds", at, f"cluster-snapshot:{row['DBClusterSnapshotIdentifier']}")
    ),
    label=lambda row: row["DBClusterSnapshotIdentifier"],
    created=lambda row: row.get("SnapshotCreateTime"),
    tags=words.tags,
)


def _database(row: Row) -> Iterable[Any]:
    return [row["DBInstanceIdentifier"]]


def _cluster(row: Row) -> Iterable[Any]:
    return [row["DBClusterIdentifier"]]


def _orphan(row: Row, seen: Seen) -> Waste | None:
    if row["SnapshotType"] != "manual" or row["Status"] != "available":
        return None
    if row["DBInstanceIdentifier"] in seen.index(DATABASES, _database):
        return None
    full = row.get("FullSnapshotSizeInBytes")
    size = round(full / 1024**3, 9) if full else row["AllocatedStorage"]
    return Waste(
        reason=f"its database {row['DBInstanceIdentifier']} is gone; up to {round(size, 3):,} GB are stored",
        meters=(Meter("rds-snapshot/backup", "GB-month", size),),
        bound="at most",
        evidence={"database": row["DBInstanceIdentifier"], "engine": row["Engine"], "GB at most": round(size, 3)},
    )


def _delete_snapshot(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"DBSnapshotIdentifier": doomed.row["DBSnapshotIdentifier"]}
    return (
        step(
            "delete", f"delete snapshot {doomed.name}", "rds.DeleteDBSnapshot", name, "cannot be undone",
            until=gone("rds.DescribeDBSnapshots", name, "DBSnapshots[].Status"),
        ),
    )  # fmt: skip


ORPHAN = WasteCheck(
    id="rds-snapshot-old",
    title="Manual snapshot of a database that is gone",
    kind=SNAPSHOT,
    reads=(DATABASES,),
    judge=_orphan,
    why="A manual snapshot is kept, and billed by what it stores, until somebody deletes it.",
    spares=("its database is there", "automatic, or of AWS Backup", "younger than 90 days"),
    unchecked=("whether it is kept by law", "whether it is shared with another account"),
    meter="RDS backup GB-months of the whole size: an upper bound",
    min_age=timedelta(days=90),
    remove=_delete_snapshot,
    reversal="cannot be undone",
    recovery="There is none: it may be the last copy.",
    order=66,
    steps=("rds.DeleteDBSnapshot", "rds.DescribeDBSnapshots"),
)


def _cluster_orphan(row: Row, seen: Seen) -> Waste | None:
    if row["SnapshotType"] != "manual" or row["Status"] != "available":
        return None
    if row["DBClusterIdentifier"] in seen.index(CLUSTERS, _cluster):
        return None
    size = row.get("AllocatedStorage") or 0
    # Aurora, whose storage grows by itself, answers 1 (or 0) whatever it holds (RDS API, DBCluster): not a size.
    known = size > 1
    return Waste(
        reason=f"its cluster {row['DBClusterIdentifier']} is gone" + ("" if known else "; AWS does not say its size"),
        meters=(Meter("aurora-snapshot/backup", "GB-month", size),) if known else (),
        bound="at most",
        evidence={
            "cluster": row["DBClusterIdentifier"],
            "engine": row["Engine"],
            "GB at most": size if known else None,
        },
    )


def _delete_cluster_snapshot(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"DBClusterSnapshotIdentifier": doomed.row["DBClusterSnapshotIdentifier"]}
    return (
        step(
            "delete", f"delete cluster snapshot {doomed.name}", "rds.DeleteDBClusterSnapshot", name, "cannot be undone",
            until=gone("rds.DescribeDBClusterSnapshots", name, "DBClusterSnapshots[].Status"),
        ),
    )  # fmt: skip


CLUSTER_ORPHAN = WasteCheck(
    id="rds-cluster-snapshot-old",
    title="Manual snapshot of a cluster that is gone",
    kind=CLUSTER_SNAPSHOT,
    reads=(CLUSTERS,),
    judge=_cluster_orphan,
    why="A manual snapshot is kept, and billed by what it stores, until somebody deletes it.",
    spares=("its cluster is there", "automatic, or of AWS Backup", "younger than 90 days"),
    unchecked=("whether it is kept by law", "whether it is shared with another account"),
    meter="Aurora backup GB-months: an upper bound",
    min_age=timedelta(days=90),
    remove=_delete_cluster_snapshot,
    reversal="cannot be undone",
    recovery="There is none: it may be the last copy.",
    order=66,
    steps=("rds.DeleteDBClusterSnapshot", "rds.DescribeDBClusterSnapshots"),
)
CHECKS = (IDLE, STOPPED, ORPHAN, CLUSTER_ORPHAN)
