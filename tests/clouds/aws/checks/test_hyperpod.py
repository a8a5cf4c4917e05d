"""HyperPod clusters whose groups are of several types, restricted, on Spot, or hold what no GPU figure tells of."""

from __future__ import annotations

from typing import Any

from clouds.replay import Scenario
from tests.clouds.aws.checks.stage import Account
from tests.clouds.aws.checks.test_other_shapes import only, other, steps


def group(name: str, **about: Any) -> dict[str, Any]:
    return {"InstanceGroupName": name, "ExecutionRole": "arn:aws:iam::123456789012:role/pod", "Status": "InService",
            **about}  # fmt: skip


FLEXIBLE = group(
    "flex",
    CurrentCount=3,
    InstanceRequirements={"CurrentInstanceTypes": ["ml.g5.xlarge", "ml.g5.2xlarge"]},
    InstanceTypeDetails=[
        {"InstanceType": "ml.g5.xlarge", "CurrentCount": 1},
        {"InstanceType": "ml.g5.2xlarge", "CurrentCount": 2},
    ],
)
ONE_TYPE = group("gpu", CurrentCount=2, InstanceType="ml.p5.48xlarge", ThreadsPerCore=1)
NEURON = group("trn", CurrentCount=1, InstanceType="ml.trn1.32xlarge")


def pod(groups: list[Any], **about: Any) -> Scenario:
    return other(
        "sm-hyperpod-idle", "sagemaker.DescribeCluster", "InstanceGroups", **{"InstanceGroups": groups, **about}
    )


def test_a_group_of_several_types_is_held_and_priced_by_each_and_not_scaled(account: Account) -> None:
    found = only(account, "sm-hyperpod-idle", pod([FLEXIBLE]))
    assert found.reason == "no GPU of 1 x ml.g5.xlarge, 2 x ml.g5.2xlarge was used in 24 hours"
    assert (found.removable, found.stays.split(":")[0]) == (False, "flex")


def test_a_restricted_group_is_held_too(account: Account) -> None:
    found = only(account, "sm-hyperpod-idle", pod([], RestrictedInstanceGroups=[ONE_TYPE]))
    assert (found.evidence["instances"], found.removable) == ("2 x ml.p5.48xlarge", False)


def test_trainium_beside_idle_gpus_is_not_called_idle(account: Account) -> None:
    found = only(account, "sm-hyperpod-idle", pod([ONE_TYPE, NEURON]))
    assert (found.evidence["groups"], found.removable) == ("gpu", True)
    row = {"ClusterArn": "arn:pod", "InstanceGroups": [ONE_TYPE, NEURON]}
    (scale,) = steps("sm-hyperpod-idle", row)
    assert scale.call.parameters["InstanceGroups"] == [
        {
            "InstanceCount": 0,
            "InstanceGroupName": "gpu",
            "InstanceType": "ml.p5.48xlarge",
            "ExecutionRole": "arn:aws:iam::123456789012:role/pod",
            "ThreadsPerCore": 1,
        }
    ]


def test_trainium_alone_is_unresolved(account: Account) -> None:
    result = account.scan("sm-hyperpod-idle", pod([NEURON]))
    assert (result.findings, result.coverage.unresolved) == ((), 1)


def test_instances_on_spot_cost_at_most_the_rate(account: Account) -> None:
    found = only(account, "sm-hyperpod-idle", pod([{**ONE_TYPE, "CapacityRequirements": {"Spot": {}}}]))
    assert found.bound == "at most"
