"""Usage is counted under more than one set of dimensions: a figure under any of them is a use, and none is no zero."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from clouds.replay import Fixture, Scenario
from tests.clouds.aws.checks.stage import Account, waste
from tests.clouds.aws.checks.test_unknown import with_answer

CLOUDWATCH = "cloudwatch.GetMetricData"


def counting(scenario: Scenario, requests: dict[frozenset[str], float]) -> Scenario:
    """The scenario with a figure in the series whose dimensions have these names, or these values."""

    def told(each: Fixture) -> Fixture:
        assert each.parameters is not None
        results = []
        queries = each.parameters["MetricDataQueries"]
        for query, series in zip(queries, each.answer.body["MetricDataResults"], strict=True):
            dimensions = query["MetricStat"]["Metric"]["Dimensions"]
            names = frozenset(part["Name"] for part in dimensions)
            found = requests.get(names, requests.get(frozenset(part["Value"] for part in dimensions)))
            results.append(series if found is None else {**series, "Values": [found]})
        return replace(each, answer=replace(each.answer, body={"MetricDataResults": results}))

    return with_answer(scenario, CLOUDWATCH, told)


@pytest.mark.parametrize(
    ("check", "value"),
    [
        ("bedrock-provisioned-throughput", "abcdefghij12"),
        ("bedrock-custom-model-deployment", "abcdefghij12"),
        ("bedrock-imported-model-storage", "abcdefghij12"),
        ("bedrock-marketplace-endpoint", "market"),
    ],
)
def test_a_request_that_is_counted_by_the_last_part_of_an_id_is_a_request(
    check: str, value: str, account: Account
) -> None:
    result = account.scan(check, counting(waste(check), {frozenset({value}): 3.0}))
    assert (result.findings, result.complete) == ((), True)
    assert len(account.scan(check, counting(waste(check), {frozenset({"another"}): 3.0})).findings) == 1


@pytest.mark.parametrize("operation", ["GetRecord", "BatchGetRecord", "PutRecord", "DeleteRecord"])
def test_a_feature_group_is_used_by_any_operation(operation: str, account: Account) -> None:
    used = counting(waste("sm-feature-store-online"), {frozenset({"users", operation}): 1.0})
    result = account.scan("sm-feature-store-online", used)
    assert (result.findings, result.complete) == ((), True)


OF_ALL, OF_ONE = frozenset({"Operation"}), frozenset({"Operation", "ProjectName", "VersionName"})
LABELS = "rekognition-custom-labels-running"


def test_a_model_is_asked_when_its_own_figure_says_so(account: Account) -> None:
    result = account.scan(LABELS, counting(waste(LABELS), {OF_ALL: 7.0, OF_ONE: 7.0}))
    assert (result.findings, result.complete) == ((), True)


def test_requests_that_no_figure_gives_to_a_model_leave_it_unresolved(account: Account) -> None:
    result = account.scan(LABELS, counting(waste(LABELS), {OF_ALL: 7.0}))
    assert (result.findings, result.complete) == ((), False)
    assert [gap.reason for gap in result.unresolved] == ["requests came in 7 days, and no figure says to which model"]


def second(scenario: Scenario, made: str) -> Scenario:
    """The scenario with another running model beside the first."""

    def more(each: Fixture) -> Fixture:
        (row,) = each.answer.body["ProjectVersionDescriptions"]
        other = {
            **row,
            "ProjectVersionArn": row["ProjectVersionArn"].replace("/v1/", "/v2/"),
            "CreationTimestamp": made,
        }
        return replace(each, answer=replace(each.answer, body={"ProjectVersionDescriptions": [row, other]}))

    return with_answer(scenario, "rekognition.DescribeProjectVersions", more)


def answered(each: Fixture) -> Fixture:
    """Every series of the second model, and of all models together, holds requests; that of the first holds none."""
    assert each.parameters is not None
    (query,) = each.parameters["MetricDataQueries"]
    beside = json.loads(json.dumps(query).replace('"m0"', '"m1"').replace('"v1"', '"v2"'))
    own = query["MetricStat"] != beside["MetricStat"]
    empty: dict[str, Any] = {"Label": "SuccessfulRequestCount", "Timestamps": [], "StatusCode": "Complete"}
    series = [{**empty, "Id": "m0", "Values": [] if own else [9.0]}, {**empty, "Id": "m1", "Values": [9.0]}]
    return replace(
        each,
        parameters={**each.parameters, "MetricDataQueries": [query, beside]},
        answer=replace(each.answer, body={"MetricDataResults": series}),
    )


def test_a_model_beside_one_that_is_asked_is_idle_by_its_own_figure(account: Account) -> None:
    scenario = with_answer(waste(LABELS), CLOUDWATCH, answered)
    result = account.scan(LABELS, second(scenario, "2026-01-11T08:00:00+00:00"))
    assert [each.name for each in result.findings] == ["parts/v1"]


def test_requests_to_a_model_that_is_too_new_to_be_judged_are_not_told_apart(account: Account) -> None:
    scenario = counting(waste(LABELS), {OF_ALL: 7.0})
    result = account.scan(LABELS, second(scenario, "2026-11-28T08:00:00+00:00"))
    assert (result.findings, result.coverage.unresolved, result.coverage.too_new) == ((), 1, 1)
