"""What a person reads when the tools deploy on a simulated account."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clouds.base import Cloud
from clouds.models import EndpointRef
from tests.clouds.aws.rig import REGIONS, Rig
from tools.changes import UPDATE_ENDPOINT, delete_endpoint, update_endpoint
from tools.context import Target
from tools.deploy import Deployed, deploy_endpoint
from tools.endpoints import get_endpoint
from tools.settings import Settings

GEMMA = "google/gemma-4-E2B-it"


def cloud(rig: Rig) -> Cloud:
    from clouds.aws import connect

    ports = connect(rig.book.home)
    return replace(ports, endpoints={"sagemaker": rig.sagemaker, "ec2": rig.ec2}, quotas=rig.sagemaker._quotas)


def deploy(rig: Rig, regions: tuple[str, ...]) -> Deployed:
    settings = Settings.load({}, rig.book.home)
    return deploy_endpoint(cloud(rig), settings, rig.book, rig.heard, model=GEMMA, accelerator="L4", regions=regions)


def test_a_deployment_says_price_end_and_what_was_left_out(rig: Rig) -> None:
    made = deploy(rig, ("us-east-2",))
    assert made.headline.startswith("Deploying `aws:sagemaker:us-east-2:gemma-4-e2b-it`: $1.1267 an hour (on demand")
    assert "ends 20" in made.headline
    assert made.headline.endswith("it is ready.")
    assert made.usd_per_hour == 1.1267
    assert not made.is_error
    again = deploy(rig, ("us-east-2",))
    assert again.already_there
    assert again.deployment == made.deployment


def test_no_capacity_anywhere_is_an_error_with_a_table_of_what_was_tried(rig: Rig) -> None:
    for region in REGIONS:
        rig.account[region].capacity.update(dict.fromkeys(("ml.g6.xlarge", "ml.g6.2xlarge"), 0))
    rig.account.gives_up_after = 40.0
    told = deploy(rig, ("us-east-1", "us-east-2"))
    assert told.is_error
    assert told.headline == (
        "Not deployed: us-east-1 said InsufficientInstanceCapacity, us-east-2 said InsufficientInstanceCapacity; "
        "nothing remains and nothing was billed."
    )
    assert [(one.where, one.waited_seconds) for one in told.tried] == [("us-east-1", 75.0), ("us-east-2", 75.0)]
    assert "| us-east-1 | ml.g6.xlarge, ml.g6.2xlarge | 1 min 15 s | InsufficientInstanceCapacity |" in told.text()
    assert told.remains == ()
    assert rig.book.deployments.live() == ()
    assert rig.account.bills == []


def test_what_was_deployed_is_changed_and_deleted_through_its_ref(rig: Rig) -> None:
    made = deploy(rig, ("us-east-2",))
    target = Target(made.endpoint, EndpointRef.parse(made.endpoint), cloud(rig), rig.sagemaker)
    seen = get_endpoint(target, rig.book)
    assert seen.billing == "yes"
    assert seen.spent_usd.startswith("$")
    later = update_endpoint(target, rig.book, rig.heard, ttl_hours=6)
    assert later.changed[0].startswith("end ")
    gone = delete_endpoint(target, rig.book, rig.heard)
    assert gone.gone
    assert rig.account.billing() == []
    assert rig.book.deployments.live() == ()


@pytest.mark.parametrize(
    ("given", "ends"),
    [
        ({"ttl_hours": 0.0001}, "end and delete it in 0.36 seconds"),
        ({"ttl_hours": 0.01, "model": GEMMA}, "end and delete it in 36 seconds"),
        ({"ttl_hours": 0.1}, ""),
    ],
    ids=["within seconds", "beside another change", "far enough"],
)
def test_an_end_within_minutes_is_a_deletion_and_is_asked_about(given: dict[str, Any], ends: str, rig: Rig) -> None:
    made = deploy(rig, ("us-east-2",))
    target = Target(made.endpoint, EndpointRef.parse(made.endpoint), cloud(rig), rig.sagemaker)
    assert UPDATE_ENDPOINT.preview is not None
    asked = UPDATE_ENDPOINT.preview(target, rig.book, **{"ttl_hours": 0, "model": "", "settings": {}, **given})
    assert (asked.steps[-1].partition(":")[0] if asked else "") == ends
    assert asked is None or not any("its end" in each for each in asked.stays)
