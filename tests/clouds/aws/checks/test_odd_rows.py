"""A listing in which one row has another form: the others are judged, the odd one is named, nothing stops."""

from __future__ import annotations

import os
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from clouds.aws.checks import words
from clouds.aws.checks.metrics import points
from clouds.models.waste import Listing, Question
from clouds.replay import Fixture
from tests.clouds.aws.checks.stage import CHECKS, Account, waste
from tests.clouds.aws.checks.test_unknown import with_answer


def holding(body: Any, path: str) -> list[Any]:
    """The list in an answer that holds the rows (of "Reservations[].Instances[]" the outer one)."""
    found: Any = body.get(path.partition("[]")[0].partition(".")[0]) if isinstance(body, dict) else None
    return found if isinstance(found, list) else []


LISTED = [check for check in CHECKS.values() if isinstance(check.kind.of, Listing)]


USUAL = LISTED if os.environ.get("MODELRIG_ALL") == "1" else LISTED[::6]
"""Every sixth check by default."""


@pytest.mark.parametrize("check", USUAL, ids=lambda check: check.id)
def test_an_odd_row_is_named_and_costs_the_others_nothing(check: Any, account: Account) -> None:
    read, scenario = check.kind.of, waste(check.id)
    whole = account.scan(check.id, scenario)

    def odd(each: Fixture) -> Fixture:
        body = deepcopy(each.answer.body)
        holding(body, read.rows).insert(0, 3)
        return replace(each, answer=replace(each.answer, body=body))

    result = account.scan(check.id, with_answer(scenario, f"{read.service}.{read.operation}", odd))
    assert {each.resource for each in result.findings} == {each.resource for each in whole.findings}
    assert not result.complete
    assert any(gap.reason.startswith("an answer of another form than expected") for gap in result.unread)


def test_a_domain_whose_detail_is_odd_does_not_end_the_scan(account: Account) -> None:
    def odd(each: Fixture) -> Fixture:
        return replace(
            each,
            answer=replace(each.answer, body={"DomainStatusList": [None, *each.answer.body["DomainStatusList"]]}),
        )

    scenario = with_answer(waste("opensearch-idle"), "opensearch.DescribeDomains", odd)
    result = account.scan("opensearch-idle", scenario)
    assert len(result.findings) == 1
    assert not result.complete


@pytest.mark.parametrize("odd", [None, 3, "x"])
def test_tags_of_another_form_are_unread_and_the_resource_cannot_be_removed(odd: Any, account: Account) -> None:
    def change(each: Fixture) -> Fixture:
        tags = [odd, {"Key": "team", "Value": "search"}]
        return replace(each, answer=replace(each.answer, body={**each.answer.body, "Tags": tags}))

    result = account.scan("sm-endpoint-idle", with_answer(waste("sm-endpoint-idle"), "sagemaker.ListTags", change))
    assert [(each.removable, each.usd_per_month is not None) for each in result.findings] == [(False, True)]
    assert "sagemaker.ListTags" in {gap.call for gap in result.unread}


def test_a_row_without_a_name_is_reported_by_what_it_is_and_one_without_an_id_is_unread(account: Account) -> None:
    def without(field: str) -> Any:
        return lambda each: replace(each, answer=replace(each.answer, body={**each.answer.body, field: None}))

    scenario, read = waste("sm-notebook-stopped"), "sagemaker.DescribeNotebookInstance"
    nameless = account.scan("sm-notebook-stopped", with_answer(scenario, read, without("NotebookInstanceName")))
    assert [each.name for each in nameless.findings] == ["SageMaker notebook instance"]
    unknown = account.scan("sm-notebook-stopped", with_answer(scenario, read, without("NotebookInstanceStatus")))
    assert unknown.findings == ()


def test_a_batch_names_what_it_could_not_read_and_not_what_is_gone() -> None:
    answer = {
        "failures": [{"arn": "a1", "reason": "MISSING"}, {"arn": "a2", "reason": "ACCESS_DENIED"}],
        "collectionErrorDetails": [{"id": "c1", "errorCode": "NOT_FOUND"}, {"id": "c2", "errorCode": "INTERNAL"}],
    }
    assert words.lost(answer) == ("ACCESS_DENIED a2", "INTERNAL c2")
    assert words.lost({"services": []}) == words.lost(None) == ()


def test_a_series_of_which_the_last_page_is_a_part_is_unread() -> None:
    first = {"Id": "m0", "Values": [0.0], "StatusCode": "PartialData"}
    rest = {"Id": "m0", "Values": [0.0], "StatusCode": "Complete"}
    question = Question({}, (0,))
    assert points({"MetricDataResults": [first, rest]}, question) == [[0.0, 0.0]]
    assert points({"MetricDataResults": [first]}, question) == [
        "CloudWatch answered a part of this series and no page with the rest"
    ]


def test_a_service_whose_old_id_names_no_cluster_is_not_gone_when_one_cluster_does_not_know_it() -> None:
    old, new = "arn:aws:ecs:us-east-1:123456789012:service/web", "arn:aws:ecs:us-east-1:123456789012:service/prod/web"
    answer = {"services": [], "failures": [{"arn": each, "reason": "MISSING"} for each in (old, new)]}
    assert words.lost(answer) == (f"MISSING {old}",)


@pytest.mark.parametrize("odd", [None, "4", [4], True])
@pytest.mark.parametrize(
    ("check", "read", "field"),
    [
        ("kinesis-idle", "kinesis.DescribeStreamSummary", "OpenShardCount"),
        ("redshift-idle", "redshift.DescribeClusters", "NumberOfNodes"),
        ("sm-warm-pool", "sagemaker.DescribeTrainingJob", "InstanceCount"),
    ],
)
def test_a_quantity_that_is_no_number_is_unread_and_ends_no_scan(
    check: str, read: str, field: str, odd: Any, account: Account
) -> None:
    def set_to(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: odd if key == field else set_to(each) for key, each in value.items()}
        return [set_to(each) for each in value] if isinstance(value, list) else value

    def change(each: Fixture) -> Fixture:
        return replace(each, answer=replace(each.answer, body=set_to(each.answer.body)))

    result = account.scan(check, with_answer(waste(check), read, change))
    assert (result.findings, result.complete) == ((), False)
    assert {gap.call for gap in result.unread} == {read}
