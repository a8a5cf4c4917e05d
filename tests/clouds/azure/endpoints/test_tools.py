"""What a person reads when the tools deploy on a simulated subscription."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clouds.base import Cloud
from clouds.models import EndpointRef
from tests.clouds.azure.endpoints.rig import REF, REGIONS, Rig
from tools.changes import delete_endpoint, update_endpoint
from tools.context import Target
from tools.deploy import Deployed, deploy_endpoint
from tools.endpoints import get_endpoint
from tools.settings import Settings

GEMMA = "google/gemma-4-E2B-it"


def cloud(rig: Rig) -> Cloud:
    from clouds.azure import connect

    return replace(connect(rig.book.home), endpoints={"containerapps": rig.apps, "ml": rig.ml})


def deploy(rig: Rig, regions: tuple[str, ...] = REGIONS[:1]) -> Deployed:
    return deploy_endpoint(
        cloud(rig),
        Settings.load({}, rig.book.home),
        rig.book,
        rig.heard,
        model=GEMMA,
        service="containerapps",
        name="gemma",
        accelerator="T4",
        regions=regions,
        max_usd_per_hour=3.0,
        engine_settings={"capacity_wait_seconds": 120},
    )


def test_a_deployment_says_price_end_and_what_was_made(rig: Rig) -> None:
    made = deploy(rig)
    assert made.headline.startswith("Deploying `azure:containerapps:swedencentral:gemma`: $2.016 an hour (on demand")
    assert made.headline.endswith("it is ready.")
    assert (made.usd_per_hour, made.is_error) == (2.016, False)
    again = deploy(rig)
    assert (again.already_there, again.deployment) == (True, made.deployment)


@pytest.mark.more  # on AWS it runs by default: below the tool's words lies what each service's own tests show
def test_no_gpu_anywhere_is_an_error_with_a_table_of_what_was_tried(rig: Rig) -> None:
    for region in REGIONS:
        rig.account.capacity[region, "T4"] = 0
    told = deploy(rig, REGIONS)
    assert told.is_error
    assert told.headline.startswith(
        "Not deployed: swedencentral said NoReplica, westus3 said NoReplica; nothing remains"
    )
    assert [(one.where, one.types) for one in told.tried] == [
        ("swedencentral", "Consumption-GPU-NC8as-T4"),
        ("westus3", "Consumption-GPU-NC8as-T4"),
    ]
    assert (told.remains, rig.book.deployments.live(), rig.account.bills) == ((), (), [])


def test_what_was_deployed_is_changed_and_deleted_through_its_ref(rig: Rig) -> None:
    made = deploy(rig)
    target = Target(made.endpoint, EndpointRef.parse(made.endpoint), cloud(rig), rig.apps)
    assert target.endpoint_ref == REF
    seen = get_endpoint(target, rig.book)
    assert seen.billing == "yes"
    later = update_endpoint(target, rig.book, rig.heard, ttl_hours=6)
    assert later.changed[0].startswith("end ")
    rig.account.clock.sleep(900)
    assert get_endpoint(target, rig.book).state == "stopped"
    assert delete_endpoint(target, rig.book, rig.heard).gone
    assert (rig.account.billing(), rig.book.deployments.live()) == ([], ())
