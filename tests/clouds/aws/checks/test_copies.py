"""A snapshot that may be the only copy: what it was taken of is somewhere else, or has another name by now."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clouds.replay import Answer, Fixture
from tests.clouds.aws.checks.stage import Account, waste
from tests.clouds.aws.checks.test_other_shapes import only, other
from tests.clouds.aws.checks.test_unknown import with_answer

ELSEWHERE = "arn:aws:rds:eu-west-1:123456789012:snapshot:copied"
ANOTHERS = "arn:aws:rds:us-east-1:210987654321:cluster-snapshot:copied"
HERE = "arn:aws:rds:us-east-1:123456789012:cluster-snapshot:copied"
ROWS = {
    "rds-snapshot-old": ("rds.DescribeDBSnapshots", "DBSnapshotIdentifier"),
    "rds-cluster-snapshot-old": ("rds.DescribeDBClusterSnapshots", "DBClusterSnapshotIdentifier"),
    "redshift-snapshot-old": ("redshift.DescribeClusterSnapshots", "SnapshotIdentifier"),
    "lightsail-disk-snapshot-orphan": ("lightsail.GetDiskSnapshots", "sizeInGb"),
    "lightsail-instance-snapshot-orphan": ("lightsail.GetInstanceSnapshots", "sizeInGb"),
}
FAR, NEAR = (f"arn:aws:lightsail:{region}:123456789012:x/1" for region in ("eu-west-1", "us-east-1"))


@pytest.mark.parametrize(
    ("check", "about"),
    [
        ("rds-snapshot-old", {"SourceRegion": "eu-west-1"}),
        ("rds-snapshot-old", {"SourceDBSnapshotIdentifier": ELSEWHERE}),
        ("rds-cluster-snapshot-old", {"SourceDBClusterSnapshotArn": ANOTHERS}),
        ("redshift-snapshot-old", {"SourceRegion": "eu-west-1"}),
        ("lightsail-disk-snapshot-orphan", {"fromDiskArn": FAR}),
        ("lightsail-instance-snapshot-orphan", {"fromInstanceArn": FAR}),
    ],
)
def test_a_copy_from_another_place_is_no_orphan(check: str, about: dict[str, Any], account: Account) -> None:
    result = account.scan(check, other(check, *ROWS[check], **about))
    assert (result.findings, result.complete) == ((), True)


@pytest.mark.parametrize(
    ("check", "about"),
    [
        ("rds-snapshot-old", {"SourceRegion": "us-east-1", "DbiResourceId": "db-GONE"}),
        ("rds-cluster-snapshot-old", {"SourceDBClusterSnapshotArn": HERE, "DbClusterResourceId": "cluster-GONE"}),
        ("redshift-snapshot-old", {"SourceRegion": None, "ClusterCreateTime": "2020-01-01T00:00:00+00:00"}),
        ("lightsail-disk-snapshot-orphan", {"fromDiskArn": NEAR}),
        ("lightsail-instance-snapshot-orphan", {"fromInstanceArn": NEAR}),
    ],
)
def test_a_copy_within_the_region_of_something_that_is_gone_is_one(
    check: str, about: dict[str, Any], account: Account
) -> None:
    only(account, check, other(check, *ROWS[check], **about))


@pytest.mark.parametrize(
    ("check", "listing", "rows", "name", "about"),
    [
        ("rds-snapshot-old", "rds.DescribeDBInstances", "DBInstances", "DBInstanceIdentifier",
         {"DbiResourceId": "db-SAME"}),
        ("rds-cluster-snapshot-old", "rds.DescribeDBClusters", "DBClusters", "DBClusterIdentifier",
         {"DbClusterResourceId": "cluster-SAME"}),
        ("redshift-snapshot-old", "redshift.DescribeClusters", "Clusters", "ClusterIdentifier",
         {"ClusterCreateTime": "2025-05-05T05:05:05+00:00"}),
    ],
)  # fmt: skip
def test_what_was_renamed_is_not_gone(
    check: str, listing: str, rows: str, name: str, about: dict[str, Any], account: Account
) -> None:
    def lists(each: Fixture) -> Fixture:
        return replace(each, answer=Answer(200, {rows: [{name: "its-new-name", **about}]}))

    snapshot = other(check, *ROWS[check], **about)
    result = account.scan(check, with_answer(snapshot, listing, lists))
    assert (result.findings, result.complete) == ((), True)
    only(account, check, with_answer(waste(check), listing, lists))
