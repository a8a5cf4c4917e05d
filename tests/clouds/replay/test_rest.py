from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import httpx2
import pytest

from clouds.errors import Unexpected
from clouds.readonly import Forbidden, ReadOnly
from clouds.record import Recorder
from clouds.replay import Answer, Fixture, Origin, Replay, Request, Scenario
from clouds.replay.rest import named, transport

LIST = Request("compute", "instances.list", "us-west4-a", "my-project", {"filter": "x"})
ORIGIN = Origin("documentation", "a test", date(2026, 11, 29))
URL = "http://cloud.invalid/instances"


def network(_: httpx2.Request) -> httpx2.Response:
    return httpx2.Response(200, json={"items": ["live"]})


def closed(_: httpx2.Request) -> httpx2.Response:
    raise AssertionError("the network was reached")


def test_a_replayed_answer_never_reaches_the_network() -> None:
    gzip = {"Content-Encoding": "gzip", "Retry-After": "3"}
    fixture = Fixture("01", "compute", "instances.list", Answer(429, {"error": {"code": 429}}, gzip))
    player = Replay([Scenario(Path(), ORIGIN, (fixture,))])
    with httpx2.Client(transport=transport([player], httpx2.MockTransport(closed))) as client:
        answer = client.get(URL, extensions=named(LIST))
    assert (answer.status_code, answer.json(), answer.headers["retry-after"]) == (429, {"error": {"code": 429}}, "3")
    assert player.sent == [LIST]


def test_a_guard_before_the_network_refuses_by_the_name_of_the_operation() -> None:
    guard = ReadOnly(frozenset({"compute.instances.list"}))
    with httpx2.Client(transport=transport([guard], httpx2.MockTransport(network))) as client:
        assert client.get(URL, extensions=named(LIST)).json() == {"items": ["live"]}
        with pytest.raises(Forbidden):
            client.delete(URL, extensions=named(Request("compute", "instances.delete")))


def test_a_request_without_a_name_is_not_sent() -> None:
    with (
        httpx2.Client(transport=transport([], httpx2.MockTransport(closed))) as client,
        pytest.raises(Unexpected, match="does not say which operation"),
    ):
        client.get(URL + "?token=secret")


def test_a_recorder_hears_what_the_network_answered(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "new", source="a test", on=date(2026, 11, 29))
    with httpx2.Client(transport=transport([recorder], httpx2.MockTransport(network))) as client:
        assert client.get(URL, extensions=named(LIST)).json() == {"items": ["live"]}
    assert json.loads((tmp_path / "new/01_compute.instances.list.json").read_text()) == {
        "location": "us-west4-a",
        "account": "my-project",
        "parameters": {"filter": "x"},
        "status": 200,
        "headers": {"content-type": "application/json"},
        "body": {"items": ["live"]},
    }
