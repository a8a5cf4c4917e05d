"""Azure Monitor's answers as numbers: what is a zero, what is not, and whose series is whose."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from clouds.azure.checks import PACK, cognitive
from clouds.azure.checks.usage import METRICS, Split, points
from clouds.models import Scope
from clouds.models.waste import Metric, Question
from clouds.replay import load
from tests.clouds.azure.checks.stage import FIXTURES, Account
from tests.clouds.azure.checks.test_unknown import changed, loaded

ONE = Question({}, (0,))
START, END = datetime(2026, 11, 22, 12, tzinfo=UTC), datetime(2026, 11, 29, 12, tzinfo=UTC)


def metric(name: str, *series: dict[str, Any], code: str = "Success") -> dict[str, Any]:
    return {"name": {"value": name}, "timeseries": list(series), "errorCode": code}


def series(*values: float | None, of: str = "") -> dict[str, Any]:
    data = [{"timeStamp": "2026-11-22T12:00:00Z", **({} if each is None else {"total": each})} for each in values]
    return {"metadatavalues": [{"name": {"value": "modeldeploymentname"}, "value": of}] if of else [], "data": data}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ([metric("Requests")], [None]),
        ([metric("Requests", series())], [None]),
        ([metric("Requests", series(None, None))], [None]),
        ([metric("Requests", series(None, 0.0, 3.0))], [[0.0, 3.0]]),
        ([metric("requests", series(2.0), series(1.0))], [[2.0, 1.0]]),
    ],
)
def test_points_without_data_are_no_series_and_several_series_are_put_together(
    answer: list[dict[str, Any]], expected: list[Any]
) -> None:
    assert points({"value": answer}, ONE, ["Requests"], "Total") == expected


def test_a_metric_that_failed_or_is_missing_is_a_text_and_not_a_zero() -> None:
    failed = points({"value": [metric("Requests", code="InternalServerError")]}, ONE, ["Requests"], "Total")
    assert failed == ["Azure Monitor answered InternalServerError for Requests: "]
    assert points({"value": []}, ONE, ["Requests"], "Total") == ["Azure Monitor left Requests out of its answer"]
    both = points({"value": [metric("In", series(0.0))]}, ONE, ["In", "Out"], "Total")
    assert both == ["Azure Monitor left Out out of its answer"]


def test_each_deployment_gets_its_own_series_however_the_name_is_spelt() -> None:
    question = Split({}, (0, 1, 2), None, ("chat", "ptu-busy", "ptu-idle"))
    answer = {"value": [metric("ModelRequests", series(5.0, of="PTU-Busy"), series(1.0, 2.0, of="chat"))]}
    assert points(answer, question, ["ModelRequests"], "Total") == [[1.0, 2.0], [5.0], None]


def deployment(name: str, account: str = "a") -> dict[str, str]:
    where = "/subscriptions/s/resourceGroups/g/providers/Microsoft.CognitiveServices/accounts"
    return {"id": f"{where}/{account}/deployments/{name}"}


def test_an_account_is_asked_once_for_all_its_deployments_and_for_more_than_ten_of_them() -> None:
    rows = [deployment(f"d{number}") for number in range(12)] + [deployment("d", "b")]
    questions = list(cognitive.MODEL_REQUESTS.metric.ask(rows, Scope(None, "s"), START, END))
    assert [len(question.owners) for question in questions] == [12, 1]
    assert questions[0].parameters == {
        "parent": "/subscriptions/s/resourceGroups/g/providers/Microsoft.CognitiveServices/accounts/a",
        "query": {
            "metricnames": "ModelRequests",
            "timespan": "2026-11-22T12:00:00Z/2026-11-29T12:00:00Z",
            "interval": "P1D",
            "aggregation": "Total",
            "AutoAdjustTimegrain": "true",
            "$filter": "ModelDeploymentName eq '*'",
            "top": "1000",
        },
    }


def test_a_deployment_that_was_made_an_hour_ago_is_too_new_and_not_idle_at_full_price(account: Account) -> None:
    scenario = load(FIXTURES / "idle-provisioned-deployment" / "fifteen_ptu_without_a_request")
    result = account.scan("idle-provisioned-deployment", scenario, now=datetime(2026, 6, 1, 9, tzinfo=UTC))
    assert result.findings == ()
    assert [(gap.reason, gap.named) for gap in result.too_new] == [("younger than 7 d", ("ptu/ptu-idle (lab)",))]
    assert result.complete


def test_a_metric_that_is_kept_in_another_way_refuses_its_check(account: Account) -> None:
    def averaged(each: Any) -> Any:
        from dataclasses import replace

        from clouds.replay import Answer

        value = [{**one, "supportedAggregationTypes": ["Average"]} for one in each.answer.body["value"]]
        return replace(each, answer=Answer(200, {"value": value}))

    path = FIXTURES / "gpu-container-app-warm" / "an_a100_app_at_min_replicas_1"
    scenario = changed(loaded(path), "Microsoft.Insights/metricDefinitions.list_in", averaged)
    result = account.scan("gpu-container-app-warm", scenario)
    assert (result.findings, result.complete) == ((), False)
    assert result.unresolved[0].reason == "Requests is not kept as Total, so its silence says nothing"


NAMES = {
    "ModelRequests", "AzureOpenAIRequests", "Requests", "RequestsPerMinute", "Percentage CPU", "SearchQueriesPerSecond",
    "TotalRequests", "connectedclients", "ActiveQueries", "QueryDuration", "EventsProcessed", "TaskStartEvent",
    "IncomingMessages,OutgoingMessages", "DataProcessed", "sessions", "CpuUsage", "NetworkBytesReceivedPerSecond",
    "RequestCount",
}  # fmt: skip
"""As Azure Monitor's tables of metrics spell them; a name may hold spaces."""


def test_every_metric_is_asked_by_the_name_that_azure_monitor_gives_it() -> None:
    metrics = {each for check in PACK.checks for each in check.reads if isinstance(each, Metric)}
    row = {"id": "/subscriptions/s/resourceGroups/g/providers/A.B/c/d/e/f"}
    asked = {
        question.parameters["query"]["metricnames"]
        for each in metrics
        if each.service == METRICS
        for question in each.ask([row], Scope(), START, END)
    }
    assert asked == NAMES
