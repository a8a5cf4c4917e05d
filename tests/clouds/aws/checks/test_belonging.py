"""What is part of something else: of a cluster, a group, a fleet, a backup, a kept machine, another account.

Each is a documented scenario of waste with answers changed by the members of botocore 1.44.8's output shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from clouds.aws.checks import words
from clouds.replay import Answer, Fixture, Scenario
from tests.clouds.aws.checks.stage import CHECKS, Account, waste
from tests.clouds.aws.checks.test_other_shapes import also, keys, only, other, steps
from tests.clouds.aws.checks.test_unknown import with_answer

FLEET = "aws:ec2:fleet-id"


def tagged(key: str, value: str = "x") -> dict[str, Any]:
    return {"Tags": [{"Key": key, "Value": value}]}


def instance(check: str, **about: Any) -> Scenario:
    """A check's waste whose machine has other members."""
    return other(check, "ec2.DescribeInstances", "LaunchTime", **about)


def answered(check: str, operation: str, body: Any) -> Scenario:
    return with_answer(waste(check), operation, lambda each: replace(each, answer=Answer(200, body)))


def told(scenario: Scenario, label: str) -> Scenario:
    """The scenario in which one metric has a value."""

    def change(each: Fixture) -> Fixture:
        rows = [
            {**row, "Values": [3.0], "Timestamps": ["2026-11-28T00:00:00+00:00"]} if row["Label"] == label else row
            for row in each.answer.body["MetricDataResults"]
        ]
        return replace(each, answer=Answer(200, {"MetricDataResults": rows}))

    return with_answer(scenario, "cloudwatch.GetMetricData", change)


GROUP = {
    "AutoScalingGroupName": "nodes", "MinSize": 0, "MaxSize": 4, "Instances": [],
    "CreatedTime": "2026-01-10T08:00:00+00:00", **tagged("kubernetes.io/cluster/lab", "owned"),
}  # fmt: skip
POD = "arn:aws:sagemaker:us-east-1:123456789012:cluster/pod"
HYPERPOD = {
    "ClusterArn": POD, "ClusterStatus": "InService", "CreationTime": "2026-01-10T08:00:00+00:00",
    "InstanceGroups": [{"InstanceGroupName": "gpu", "CurrentCount": 0, "InstanceType": "ml.p5.48xlarge"}],
    "Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-east-1:123456789012:cluster/lab"}},
}  # fmt: skip
TEMPLATE = {"LaunchTemplateVersions": [{"LaunchTemplateId": "lt-1", "VersionNumber": 3, "DefaultVersion": True,
                                        "LaunchTemplateData": {"ImageId": "resolve:ssm:/golden/linux"}}]}  # fmt: skip
SERVED = {
    "EndpointName": "market", "EndpointArn": "arn:aws:sagemaker:us-east-1:123456789012:endpoint/market",
    "EndpointStatus": "InService", "CreationTime": "2026-01-10T08:00:00+00:00",
    "ProductionVariants": [{"VariantName": "AllTraffic", "CurrentInstanceCount": 1}],
}  # fmt: skip


def market_called_through_sagemaker() -> Scenario:
    listed = answered("bedrock-marketplace-endpoint", "sagemaker.ListEndpoints", {"Endpoints": [SERVED]})
    used = {"Id": "m0", "Label": "Invocations", "StatusCode": "Complete", "Values": [5.0],
            "Timestamps": ["2026-11-28T00:00:00+00:00"]}  # fmt: skip
    return also(
        also(listed, "sagemaker", "DescribeEndpoint", Answer(200, SERVED)), "cloudwatch", "GetMetricData",
        Answer(200, {"MetricDataResults": [used]}),
    )  # fmt: skip


def read_by_a_knowledge_base() -> Scenario:
    base = {
        "knowledgeBaseId": "KB1", "knowledgeBaseArn": "arn:kb", "name": "docs", "status": "ACTIVE",
        "knowledgeBaseConfiguration": {
            "type": "KENDRA",
            "kendraKnowledgeBaseConfiguration": {"kendraIndexArn": only_index()},
        },
    }  # fmt: skip
    listed = answered("kendra-index-idle", "bedrock-agent.ListKnowledgeBases", {"knowledgeBaseSummaries": [base]})
    return also(listed, "bedrock-agent", "GetKnowledgeBase", Answer(200, {"knowledgeBase": base}))


def only_index() -> str:
    (found,) = (
        each.answer.body["IndexConfigurationSummaryItems"][0]["Id"]
        for each in waste("kendra-index-idle").fixtures
        if each.operation == "ListIndices"
    )
    return f"arn:aws:kendra:us-east-1:123456789012:index/{found}"


def disabled_image_needs_it() -> Scenario:
    (snapshot,) = (
        each.answer.body["Snapshots"][0]["SnapshotId"]
        for each in waste("snapshot-orphan").fixtures
        if each.operation == "DescribeSnapshots"
    )
    disks = [{"DeviceName": "/dev/xvda", "Ebs": {"SnapshotId": snapshot}}]
    image = {"ImageId": "ami-0old", "State": "disabled", "BlockDeviceMappings": disks}
    return answered("snapshot-orphan", "ec2.DescribeImages", {"Images": [image]})


PART_OF: Mapping[str, tuple[str, Callable[[], Scenario]]] = {
    "a node of an EMR cluster": (
        "ec2-idle-cpu",
        lambda: instance("ec2-idle-cpu", **tagged("aws:elasticmapreduce:job-flow-id", "j-1")),
    ),
    "a GPU node of an EMR cluster": (
        "ec2-gpu-idle",
        lambda: instance("ec2-gpu-idle", **tagged("aws:elasticmapreduce:job-flow-id", "j-1")),
    ),
    "a volume of a Kubernetes claim that a pod holds": (
        "ebs-idle-attached",
        lambda: other(
            "ebs-idle-attached",
            "ec2.DescribeVolumes",
            "VolumeType",
            **tagged("kubernetes.io/created-for/pvc/name", "data"),
        ),
    ),
    "a volume of a machine that is to be kept": (
        "ebs-idle-attached",
        lambda: instance("ebs-idle-attached", **tagged("modelrig-keep", "2027-03-31 standby")),
    ),
    "an address of a machine that is to be kept": (
        "eip-on-stopped",
        lambda: instance("eip-on-stopped", **tagged("modelrig-keep", "standby")),
    ),
    "an address of a machine of a group": (
        "eip-on-stopped",
        lambda: instance("eip-on-stopped", **tagged("aws:autoscaling:groupName", "warm")),
    ),
    "an interface of another account in a shared subnet": (
        "eni-unused",
        lambda: other("eni-unused", "ec2.DescribeNetworkInterfaces", "NetworkInterfaceId", OwnerId="210987654321"),
    ),
    "a capacity block that another account shares": (
        "capacity-block-idle",
        lambda: other(
            "capacity-block-idle", "ec2.DescribeCapacityReservations", "CapacityReservationId", OwnerId="210987654321"
        ),
    ),
    "a snapshot of a Kubernetes volume snapshot": (
        "snapshot-orphan",
        lambda: other("snapshot-orphan", "ec2.DescribeSnapshots", "StartTime", **tagged("CSIVolumeSnapshotName")),
    ),
    "a snapshot of a backup of Velero's": (
        "snapshot-orphan",
        lambda: other("snapshot-orphan", "ec2.DescribeSnapshots", "StartTime", **tagged("velero.io/backup")),
    ),
    "a point in time of DRS": (
        "snapshot-orphan",
        lambda: other(
            "snapshot-orphan", "ec2.DescribeSnapshots", "StartTime", **tagged("AWSElasticDisasterRecoveryManaged")
        ),
    ),
    "a snapshot that a disabled image needs": ("snapshot-orphan", disabled_image_needs_it),
    "a cluster that a group of size 0 starts nodes for": (
        "eks-idle-cluster",
        lambda: answered(
            "eks-idle-cluster", "autoscaling.DescribeAutoScalingGroups", {"AutoScalingGroups": [GROUP]}
        ),
    ),
    "a cluster that HyperPod runs on": (
        "eks-idle-cluster",
        lambda: also(
            answered("eks-idle-cluster", "sagemaker.ListClusters", {"ClusterSummaries": [HYPERPOD]}), "sagemaker",
            "DescribeCluster", Answer(200, HYPERPOD),
        ),
    ),
    "a balancer that only redirects": (
        "alb-no-traffic",
        lambda: told(waste("alb-no-traffic"), "HTTP_Redirect_Count"),
    ),
    "a balancer that answers by itself": (
        "alb-no-traffic",
        lambda: told(waste("alb-no-traffic"), "HTTP_Fixed_Response_Count"),
    ),
    "a Marketplace endpoint that SageMaker's API is asked": (
        "bedrock-marketplace-endpoint",
        market_called_through_sagemaker,
    ),
    "a cache that is only written to, as a queue": (
        "elasticache-idle",
        lambda: told(waste("elasticache-idle"), "SetTypeCmds"),
    ),
    "a cache that only passes messages on": (
        "elasticache-idle",
        lambda: told(waste("elasticache-idle"), "PubSubBasedCmds"),
    ),
    "a Kafka cluster that is only read": ("msk-idle", lambda: told(waste("msk-idle"), "BytesOutPerSec")),
    "a Kendra index that a knowledge base reads from": ("kendra-index-idle", read_by_a_knowledge_base),
    "a database that a schedule stops": (
        "rds-stopped",
        lambda: other(
            "rds-stopped", "rds.DescribeDBInstances", "DBInstanceStatus", TagList=tagged("Schedule", "office")["Tags"]
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", PART_OF)
def test_what_is_part_of_something_in_use_is_left_alone(what: str, account: Account) -> None:
    check, made = PART_OF[what]
    result = account.scan(check, made())
    assert (result.findings, result.complete) == ((), True)


STAYS: Mapping[str, tuple[str, Callable[[], Scenario], str]] = {
    "a machine of a fleet": (
        "ec2-idle-cpu", lambda: instance("ec2-idle-cpu", **tagged(FLEET, "fleet-1")), "fleet fleet-1 started it",
    ),
    "a Spot instance": (
        "ec2-gpu-idle", lambda: instance("ec2-gpu-idle", InstanceLifecycle="spot"), "only a Spot instance of a persis",
    ),
    "a machine of instance store": (
        "ec2-idle-cpu", lambda: instance("ec2-idle-cpu", RootDeviceType="instance-store"), "its root is instance store",
    ),
    "a reservation of a fleet": (
        "capacity-reservation-unused",
        lambda: other("capacity-reservation-unused", "ec2.DescribeCapacityReservations", "CapacityReservationId",
                      CapacityReservationFleetId="crf-1"),
        "it is one of crf-1",
    ),
    "a volume of a group's machine": (
        "ebs-idle-attached", lambda: instance("ebs-idle-attached", **tagged("aws:autoscaling:groupName", "web")),
        "its machine is one of aws:autoscaling:groupName=web",
    ),
    "an address of a machine that stopped last night": (
        "eip-on-stopped", lambda: instance("eip-on-stopped", StateTransitionReason="User (2026-11-28 19:00:00 GMT)"),
        "its machine was stopped less than 7 days ago",
    ),
    "an address of a machine that stopped nobody knows when": (
        "eip-on-stopped", lambda: instance("eip-on-stopped", StateTransitionReason=""), "AWS does not say when",
    ),
    "an image beside a template that starts from a parameter": (
        "ami-unused", lambda: answered("ami-unused", "ec2.DescribeLaunchTemplateVersions", TEMPLATE),
        "a launch template takes its image from /golden/linux",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", STAYS)
def test_what_cannot_be_removed_by_itself_is_found_and_says_why_it_stays(what: str, account: Account) -> None:
    check, made, why = STAYS[what]
    found = only(account, check, made())
    assert (found.removable, found.stays[: len(why)]) == (False, why)


def test_a_machine_on_an_outpost_bills_nothing_by_the_hour(account: Account) -> None:
    outpost = "arn:aws:outposts:us-east-1:123456789012:outpost/op-1"
    found = only(account, "ec2-idle-cpu", instance("ec2-idle-cpu", OutpostArn=outpost))
    assert (found.billing, found.usd_per_month) == ("free", 0.0)


@pytest.mark.parametrize(("engine", "rate"), [("mysql", "rds"), ("postgres", "rds"), ("aurora-mysql", "aurora")])
def test_a_cluster_snapshot_has_the_rate_of_what_stored_it(engine: str, rate: str, account: Account) -> None:
    scenario = other(
        "rds-cluster-snapshot-old", "rds.DescribeDBClusterSnapshots", "SnapshotType", Engine=engine, AllocatedStorage=20
    )
    assert keys(only(account, "rds-cluster-snapshot-old", scenario)) == {f"{rate}-snapshot/backup": 20}


def test_a_warehouse_snapshot_whose_size_is_not_said_is_not_called_empty(account: Account) -> None:
    sizes = dict.fromkeys(("ActualIncrementalBackupSizeInMegaBytes", "TotalBackupSizeInMegaBytes"))
    unsaid = other("redshift-snapshot-old", "redshift.DescribeClusterSnapshots", "SnapshotType", **sizes)
    found = only(account, "redshift-snapshot-old", unsaid)
    assert (found.reason.endswith("is gone; AWS does not say its size"), found.billing) == (True, "unpriced")


def test_a_hyperpod_group_keeps_its_labels_and_patches_when_it_is_scaled() -> None:
    group = {
        "InstanceGroupName": "gpu", "InstanceType": "ml.p5.48xlarge", "CurrentCount": 1, "Status": "InService",
        "KubernetesConfig": {"CurrentLabels": {"a": "old"}, "DesiredLabels": {"a": "new"}, "DesiredTaints": []},
        "AutoPatchConfig": {"PatchingStrategy": "WhenIdle", "DesiredPatchSchedule": {"ScheduleExpression": "cron()"}},
    }  # fmt: skip
    (scale,) = steps("sm-hyperpod-idle", {"ClusterArn": POD, "InstanceGroups": [group]})
    assert scale.call.parameters["InstanceGroups"] == [
        {
            "InstanceCount": 0, "InstanceGroupName": "gpu", "InstanceType": "ml.p5.48xlarge",
            "KubernetesConfig": {"Labels": {"a": "new"}, "Taints": []},
            "AutoPatchConfig": {"PatchingStrategy": "WhenIdle", "PatchSchedule": {"ScheduleExpression": "cron()"}},
        }
    ]  # fmt: skip


@pytest.mark.parametrize("key", ["elbv2.k8s.aws/cluster", "KubernetesCluster", "eks:eks-cluster-name"])
def test_who_owns_what_a_cluster_made_is_told(key: str) -> None:
    assert words.owner({key: "lab"}).endswith(" cluster lab")


def test_a_volume_goes_before_its_machine_is_stopped() -> None:
    assert CHECKS["ebs-idle-attached"].order < min(CHECKS[each].order for each in ("ec2-idle-cpu", "ec2-gpu-idle"))
