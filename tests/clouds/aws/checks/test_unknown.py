"""Unknown is never "no": what happens to every check when one of its reads fails, or says nothing.

Made from the scenarios in which each check finds waste: one answer is replaced, everything else stays.
"""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from clouds.aws.checks import PACK
from clouds.models.waste import Metric, WasteCheck
from clouds.replay import Answer, Fixture, Scenario, load
from tests.clouds.aws.checks.stage import FIXTURES, NOW, Account

CHECKS = {check.id: check for check in PACK.checks}
DENIED = Answer(403, {"Error": {"Code": "AccessDeniedException", "Message": "not authorized to perform this"}})


def waste_scenario(check: str) -> Path:
    import json

    for path in sorted((FIXTURES / check).iterdir()):
        if path.name != "two_pages_the_first_one_empty":
            expected = json.loads((path / "expected.json").read_text("utf-8"))
            if expected["findings"]:
                return path
    raise AssertionError(f"{check} has no scenario in which it finds anything")


def operations(scenario: Scenario) -> list[str]:
    return sorted({f"{each.service}.{each.operation}" for each in scenario.fixtures})


def with_answer(scenario: Scenario, operation: str, change: Any) -> Scenario:
    """The scenario with every answer of one operation changed."""
    fixtures = tuple(
        change(each) if f"{each.service}.{each.operation}" == operation else each for each in scenario.fixtures
    )
    return replace(scenario, fixtures=fixtures)


EACH_READ = [(check, operation) for check in CHECKS for operation in operations(load(waste_scenario(check)))]
USUAL = EACH_READ if os.environ.get("MODELRIG_ALL") == "1" else EACH_READ[::2]
"""Every other read of a check by default."""


NOT_NEEDED = {("asg-gpu-floor", "ec2.DescribeLaunchTemplateVersions")}
"""The group's own instances say their type: the template is looked at only where there are none."""


@pytest.mark.parametrize(("check", "operation"), USUAL, ids=lambda value: value)
def test_one_read_that_is_denied_makes_the_scan_incomplete_and_is_named(
    check: str, operation: str, account: Account
) -> None:
    scenario = load(waste_scenario(check))
    denied = with_answer(scenario, operation, lambda each: replace(each, answer=DENIED, parameters=None))
    result = account.scan(check, denied)
    assert not result.complete
    assert operation in {gap.call for gap in result.unread}
    is_tags = (
        CHECKS[check].kind.tags_read is not None
        and operation.rsplit(".", 1)[-1] == CHECKS[check].kind.tags_read.operation
    )
    if is_tags:
        assert [each.removable for each in result.findings] == [False]
    elif (check, operation) not in NOT_NEEDED:
        assert result.findings == ()


def metrics(check: WasteCheck) -> list[Metric]:
    return [read for read in check.reads if isinstance(read, Metric)]


def silent(each: Fixture) -> Fixture:
    """The same answer with no point in any series."""
    body = {
        "MetricDataResults": [
            {**series, "Values": [], "Timestamps": []} for series in each.answer.body["MetricDataResults"]
        ]
    }
    return replace(each, answer=Answer(200, body))


def broken(each: Fixture) -> Fixture:
    """CloudWatch answers, and says of every series that it could not be read."""
    body = {
        "MetricDataResults": [
            {**series, "Values": [], "Timestamps": [], "StatusCode": "InternalError"}
            for series in each.answer.body["MetricDataResults"]
        ]
    }
    return replace(each, answer=Answer(200, body))


MEASURED = [
    check for check in CHECKS.values() if "cloudwatch.GetMetricData" in operations(load(waste_scenario(check.id)))
]


@pytest.mark.parametrize("check", MEASURED, ids=lambda check: check.id)
def test_an_old_resource_without_a_series_is_what_its_check_declares(check: WasteCheck, account: Account) -> None:
    scenario = with_answer(load(waste_scenario(check.id)), "cloudwatch.GetMetricData", silent)
    result = account.scan(check.id, scenario)
    labels = {
        series["Label"]
        for each in scenario.fixtures
        if each.operation == "GetMetricData"
        for series in each.answer.body["MetricDataResults"]
    }
    asked = {metric.absent for metric in metrics(check) if labels & set(metric.name.split(" + "))}
    if asked == {"zero"}:
        assert result.complete
        # An empty bucket has no size on record, and is no waste.
        assert len(result.findings) == (0 if check.id == "s3-noncurrent-versions" else 1)
    else:
        assert result.findings == ()
        assert not result.complete
        assert sum(gap.resources for gap in result.unresolved) == 1


@pytest.mark.parametrize("check", MEASURED, ids=lambda check: check.id)
def test_a_young_resource_without_a_series_is_too_new_and_not_idle(check: WasteCheck, account: Account) -> None:
    scenario = with_answer(load(waste_scenario(check.id)), "cloudwatch.GetMetricData", silent)
    created = account.scan(check.id, load(waste_scenario(check.id))).findings[0].created
    if not created:  # the cloud does not say when it was made: then silence is unresolved, whatever its age
        result = account.scan(check.id, scenario)
        assert result.unresolved
        assert result.findings == ()
        return
    born = datetime.fromisoformat(created)
    result = account.scan(check.id, scenario, now=born + timedelta(minutes=10))
    assert result.findings == ()
    assert sum(gap.resources for gap in result.too_new) == 1
    assert result.unresolved == ()


@pytest.mark.parametrize("check", MEASURED, ids=lambda check: check.id)
def test_a_series_that_could_not_be_read_is_unread_and_never_zero(check: WasteCheck, account: Account) -> None:
    scenario = with_answer(load(waste_scenario(check.id)), "cloudwatch.GetMetricData", broken)
    result = account.scan(check.id, scenario)
    assert result.findings == ()
    assert not result.complete
    assert [gap.call for gap in result.unread] == ["cloudwatch.GetMetricData"]


AGED = [check for check in CHECKS.values() if check.kind.created is not None and check.age > timedelta(0)]


@pytest.mark.parametrize("check", AGED, ids=lambda check: check.id)
def test_nothing_younger_than_its_check_asks_for_is_reported(check: WasteCheck, account: Account) -> None:
    scenario = load(waste_scenario(check.id))
    found = account.scan(check.id, scenario).findings[0]
    assert NOW - datetime.fromisoformat(found.created) >= check.age
    result = account.scan(check.id, scenario, now=datetime.fromisoformat(found.created) + check.age / 2)
    assert result.findings == ()
