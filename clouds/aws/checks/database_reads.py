"""What the checks of databases read of RDS."""

from __future__ import annotations

from clouds.aws.checks import words
from clouds.aws.checks.metrics import usage
from clouds.models.waste import Detail, Kind, Listing, Row

DATABASES = Listing("rds", "DescribeDBInstances", "DBInstances")
CLUSTERS = Listing("rds", "DescribeDBClusters", "DBClusters")
SNAPSHOTS = Listing("rds", "DescribeDBSnapshots", "DBSnapshots", {"SnapshotType": "manual"})
CLUSTER_SNAPSHOTS = Listing("rds", "DescribeDBClusterSnapshots", "DBClusterSnapshots", {"SnapshotType": "manual"})


def shared(row: Row) -> bool:
    """Whether it is a member of a cluster of RDS; DocumentDB's and Neptune's are listed too, but measured apart."""
    return bool(row.get("DBClusterIdentifier")) and str(row.get("Engine")).startswith(("aurora", "mysql", "postgres"))


CLUSTER = Detail(
    DATABASES,
    "rds",
    "DescribeDBClusters",
    lambda rows, _at: {"DBClusterIdentifier": rows[0]["DBClusterIdentifier"]},
    rows="DBClusters",
    when=shared,
)
"""The cluster of a member that RDS itself measures."""


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
    when=lambda row: row["DBInstanceStatus"] == "available" and (not row.get("DBClusterIdentifier") or shared(row)),
    unit="connections",
    source="RDS docs, instance metrics: emitted every minute while an instance is up, also at 0",
)
