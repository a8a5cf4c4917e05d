"""The connected cloud: its ports, its recordings, its guard, and what none of that loads."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from clouds.base import Missing
from clouds.errors import NotSignedIn
from clouds.gcp import connect
from clouds.gcp.policy import reads
from clouds.gcp.replayed import not_recorded
from clouds.models import Call, Scope
from clouds.readonly import Forbidden, ReadOnly
from clouds.record import Recorder, Scrubber
from clouds.replay import VARIABLE, NotRecorded, Replay, load
from tests.clouds.gcp.recorded import FIXTURES
from tests.clouds.gcp.server import PROJECT, Google

ROOT = Path(__file__).parents[3]
CALLER = FIXTURES / "identity" / "caller" / "a_person_in_a_project"
WHO = Call("oauth2", "userinfo.get")


def test_a_connected_cloud_has_all_its_ports(tmp_path: Path) -> None:
    cloud = connect(tmp_path)
    assert cloud.name == "gcp"
    ports = (cloud.quotas, cloud.capacity, cloud.prices, cloud.api)
    assert [port for port in ports if isinstance(port, Missing)] == []
    assert isinstance(cloud.signed_out(), NotSignedIn)


def test_three_ways_to_serve_and_the_checks_are_there(tmp_path: Path) -> None:
    cloud = connect(tmp_path)
    assert tuple(cloud.endpoints) == ("tpu", "gce", "run")
    assert not isinstance(cloud.waste, Missing)
    assert cloud.reading is not None
    assert cloud.reading(cloud.waste.reads) is cloud.reading(cloud.waste.reads)


def test_with_replay_nothing_leads_past_googles_own_api(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(CALLER))
    assert {word: type(service).__name__ for word, service in connect(tmp_path).endpoints.items()} == {
        "tpu": "LearningTpu",
        "gce": "LearningGce",
        "run": "CloudRun",
    }
    with pytest.raises(NotRecorded, match=r"outside Google's API about docker\.io/x:1"):
        not_recorded("docker.io/x:1", 7)


def test_with_replay_the_whole_cloud_answers_from_recordings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(CALLER))
    cloud = connect(tmp_path)
    identity = cloud.identity.read()
    assert (identity.account, identity.kind) == ("modelrig-demo", "recorded answers")
    assert cloud.signed_out() is None
    assert not isinstance(cloud.api, Missing)
    with pytest.raises(NotRecorded):
        cloud.api.send(Call("compute", "instances.aggregatedList"), scope=Scope())


def test_the_reading_api_refuses_what_is_not_on_its_list(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(CALLER))
    cloud = connect(tmp_path)
    assert cloud.reading is not None
    reading = cloud.reading(frozenset({str(WHO)}))
    assert reading is cloud.reading(frozenset({str(WHO)}))
    assert reading.send(WHO, scope=Scope())["email"] == "person@example.com"
    with pytest.raises(Forbidden):
        reading.send(Call("compute", "instances.delete", {"instance": "x"}), scope=Scope("us-east5-a"))


def test_a_call_to_the_real_google_fails_these_tests() -> None:
    from clouds.gcp.api import GcpApi
    from clouds.gcp.session import recorded

    api = GcpApi(build=recorded, attempts=1)
    with pytest.raises(pytest.fail.Exception, match="asked for the address of www"):
        api.send(WHO, scope=Scope())
    node = {"name": "projects/p/locations/us-west4-a/nodes/x"}
    with pytest.raises(pytest.fail.Exception, match="asked for the address of tpu"):
        api.send(Call("tpu", "projects.locations.nodes.delete", node), scope=Scope("us-west4-a"))
    api.close()


def test_every_read_of_a_port_is_one_and_no_secret() -> None:
    assert len(reads()) > 15
    assert ReadOnly(reads()).allow == reads()


def test_what_was_recorded_answers_again_with_another_project_in_its_place(google: Google, tmp_path: Path) -> None:
    nodes = Call("tpu", "projects.locations.nodes.list")
    listed = {
        "name": f"projects/{PROJECT}/locations/us-west4-a/nodes/n",
        "metadata": {"key": "ya29.abcdefghijklmnopqrst"},
    }
    google.on(str(nodes), [{"nodes": [listed], "nextPageToken": "secret-page"}, {"nodes": []}])
    scrubber = Scrubber({PROJECT: "modelrig-demo"})
    recorder = Recorder(tmp_path / "made", source="a test", on=date(2026, 11, 29), scrubber=scrubber)
    google.api(recorder).send(nodes, scope=Scope())
    text = "".join(path.read_text("utf-8") for path in (tmp_path / "made").iterdir())
    assert not [word for word in (PROJECT, "token-0", "ya29.", "secret-page") if word in text]
    from clouds.gcp.api import GcpApi
    from clouds.gcp.session import recorded

    replay = Replay([load(tmp_path / "made")])
    answer = GcpApi(build=recorded, taps=(replay,), attempts=1).send(nodes, scope=Scope())
    assert [node["name"] for node in answer["nodes"]] == ["projects/modelrig-demo/locations/us-west4-a/nodes/n"]
