from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from clouds.aws import policy
from clouds.models import Call
from clouds.readonly import ReadOnly
from tests.clouds.aws.recorded import build
from tests.clouds.aws.simulator import OPERATIONS

UNUSED = {
    "ec2:RevokeSecurityGroupIngress",
    "scheduler:ListSchedules",
    "secretsmanager:DescribeSecret",
    "ssm:GetParameters",
}
"""The simulator has these and nothing of ours sends them."""
ROOT = Path(__file__).parents[3]


def test_every_read_of_every_port_exists_at_aws() -> None:
    session = build()
    missing = [
        str(call)
        for calls in policy.READS.values()
        for call in calls
        if call.operation not in session.get_service_model(call.service).operation_names
    ]
    assert missing == []


def test_the_reads_of_the_ports_make_a_read_only_list() -> None:
    assert ReadOnly(policy.reads()).allow == policy.reads()


def allowed() -> set[str]:
    return {one for statement in policy.deployer()["Statement"] for one in statement["Action"]}


def written() -> set[str]:
    """Every operation that is spelt in the sources of the two services."""
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "clouds/aws/endpoints").rglob("*.py"))
    pairs = re.findall(r'Call\(\s*"([a-z0-9-]+)",\s*"([A-Za-z]+)"|"([a-z0-9-]+)\.([A-Z][A-Za-z]+)"', sources)
    return {f"{a or c}.{b or d}" for a, b, c, d in pairs}


def test_whoever_deploys_may_send_everything_that_the_services_send_and_the_simulator_knows() -> None:
    assert len(written()) > 40
    assert {policy.action(call) for call in {*written(), *OPERATIONS}} - allowed() == UNUSED


def test_every_action_is_a_service_and_an_operation() -> None:
    assert [one for one in allowed() if not re.fullmatch(r"[a-z0-9-]+:[A-Z][A-Za-z]+", one)] == []


def test_a_call_of_the_services_that_no_policy_names_would_be_noticed() -> None:
    assert policy.action("sagemaker.CreateTrainingJob") not in allowed()


def test_only_roles_of_our_own_names_may_be_made_or_handed_over() -> None:
    everywhere, roles = policy.deployer()["Statement"]
    assert [one for one in everywhere["Action"] if one.startswith("iam:") and not one.startswith("iam:Get")] == []
    assert roles["Resource"] == ["arn:aws:iam::*:role/modelrig-*", "arn:aws:iam::*:instance-profile/modelrig-*"]


def test_the_published_policy_is_the_derived_one() -> None:
    file, derived = ROOT / "policy/aws-deployer.json", json.dumps(policy.deployer(), indent=2) + "\n"
    if os.environ.get("UPDATE_EXPECTED"):
        file.write_text(derived, "utf-8")
    assert file.read_text("utf-8") == derived, "UPDATE_EXPECTED=1 writes it anew"


@pytest.mark.parametrize(
    ("call", "action"),
    [
        (Call("service-quotas", "ListServiceQuotas"), "servicequotas:ListServiceQuotas"),
        (Call("sagemaker-runtime", "InvokeEndpoint"), "sagemaker:InvokeEndpoint"),
        (Call("ec2", "DescribeInstances"), "ec2:DescribeInstances"),
        ("elbv2.DescribeLoadBalancers", "elasticloadbalancing:DescribeLoadBalancers"),
    ],
)
def test_a_call_is_the_action_that_iam_knows(call: Call | str, action: str) -> None:
    assert policy.action(call) == action


def test_a_policy_names_each_action_once_and_no_more() -> None:
    calls = [Call("ec2", "DescribeInstances"), Call("ec2", "DescribeInstances"), Call("sts", "GetCallerIdentity")]
    assert policy.document(calls) == {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": ["ec2:DescribeInstances", "sts:GetCallerIdentity"], "Resource": "*"}
        ],
    }
