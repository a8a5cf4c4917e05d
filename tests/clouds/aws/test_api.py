from __future__ import annotations

import threading
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from clouds.aws.api import AwsApi, region_of
from clouds.errors import InvalidInput, NotFound, Unexpected
from clouds.models import Call, Scope
from clouds.readonly import Forbidden, ReadOnly
from clouds.replay import Answer, Fixture, NotRecorded, Origin, Replay, Request, Scenario, Tap
from tests.clouds.aws.recorded import build, on_stage

OHIO = Scope("us-east-2")
QUOTAS = Call("service-quotas", "ListServiceQuotas", {"ServiceCode": "sagemaker"})
ORIGIN = Origin("documentation", "a test", date(2026, 11, 29))


def replay(*fixtures: Fixture) -> Replay:
    return Replay([Scenario(Path(), ORIGIN, fixtures)])


def answer(name: str, body: Any, **conditions: Any) -> Fixture:
    service, operation = name.split(".", 1)
    return Fixture(name, service, operation, Answer(body=body), **conditions)


def refusal(name: str, code: str, **conditions: Any) -> Fixture:
    service, operation = name.split(".", 1)
    return Fixture(name, service, operation, Answer(400, {"Error": {"Code": code, "Message": code}}), **conditions)


def connect(*taps: Tap, **options: Any) -> AwsApi:
    return AwsApi(build=build, taps=taps, **options) if options else on_stage(*taps)


PAGES = (
    answer(str(QUOTAS), {"Quotas": [], "NextToken": "2"}, parameters={"ServiceCode": "sagemaker"}),
    answer(
        str(QUOTAS),
        {"Quotas": [{"QuotaCode": "a"}], "NextToken": "3"},
        parameters={"ServiceCode": "sagemaker", "NextToken": "2"},
    ),
    answer(str(QUOTAS), {"Quotas": [{"QuotaCode": "b"}]}, parameters={"ServiceCode": "sagemaker", "NextToken": "3"}),
)


def test_pages_are_joined_also_an_empty_first_one() -> None:
    assert connect(replay(*PAGES)).send(QUOTAS, scope=OHIO) == {"Quotas": [{"QuotaCode": "a"}, {"QuotaCode": "b"}]}


def test_pages_can_be_read_one_by_one_and_left() -> None:
    tape = replay(*PAGES)
    pages = connect(tape).pages(QUOTAS, scope=OHIO)
    assert [next(pages)["Quotas"], next(pages)["Quotas"]] == [[], [{"QuotaCode": "a"}]]
    assert len(tape.sent) == 2


HUB = Call("sagemaker", "ListHubContents", {"HubName": "SageMakerPublicHub", "HubContentType": "Model"})
SECOND = {**HUB.parameters, "NextToken": "2"}


def test_an_operation_without_a_paginator_of_botocore_is_joined_by_its_token() -> None:
    tape = replay(
        answer(
            str(HUB), {"HubContentSummaries": [{"HubContentName": "a"}], "NextToken": "2"}, parameters=HUB.parameters
        ),
        answer(str(HUB), {"HubContentSummaries": [{"HubContentName": "b"}]}, parameters=SECOND),
    )
    assert connect(tape).send(HUB, scope=OHIO) == {
        "HubContentSummaries": [{"HubContentName": "a"}, {"HubContentName": "b"}]
    }


def test_the_same_page_twice_is_an_error_and_not_an_endless_loop() -> None:
    with pytest.raises(Unexpected, match="the same page twice"):
        connect(replay(answer(str(HUB), {"HubContentSummaries": [], "NextToken": "2"}))).send(HUB, scope=OHIO)


@pytest.mark.parametrize("call", [QUOTAS, HUB], ids=["a paginator of botocore", "by its token"])
def test_a_page_that_comes_twice_under_another_token_is_an_error_and_not_counted_twice(call: Call) -> None:
    key = "Quotas" if call is QUOTAS else "HubContentSummaries"
    rows = [{"QuotaCode": "a"}] if call is QUOTAS else [{"HubContentName": "a"}]
    tape = replay(
        answer(str(call), {key: rows, "NextToken": "2"}, parameters=call.parameters),
        answer(str(call), {key: rows, "NextToken": "3"}, parameters={**call.parameters, "NextToken": "2"}),
        answer(str(call), {key: []}, parameters={**call.parameters, "NextToken": "3"}),
    )
    with pytest.raises(Unexpected, match=r"2 pages so far.*the same page twice"):
        connect(tape).send(call, scope=OHIO)


@pytest.mark.parametrize("call", [QUOTAS, HUB], ids=["a paginator of botocore", "by its token"])
def test_tokens_that_never_end_are_not_followed_for_ever(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clouds.aws.paging.MOST_EMPTY", 3)
    key = "Quotas" if call is QUOTAS else "HubContentSummaries"
    tape = replay(
        answer(str(call), {key: [], "NextToken": "1"}, parameters=call.parameters),
        *(
            answer(str(call), {key: [], "NextToken": str(n + 1)}, parameters={**call.parameters, "NextToken": str(n)})
            for n in range(1, 9)
        ),
    )
    with pytest.raises(Unexpected, match="no last page"):
        connect(tape).send(call, scope=OHIO)
    assert len(tape.sent) == 4


VOLUMES = Call("ec2", "DescribeVolumes")
ADDRESSES = Call("ec2", "DescribeAddresses")


@pytest.mark.parametrize("call", [VOLUMES, ADDRESSES], ids=["a paginator of botocore", "one page"])
def test_an_answer_of_ec2_without_its_list_is_broken_and_not_empty(call: Call) -> None:
    with pytest.raises(Unexpected, match="a page without its list"):
        connect(replay(answer(str(call), {}))).send(call, scope=OHIO)


def test_an_empty_list_of_ec2_and_one_that_another_service_leaves_out_are_empty() -> None:
    assert connect(replay(answer(str(VOLUMES), {"Volumes": []}))).send(VOLUMES, scope=OHIO) == {"Volumes": []}
    assert connect(replay(answer(str(HUB), {}))).send(HUB, scope=OHIO) == {}


def test_usage_that_says_nothing_on_two_pages_is_no_page_that_came_twice() -> None:
    usage = Call(
        "cloudwatch", "GetMetricData", {"MetricDataQueries": [], "StartTime": "2026-01-01", "EndTime": "2026-01-02"}
    )
    rows = [{"Id": "m0", "Label": "a", "Timestamps": [], "Values": [], "StatusCode": "PartialData"}]
    tape = replay(
        answer(str(usage), {"MetricDataResults": rows, "NextToken": "2"}, times=1),
        answer(str(usage), {"MetricDataResults": rows}),
    )
    assert len(connect(tape).send(usage, scope=OHIO)["MetricDataResults"]) == 2


def test_an_answer_holds_no_metadata_of_the_sdk() -> None:
    caller = Call("sts", "GetCallerIdentity")
    assert connect(replay(answer(str(caller), {"Account": "1"}))).send(caller, scope=OHIO) == {"Account": "1"}


def test_a_refusal_is_an_error_of_ours_and_the_sdk_s_stands_behind_it() -> None:
    describe = Call("sagemaker", "DescribeEndpoint", {"EndpointName": "g"})
    with pytest.raises(NotFound, match=r"sagemaker\.DescribeEndpoint in us-east-2: ResourceNotFound") as refused:
        connect(replay(refusal(str(describe), "ResourceNotFound"))).send(describe, scope=OHIO)
    assert isinstance(refused.value.__cause__, Exception)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (Call("sagemaker", "describe_endpoint"), r"AWS has no sagemaker\.describe_endpoint"),
        (Call("sagemacker", "DescribeEndpoint"), "AWS has no service sagemacker"),
        (Call("sagemaker", "DescribeEndpoint"), "Missing required parameter"),
        (Call("sagemaker", "DescribeEndpoint", {"EndpointName": 5}), "Invalid type for parameter EndpointName"),
    ],
)
def test_a_call_that_cannot_be_is_refused_before_it_is_sent(call: Call, problem: str) -> None:
    tape = replay(answer("sagemaker.DescribeEndpoint", {}))
    with pytest.raises(InvalidInput, match=problem) as refused:
        connect(tape).send(call, scope=OHIO)
    assert (refused.value.sent, tape.sent) == (False, [])


@pytest.mark.parametrize(
    ("location", "region"),
    [
        ("us-east-2", "us-east-2"),
        ("us-east-2a", "us-east-2"),
        ("ap-southeast-1", "ap-southeast-1"),
        ("us-gov-west-1", "us-gov-west-1"),
        (None, ""),
    ],
)
def test_a_zone_is_asked_in_its_region(location: str | None, region: str) -> None:
    assert region_of(location) == region


@pytest.mark.parametrize("location", ["Ohio", "us-east", "us-east-2 ", "https://us-east-2", "us-east-2/x"])
def test_what_is_no_region_is_refused(location: str) -> None:
    with pytest.raises(InvalidInput):
        region_of(location)


def test_without_a_place_the_configured_region_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    tape = replay(answer("sts.GetCallerIdentity", {}))
    api = connect(tape)
    api.send(Call("sts", "GetCallerIdentity"), scope=Scope())
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    api.send(Call("sts", "GetCallerIdentity"), scope=Scope())
    assert [request.location for request in tape.sent] == ["us-east-1", "eu-west-1"]


def test_the_guard_and_the_replay_speak_through_the_api_in_their_own_words() -> None:
    tape = replay(answer("ec2.DescribeVolumes", {"Volumes": []}))
    api = connect(ReadOnly(frozenset({"ec2.DescribeVolumes", "ec2.DescribeImages"})), tape)
    assert api.send(Call("ec2", "DescribeVolumes"), scope=OHIO) == {"Volumes": []}
    with pytest.raises(Forbidden):
        api.send(Call("ec2", "DeleteVolume", {"VolumeId": "vol-1"}), scope=OHIO)
    with pytest.raises(Forbidden):
        api.client("ec2", "us-east-2").delete_volume(VolumeId="vol-1")
    with pytest.raises(NotRecorded):
        api.send(Call("ec2", "DescribeImages"), scope=OHIO)
    assert "ec2.DeleteVolume" not in tape.operations


class Count:
    def __init__(self) -> None:
        self.requests: list[Request] = []

    def before(self, request: Request) -> Answer:
        self.requests.append(request)
        return Answer(body={"Quotas": []})

    def after(self, request: Request, answer: Answer) -> None: ...


def test_threads_share_one_session_and_one_client_a_region() -> None:
    made: list[object] = []
    tap = Count()
    api = AwsApi(build=build, prepare=made.append, taps=(tap,))
    regions = [f"eu-west-{n}" for n in range(1, 5)] * 4
    threads = [threading.Thread(target=api.send, args=(QUOTAS,), kwargs={"scope": Scope(region)}) for region in regions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(made), len(tap.requests)) == (1, 16)
    assert api.client("service-quotas", "eu-west-1") is api.client("service-quotas", "eu-west-1")
