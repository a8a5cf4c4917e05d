"""What is priced, offered or counted elsewhere: in a Local Zone, by another account, under an earlier variant.

Each is a documented scenario of waste with answers changed by the members of botocore 1.44.8's output shapes.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clouds.aws.checks.ec2_reads import apart
from clouds.replay import Answer, Scenario
from tests.clouds.aws.checks.stage import Account, waste
from tests.clouds.aws.checks.test_belonging import answered, instance, tagged
from tests.clouds.aws.checks.test_other_shapes import also, only, other

ZONE = {"AvailabilityZone": "us-east-1-bos-1a"}
SCALED = {
    "InferenceComponentName": "chat",
    "InferenceComponentArn": "arn:aws:sagemaker:us-east-1:123456789012:inference-component/chat",
    "InferenceComponentStatus": "InService", "CreationTime": "2026-01-10T08:00:00+00:00",
    "RuntimeConfig": {"DesiredCopyCount": 0, "CurrentCopyCount": 0},
}  # fmt: skip


def scaled_component(requests: list[float]) -> Scenario:
    """An endpoint whose only component has no copy now, and how often that was called in the window."""
    (endpoint,) = (
        each.answer.body["EndpointName"]
        for each in waste("sm-endpoint-idle").fixtures
        if each.operation == "DescribeEndpoint"
    )
    row = {**SCALED, "EndpointName": endpoint}
    called = {"Id": "m0", "Label": "Invocations", "StatusCode": "Complete", "Values": requests,
              "Timestamps": ["2026-11-27T00:00:00+00:00"] * len(requests)}  # fmt: skip
    listed = answered("sm-endpoint-idle", "sagemaker.ListInferenceComponents", {"InferenceComponents": [row]})
    more = also(listed, "sagemaker", "DescribeInferenceComponent", Answer(200, row))
    return also(more, "cloudwatch", "GetMetricData", Answer(200, {"MetricDataResults": [called]}))


@pytest.mark.parametrize(("requests", "found"), [([5.0], 0), ([], 1)])
def test_a_component_that_scaled_to_zero_since_it_was_called_was_called(
    requests: list[float], found: int, account: Account
) -> None:
    result = account.scan("sm-endpoint-idle", scaled_component(requests))
    assert (len(result.findings), result.complete) == (found, True)


def test_an_endpoint_that_was_changed_this_week_is_too_new_to_be_judged_by_its_variants(account: Account) -> None:
    changed = other("sm-endpoint-idle", "sagemaker.DescribeEndpoint", "EndpointStatus",
                    LastModifiedTime="2026-11-27T08:00:00+00:00")  # fmt: skip
    result = account.scan("sm-endpoint-idle", changed)
    assert (result.findings, result.complete, result.coverage.too_new) == ((), True, 1)


@pytest.mark.parametrize(
    ("check", "scenario"),
    [
        ("ec2-idle-cpu", lambda: instance("ec2-idle-cpu", Placement=ZONE)),
        ("ebs-unattached", lambda: other("ebs-unattached", "ec2.DescribeVolumes", "VolumeType", **ZONE)),
        (
            "capacity-reservation-unused",
            lambda: other(
                "capacity-reservation-unused", "ec2.DescribeCapacityReservations", "CapacityReservationId", **ZONE
            ),
        ),
    ],
)
def test_a_local_zone_does_not_have_the_rates_of_its_region(
    check: str, scenario: Callable[[], Scenario], account: Account
) -> None:
    assert only(account, check, scenario()).billing == "unpriced"


@pytest.mark.parametrize("where", [ZONE, {"OutpostArn": "arn:aws:outposts:us-east-1:123456789012:outpost/op-1"}])
def test_where_there_may_be_no_gp3_none_is_recommended(where: dict[str, str], account: Account) -> None:
    result = account.scan("ebs-gp2-to-gp3", other("ebs-gp2-to-gp3", "ec2.DescribeVolumes", "VolumeType", **where))
    assert (result.findings, result.complete) == ((), True)


@pytest.mark.parametrize(
    ("zone", "is_apart"),
    [
        ("us-east-1a", False), ("us-gov-west-1b", False), ("ap-southeast-2c", False), (None, False),
        ("us-east-1-bos-1a", True), ("us-west-2-lax-1b", True), ("us-east-1-wl1-bos-wlz-1", True),
    ],
)  # fmt: skip
def test_a_local_or_wavelength_zone_is_known_by_its_name(zone: str | None, is_apart: bool) -> None:
    assert bool(apart(zone)) is is_apart


def test_who_pays_for_an_unused_reservation_is_said(account: Account) -> None:
    lent = other("capacity-reservation-unused", "ec2.DescribeCapacityReservations", "CapacityReservationId",
                 UnusedReservationBillingOwnerId="210987654321")  # fmt: skip
    assert (
        "; account 210987654321 is billed for what is unused"
        in only(account, "capacity-reservation-unused", lent).reason
    )


@pytest.mark.parametrize(
    ("check", "scenario"),
    [
        (
            "ebs-idle-attached",
            lambda: instance("ebs-idle-attached", LaunchTime="2026-11-29T08:00:00+00:00"),
        ),
        (
            "sm-hyperpod-idle",
            lambda: other(
                "sm-hyperpod-idle", "sagemaker.ListClusterNodes", "InstanceGroupName",
                LaunchTime="2026-11-29T08:00:00+00:00",
            ),
        ),
    ],
)  # fmt: skip
def test_what_has_figures_only_of_the_time_that_its_machines_run_is_too_new_after_a_start(
    check: str, scenario: Callable[[], Scenario], account: Account
) -> None:
    result = account.scan(check, scenario())
    assert (result.findings, result.complete, result.coverage.too_new) == ((), True, 1)


def first_image() -> str:
    (found,) = (
        each.answer.body["Images"][0]["ImageId"]
        for each in waste("ami-unused").fixtures
        if each.operation == "DescribeImages"
    )
    return str(found)


@pytest.mark.parametrize(("image", "found"), [(first_image(), 0), ("ami-0other", 1)])
def test_an_image_that_a_group_names_for_one_of_its_types_is_in_use(image: str, found: int, account: Account) -> None:
    policy = {"LaunchTemplate": {"LaunchTemplateSpecification": {"LaunchTemplateId": "lt-1", "Version": "$Latest"},
                                 "Overrides": [{"InstanceType": "c7g.large", "ImageId": image}]}}  # fmt: skip
    group = {"AutoScalingGroupName": "web", "MinSize": 0, "Instances": [], "MixedInstancesPolicy": policy}
    scenario = answered("ami-unused", "autoscaling.DescribeAutoScalingGroups", {"AutoScalingGroups": [group]})
    result = account.scan("ami-unused", scenario)
    assert (len(result.findings), result.complete) == (found, True)


def test_a_group_that_a_service_operates_is_left_alone(account: Account) -> None:
    operated = other("asg-gpu-floor", "autoscaling.DescribeAutoScalingGroups", "AutoScalingGroupARN",
                     Operator={"Managed": True, "Principal": "ecs.amazonaws.com"})  # fmt: skip
    result = account.scan("asg-gpu-floor", operated)
    assert (result.findings, result.complete, result.coverage.managed) == ((), True, 1)


@pytest.mark.parametrize("key", ["backup-schedule", "SnapshotSchedule", "patch:schedule"])
def test_a_schedule_that_stops_nothing_spares_nothing(key: str, account: Account) -> None:
    tags = tagged(key, "daily")
    database = other("rds-stopped", "rds.DescribeDBInstances", "DBInstanceStatus", TagList=tags["Tags"])
    assert only(account, "rds-stopped", database).usd_per_month
    assert only(account, "ec2-stopped", instance("ec2-stopped", **tags)).usd_per_month


PUBLIC = "/aws/service/ecs/optimized-ami/amazon-linux-2023/recommended/image_id"


@pytest.mark.parametrize(
    ("parameter", "stays"),
    [
        (PUBLIC, False),
        (f"arn:aws:ssm:us-east-1::parameter{PUBLIC}", False),
        ("/golden/aws/service/linux", True),
        ("arn:aws:ssm:us-east-1:123456789012:parameter/golden/linux", True),
    ],
)
def test_a_parameter_of_aws_itself_names_no_image_of_ours(parameter: str, stays: bool, account: Account) -> None:
    about = {"ImageId": f"resolve:ssm:{parameter}"}
    version = {
        "LaunchTemplateId": "lt-1", "VersionNumber": 3, "DefaultVersion": True, "LaunchTemplateData": about,
    }  # fmt: skip
    body = {"LaunchTemplateVersions": [version]}
    found = only(account, "ami-unused", answered("ami-unused", "ec2.DescribeLaunchTemplateVersions", body))
    assert (found.removable, bool(found.stays)) == (not stays, stays)
