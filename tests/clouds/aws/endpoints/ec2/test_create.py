"""Deploying on EC2: place after place, watched on its console, one token through the tunnel, nothing left behind."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from clouds.errors import Cancelled, NoCapacity, QuotaTooSmall, Unexpected
from clouds.models import EndpointRef, Phase, Scope
from clouds.readonly import reads
from tests.clouds.aws.endpoints.conftest import Engine
from tests.clouds.aws.rig import Rig
from tests.clouds.aws.simulator import boot
from tests.clouds.aws.simulator.ec2 import end

REF = EndpointRef("aws", "ec2", "us-east-1", "gemma-4-e2b")


def empty(rig: Rig) -> bool:
    regions = rig.account.regions.values()
    alive = [i for region in regions for i, row in region.instances.items() if row["state"] != "terminated"]
    return (alive, [g for region in regions for g in region.groups], rig.account.billing()) == ([], [], [])


def full(rig: Rig, *places: str) -> None:
    for place in places:
        rig.account["us-east-1"].capacity[place] = 0


def test_one_l4_is_deployed_and_ready_once_a_token_came_through_the_tunnel(rig: Rig) -> None:
    Engine.asked.clear()
    rig.account.console = boot.CONSOLE
    endpoint = rig.deploy_machine()
    assert (endpoint.ref, endpoint.state, endpoint.billing) == (str(REF), "ready", True)
    assert endpoint.cloud_status.startswith("running (i-")
    assert endpoint.price is not None
    assert (endpoint.price.amount, endpoint.expires) == (0.8048, "2026-11-29T19:00:00Z")
    assert endpoint.account == "123456789012"
    assert endpoint.engine is not None
    assert endpoint.engine.kv_cache_tokens == 723_484
    assert endpoint.phases == (
        Phase(name="starting the machine", seconds=25.0),
        Phase(name="preparing", seconds=1.0),
        Phase(name="pulling the image", seconds=124.0),
        Phase(name="starting the engine", seconds=2.0),
        Phase(name="loading the model", seconds=548.0),
    )
    made = ("CreateSecurityGroup", "AuthorizeSecurityGroupIngress", "RunInstances", "SendSSHPublicKey")
    assert rig.steps() == [f"{operation} done" for operation in made]
    assert [asked["model"] for asked in Engine.asked] == ["google/gemma-4-E2B-it"]
    assert [shell.closed for shell in rig.shells] == [True]


def test_the_host_key_of_the_console_is_kept_before_the_engine_s_lines_push_it_out(machine: Rig) -> None:
    machine.account.console = ((0.0, "only engine lines now"),)
    wire = machine.ec2.connect(REF)
    assert machine.shells[-1].machine.host_key == boot.HOST_KEY
    assert wire.close is not None
    wire.close()


def test_a_full_zone_and_a_full_type_are_passed_over_in_order(rig: Rig) -> None:
    full(rig, "g6.xlarge@us-east-1a", "g6.xlarge@us-east-1b")
    endpoint = rig.deploy_machine()
    assert endpoint.hardware is not None
    assert endpoint.hardware.instance_type == "g6.2xlarge"
    attempts = rig.book.facts(endpoint.deployment)["attempts"]
    assert [(one["type"], one["zone"], one["kind"]) for one in attempts] == [
        ("g6.xlarge", "us-east-1a", "no_capacity"),
        ("g6.xlarge", "us-east-1b", "no_capacity"),
    ]
    assert attempts[0]["said"].startswith(
        "We currently do not have sufficient g6.xlarge capacity in the Availability Zone"
    )
    assert len(rig.account.bills) == 1


def test_no_machine_anywhere_is_a_plain_account_and_leaves_nothing(rig: Rig) -> None:
    full(rig, *[f"{kind}@us-east-1{zone}" for kind in ("g6.xlarge", "g6.2xlarge") for zone in "ab"])
    with pytest.raises(NoCapacity) as told:
        rig.deploy_machine()
    assert told.value.answered.count("InsufficientInstanceCapacity") == 4
    assert told.value.answered.endswith("Nothing remains and nothing was billed.")
    assert empty(rig)


def test_the_next_region_is_tried_when_one_is_full(rig: Rig) -> None:
    full(rig, *[f"{kind}@us-east-1{zone}" for kind in ("g6.xlarge", "g6.2xlarge") for zone in "ab"])
    endpoint = rig.deploy_machine(regions=("us-east-1", "us-west-2"))
    assert endpoint.ref == "aws:ec2:us-west-2:gemma-4-e2b"
    assert rig.account["us-east-1"].groups == {}


def test_vcpus_that_are_used_up_meanwhile_are_quota_and_the_region_is_not_asked_again(rig: Rig) -> None:
    plan = rig.begin(rig.ec2.plan(rig.machine_spec()))
    rig.account["us-east-1"].quotas["Running On-Demand G and VT instances"].value = 0
    with pytest.raises(QuotaTooSmall, match="more vCPU capacity than your current vCPU limit of 0"):
        rig.ec2.create(plan, rig.book, rig.heard)
    assert rig.seam.operations().count("ec2.RunInstances") == 1
    assert empty(rig)


def test_spot_that_is_taken_back_while_it_starts_is_capacity(rig: Rig) -> None:
    def take(message: str) -> bool:
        if "running since" in message:
            (instance,) = rig.account["us-east-1"].instances
            end(rig.account, "us-east-1", instance, "Server.SpotInstanceTermination")
        return False

    rig.heard.stop_when = take
    with pytest.raises(NoCapacity, match="SpotInstanceTermination"):
        rig.deploy_machine(settings={"market": "spot"}, instance_types=("g6.xlarge",))
    assert empty(rig)


def test_an_engine_that_does_not_start_is_taken_back_and_its_console_is_quoted(rig: Rig) -> None:
    rig.account.console = boot.BROKEN_CONSOLE
    with pytest.raises(Unexpected) as told:
        rig.deploy_machine()
    assert told.value.answered.startswith("modelrig phase: engine failed: no answer in an hour")
    assert "OSError: google/gemma-4-E9B-it" in told.value.answered
    assert empty(rig)


def test_being_asked_to_stop_takes_the_machine_back(rig: Rig) -> None:
    rig.heard.stop_when = lambda message: "running since" in message
    with pytest.raises(Cancelled):
        rig.deploy_machine()
    assert empty(rig)


def test_the_machine_ends_itself_when_nobody_is_there(machine: Rig) -> None:
    machine.until("18:59")
    assert len(machine.account.billing()) == 1
    machine.until("19:01")
    assert machine.account.billing() == []
    assert machine.ec2.get(REF).state in {"deleting", "deleted"}
    assert [one.ref for one in machine.ec2.list(scope=Scope()).found if one.billing] == []


def test_the_same_call_after_its_end_starts_anew(rig: Rig) -> None:
    plan = rig.begin(rig.ec2.plan(rig.machine_spec()))
    rig.ec2.create(plan, rig.book, rig.heard)
    rig.until("19:30")
    again = replace(rig.ec2.plan(rig.machine_spec()), deployment=plan.deployment)
    endpoint = rig.ec2.create(again, rig.book, rig.heard)
    assert (endpoint.state, endpoint.expires[:13]) == ("ready", "2026-11-29T23")
    assert len(rig.account.billing()) == 1


def test_a_killed_run_is_taken_up_with_the_same_machine(rig: Rig) -> None:
    plan = rig.begin(rig.ec2.plan(rig.machine_spec()))

    class Kill(BaseException):
        pass

    def die(message: str) -> bool:
        if "running since" in message:
            raise Kill
        return False

    rig.heard.stop_when = die
    with pytest.raises(Kill):
        rig.ec2.create(plan, rig.book, rig.heard)
    rig.heard.stop_when = lambda _: False
    again = replace(rig.ec2.plan(rig.machine_spec()), deployment=plan.deployment)
    endpoint = rig.ec2.create(again, rig.book, rig.heard)
    assert (endpoint.state, endpoint.expires) == ("ready", "2026-11-29T19:00:00Z")
    assert len(rig.account.bills) == 1


def test_looking_sends_only_what_it_declares_to_read_and_no_token(machine: Rig) -> None:
    asked, before = len(Engine.asked), len(machine.seam.sent)
    machine.ec2.get(REF)
    machine.ec2.list(scope=Scope("us-east-1"))
    page = machine.ec2.logs(REF, since=timedelta(hours=9), limit=3)
    assert set(machine.seam.operations()[before:]) <= reads(machine.ec2.reads)
    assert len(Engine.asked) == asked
    assert page.lines[-1].startswith("modelrig phase: engine answers at 2026-11-29T15:00")
    assert page.source.startswith("console of i-")


def test_a_secret_s_role_and_profile_are_made_waited_for_and_taken_back(rig: Rig) -> None:
    arn = "arn:aws:secretsmanager:us-east-1:123456789012:secret:hf-AbCdEf"
    endpoint = rig.deploy_machine(settings={"hf_token_from": arn})
    assert endpoint.state == "ready"
    assert "modelrig-gemma-4-e2b" in rig.account.profiles
    deletion = rig.ec2.delete(REF, rig.book, rig.heard)
    assert deletion.gone
    assert (rig.account.profiles, rig.account.roles) == ({}, {})
    assert empty(rig)


def test_deleting_takes_machine_and_group_and_reads_them_back(machine: Rig) -> None:
    before = machine.steps()
    deletion = machine.ec2.delete(REF, machine.book, machine.heard)
    assert [(part.part, part.outcome) for part in deletion.parts] == [
        ("instance", "deleted"),
        ("security group modelrig-gemma-4-e2b", "deleted"),
    ]
    assert deletion.gone
    assert empty(machine)
    assert machine.steps()[:3] == [row.replace("done", "undone") for row in before[:3]]


def test_deleting_what_is_not_there_is_a_success_that_says_so(rig: Rig) -> None:
    deletion = rig.ec2.delete(REF, rig.book, rig.heard)
    assert (deletion.gone, deletion.parts[0].outcome) == (True, "was not there")
