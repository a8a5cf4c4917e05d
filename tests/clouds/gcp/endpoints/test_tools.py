"""What a person reads when the tools deploy on a simulated project."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clouds.base import Cloud
from clouds.models import EndpointRef
from tests.clouds.gcp.endpoints.machines.test_results import SETTINGS, finishes
from tests.clouds.gcp.rig import Rig
from tests.clouds.gcp.simulator import boot
from tools.changes import delete_endpoint, update_endpoint
from tools.context import Clouds, Target
from tools.deploy import Deployed, deploy_endpoint
from tools.endpoints import get_endpoint
from tools.plan import plan_deployment
from tools.settings import Settings

GEMMA = "google/gemma-4-E2B-it"


def cloud(rig: Rig) -> Cloud:
    from clouds.gcp import connect

    return replace(connect(rig.book.home), endpoints={"tpu": rig.tpu, "gce": rig.gce, "run": rig.run})


def deploy(rig: Rig, **changes: Any) -> Deployed:
    settings = Settings.load({}, rig.book.home)
    given = {"model": GEMMA, "service": "tpu", "location": "us-west4-a", "max_usd_per_hour": 4, **changes}
    return deploy_endpoint(cloud(rig), settings, rig.book, rig.heard, **given)


def test_a_deployment_says_price_end_and_asking_again_finds_it(rig: Rig) -> None:
    made = deploy(rig, engine_settings={"market": "flex-start"})
    assert made.headline.startswith("Deploying `gcp:tpu:us-west4-a:gemma-4-e2b-it`: $0.60 an hour (flex-start")
    assert made.headline.endswith("it is ready.")
    assert made.made == (
        "compute.firewalls.insert",
        "iap.connect",
        "tpu-v2alpha1.projects.locations.queuedResources.create",
    )
    again = deploy(rig, engine_settings={"market": "flex-start"})
    assert (again.already_there, again.deployment) == (True, made.deployment)


def test_no_capacity_anywhere_is_an_error_with_a_table_of_what_was_tried(rig: Rig) -> None:
    rig.project.capacity["v5litepod-1@us-west4-a"] = rig.project.capacity["v5litepod-1@us-central1-a"] = 0
    told = deploy(rig, location="", regions=("us-west4-a", "us-central1-a"))
    assert told.is_error
    assert [(one.where, one.types, one.code) for one in told.tried] == [
        ("us-west4-a", "v5litepod-1", "8"),
        ("us-central1-a", "v5litepod-1", "8"),
    ]
    assert told.headline.endswith("nothing remains and nothing was billed.")
    assert rig.book.deployments.live() == ()


def test_a_plan_shows_every_call_and_what_it_takes(rig: Rig) -> None:
    settings = Settings.load({}, rig.book.home)
    plan = plan_deployment(
        cloud(rig), Clouds((), (), rig.book.home, lambda *_: cloud(rig)), settings, model=GEMMA, service="gce",
        location="us-east5-a", max_usd_per_hour=4, engine_settings={"market": "flex-start"},
    )  # fmt: skip
    assert plan.headline.startswith("Would deploy `gcp:gce:us-east5-a:gemma-4-e2b-it`: $1.35 an hour (flex-start")
    assert len(plan.planned) == 2
    assert plan.planned[1].step.startswith(
        "ask for one ct6e-standard-1t (flex-start) in us-east5-a; it waits up to 2 h"
    )
    assert "hf_token_from" in plan.settings_taken


def test_what_was_deployed_is_changed_and_deleted_through_its_ref(rig: Rig) -> None:
    made = deploy(rig)
    target = Target(made.endpoint, EndpointRef.parse(made.endpoint), cloud(rig), rig.tpu)
    seen = get_endpoint(target, rig.book)
    assert seen.billing == "yes"
    assert seen.spent_usd.startswith("$")
    later = update_endpoint(target, rig.book, rig.heard, ttl_hours=6)
    assert later.changed[0].startswith("end ")
    gone = delete_endpoint(target, rig.book, rig.heard)
    assert gone.gone
    assert rig.project.billing() == []
    assert rig.book.deployments.live() == ()


def test_a_run_that_died_while_it_waited_is_finished_by_the_same_call(rig: Rig) -> None:
    class Kill(BaseException):
        pass

    def die(message: str) -> bool:
        if "since 0 s" in message:
            raise Kill
        return False

    rig.project.boot = boot.SLOW
    rig.heard.stop_when = die
    with pytest.raises(Kill):
        deploy(rig)
    rig.heard.stop_when = lambda _: False
    made = deploy(rig)
    assert (made.already_there, made.state) == (False, "ready")
    assert len(rig.project.bills) == 1


def test_a_machine_that_measures_itself_is_over_when_its_runs_are_home(rig: Rig) -> None:
    rig.heard.stop_when = finishes(rig)
    made = deploy(rig, service="gce", location="us-east5-a", engine_settings=SETTINGS)
    assert (made.state, made.billing) == ("deleted", False)
    assert rig.book.deployments.live() == ()
    assert len(list((rig.book.home / "runs").iterdir())) == 2
    assert made.headline.startswith("Over: `gcp:gce:us-east5-a:gemma-4-e2b-it`")
    assert made.next == "`list_runs` shows what it left."
    assert rig.project.billing() == []


def test_a_machine_that_was_taken_back_while_it_measured_is_over_too_and_an_error(rig: Rig) -> None:
    rig.heard.stop_when = finishes(rig, done=False)
    made = deploy(rig, service="gce", location="us-east5-a", engine_settings=SETTINGS)
    assert (made.state, made.is_error) == ("failed", True)
    assert made.notes[0].startswith("it ended before it was done")
    assert rig.book.deployments.live() == ()
