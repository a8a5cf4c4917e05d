"""A member of a database cluster is idle when all members are, and never removed by itself.

The answers are written from the RDS API reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from clouds.replay import Answer, Fixture, Scenario
from tests.clouds.aws.checks.stage import Account, waste
from tests.clouds.aws.checks.test_unknown import DENIED

CLUSTER = {
    "DBClusterIdentifier": "orders",
    "Status": "available",
    "Engine": "aurora-mysql",
    "ReadReplicaIdentifiers": [],
}
WHY = "it is a member of cluster orders: stop that, or delete it as a whole with a final snapshot"


def member(name: str, **fields: Any) -> Mapping[str, Any]:
    return {
        "DBInstanceIdentifier": name, "DBInstanceClass": "db.r6g.large", "Engine": "aurora-mysql",
        "DBInstanceStatus": "available", "DBClusterIdentifier": "orders", "StorageType": "aurora",
        "AllocatedStorage": 1, "InstanceCreateTime": "2026-01-10T08:00:00+00:00", "TagList": [], **fields,
    }  # fmt: skip


def account_of(
    members: list[Mapping[str, Any]], connections: list[float], cluster: Answer | Mapping[str, Any] = CLUSTER
) -> Scenario:
    """The scenario of an idle instance with these members in its place, and the most connections of each."""
    series = [
        {"Id": f"m{number}", "Label": "DatabaseConnections", "StatusCode": "Complete", "Values": [value]}
        for number, value in enumerate(connections)
    ]
    found = cluster if isinstance(cluster, Answer) else Answer(200, {"DBClusters": [cluster]})
    answers = {
        ("rds", "DescribeDBInstances"): Answer(200, {"DBInstances": members}),
        ("rds", "DescribeDBClusters"): found,
        ("cloudwatch", "GetMetricData"): Answer(200, {"MetricDataResults": series}),
    }
    fixtures = tuple(Fixture(operation, service, operation, answer) for (service, operation), answer in answers.items())
    return replace(waste("rds-idle"), fixtures=fixtures)


def test_members_of_a_cluster_that_nobody_connects_to_are_found_and_stay(account: Account) -> None:
    result = account.scan("rds-idle", account_of([member("orders-1"), member("orders-2")], [0.0, 0.0]))
    assert result.complete
    assert [(each.name, each.reason, each.removable, each.stays, each.bound) for each in result.findings] == [
        (
            name,
            "nobody connected to any of the 2 members of cluster orders in 14 days; db.r6g.large aurora-mysql",
            False,
            WHY,
            "at least",
        )
        for name in ("orders-1", "orders-2")
    ]
    assert {meter.key for each in result.findings for meter in each.meters} == {"rds/db.r6g.large/aurora-mysql/single"}


def test_the_only_member_of_a_cluster_is_called_that(account: Account) -> None:
    (found,) = account.scan("rds-idle", account_of([member("orders-1")], [0.0])).findings
    assert "to the only member of cluster orders" in found.reason


@pytest.mark.parametrize(
    ("scenario", "resources"),
    [
        (account_of([member("orders-1"), member("orders-2")], [0.0, 3.0]), 2),
        (account_of([member("orders-1"), member("orders-2", DBInstanceStatus="creating")], [0.0]), 2),
        (account_of([member("orders-1")], [0.0], {**CLUSTER, "Status": "stopping"}), 1),
        (account_of([member("orders-1")], [0.0], {**CLUSTER, "ReplicationSourceIdentifier": "arn:aws:rds:x"}), 1),
        (account_of([member("orders-1")], [0.0], {**CLUSTER, "GlobalClusterIdentifier": "world"}), 1),
        (account_of([member("orders-1")], [0.0], {**CLUSTER, "GlobalWriteForwardingStatus": "enabled"}), 1),
        (account_of([member("orders-1")], [0.0], {**CLUSTER, "ReadReplicaIdentifiers": ["arn:aws:rds:y"]}), 1),
        (account_of([member("docs-1", Engine="docdb")], [0.0]), 1),
    ],
    ids=["one in use", "one being made", "stopping", "a copy", "global", "forwards", "copied", "DocumentDB"],
)
def test_a_cluster_in_use_or_there_for_another_is_left_alone(
    scenario: Scenario, resources: int, account: Account
) -> None:
    result = account.scan("rds-idle", scenario)
    assert (result.findings, result.complete, result.coverage.resources) == ((), True, resources)


def test_a_member_whose_cluster_cannot_be_read_is_not_judged(account: Account) -> None:
    result = account.scan("rds-idle", account_of([member("orders-1")], [0.0], DENIED))
    assert (result.findings, result.complete) == ((), False)
    assert [gap.call for gap in result.unread] == ["rds.DescribeDBClusters"]


def test_a_multi_az_cluster_of_three_is_found_without_a_price_and_says_why(account: Account) -> None:
    (found,) = account.scan("rds-idle", account_of([member("orders-1", Engine="postgres")], [0.0])).findings
    assert found.usd_per_month is None
    assert [(each.key, each.source[:47]) for each in found.meters] == [
        ("rds-cluster/db.r6g.large/postgres", "not priced: AWS lists Multi-AZ clusters apart; ")
    ]


FAST = {**CLUSTER, "StorageType": "aurora-iopt1"}


def serverless(least: float | None, **fields: Any) -> Mapping[str, Any]:
    said = {} if least is None else {"ServerlessV2ScalingConfiguration": {"MinCapacity": least, "MaxCapacity": 16.0}}
    return {**CLUSTER, **said, **fields}


ACU = {"DBInstanceClass": "db.serverless"}


@pytest.mark.parametrize(
    ("fields", "cluster", "meters", "words"),
    [
        ({}, CLUSTER, [("rds/db.r6g.large/aurora-mysql/single", 1.0)], "db.r6g.large aurora-mysql"),
        ({}, {**CLUSTER, "StorageType": "aurora"}, [("rds/db.r6g.large/aurora-mysql/single", 1.0)],
         "db.r6g.large aurora-mysql"),
        ({}, FAST, [("rds/db.r6g.large/aurora-mysql/io-optimized", 1.0)], "db.r6g.large aurora-mysql, I/O-Optimized"),
        ({}, {**CLUSTER, "StorageType": "aurora-new"}, [],
         "db.r6g.large aurora-mysql, of a storage type whose rates are not known (aurora-new)"),
        (ACU, serverless(2.0), [("aurora-serverless/aurora-mysql/standard", 2.0)],
         "db.serverless aurora-mysql; it holds 2 ACU or more"),
        (ACU, serverless(0.5, StorageType="aurora-iopt1"), [("aurora-serverless/aurora-mysql/io-optimized", 0.5)],
         "db.serverless aurora-mysql, I/O-Optimized; it holds 0.5 ACU or more"),
        (ACU, serverless(0.0), [], "db.serverless aurora-mysql; it may pause at 0 ACU, when only storage is billed"),
        (ACU, serverless(None), [], "db.serverless aurora-mysql; AWS does not say how many ACU it holds"),
    ],
    ids=["standard", "standard by name", "optimized", "unknown storage", "ACU", "ACU optimized", "pauses", "not said"],
)  # fmt: skip
def test_a_member_is_priced_by_what_its_cluster_says(
    fields: Mapping[str, Any],
    cluster: Mapping[str, Any],
    meters: list[tuple[str, float]],
    words: str,
    account: Account,
) -> None:
    (found,) = account.scan("rds-idle", account_of([member("orders-1", **fields)], [0.0], cluster)).findings
    assert [(each.key, each.quantity) for each in found.meters] == meters
    assert (found.reason.partition(" in 14 days; ")[2], found.bound) == (words, "at least")
    assert (found.usd_per_month is None) is (meters != [("rds/db.r6g.large/aurora-mysql/single", 1.0)])


def test_the_standard_hours_of_aurora_have_a_bundled_rate(account: Account) -> None:
    (found,) = account.scan("rds-idle", account_of([member("orders-1")], [0.0])).findings
    assert [(each.usd_per_unit, each.as_of) for each in found.meters] == [(0.26, "2026-10-15")]
    assert found.usd_per_month == pytest.approx(0.26 * 730)


@pytest.mark.parametrize(
    ("engine", "said", "licence"),
    [
        ("sqlserver-se", {"LicenseModel": "license-included"}, "license-included"),
        ("oracle-ee", {"LicenseModel": "bring-your-own-license"}, "bring-your-own-license"),
        ("db2-se", {}, "unknown licence"),
    ],
)
def test_an_engine_with_a_licence_has_its_storage_priced_and_its_hours_not(
    engine: str, said: Mapping[str, str], licence: str, account: Account
) -> None:
    alone = member("books-1", Engine=engine, DBClusterIdentifier="", StorageType="gp3", AllocatedStorage=100, **said)
    (found,) = account.scan("rds-idle", account_of([alone], [0.0])).findings
    assert found.reason == f"nobody connected in 14 days; db.r6g.large {engine}, {licence}"
    assert [(each.key, each.usd_per_unit) for each in found.meters] == [
        (f"rds-licensed/db.r6g.large/{engine}/single", None),
        ("rds-storage/single/gp3", 0.115),
    ]
    assert found.usd_per_month == pytest.approx(11.5)
    assert found.bound == "at least"
    assert found.meters[0].source.startswith("not priced: AWS lists it by edition and licence")


def test_an_engine_without_a_licence_names_none(account: Account) -> None:
    alone = member("books-1", Engine="mysql", DBClusterIdentifier="", LicenseModel="general-public-license")
    (found,) = account.scan("rds-idle", account_of([alone], [0.0])).findings
    assert found.reason == "nobody connected in 14 days; db.r6g.large mysql"
    assert found.meters[0].key == "rds/db.r6g.large/mysql/single"


def off(name: str, **fields: Any) -> Mapping[str, Any]:
    return member(name, DBInstanceStatus="stopped", **fields)


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ([off("orders-2"), off("orders-1")], ["orders-1"]),
        ([off("orders-1"), member("orders-2")], []),
        ([off("orders-1"), off("bills-1", DBClusterIdentifier="bills")], ["bills-1", "orders-1"]),
    ],
    ids=["stopped", "one is up", "two clusters"],
)
def test_a_stopped_cluster_is_told_once(members: list[Mapping[str, Any]], found: list[str], account: Account) -> None:
    result = account.scan("rds-stopped", account_of(members, []))
    assert (sorted(each.name for each in result.findings), result.complete) == (found, True)
    assert {(each.usd_per_month, each.removable) for each in result.findings} <= {(None, False)}


def test_a_stopped_cluster_says_what_will_start_again(account: Account) -> None:
    (found,) = account.scan("rds-stopped", account_of([off("orders-1"), off("orders-2")], [])).findings
    assert found.reason == "cluster orders is stopped; its storage is billed, and RDS starts its 2 members after 7 days"
    assert found.evidence["members"] == "orders-1, orders-2"
