"""What stops a deployment half-way, and what ends one: asked to stop, killed, deleted by somebody, its own end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clouds.errors import Cancelled, CloudError, Conflict, NoCapacity, NotFound
from clouds.models import Scope
from tests.clouds.aws.endpoints.sagemaker.test_create import empty
from tests.clouds.aws.rig import Rig
from tests.clouds.aws.simulator import boot


def test_being_asked_to_stop_takes_back_what_was_made(rig: Rig) -> None:
    rig.heard.stop_when = lambda message: message.endswith("CreateEndpoint")
    with pytest.raises(Cancelled):
        rig.deploy()
    assert empty(rig)


def test_stopping_while_it_is_creating_has_it_deleted_when_it_settles(rig: Rig) -> None:
    rig.heard.stop_when = lambda message: "loading" in message
    with pytest.raises(Cancelled):
        rig.deploy()
    assert rig.account.billing() == ["endpoint gemma-4-e2b (ml.g6.xlarge, us-east-2)"]
    assert (
        rig.account["us-east-2"].schedules["modelrig-gemma-4-e2b-endpoint"]["ScheduleExpression"] == "rate(1 minutes)"
    )
    rig.account.clock.sleep(12 * 60)
    assert rig.account.billing() == []
    rig.account.clock.sleep(4 * 3600)
    assert empty(rig)


@pytest.mark.parametrize("retries", [True, False])
def test_it_ends_by_itself_however_the_scheduler_retries(rig: Rig, retries: bool) -> None:
    rig.account.scheduler_retries = retries
    rig.deploy()
    rig.until("18:59")
    assert rig.account.billing() == ["endpoint gemma-4-e2b (ml.g6.xlarge, us-east-2)"]
    rig.until("19:02")
    assert rig.account.billing() == []
    rig.account.clock.sleep(3 * 3600)
    assert empty(rig)


@pytest.mark.parametrize("retries", [True, False])
def test_an_end_that_comes_while_it_is_still_creating_is_kept_as_soon_as_it_settles(rig: Rig, retries: bool) -> None:
    rig.account.scheduler_retries = retries
    rig.account.boot = replace(boot.VLLM, done=400.0)
    with pytest.raises(CloudError, match=r"only after its own end|was deleted meanwhile"):
        rig.deploy(ttl_hours=0.084)
    assert rig.account.billing() == []
    assert empty(rig)


@pytest.mark.parametrize("retries", [True, False])
def test_it_ends_also_when_nobody_is_there_and_it_was_still_creating(rig: Rig, retries: bool) -> None:
    """One reading of the scheduler asks again by itself; for the other there is the second schedule."""

    class Kill(BaseException):
        pass

    def die(message: str) -> bool:
        if "loading" in message:
            raise Kill
        return False

    rig.account.scheduler_retries = retries
    rig.account.boot, rig.heard.stop_when = replace(boot.VLLM, done=400.0), die
    with pytest.raises(Kill):
        rig.deploy(ttl_hours=0.084)
    rig.account.clock.sleep(3 * 3600)
    assert empty(rig)


def test_the_same_call_after_a_failure_starts_anew_with_a_new_end(rig: Rig) -> None:
    plan = rig.begin(rig.plan())
    rig.account["us-east-2"].capacity.update(dict.fromkeys(("ml.g6.xlarge", "ml.g6.2xlarge"), 0))
    rig.account.gives_up_after = 40.0
    with pytest.raises(NoCapacity):
        rig.sagemaker.create(plan, rig.book, rig.heard)
    rig.account["us-east-2"].capacity["ml.g6.xlarge"] = 1
    rig.account.clock.sleep(3600)
    again = replace(rig.plan(), deployment=plan.deployment)
    endpoint = rig.sagemaker.create(again, rig.book, rig.heard)
    assert (endpoint.state, endpoint.expires[:13]) == ("ready", "2026-11-29T20")


def test_a_killed_run_is_taken_up_with_the_end_that_was_promised(rig: Rig) -> None:
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
    rig.account.clock.sleep(1800)
    again = replace(rig.plan(), deployment=plan.deployment)
    endpoint = rig.sagemaker.create(again, rig.book, rig.heard)
    assert (endpoint.state, endpoint.expires) == ("ready", "2026-11-29T19:00:00Z")
    assert [one.operation for one in rig.seam.sent].count("CreateEndpoint") == 2
    assert len(rig.account.bills) == 1


def test_a_run_that_was_killed_while_it_waited_is_seen_to_be_unfinished(rig: Rig) -> None:
    """All was made and is in service: only the wait for a token is open, and taking it up again ends it."""
    plan = rig.begin(rig.plan())

    class Kill(BaseException):
        pass

    def die(message: str) -> bool:
        if "asking for one token" in message:
            raise Kill
        return False

    rig.heard.stop_when = die
    with pytest.raises(Kill):
        rig.sagemaker.create(plan, rig.book, rig.heard)
    assert [str(step.call) for step in rig.book.unresolved(plan.deployment)] == ["sagemaker-runtime.InvokeEndpoint"]
    assert rig.sagemaker.get(plan.ref).state == "loading"
    rig.heard.stop_when = lambda _: False
    assert rig.sagemaker.create(plan, rig.book, rig.heard).state == "ready"
    assert rig.book.unresolved(plan.deployment) == ()


def test_a_name_that_another_deployment_has_is_refused_and_left_alone(deployed: Rig) -> None:
    stranger = replace(deployed.plan(), deployment="d-other")
    deployed.book.deployments.ended(deployed.book.deployments.live()[0].id, "so that the name is free in the ledger")
    stranger = deployed.begin(replace(stranger, deployment=""))
    with pytest.raises(Conflict, match="exists already and it belongs to deployment d-"):
        deployed.sagemaker.create(stranger, deployed.book, deployed.heard)
    assert deployed.account.billing() == ["endpoint gemma-4-e2b (ml.g6.xlarge, us-east-2)"]
    assert deployed.sagemaker.get(stranger.ref).state == "ready"


def test_somebody_s_deletion_while_it_starts_is_said_and_not_undone_twice(rig: Rig) -> None:
    def drop(message: str) -> bool:
        if "loading" in message:
            rig.account["us-east-2"].endpoints.clear()
        return False

    rig.heard.stop_when = drop
    with pytest.raises(NotFound, match="it was deleted meanwhile"):
        rig.deploy()
    assert rig.sagemaker.list(scope=Scope("us-east-2")).found == ()
    east = rig.account["us-east-2"]
    assert (east.models, east.configs, east.schedules) == ({}, {}, {})
