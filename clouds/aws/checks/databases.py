"""RDS: instances that nobody connects to, and those that are stopped and still pay."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from clouds.aws.checks import database_snapshots, words
from clouds.aws.checks.database_prices import bound, hours, licence, member_hours, member_words, storage
from clouds.aws.checks.database_reads import CLUSTER, CONNECTIONS, DATABASE, DATABASES, shared
from clouds.aws.checks.ec2_reads import scheduled
from clouds.aws.checks.steps import MARK, gone, step, until
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Meter, Row, Seen, Waste, WasteCheck

_COPIES = (
    "ReadReplicaSourceDBInstanceIdentifier", "ReadReplicaSourceDBClusterIdentifier",
    "ReadReplicaDBInstanceIdentifiers", "ReadReplicaDBClusterIdentifiers",
)  # fmt: skip
"""What an instance is a copy of, and what copies it: whoever reads may connect to the copies alone."""


def _copied(row: Row) -> bool:
    return any(row.get(name) for name in _COPIES)


def _members(row: Row) -> Iterable[Any]:
    return [row["DBClusterIdentifier"]] if row.get("DBClusterIdentifier") else []


def _member(row: Row, seen: Seen) -> Waste | None:
    """A member of a cluster is idle when all are: whoever connects is sent to any of them."""
    cluster = seen.one(CLUSTER, row) if shared(row) else None
    if cluster is None or cluster.get("Status") != "available":
        return None
    if cluster.get("ReplicationSourceIdentifier") or cluster.get("GlobalClusterIdentifier") or _linked(cluster):
        return None
    members = seen.index(DATABASES, _members)[row["DBClusterIdentifier"]]
    if any(each["DBInstanceStatus"] != "available" or seen.metric(CONNECTIONS, each) for each in members):
        return None
    count, name, kind = len(members), row["DBClusterIdentifier"], row["DBInstanceClass"]
    return Waste(
        reason=f"nobody connected to {f'any of the {count} members' if count > 1 else 'the only member'} of cluster "
        f"{name} in 14 days; {member_words(row, cluster)}",
        meters=member_hours(row, cluster),
        bound="at least",
        evidence={"class": kind, "engine": row["Engine"], "cluster": name, "members": count},
        blocked=f"it is a member of cluster {name}: stop that, or delete it as a whole with a final snapshot",
    )


def _linked(cluster: Row) -> bool:
    """Whether a cluster is part of a global database: it is there for a failover, or others copy from it."""
    return bool(cluster.get("GlobalWriteForwardingStatus") or cluster.get("ReadReplicaIdentifiers"))


def _idle(row: Row, seen: Seen) -> Waste | None:
    if row["DBInstanceStatus"] != "available" or _copied(row):
        return None
    if row.get("DBClusterIdentifier"):
        return _member(row, seen)
    if seen.metric(CONNECTIONS, row):
        return None
    many = "multi" if row.get("MultiAZ") else "single"
    engine = row["Engine"] + (f", {licence(row)}" if licence(row) else "")
    return Waste(
        reason=f"nobody connected in 14 days; {row['DBInstanceClass']} {engine}",
        meters=(hours(row), *storage(row)),
        bound=bound(row),
        evidence={
            "class": row["DBInstanceClass"],
            "engine": row["Engine"],
            "GB": row.get("AllocatedStorage"),
            "zones": many,
        },
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
            makes=snapshot,
            bills=_stored(doomed.row),
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


def _stored(row: Row) -> tuple[Meter, ...]:
    """What its snapshot bills at most: it stores what is used."""
    size = row.get("AllocatedStorage")
    return (Meter("rds-snapshot/backup", "GB-month", float(size)),) if size else ()


_STEPS = ("rds.CreateDBSnapshot", "rds.DescribeDBSnapshots", "rds.DeleteDBInstance", "rds.DescribeDBInstances")
IDLE = WasteCheck(
    id="rds-idle",
    title="Database that nobody connects to",
    kind=DATABASE,
    reads=(CLUSTER, CONNECTIONS),
    judge=_idle,
    why="A database instance is billed by the hour and by its storage, connected to or not.",
    spares=(
        "anybody connected in 14 days, to it or to another member of its cluster",
        "a read replica, or copied by one; clusters that are a copy or copied; global databases",
        "DocumentDB and Neptune",
        "younger than 14 days",
    ),
    unchecked=("a job that connects less often than every 14 days", "whether it was stopped until now", "licences"),
    meter="RDS instance hours by class, engine and zones, and its storage; of a cluster's member the hours "
    "alone: Aurora's as standard or I/O-Optimized, a serverless one's by its least ACU",
    min_age=timedelta(days=14),
    remove=_backup_and_delete,
    reversal="can be undone",
    recovery="A snapshot is made first; a database from it has another endpoint unless the name is taken again.",
    order=22,
    steps=_STEPS,
)


def _stopped_cluster(row: Row, seen: Seen) -> Waste | None:
    """A stopped cluster is told once, by the member whose name comes first; its storage is not in its members' rows."""
    name = row["DBClusterIdentifier"]
    members = seen.index(DATABASES, _members)[name]
    names = sorted(str(each["DBInstanceIdentifier"]) for each in members)
    if row["DBInstanceIdentifier"] != names[0] or any(each["DBInstanceStatus"] != "stopped" for each in members):
        return None
    return Waste(
        reason=f"cluster {name} is stopped; its storage is billed, "
        f"and RDS starts its {words.many(len(names), 'member')} after 7 days",
        bound="at least",
        evidence={"cluster": name, "members": ", ".join(names), "engine": row["Engine"]},
    )


def _stopped(row: Row, seen: Seen) -> Waste | None:
    if row["DBInstanceStatus"] != "stopped" or scheduled(words.tags(row)):
        return None
    if row.get("DBClusterIdentifier"):
        return _stopped_cluster(row, seen)
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
    spares=("a cluster of which a member is up", "tagged with a schedule"),
    unchecked=("a schedule that stops it every night and has no tag",),
    meter="RDS storage GB-months, of a cluster not known; instance hours come back with the restart",
    min_age=timedelta(days=7),
    # botocore 1.44.8, CreateDBSnapshot: the instance "must be in the available or storage-optimization state".
    remove="RDS makes a snapshot only of what runs: start it; "
    "rds-idle then removes an instance, a cluster goes as a whole",
    reversal="can be undone",
    recovery="A snapshot costs less than the storage of an instance; a database from it has another endpoint.",
    order=22,
)

CHECKS = (IDLE, STOPPED, *database_snapshots.CHECKS)
