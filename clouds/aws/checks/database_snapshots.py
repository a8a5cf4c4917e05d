"""RDS: manual snapshots of what is gone."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from clouds.aws.checks import words
from clouds.aws.checks.database_reads import CLUSTER_SNAPSHOTS, CLUSTERS, DATABASES, SNAPSHOTS
from clouds.aws.checks.steps import gone, step
from clouds.models import Scope
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Kind, Meter, Row, Seen, Waste, WasteCheck

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
    """A database by its name, and by the id that it keeps when it is renamed."""
    return [each for each in (row["DBInstanceIdentifier"], row.get("DbiResourceId")) if each]


def _cluster(row: Row) -> Iterable[Any]:
    return [each for each in (row["DBClusterIdentifier"], row.get("DbClusterResourceId")) if each]


def _from_elsewhere(row: Row, at: Scope) -> bool:
    """Whether a snapshot was copied from another place: what it was taken of is there, and is not looked for here."""
    source = str(row.get("SourceDBSnapshotIdentifier") or row.get("SourceDBClusterSnapshotArn") or "").split(":")
    copied = len(source) > 5 and (source[3], source[4]) != (at.location, at.account)
    return copied or row.get("SourceRegion") not in (None, "", at.location)


def _orphan(row: Row, seen: Seen) -> Waste | None:
    if row["SnapshotType"] != "manual" or row["Status"] != "available":
        return None
    there = seen.index(DATABASES, _database)
    if _from_elsewhere(row, seen.at) or any(each in there for each in _database(row)):
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
    spares=(
        "its database is there, also under another name",
        "copied from another region or account",
        "automatic, or of AWS Backup",
        "younger than 90 days",
    ),
    unchecked=("whether it is kept by law", "whether it is shared with another account"),
    meter="RDS backup GB-months of the whole size: an upper bound",
    min_age=timedelta(days=90),
    remove=_delete_snapshot,
    reversal="cannot be undone",
    recovery="There is none: it may be the last copy.",
    order=66,
    steps=("rds.DeleteDBSnapshot", "rds.DescribeDBSnapshots"),
)


def _rate(row: Row) -> str:
    """Whose backup rate a cluster's snapshot has: a Multi-AZ cluster of MySQL or PostgreSQL is stored as RDS stores."""
    return "rds" if str(row["Engine"]).startswith(("mysql", "postgres")) else "aurora"


def _cluster_orphan(row: Row, seen: Seen) -> Waste | None:
    if row["SnapshotType"] != "manual" or row["Status"] != "available":
        return None
    there = seen.index(CLUSTERS, _cluster)
    if _from_elsewhere(row, seen.at) or any(each in there for each in _cluster(row)):
        return None
    size = row.get("AllocatedStorage") or 0
    # Aurora, whose storage grows by itself, answers 1 (or 0) whatever it holds (RDS API, DBCluster): not a size.
    known = size > 1
    return Waste(
        reason=f"its cluster {row['DBClusterIdentifier']} is gone" + ("" if known else "; AWS does not say its size"),
        meters=(Meter(f"{_rate(row)}-snapshot/backup", "GB-month", size),) if known else (),
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
    spares=(
        "its cluster is there, also under another name",
        "copied from another region or account",
        "automatic, or of AWS Backup",
        "younger than 90 days",
    ),
    unchecked=("whether it is kept by law", "whether it is shared with another account"),
    meter="Aurora backup GB-months, of a Multi-AZ cluster RDS backup GB-months: an upper bound",
    min_age=timedelta(days=90),
    remove=_delete_cluster_snapshot,
    reversal="cannot be undone",
    recovery="There is none: it may be the last copy.",
    order=66,
    steps=("rds.DeleteDBClusterSnapshot", "rds.DescribeDBClusterSnapshots"),
)
CHECKS = (ORPHAN, CLUSTER_ORPHAN)
