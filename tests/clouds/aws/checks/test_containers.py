"""Which container services are judged, by what holds their tasks: Fargate, Fargate Spot, instances, other machines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clouds.aws.checks.containers import target_groups
from clouds.replay import Answer, Fixture, Scenario, load
from tests.clouds.aws.checks.stage import FIXTURES, Account
from tests.clouds.aws.checks.test_unknown import DENIED, with_answer
from tools.waste.records import Scan

CHECK = "ecs-service-idle"
ON_INSTANCES = FIXTURES / CHECK / "on_instances_of_a_provider"


def placed(scenario: Scenario, **about: Any) -> Scenario:
    """The scenario with further facts of its service; None takes one away."""

    def change(each: Fixture) -> Fixture:
        row = {**each.answer.body["services"][0], **about}
        kept = {key: value for key, value in row.items() if value is not None}
        return replace(each, answer=replace(each.answer, body={"services": [kept], "failures": []}))

    return with_answer(scenario, "ecs.DescribeServices", change)


def strategy(*names: Any) -> list[dict[str, Any]]:
    return [{"capacityProvider": name, "weight": 1, "base": 0} for name in names]


def looked(account: Account, **about: Any) -> Scan:
    return account.scan(CHECK, placed(load(FIXTURES / CHECK / "answers_nothing"), **about))


@pytest.mark.parametrize(
    ("about", "usd", "bound", "billing"),
    [
        ({"launchType": "FARGATE"}, 72.08, "exact", "billed"),
        ({"launchType": None, "capacityProviderStrategy": strategy("FARGATE")}, 72.08, "exact", "billed"),
        ({"launchType": None, "capacityProviderStrategy": strategy("FARGATE_SPOT")}, 72.08, "at most", "billed"),
        ({"launchType": None, "capacityProviderStrategy": strategy("mine", "other")}, 0.0, "exact", "free"),
        ({"launchType": "EC2"}, 0.0, "exact", "free"),
    ],
)
def test_what_holds_an_idle_service_says_what_it_costs(
    about: dict[str, Any], usd: float, bound: str, billing: str, account: Account
) -> None:
    found = looked(account, **about)
    assert [(each.usd_per_month, each.bound, each.billing) for each in found.findings] == [(usd, bound, billing)]
    assert found.complete


@pytest.mark.parametrize(
    "about",
    [
        {"launchType": "EXTERNAL"},
        {"launchType": "EC2", "schedulingStrategy": "DAEMON"},
        {"launchType": None},
        {"launchType": None, "capacityProviderStrategy": []},
    ],
)
def test_what_is_on_machines_of_ones_own_or_a_daemon_is_left_alone(about: dict[str, Any], account: Account) -> None:
    found = looked(account, **about)
    assert (found.findings, found.complete) == ((), True)


@pytest.mark.parametrize("odd", [strategy("FARGATE", "mine"), [{"weight": 1}], [None], ["FARGATE"], 3])
def test_a_strategy_of_another_form_is_unread_and_never_clean(odd: Any, account: Account) -> None:
    found = looked(account, launchType=None, capacityProviderStrategy=odd)
    assert (found.findings, found.complete) == ((), False)
    assert {gap.reason.split(" (")[0] for gap in found.unread} == {"an answer of another form than expected"}


def test_an_odd_strategy_costs_the_other_services_nothing(account: Account) -> None:
    def more(each: Fixture) -> Fixture:
        rows = each.answer.body["services"]
        odd = {**rows[0], "serviceArn": rows[0]["serviceArn"] + "-2", "capacityProviderStrategy": [None]}
        return replace(each, answer=replace(each.answer, body={"services": [odd, *rows], "failures": []}))

    found = account.scan(CHECK, with_answer(load(FIXTURES / CHECK / "answers_nothing"), "ecs.DescribeServices", more))
    assert [each.name for each in found.findings] == ["api"]
    assert not found.complete


@pytest.mark.parametrize(
    "denied", ["ecs.ListClusters", "ecs.ListServices", "ecs.DescribeServices", "cloudwatch.GetMetricData"]
)
def test_a_denied_read_of_a_service_on_instances_is_unread_and_never_clean(denied: str, account: Account) -> None:
    def refuse(each: Fixture) -> Fixture:
        answer: Answer = DENIED
        return replace(each, answer=answer)

    found = account.scan(CHECK, with_answer(load(ON_INSTANCES), denied, refuse))
    assert (found.findings, found.complete) == ((), False)
    assert {gap.call for gap in found.unread} == {denied}


def test_the_cleanup_of_a_service_on_instances_sets_its_wanted_tasks_to_none(account: Account) -> None:
    found = account.scan(CHECK, load(ON_INSTANCES))
    assert [(each.removable, each.reversal, each.stays) for each in found.findings] == [(True, "can be undone", "")]


def grouped(scenario: Scenario, *groups: dict[str, Any]) -> Scenario:
    """The scenario with other target groups than its one."""

    def change(each: Fixture) -> Fixture:
        first = each.answer.body["TargetGroups"][0]
        return replace(
            each, parameters=None, answer=replace(each.answer, body={"TargetGroups": [{**first, **x} for x in groups]})
        )

    return with_answer(scenario, "elbv2.DescribeTargetGroups", change)


@pytest.mark.parametrize("protocol", ["TCP", "UDP", "TLS", "GENEVE"])
def test_a_service_behind_a_balancer_that_counts_no_requests_is_left_alone(protocol: str, account: Account) -> None:
    found = account.scan(CHECK, grouped(load(FIXTURES / CHECK / "answers_nothing"), {"Protocol": protocol}))
    assert (found.findings, found.complete) == ((), True)


def test_a_target_group_without_a_balancer_lets_no_request_through(account: Account) -> None:
    found = account.scan(CHECK, grouped(load(FIXTURES / CHECK / "answers_nothing"), {"LoadBalancerArns": []}))
    assert [each.usd_per_month for each in found.findings] == [72.08]


def test_a_service_of_which_a_target_group_is_gone_is_unresolved_and_not_idle(account: Account) -> None:
    found = account.scan(CHECK, grouped(load(FIXTURES / CHECK / "answers_nothing")))
    assert (found.findings, found.complete) == ((), False)
    assert [gap.reason for gap in found.unresolved] == ["not all of its target groups are there"]


def test_both_target_groups_of_a_blue_and_green_deployment_are_asked() -> None:
    row = {"loadBalancers": [{"targetGroupArn": "a", "advancedConfiguration": {"alternateTargetGroupArn": "b"}}, {}]}
    assert target_groups(row) == ["a", "b"]
