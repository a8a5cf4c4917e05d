from __future__ import annotations

import pytest

from clouds.aws import policy
from clouds.models import Call
from clouds.readonly import ReadOnly
from tests.clouds.aws.recorded import build


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
