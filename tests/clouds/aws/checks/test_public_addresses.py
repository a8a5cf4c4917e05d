"""Public IPv4 addresses that are billed with what holds them, and that its own hours do not tell."""

from __future__ import annotations

import pytest

from tests.clouds.aws.checks.stage import ACCOUNT, Account
from tests.clouds.aws.checks.test_other_shapes import only, other


@pytest.mark.parametrize(
    ("owner", "bound"), [("amazon", "at least"), (ACCOUNT, "exact")], ids=["lent by AWS", "an Elastic IP"]
)
@pytest.mark.parametrize("check", ["ec2-idle-cpu", "ec2-gpu-idle", "neuron-idle"])
def test_an_address_that_goes_back_with_a_machine_makes_its_price_a_least(
    account: Account, check: str, owner: str, bound: str
) -> None:
    cards = [{"NetworkInterfaceId": "eni-0a", "Association": {"PublicIp": "203.0.113.9", "IpOwnerId": owner}}]
    scenario = other(check, "ec2.DescribeInstances", "InstanceId", NetworkInterfaces=cards)
    assert only(account, check, scenario).bound == bound


@pytest.mark.parametrize(("scheme", "bound"), [("internet-facing", "at least"), ("internal", "exact")])
@pytest.mark.parametrize("check", ["alb-no-targets", "alb-no-traffic", "clb-idle"])
def test_a_balancer_that_faces_the_internet_pays_for_addresses_too(
    account: Account, check: str, scheme: str, bound: str
) -> None:
    service = "elb" if check == "clb-idle" else "elbv2"
    scenario = other(check, f"{service}.DescribeLoadBalancers", "LoadBalancerName", Scheme=scheme)
    assert only(account, check, scenario).bound == bound
