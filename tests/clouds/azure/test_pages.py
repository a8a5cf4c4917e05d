"""Answers that go on in other ways than with a nextLink, and how often Azure may be asked."""

from __future__ import annotations

from typing import Any

import pytest

from clouds.azure import graph
from clouds.azure.pace import Pace, wait_of
from clouds.errors import InvalidInput, Throttled, Unexpected
from clouds.models import Call, Scope
from tests.clouds.azure.rig import ARM, NOW, SUBSCRIPTION, problem, rig

GRAPH = "POST /providers/Microsoft.ResourceGraph/resources"
QUERY = {"subscriptions": [SUBSCRIPTION], "query": "resources | project id", "options": {"$top": 2}}
ASK = Call("Microsoft.ResourceGraph/resources", "query", {"body": QUERY})
COST = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.CostManagement/query"
BILL = Call(
    "Microsoft.CostManagement/query", "query", {"parent": f"/subscriptions/{SUBSCRIPTION}", "body": {"type": "x"}}
)


def page(*ids: str, token: str = "", truncated: str = "false") -> dict[str, Any]:
    more = {"$skipToken": token} if token else {}
    return {
        "totalRecords": 3,
        "count": len(ids),
        "data": [{"id": i} for i in ids],
        "resultTruncated": truncated,
        **more,
    }


def test_resource_graph_goes_on_with_a_token_in_the_body() -> None:
    api, network, _ = rig({GRAPH: [(200, page("a", "b", token="T", truncated="true")), (200, page("c"))]})
    assert api.send(ASK, scope=Scope())["data"] == [{"id": "a"}, {"id": "b"}, {"id": "c"}]
    assert [each.body["options"] for each in network.sent] == [{"$top": 2}, {"$top": 2, "$skipToken": "T"}]
    assert network.sent[1].body["query"] == QUERY["query"]


def test_resource_graph_that_gives_the_same_token_again_is_an_error() -> None:
    api, _, _ = rig({GRAPH: (200, page("a", token="T", truncated="true"))})
    with pytest.raises(Unexpected, match="the same page twice"):
        api.send(ASK, scope=Scope())


def test_resource_graph_that_was_cut_without_a_token_is_not_complete() -> None:
    api, _, _ = rig({GRAPH: (200, page("a", truncated="true"))})
    with pytest.raises(Unexpected, match="cut"):
        api.send(ASK, scope=Scope())


def test_resource_graph_says_when_its_quota_is_empty_and_is_waited_for() -> None:
    empty = {"x-ms-user-quota-remaining": "0", "x-ms-user-quota-resets-after": "00:00:03"}
    api, _, clock = rig({GRAPH: [(200, page("a"), empty), (200, page("b"))]})
    api.send(ASK, scope=Scope())
    assert clock.slept == []
    api.send(ASK, scope=Scope())
    assert clock.slept == [3.0]


def test_a_throttled_query_is_a_read_and_is_asked_again() -> None:
    api, network, _ = rig({GRAPH: [(503, None), (429, problem("RateLimiting")), (200, page("a"))]})
    assert api.send(ASK, scope=Scope())["data"] == [{"id": "a"}]
    assert len(network.sent) == 3


def test_a_bill_goes_on_with_the_same_body_and_its_rows_are_joined() -> None:
    second = f"{ARM}{COST}?api-version=2025-03-01&$skiptoken=2"
    columns = [{"name": "Cost", "type": "Number"}]
    api, network, _ = rig(
        {
            f"POST {COST}": (200, {"properties": {"columns": columns, "rows": [[1.0]], "nextLink": second}}),
            f"POST {second}": (200, {"properties": {"columns": columns, "rows": [[2.0]], "nextLink": None}}),
        }
    )
    assert api.send(BILL, scope=Scope()) == {"properties": {"columns": columns, "rows": [[1.0], [2.0]]}}
    assert [each.body for each in network.sent] == [{"type": "x"}, {"type": "x"}]


def test_a_bill_without_data_is_none() -> None:
    api, _, _ = rig({f"POST {COST}": (204, None)})
    assert api.send(BILL, scope=Scope()) is None


def test_a_bill_that_was_asked_too_often_says_when_to_ask_again() -> None:
    headers = {"x-ms-ratelimit-microsoft.costmanagement-qpu-retry-after": "60"}
    api, _, _ = rig({f"POST {COST}": (429, problem("429", "Too many requests. Please retry."), headers)})
    with pytest.raises(Throttled) as told:
        api.send(BILL, scope=Scope())
    assert (told.value.code, told.value.retry_after) == ("429", 60.0)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "5"}, 5.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"x-ms-retry-after-ms": "1500", "Retry-After": "1"}, 1.5),
        ({"Retry-After": "Sun, 29 Nov 2026 12:53:30 GMT"}, 10.0),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    now = 1_795_956_800.0  # 2026-11-29T12:53:20Z
    assert wait_of(headers, now) == seconds


def test_an_empty_bucket_of_arm_is_given_a_moment() -> None:
    time = [NOW]
    pace = Pace(lambda: time[0])
    pace.hear("reads", {"x-ms-ratelimit-remaining-subscription-reads": "0"})
    pace.hear("writes", {"x-ms-ratelimit-remaining-subscription-writes": "900"})
    assert (pace.due("reads"), pace.due("writes"), pace.due("other")) == (1.0, 0.0, 0.0)
    time[0] += 1
    assert pace.due("reads") == 0.0


def test_a_question_to_many_subscriptions_is_asked_tenant_by_tenant_and_300_at_a_time() -> None:
    here = [f"{n:08}-0000-0000-0000-000000000000" for n in range(301)]
    there = "ffffffff-0000-0000-0000-000000000000"
    known = (*({"id": each, "tenantId": "t1"} for each in here), {"id": there.upper(), "tenantId": "t2"})
    api, network, _ = rig({GRAPH: (200, page("a"))}, signed_in=known)
    rows = graph.ask(api, "resources | where type =~ 'x' | project id, type", [*here, there, here[0]])
    assert rows == [{"id": "a"}] * 3
    assert [(len(each.body["subscriptions"]), each.token[:11]) for each in network.sent] == [
        (300, "token-of-t1"),
        (1, "token-of-t1"),
        (1, "token-of-t2"),
    ]


def test_a_question_that_could_not_go_on_is_refused_before_it_is_sent() -> None:
    api, network, _ = rig({})
    with pytest.raises(InvalidInput, match="does not project id"):
        graph.ask(api, "resources | project name", [SUBSCRIPTION])
    assert network.sent == []


def test_types_are_compared_in_lower_case() -> None:
    assert graph.kind({"type": "Microsoft.App/ContainerApps"}) == "microsoft.app/containerapps"


def test_an_answer_about_a_part_of_the_tenant_is_not_taken_for_the_whole() -> None:
    api, _, _ = rig({GRAPH: (200, page("a"), {"x-ms-tenant-subscription-limit-hit": "true"})})
    with pytest.raises(Unexpected, match="first 10,000 subscriptions"):
        api.send(ASK, scope=Scope())
