from __future__ import annotations

from pathlib import Path

import pytest

from clouds.aws import connect
from clouds.aws.replayed import not_recorded
from clouds.base import Missing
from clouds.models import Call, EndpointRef, Scope
from clouds.readonly import Forbidden
from clouds.replay import VARIABLE, NotRecorded
from tests.clouds.aws.recorded import FIXTURES

CALLER = Call("sts", "GetCallerIdentity")


def test_a_connected_cloud_has_all_its_ports(tmp_path: Path) -> None:
    cloud = connect(tmp_path)
    assert cloud.name == "aws"
    assert [port for port in (cloud.quotas, cloud.capacity, cloud.prices, cloud.api) if isinstance(port, Missing)] == []


def test_both_ways_to_serve_and_the_checks_are_there(tmp_path: Path) -> None:
    cloud = connect(tmp_path)
    assert set(cloud.endpoints) == {"sagemaker", "ec2"}
    assert not isinstance(cloud.waste, Missing)
    assert cloud.reading is not None
    assert cloud.reading(cloud.waste.reads) is cloud.reading(cloud.waste.reads)


def test_with_replay_no_request_to_a_model_or_a_machine_leaves_this_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, str(FIXTURES / "quotas" / "l4" / "an_endpoint_holds_one_of_every_type_in_its_pool"))
    service = connect(tmp_path).endpoints["sagemaker"]
    with pytest.raises(NotRecorded):
        service.connect(EndpointRef("aws", "sagemaker", "us-west-2", "gemma-4-e2b"))
    with pytest.raises(NotRecorded, match=r"outside AWS about docker\.io/x:1"):
        not_recorded("docker.io/x:1")


def test_with_replay_the_whole_cloud_answers_from_recordings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(FIXTURES / "identity" / "caller" / "a_user_with_keys"))
    cloud = connect(tmp_path)
    identity = cloud.identity.read()
    assert (identity.account, identity.kind) == ("111122223333", "recorded answers")
    assert not isinstance(cloud.api, Missing)
    with pytest.raises(NotRecorded):
        cloud.api.send(Call("sagemaker", "ListEndpoints"), scope=Scope("us-east-2"))


def test_the_reading_api_refuses_what_is_not_on_its_list(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(FIXTURES / "identity" / "caller" / "a_user_with_keys"))
    cloud = connect(tmp_path)
    assert cloud.reading is not None
    reading = cloud.reading(frozenset({str(CALLER)}))
    assert reading.send(CALLER, scope=Scope("us-east-1"))["Account"] == "111122223333"
    with pytest.raises(Forbidden):
        reading.send(Call("ec2", "DeleteVolume", {"VolumeId": "vol-1"}), scope=Scope("us-east-1"))
