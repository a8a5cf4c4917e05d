"""Our own deployments that outlived their end: priced by what they are, booked once, gone only where that is read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clouds.aws.checks import own
from clouds.models import Scope
from clouds.replay import Fixture, Scenario
from tests.clouds.aws.checks.stage import FIXTURES, NOW, REGION, Account, scenario
from tests.clouds.aws.checks.test_unknown import DENIED, with_answer
from tools.progress import CallProgress
from tools.waste.explaining import next_step
from tools.waste.records import Finding, Scan
from tools.waste.scan import Wanted, scan

OURS = FIXTURES / "own-expired"
IDLE = FIXTURES / "sm-endpoint-idle" / "no_request_in_seven_days"
LOOKS = [
    ("outlived_its_end", "sagemaker.DescribeEndpoint"),
    ("a_machine_with_its_disk", "ec2.DescribeInstances"),
    ("left_behind_by_its_machine", "ec2.DescribeVolumes"),
]
"""A deployment, and the read that says whether it is still there."""


def denied(each: Fixture) -> Fixture:
    return replace(each, answer=DENIED, parameters=None)


def prices(result: Scan) -> list[tuple[str, float | None]]:
    return [(each.billing, each.usd_per_month) for each in result.findings]


@pytest.mark.parametrize(("name", "operation"), LOOKS)
def test_what_nobody_may_look_at_stays_found_without_a_price(name: str, operation: str, account: Account) -> None:
    whole = account.scan("own-expired", scenario(OURS / name))
    result = account.scan("own-expired", with_answer(scenario(OURS / name), operation, denied))
    assert {each.resource for each in result.findings} >= {each.resource for each in whole.findings}
    assert ("unpriced", None) in prices(result)
    assert not result.complete
    assert operation in {gap.call for gap in result.unread}
    assert [each for each in (*whole.findings, *result.findings) if each.removable] == []


def named(each: Fixture) -> Fixture:
    """The tags of the endpoint that another scenario finds idle."""
    body = {"ResourceTagMappingList": [{**each.answer.body["ResourceTagMappingList"][0], "ResourceARN": GEMMA}]}
    return replace(each, answer=replace(each.answer, body=body))


GEMMA = "arn:aws:sagemaker:us-east-1:123456789012:endpoint/gemma"


def both(account: Account, *checks: str, played: tuple[Scenario, ...]) -> tuple[Finding, ...]:
    account.play(*played)
    return scan(
        {"aws": account.cloud}, Wanted(scopes=(REGION,), checks=checks), (), NOW, CallProgress(), "scan"
    ).findings


def test_an_endpoint_of_ours_that_is_idle_too_is_one_finding_at_the_same_price(account: Account) -> None:
    (idle,) = account.scan("sm-endpoint-idle", scenario(IDLE)).findings
    tagged = with_answer(scenario(OURS / "outlived_its_end"), "resourcegroupstaggingapi.GetResources", named)
    (one,) = both(account, "own-expired", "sm-endpoint-idle", played=(tagged, scenario(IDLE)))
    assert (one.check, one.also, one.usd_per_month) == ("own-expired", ("sm-endpoint-idle",), idle.usd_per_month)
    assert not one.removable


def test_the_disk_of_a_machine_of_ours_is_priced_with_the_machine_alone(account: Account) -> None:
    result = account.scan("own-expired", scenario(OURS / "a_machine_with_its_disk"))
    machine, disk = result.findings
    assert (machine.usd_per_month, result.totals.usd_per_month) == (601.15, 601.15)
    assert (disk.billing, disk.usd_per_month, disk.booked_with) == ("booked elsewhere", 0.0, machine.resource)


def test_components_of_an_endpoint_of_ours_are_priced_with_it(account: Account) -> None:
    part = "arn:aws:sagemaker:us-east-1:123456789012:inference-component/part"
    body = {"InferenceComponents": [{"InferenceComponentArn": part, "EndpointName": "gemma-4-e2b"}]}

    def placed(each: Fixture) -> Fixture:
        return replace(each, answer=replace(each.answer, body=body))

    with_part = with_answer(scenario(OURS / "outlived_its_end"), "sagemaker.ListInferenceComponents", placed)
    assert [each.holds for each in account.scan("own-expired", with_part).findings] == [(part,)]


@pytest.mark.parametrize(
    ("resource", "tags", "ref"),
    [
        ("sagemaker:eu-west-1:1:endpoint/gemma", {}, "aws:sagemaker:eu-west-1:gemma"),
        ("ec2:eu-west-1:1:instance/i-1", {"Name": "modelrig-gemma"}, "aws:ec2:eu-west-1:gemma"),
        ("ec2:eu-west-1:1:volume/vol-1", {"Name": "modelrig-gemma"}, "aws:ec2:eu-west-1:gemma"),
        ("ec2:eu-west-1:1:instance/i-1", {"Name": "somebody's"}, ""),
        ("ec2:eu-west-1:1:instance/i-1", {"Name": "modelrig-a b"}, ""),
        ("ec2:eu-west-1:1:instance/i-1", {}, ""),
    ],
)
def test_what_delete_endpoint_knows_it_by_is_told_where_it_can_be(resource: str, tags: Any, ref: str) -> None:
    row = {"ResourceARN": f"arn:aws:{resource}", "Tags": [{"Key": key, "Value": tags[key]} for key in tags]}
    assert own.ref(row, Scope("eu-west-1")) == ref


def test_the_next_step_of_an_explanation_is_to_delete_the_endpoint(account: Account) -> None:
    (one,) = account.scan("own-expired", scenario(OURS / "outlived_its_end")).findings
    assert next_step(one, "scan") == 'delete_endpoint("aws:sagemaker:us-east-1:gemma-4-e2b").'
    assert next_step(replace(one, evidence={}), "scan") == ""
    assert next_step(replace(one, category="classic"), "scan") == ""
