"""What AWS tells of a resource only in part, or with a part that changes the answer.

Made from the scenarios in which each check finds waste: some fields are replaced, as the API reference has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from clouds.aws.checks.snapshots import image_of
from clouds.aws.checks.steps import MARK
from clouds.replay import Fixture, Scenario
from tests.clouds.aws.checks.stage import Account, waste
from tests.clouds.aws.checks.test_old_answers import without
from tests.clouds.aws.checks.test_unknown import DENIED, with_answer
from tools.waste.records import Scan


def having(value: Any, fields: Mapping[str, Any]) -> Any:
    """An answer whose every object that has these fields, or names them "+field", has them with these values."""
    if isinstance(value, dict):
        row = {key: fields.get(key, having(each, fields)) for key, each in value.items()}
        for name, added in fields.items():
            beside, _, new = name.partition("+")
            if new and beside in row:
                row[new] = added
        return row
    return [having(each, fields) for each in value] if isinstance(value, list) else value


def changed(check: str, fields: Mapping[str, Any], *left_out: str) -> Scenario:
    """The scenario of a check with some fields added ("Beside+New"), replaced or left out."""

    def change(each: Fixture) -> Fixture:
        body = having(each.answer.body, fields)
        for field in left_out:
            body = without(body, field)
        return replace(each, answer=replace(each.answer, body=body))

    scenario = waste(check)
    return replace(scenario, fixtures=tuple(map(change, scenario.fixtures)))


def said(result: Scan) -> list[Any]:
    """Of each finding what it costs and whether it can be removed; else why it could not be judged."""
    if result.findings:
        return [(each.usd_per_month, each.bound, each.removable, each.stays) for each in result.findings]
    return [gap.reason for gap in (*result.unresolved, *result.unread)]


@pytest.mark.parametrize(
    ("check", "denied", "price", "bound", "removable"),
    [
        ("eip-unassociated", ["DescribeNatGateways"], 3.65, "exact", False),
        ("eni-unused", ["DescribeNatGateways", "DescribeVpcEndpoints"], 0.0, "exact", False),
        ("nat-idle", ["DescribeAddresses"], 32.85, "at least", True),
        ("ec2-stopped", ["DescribeVolumes"], 3.65, "at least", False),
        ("ec2-stopped", ["DescribeAddresses"], 8.0, "at least", False),
        ("ec2-stopped", ["DescribeAddresses", "DescribeVolumes"], None, "at least", False),
    ],
)
def test_what_is_decided_without_a_read_is_found_although_it_is_denied(
    check: str, denied: list[str], price: float | None, bound: str, removable: bool, account: Account
) -> None:
    scenario = waste(check)
    for operation in denied:
        scenario = with_answer(scenario, f"ec2.{operation}", lambda each: replace(each, answer=DENIED, parameters=None))
    result = account.scan(check, scenario)
    assert [each[:3] for each in said(result)] == [(price, bound, removable)]
    assert not result.complete
    assert {gap.call for gap in result.unread} == {f"ec2.{each}" for each in denied}


@pytest.mark.parametrize(
    ("check", "other", "why"),
    [
        ("eks-idle-cluster", "sagemaker.ListClusters", "whether HyperPod runs on it could not be read"),
        (
            "kendra-index-idle",
            "bedrock-agent.ListKnowledgeBases",
            "whether a knowledge base reads from it could not be read",
        ),
    ],
)
def test_what_a_service_that_cannot_be_asked_may_use_is_found_and_stays(
    check: str, other: str, why: str, account: Account
) -> None:
    scenario = with_answer(waste(check), other, lambda each: replace(each, answer=DENIED, parameters=None))
    result = account.scan(check, scenario)
    assert [(each.removable, each.stays) for each in result.findings] == [(False, why)]
    assert [gap.call for gap in result.unread] == [other]


@pytest.mark.parametrize(("left_out", "found"), [((), 1), (("ResourceRecordSetCount",), 0)])
def test_a_zone_that_counts_two_records_is_empty_though_they_cannot_be_listed(
    left_out: tuple[str, ...], found: int, account: Account
) -> None:
    scenario = with_answer(
        changed("route53-empty-zone", {}, *left_out),
        "route53.ListResourceRecordSets",
        lambda each: replace(each, answer=DENIED, parameters=None),
    )
    result = account.scan("route53-empty-zone", scenario)
    assert (len(result.findings), result.complete) == (found, False)
    assert [gap.call for gap in result.unread] == ["route53.ListResourceRecordSets"]


def test_a_gateway_whose_addresses_cannot_be_read_goes_without_them(account: Account) -> None:
    scenario = with_answer(
        waste("nat-idle"), "ec2.DescribeAddresses", lambda each: replace(each, answer=DENIED, parameters=None)
    )
    (finding,) = account.scan("nat-idle", scenario).findings
    assert (finding.holds, finding.evidence["releases"]) == ((), "")


@pytest.mark.parametrize(
    ("check", "scenario", "why"),
    [
        (
            "ec2-stopped",
            changed("ec2-stopped", {"StateTransitionReason": ""}),
            "AWS does not say when it was stopped: it may have been yesterday",
        ),
        (
            "vpn-idle",
            changed("vpn-idle", {}, "VgwTelemetry"),
            "AWS tells of no tunnel of it, and so neither whether one is up nor how old it is",
        ),
        (
            "workspaces-idle",
            changed("workspaces-idle", {}, "RunningMode"),
            "AWS does not say whether it is always on",
        ),
    ],
)
def test_what_aws_does_not_say_is_not_taken_for_idle(
    check: str, scenario: Scenario, why: str, account: Account
) -> None:
    assert said(account.scan(check, scenario)) == [why]


@pytest.mark.parametrize(
    ("check", "fields", "left_out"),
    [
        ("capacity-reservation-unused", {}, ("CapacityReservationArn", "OwnerId")),
        ("dedicated-host-empty", {}, ("AllocationTime",)),
        ("dedicated-host-empty", {"HostId+OwnerId": "123456789012"}, ()),
        ("route53-empty-zone", {}, ("ResourceRecordSetCount",)),
        ("client-vpn-idle", {"CreationTime": "2026-01-10T08:00:00"}, ()),
        ("ec2-idle-cpu", {"InstanceId+Tags": [{"Key": "Name", "Value": "Alternate"}]}, ()),
        ("directory-unused", {"DirectoryId+ShareStatus": "Deleted"}, ()),
        ("logs-no-retention", {"logGroupName": "waffles"}, ()),
    ],
)
def test_what_is_known_otherwise_is_found_all_the_same(
    check: str, fields: dict[str, Any], left_out: tuple[str, ...], account: Account
) -> None:
    now, then = account.found(check), account.scan(check, changed(check, fields, *left_out))
    assert (then.complete, [(each.resource, each.usd_per_month) for each in then.findings]) == (
        True,
        [(now.resource, now.usd_per_month)],
    )


@pytest.mark.parametrize(
    ("check", "fields"),
    [
        ("rds-idle", {"DBInstanceStatus+ReadReplicaSourceDBClusterIdentifier": "orders"}),
        ("rds-idle", {"DBInstanceStatus+ReadReplicaDBInstanceIdentifiers": ["shop-2"]}),
        ("rds-idle", {"DBInstanceStatus+ReadReplicaDBClusterIdentifiers": ["shop-aurora"]}),
        ("ec2-idle-cpu", {"InstanceId+Tags": [{"Key": "Name", "Value": "eu-NAT-2"}]}),
        ("directory-unused", {"DirectoryId+ShareStatus": "Shared"}),
        ("logs-no-retention", {"logGroupName": "aws-waf-logs-shop"}),
        ("dedicated-host-empty", {"HostId+OwnerId": "210987654321"}),
        ("dedicated-host-empty", {"HostId+MemberOfServiceLinkedResourceGroup": True}),
    ],
)
def test_what_is_there_on_purpose_is_left_alone(check: str, fields: dict[str, Any], account: Account) -> None:
    result = account.scan(check, changed(check, fields))
    assert (result.findings, result.complete) == ((), True)


@pytest.mark.parametrize(
    ("check", "fields", "price", "stays"),
    [
        (
            "kms-unused",
            {
                "KeyManager+MultiRegionConfiguration": {
                    "MultiRegionKeyType": "PRIMARY",
                    "ReplicaKeys": [{"Arn": "arn:aws:kms:eu-west-1:123456789012:key/mrk-1", "Region": "eu-west-1"}],
                }
            },
            1.0,
            "it has replicas in eu-west-1, whose use is not looked at: judge those first",
        ),
        (
            "secret-unused",
            {"ARN+PrimaryRegion": "us-east-1"},
            0.4,
            "it is replicated to other regions, whose reads are not looked at",
        ),
    ],
)
def test_what_has_copies_in_other_regions_is_not_removed(
    check: str, fields: dict[str, Any], price: float, stays: str, account: Account
) -> None:
    assert said(account.scan(check, changed(check, fields))) == [(price, "exact", False, stays)]


@pytest.mark.parametrize(
    ("check", "scenario", "price"),
    [
        ("rds-cluster-snapshot-old", changed("rds-cluster-snapshot-old", {"AllocatedStorage": 1}), None),
        ("rds-cluster-snapshot-old", changed("rds-cluster-snapshot-old", {"AllocatedStorage": 20}), 0.42),
        ("ecr-stale-images", changed("ecr-stale-images", {}, "imageSizeInBytes"), None),
        (
            "ami-unused",
            changed("ami-unused", {"ImageId+RootDeviceType": "instance-store"}, "BlockDeviceMappings"),
            0.0,
        ),
        (
            "ami-unused",
            changed(
                "ami-unused",
                {"ImageId+RootDeviceType": "instance-store", "ImageId+ImageLocation": "bundles/base.manifest.xml"},
                "BlockDeviceMappings",
            ),
            None,
        ),
    ],
)
def test_a_size_that_aws_does_not_say_is_not_a_price_of_nothing(
    check: str, scenario: Scenario, price: float | None, account: Account
) -> None:
    assert [each.usd_per_month for each in account.scan(check, scenario).findings] == [price]


@pytest.mark.parametrize(
    ("check", "operation", "left_out"),
    [
        ("alb-no-targets", "elbv2.DescribeTargetGroups", "LoadBalancerArns"),
        ("alb-no-targets", "elbv2.DescribeRules", "Actions"),
        ("alb-no-targets", "elbv2.DescribeLoadBalancers", "State"),
        ("alb-no-traffic", "elbv2.DescribeLoadBalancers", "State"),
        ("ami-unused", "ec2.DescribeImageAttribute", "LaunchPermissions"),
    ],
)
def test_without_a_field_that_is_always_sent_nobody_knows(
    check: str, operation: str, left_out: str, account: Account
) -> None:
    def change(each: Fixture) -> Fixture:
        return replace(each, answer=replace(each.answer, body=without(each.answer.body, left_out)))

    scenario = with_answer(waste(check), operation, change)
    assert scenario.fixtures != waste(check).fixtures
    result = account.scan(check, scenario)
    assert (result.findings, result.complete) == ((), False)


@pytest.mark.parametrize(
    "row", [{"InstanceId": "i-1"}, {"LaunchConfigurationName": "old"}, {"LaunchTemplateId": "lt-1"}]
)
def test_what_starts_from_an_image_that_it_does_not_name_is_not_taken_for_nothing(row: dict[str, Any]) -> None:
    with pytest.raises(KeyError):
        image_of(row)
    named: dict[str, Any] = {"LaunchTemplateData": {}} if "LaunchTemplateId" in row else {"ImageId": "ami-1"}
    assert list(image_of(row | named)) == list(named.values()) * ("ImageId" in named)


@pytest.mark.parametrize(("key", "told"), [(MARK, True), ("team", False)])
def test_a_backup_that_a_cleanup_made_is_said_to_be_one(key: str, told: bool, account: Account) -> None:
    (found,) = account.scan(
        "snapshot-orphan", changed("snapshot-orphan", {"SnapshotId+Tags": [{"Key": key, "Value": "x"}]})
    ).findings
    assert ("modelrig made it before deleting the volume" in found.reason) is told
