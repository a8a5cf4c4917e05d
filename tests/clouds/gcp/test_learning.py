"""What deploying was answered is what check_capacity says next time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clouds.errors import InvalidInput, NoCapacity, NotOffered
from clouds.gcp import probing
from clouds.gcp.learning import LearningGce, LearningTpu, learn
from clouds.gcp.refusals import Memory
from clouds.models import DeploymentSpec, Price, Setting
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


@pytest.mark.parametrize(
    ("service", "kind", "zone"),
    [("gce", "ct6e-standard-1t", "us-east5-a"), ("tpu", "v5litepod-1", "us-west4-a")],
)
def test_a_probe_that_is_granted_is_given_back_at_once(
    rig: Rig,  # noqa: F811 - the fixture
    tmp_path: Path,
    service: str,
    kind: str,
    zone: str,
) -> None:
    _, _, memory = learning(rig, tmp_path)
    chosen = rig.service(service)
    plan = rig.begin(chosen.plan(replace(rig.spec(service), settings={"probe": True})))
    assert plan.warnings[0].startswith("This only asks whether one is free now, and costs about $0.0")
    assert (plan.spec.ttl_hours, plan.spec.settings["market"]) == (0.25, "spot")
    endpoint = chosen.create(plan, rig.book, rig.heard)
    assert (endpoint.state, endpoint.billing) == ("deleted", False)
    assert endpoint.cloud_status.startswith(f"{zone} granted one; it was deleted ")
    assert (rig.project.instances, rig.project.nodes, rig.project.queued, rig.project.billing()) == ({}, {}, {}, [])
    assert [(one.market, one.outcome) for one in memory.about(kind, zone)][:1] == [("spot", "granted")]
    assert rig.book.facts(plan.deployment)["ended"] is True
    assert rig.tunnels == []


def test_a_probe_that_meets_a_stockout_says_so_and_leaves_nothing(
    rig: Rig,  # noqa: F811 - the fixture
    tmp_path: Path,
) -> None:
    _, _, memory = learning(rig, tmp_path)
    rig.project.capacity.update(dict.fromkeys(rig.project.capacity, 0))
    with pytest.raises(NoCapacity):
        deploy(rig, "gce", settings={"probe": True})
    assert rig.project.billing() == []
    assert [(one.market, one.outcome) for one in memory.about("ct6e-standard-1t", "us-east5-a")] == [
        ("spot", "stockout")
    ]


@pytest.mark.parametrize(
    ("settings", "says"),
    [({"probe": "yes"}, "neither true nor false"), ({"probe": True, "market": "flex-start"}, "only a spot request")],
)
def test_a_probe_that_makes_no_sense_is_refused_before_anything_is_sent(
    rig: Rig,  # noqa: F811 - the fixture
    tmp_path: Path,
    settings: dict[str, Setting],
    says: str,
) -> None:
    gce, _, _ = learning(rig, tmp_path)
    sent = len(rig.seam.sent)
    with pytest.raises(InvalidInput, match=says):
        gce.plan(replace(rig.spec(), settings=settings))
    assert len(rig.seam.sent) == sent


def test_no_probe_is_the_default_and_leaves_the_plan_alone(rig: Rig, tmp_path: Path) -> None:  # noqa: F811 - the fixture
    plain, known = rig.gce.plan(rig.spec()), set(rig.gce.settings)
    gce, _, _ = learning(rig, tmp_path)
    assert gce.plan(replace(rig.spec(), settings={"probe": False})) == plain
    assert set(gce.settings) - known == {"probe"}


def test_a_price_that_nobody_knows_is_an_unknown_sum() -> None:
    assert probing.cost(None) == "an unknown sum"
    price = Price(amount=1.5, unit="hour", as_of="2026-08-10", source="x")
    assert probing.cost(price) == "about $0.0500 (2 minutes at $1.50 an hour, 2026-08-10)"
