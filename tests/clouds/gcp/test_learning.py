"""What deploying was answered is what check_capacity says next time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clouds.errors import NoCapacity, NotOffered
from clouds.gcp.learning import LearningGce, LearningTpu, learn
from clouds.gcp.refusals import Memory
from clouds.models import DeploymentSpec
from tests.clouds.gcp.endpoints.conftest import engine, rig  # noqa: F401 - fixtures
from tests.clouds.gcp.rig import Rig


def learning(made: Rig, home: Path) -> tuple[LearningGce, LearningTpu, Memory]:
    memory = Memory(home, now=made.project.now)
    services = (made.gce, made.tpu)
    for service, kind in zip(services, (LearningGce, LearningTpu), strict=True):
        service.__class__ = kind
        service.memory = memory  # type: ignore[union-attr]
    return *services, memory  # type: ignore[return-value]


def deploy(made: Rig, service: str, **changes: object) -> None:
    spec: DeploymentSpec = replace(made.spec(service), **changes)  # type: ignore[arg-type]
    chosen = made.service(service)
    chosen.create(made.begin(chosen.plan(spec)), made.book, made.heard)


def test_a_machine_that_was_granted_is_remembered(rig: Rig, tmp_path: Path) -> None:  # noqa: F811 - the fixture
    _, _, memory = learning(rig, tmp_path)
    deploy(rig, "gce", settings={"market": "spot"})
    assert [(one.market, one.outcome) for one in memory.about("ct6e-standard-1t", "us-east5-a")] == [
        ("spot", "granted")
    ]


def test_a_stockout_is_remembered_where_it_was(rig: Rig, tmp_path: Path) -> None:  # noqa: F811 - the fixture
    _, _, memory = learning(rig, tmp_path)
    rig.project.capacity.update(dict.fromkeys(rig.project.capacity, 0))
    with pytest.raises(NoCapacity):
        deploy(rig, "gce")
    (one,) = memory.about("ct6e-standard-1t", "us-east5-a")
    assert (one.market, one.outcome, one.at[:10]) == ("on-demand", "stockout", "2026-11-29")


def test_a_refused_provisioning_model_is_remembered(rig: Rig, tmp_path: Path) -> None:  # noqa: F811 - the fixture
    _, _, memory = learning(rig, tmp_path)
    rig.project.flex_refused.add("us-west4-a")
    with pytest.raises(NotOffered):
        deploy(rig, "tpu", settings={"market": "flex-start"})
    (one,) = memory.about("v5litepod-1", "us-west4-a")
    assert (one.market, one.outcome) == ("flex-start", "not offered")


def test_only_what_says_something_about_a_place_is_remembered(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    where = {"zone": "us-east5-a", "type": "v6e-4", "said": "words"}
    learn(memory, [{"zone": "us-east5-a", "over": True}, {**where, "kind": "quota_too_small"}], "spot")
    assert memory.about("v6e-4", "us-east5-a") == ()
    learn(memory, [{**where, "kind": "no_capacity", "elsewhere": ["us-east5-b"]}], "spot")
    assert [(zone, one.zone) for zone, one in memory.hints("v6e-4")] == [("us-east5-b", "us-east5-a")]
