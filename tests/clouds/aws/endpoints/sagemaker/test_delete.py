"""Deleting takes everything that belongs to an endpoint, reads it back, and says what cannot go yet."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clouds.errors import Cancelled, Conflict
from clouds.models import EndpointRef
from tests.clouds.aws.rig import REGIONS, Rig
from tests.clouds.aws.simulator import boot
from tools.ledger import Book

REF = EndpointRef("aws", "sagemaker", "us-east-2", "gemma-4-e2b")
KEPT = [
    ("role modelrig-sagemaker", "kept"),
    ("role modelrig-scheduler", "kept"),
]


def test_endpoint_config_model_and_schedules_go_in_that_order_and_are_read_back(deployed: Rig) -> None:
    deletion = deployed.sagemaker.delete(REF, deployed.book, deployed.heard)
    assert deletion.gone
    assert [(part.part, part.outcome) for part in deletion.parts] == [
        ("endpoint gemma-4-e2b", "deleted"),
        ("endpoint config gemma-4-e2b", "deleted"),
        ("model gemma-4-e2b", "deleted"),
        ("schedule modelrig-gemma-4-e2b-endpoint", "deleted"),
        ("schedule modelrig-gemma-4-e2b-again", "deleted"),
        ("schedule modelrig-gemma-4-e2b-config", "deleted"),
        ("schedule modelrig-gemma-4-e2b-model", "deleted"),
        *KEPT,
    ]
    assert deployed.account.misuse == []
    assert deployed.account.billing() == []
    rows = deployed.book.steps(deployed.book.deployments.live()[0].id)
    assert {step.state for step in rows if step.call.service in {"sagemaker", "scheduler"}} == {"undone"}
    assert deployed.book.unresolved() == ()


def test_deleting_what_is_not_there_is_a_success_that_says_so(rig: Rig) -> None:
    deletion = rig.sagemaker.delete(REF, rig.book, rig.heard)
    assert deletion.gone
    assert [(part.part, part.outcome) for part in deletion.parts] == [("endpoint gemma-4-e2b", "was not there"), *KEPT]


def test_a_creating_endpoint_cannot_go_and_does_when_it_settles(rig: Rig) -> None:
    rig.account.boot = boot.VLLM
    plan = rig.begin(rig.plan())

    class Kill(BaseException):
        pass

    def die(message: str) -> bool:
        if "loading" in message:
            raise Kill
        return False

    rig.heard.stop_when = die
    with pytest.raises(Kill):
        rig.sagemaker.create(plan, rig.book, rig.heard)
    rig.heard.stop_when = lambda _: False
    deletion = rig.sagemaker.delete(REF, rig.book, rig.heard)
    assert not deletion.gone
    assert deletion.note.startswith("AWS refuses to delete an endpoint that is still Creating.")
    first = deletion.parts[0]
    assert (first.part, first.outcome, first.detail[:9]) == ("endpoint gemma-4-e2b", "still there", "Creating;")
    assert ("model gemma-4-e2b", "kept") in [(part.part, part.outcome) for part in deletion.parts]
    assert rig.sagemaker.get(REF).billing is True
    rig.account.clock.sleep(11 * 60)
    assert rig.account.billing() == []
    again = rig.sagemaker.delete(REF, rig.book, rig.heard)
    assert again.gone


def test_one_that_still_waits_for_capacity_goes_without_having_billed(rig: Rig) -> None:
    rig.account["us-east-2"].capacity.update(dict.fromkeys(("ml.g6.xlarge", "ml.g6.2xlarge"), 0))
    plan = rig.begin(rig.plan())
    rig.heard.stop_when = lambda message: "waiting for capacity" in message
    with pytest.raises(Cancelled):
        rig.sagemaker.create(plan, rig.book, rig.heard)
    rig.account.clock.sleep(10 * 60)
    assert (rig.account["us-east-2"].endpoints, rig.account.bills) == ({}, [])


def test_a_ledger_that_is_lost_does_not_matter(deployed: Rig, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = Book(tmp_path_factory.mktemp("other"), clock=deployed.account.now)
    assert deployed.sagemaker.delete(REF, other, deployed.heard).gone
    assert deployed.account.billing() == []
    other.close()


def test_what_modelrig_did_not_make_is_not_deleted(deployed: Rig) -> None:
    deployed.account.tags[deployed.account.arn("sagemaker", "us-east-2", "endpoint/gemma-4-e2b")] = {}
    with pytest.raises(Conflict, match="modelrig did not make this endpoint"):
        deployed.sagemaker.delete(REF, deployed.book, deployed.heard)
    assert deployed.account.billing() == ["endpoint gemma-4-e2b (ml.g6.xlarge, us-east-2)"]


def test_what_another_region_still_holds_of_the_deployment_goes_too(rig: Rig) -> None:
    """A first region that could not be taken back is in the deployment's facts."""
    endpoint = rig.deploy()
    rig.account["us-east-1"].models["gemma-4-e2b"] = {
        **rig.account["us-east-2"].models["gemma-4-e2b"],
        "ModelArn": rig.account.arn("sagemaker", "us-east-1", "model/gemma-4-e2b"),
    }
    tags = rig.account.tags[rig.account.arn("sagemaker", "us-east-2", "model/gemma-4-e2b")]
    rig.account.tags[rig.account.arn("sagemaker", "us-east-1", "model/gemma-4-e2b")] = tags
    rig.book.remember(endpoint.deployment, {"attempts": [{"region": "us-east-1", "undone": False}]})
    deletion = rig.sagemaker.delete(REF, rig.book, rig.heard)
    assert deletion.gone
    assert ("model gemma-4-e2b in us-east-1", "deleted") in [(part.part, part.outcome) for part in deletion.parts]
    assert rig.account["us-east-1"].models == {}


def test_a_longer_name_that_begins_the_same_is_left_alone(rig: Rig) -> None:
    rig.deploy(name="gemma", regions=("us-east-2",))
    rig.deploy(name="gemma-2", regions=("us-west-2",))
    west = replace(REF, location="us-west-2", name="gemma")
    assert rig.sagemaker.delete(west, rig.book, rig.heard).gone
    assert len(rig.account.billing()) == 2
    assert set(REGIONS) >= {"us-west-2"}
