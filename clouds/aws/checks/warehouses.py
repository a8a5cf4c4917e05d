"""Redshift clusters that nobody connects to, and snapshots of those that are gone."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from clouds.aws.checks import words
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import gone, step, until
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Kind, Listing, Meter, Row, Seen, Waste, WasteCheck

WAREHOUSES = Listing("redshift", "DescribeClusters", "Clusters")
WAREHOUSE = Kind(
    name="Redshift cluster",
    of=WAREHOUSES,
    id=lambda row, at: words.arn("redshift", at, f"cluster:{row['ClusterIdentifier']}"),
    label=lambda row: row["ClusterIdentifier"],
    created=lambda row: row.get("ClusterCreateTime"),
    tags=words.tags,
    moving=("NextMaintenanceWindowStartTime", "ExpectedNextSnapshotScheduleTime"),
)
WAREHOUSE_CONNECTIONS = usage(
    "AWS/Redshift",
    "DatabaseConnections",
    WAREHOUSES,
    by=lambda row: [{"ClusterIdentifier": row["ClusterIdentifier"]}],
    days=14,
    absent="unresolved",
    stat="Maximum",
    when=lambda row: row["ClusterStatus"] == "available",
    unit="connections",
    source="Redshift docs: emitted every minute while a cluster is up, also at 0",
)


def _warehouse(row: Row, seen: Seen) -> Waste | None:
    if row["ClusterStatus"] != "available" or seen.metric(WAREHOUSE_CONNECTIONS, row):
        return None
    count = row["NumberOfNodes"]
    return Waste(
        reason=f"nobody connected in 14 days; {count} x {row['NodeType']}",
        meters=(Meter(f"redshift/{row['NodeType']}/on-demand", "hour", count),),
        # Whether the nodes of the second zone are counted is not said (botocore 1.44.8 model).
        bound="at least" if str(row.get("MultiAZ", "")).lower() in ("enabled", "true") else "exact",
        evidence={"nodes": count, "type": row["NodeType"]},
    )


def _pause(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"ClusterIdentifier": doomed.row["ClusterIdentifier"]}
    return (
        step(
            "pause", f"pause cluster {doomed.name}; its data stays and is billed", "redshift.PauseCluster", name,
            "can be undone",
            until=until("redshift.DescribeClusters", name, "Clusters[].ClusterStatus", "paused", seconds=3600),
        ),
    )  # fmt: skip


WAREHOUSE_IDLE = WasteCheck(
    id="redshift-idle",
    title="Redshift cluster that nobody connects to",
    kind=WAREHOUSE,
    reads=(WAREHOUSE_CONNECTIONS,),
    judge=_warehouse,
    why="A cluster is billed by the node hour, queried or not.",
    spares=("anybody connected in 14 days", "paused, or being changed", "younger than 14 days"),
    unchecked=(
        "reserved nodes, which are paid anyhow",
        "whether it shares data with other clusters, or an integration fills it",
    ),
    meter="Redshift node hours",
    min_age=timedelta(days=14),
    remove=_pause,
    reversal="can be undone",
    recovery="Resume it: minutes, and the data is there.",
    order=22,
    steps=("redshift.PauseCluster", "redshift.DescribeClusters"),
)

WAREHOUSE_SNAPSHOTS = Listing("redshift", "DescribeClusterSnapshots", "Snapshots", {"SnapshotType": "manual"})
WAREHOUSE_SNAPSHOT = Kind(
    name="Redshift snapshot",
    of=WAREHOUSE_SNAPSHOTS,
    id=lambda row, at: (
        row.get("SnapshotArn")
        or words.arn("redshift", at, f"snapshot:{row['ClusterIdentifier']}/{row['SnapshotIdentifier']}")
    ),
    label=lambda row: row["SnapshotIdentifier"],
    created=lambda row: row.get("SnapshotCreateTime"),
    tags=words.tags,
    moving=("ManualSnapshotRemainingDays",),
)


def _names(row: Row) -> Iterable[Any]:
    """A cluster by its name, and by the moment it was made: a snapshot keeps both when the cluster is renamed."""
    return [each for each in (row["ClusterIdentifier"], words.moment(row.get("ClusterCreateTime"))) if each]


def _warehouse_snapshot(row: Row, seen: Seen) -> Waste | None:
    if row["SnapshotType"] != "manual" or row["Status"] != "available":
        return None
    if (row.get("ManualSnapshotRetentionPeriod") or -1) > 0 or row.get("SourceRegion") not in (
        None,
        "",
        seen.at.location,
    ):
        return None
    there = seen.index(WAREHOUSES, _names)
    if any(each in there for each in _names(row)):
        return None
    size = round(
        (row.get("ActualIncrementalBackupSizeInMegaBytes") or row.get("TotalBackupSizeInMegaBytes") or 0) / 1024, 3
    )
    return Waste(
        reason=f"its cluster {row['ClusterIdentifier']} is gone; "
        + (f"{size:,} GB are stored" if size else "AWS does not say its size"),
        meters=(Meter("redshift-snapshot/backup", "GB-month", size),) if size else (),
        evidence={"cluster": row["ClusterIdentifier"], "GB": size or None},
    )


def _delete_warehouse_snapshot(doomed: Doomed) -> tuple[CleanupStep, ...]:
    row = doomed.row
    name = {"SnapshotIdentifier": row["SnapshotIdentifier"]}
    return (
        step(
            "delete", f"delete snapshot {doomed.name}", "redshift.DeleteClusterSnapshot",
            {**name, "SnapshotClusterIdentifier": row["ClusterIdentifier"]}, "cannot be undone",
            until=gone("redshift.DescribeClusterSnapshots", name, "Snapshots[].Status"),
        ),
    )  # fmt: skip


WAREHOUSE_SNAPSHOT_OLD = WasteCheck(
    id="redshift-snapshot-old",
    title="Manual snapshot of a Redshift cluster that is gone",
    kind=WAREHOUSE_SNAPSHOT,
    reads=(WAREHOUSES,),
    judge=_warehouse_snapshot,
    why="A manual snapshot is kept, and billed by what it stores, until somebody deletes it.",
    spares=(
        "its cluster is there, also under another name",
        "copied from another region",
        "a retention period ends it",
        "automatic",
        "younger than 90 days",
    ),
    unchecked=("whether it is kept by law", "whether it is shared with another account"),
    meter="Redshift backup GB-months",
    min_age=timedelta(days=90),
    remove=_delete_warehouse_snapshot,
    reversal="cannot be undone",
    recovery="There is none: it may be the last copy.",
    order=66,
    steps=("redshift.DeleteClusterSnapshot", "redshift.DescribeClusterSnapshots"),
)

CHECKS = (WAREHOUSE_IDLE, WAREHOUSE_SNAPSHOT_OLD)
