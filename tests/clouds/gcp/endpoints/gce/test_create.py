"""Deploying on Compute Engine: zone after zone, watched on the serial console, one token through the tunnel."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from clouds.errors import Cancelled, Conflict, InvalidInput, NoCapacity, QuotaTooSmall, Unexpected
from clouds.models import Change, EndpointRef, Phase, Scope
from clouds.readonly import reads
from tests.clouds.gcp.endpoints.conftest import Engine
from tests.clouds.gcp.rig import Rig
from tests.clouds.gcp.simulator import boot, gce

REF = EndpointRef("gcp", "gce", "us-east5-a", "gemma")
KEY = "us-east5-a/modelrig-gemma"


def empty(rig: Rig) -> bool:
    project = rig.project
    return (project.instances, project.firewalls, project.jobs, project.billing()) == ({}, {}, {}, [])


def test_one_v6e_is_deployed_and_ready_once_a_token_came_through_the_tunnel(rig: Rig) -> None:
    Engine.asked.clear()
    rig.project.boot = boot.SLOW
    endpoint = rig.deploy()
    assert (endpoint.ref, endpoint.state, endpoint.billing) == (str(REF), "ready", True)
    assert endpoint.cloud_status == "RUNNING (on-demand, us-east5-a)"
    assert endpoint.price is not None
    assert (endpoint.price.amount, endpoint.expires) == (2.7, "2026-11-29T19:00:16Z")
    assert endpoint.account == "demo-project"
    assert endpoint.engine is not None
    assert (endpoint.engine.kv_cache_tokens, endpoint.engine.max_concurrency) == (321_280, 39.22)
    assert endpoint.engine.image.startswith("docker.io/vllm/vllm-tpu@sha256:")
    told = endpoint.engine.settings
    assert [told[f"hbm_{word}_gib"] for word in ("limit", "cap", "used", "free")] == [15.75, 14.49, 8.97, 5.52]
    assert (endpoint.engine.kv_cache_dtype, told["tensor_parallel_size"]) == ("bfloat16", 1)
    assert endpoint.phases == (
        Phase(name="starting the machine", seconds=21.0),
        Phase(name="preparing the machine", seconds=35.0),
        Phase(name="pulling the image", seconds=80.0),
        Phase(name="starting the engine", seconds=2.0),
        Phase(name="loading and warming up", seconds=101.4),
        Phase(name="XLA compile", seconds=408.6),
    )
    assert rig.steps() == ["firewalls.insert done", "connect done", "instances.insert done"]
    assert [asked["model"] for asked in Engine.asked] == ["google/gemma-4-E2B-it"]
    assert rig.tunnels == [f"{word} port 8000 of modelrig-gemma in us-east5-a" for word in ("open", "close")]


def test_the_machine_is_asked_for_as_the_article_did_and_ends_by_google_itself(rig: Rig) -> None:
    rig.deploy(settings={"market": "flex-start"}, ttl_hours=4)
    row = rig.project.instances[KEY]
    assert row["scheduling"] == {
        "provisioningModel": "FLEX_START", "onHostMaintenance": "TERMINATE", "automaticRestart": False,
        "instanceTerminationAction": "DELETE", "maxRunDuration": {"seconds": "14400"},
    }  # fmt: skip
    (sent,) = [one for one in rig.seam.sent if one.name == "compute.instances.insert"]
    assert sent.parameters["body"]["params"] == {"requestValidForDuration": {"seconds": "7200"}}
    assert sent.parameters["body"]["reservationAffinity"] == {"consumeReservationType": "NO_RESERVATION"}
    rig.project.clock.sleep(4 * 3600 + 60)
    assert (rig.project.instances, rig.project.billing()) == ({}, [])


def test_what_ran_before_the_engine_is_in_the_record_with_its_sha256(rig: Rig) -> None:
    endpoint = rig.deploy(settings={"prepare": "gs://demo-bucket/patch.sh", "prepare_sha256": "c" * 64})
    assert endpoint.engine is not None
    assert endpoint.engine.settings["prepared_by"] == f"gs://demo-bucket/patch.sh sha256:{'c' * 64}"


def test_the_model_s_port_is_open_to_google_s_relay_alone(rig: Rig) -> None:
    rig.deploy()
    (rule,) = rig.project.firewalls.values()
    assert (rule["sourceRanges"], rule["targetTags"]) == (["35.235.240.0/20"], ["modelrig-gce-gemma"])
    assert rule["allowed"] == [{"IPProtocol": "tcp", "ports": ["8000"]}]


def test_a_full_zone_is_passed_over_and_its_own_hint_goes_first(rig: Rig) -> None:
    rig.project.capacity["ct6e-standard-1t@us-east5-a"] = 0
    rig.project.capacity["ct6e-standard-1t@us-east5-c"] = 1
    rig.project.hints = "us-east5-c,us-central2-b"
    endpoint = rig.deploy(location=None, regions=("us-east5-a", "us-east5-b", "us-east5-c"))
    assert endpoint.ref == "gcp:gce:us-east5-c:gemma"
    attempts = rig.book.facts(endpoint.deployment)["attempts"]
    assert attempts[0]["kind"] == "no_capacity"
    assert attempts[0]["code"] == "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"
    assert attempts[0]["elsewhere"] == ["us-east5-c", "us-central2-b"]
    assert attempts[1] == {"zone": "us-east5-a", "over": True, "left": []}
    assert len(rig.project.bills) == 1


def test_no_machine_anywhere_is_a_plain_account_with_google_s_hint_and_leaves_nothing(rig: Rig) -> None:
    for zone in "ab":
        rig.project.capacity[f"ct6e-standard-1t@us-east5-{zone}"] = 0
    rig.project.hints = "us-central1-b"
    with pytest.raises(NoCapacity) as told:
        rig.deploy(location=None, regions=("us-east5-a", "us-east5-b"))
    assert told.value.answered.count("does not have enough resources") == 2
    assert told.value.answered.endswith("Nothing remains and nothing was billed.")
    assert told.value.fix.startswith("Google says that us-central1-b has some now.")
    assert empty(rig)


def test_quota_that_is_used_up_meanwhile_is_quota_and_not_capacity(rig: Rig) -> None:
    plan = rig.begin(rig.gce.plan(rig.spec()))
    rig.project.limits["TPUS-PER-TPU-FAMILY-per-project-region@us-east5"] = 0
    with pytest.raises(QuotaTooSmall, match="Limit: 0 in region us-east5"):
        rig.gce.create(plan, rig.book, rig.heard)
    assert empty(rig)


def test_a_type_of_the_same_zone_is_asked_for_next(rig: Rig) -> None:
    rig.project.capacity["g2-standard-4@us-central1-a"] = 0
    endpoint = rig.deploy(accelerator="L4", location="us-central1-a")
    assert endpoint.hardware is not None
    assert endpoint.hardware.instance_type == "g2-standard-8"
    assert len(rig.project.bills) == 1


def test_flex_start_waits_and_says_that_no_quota_and_no_capacity_look_alike(rig: Rig) -> None:
    rig.project.capacity["flex:ct6e-standard-1t@us-east5-a"] = 0
    seen, begun = [], rig.project.now()

    def look(message: str) -> bool:
        if "PENDING" in message and not seen:
            seen.append(rig.gce.get(REF))
        if len(seen) == 1 and rig.project.now() > begun + timedelta(minutes=5):
            rig.project.capacity["flex:ct6e-standard-1t@us-east5-a"] = 1
        return False

    rig.heard.stop_when = look
    endpoint = rig.deploy(settings={"market": "flex-start"})
    assert (seen[0].state, seen[0].billing) == ("waiting_for_capacity", False)
    assert "look alike" in seen[0].reason
    assert "quota read: v6e on Compute Engine, spot and flex-start in us-east5: limit 1536" in seen[0].reason
    assert endpoint.state == "ready"


def test_flex_start_that_is_not_granted_in_time_is_capacity_and_leaves_nothing(rig: Rig) -> None:
    rig.project.capacity["flex:ct6e-standard-1t@us-east5-a"] = 0
    with pytest.raises(NoCapacity, match="does not have enough resources"):
        rig.deploy(settings={"market": "flex-start", "wait_hours": 0.1})
    assert empty(rig)


def test_spot_that_is_taken_back_while_it_starts_is_capacity(rig: Rig) -> None:
    rig.project.boot = boot.SLOW

    def take(message: str) -> bool:
        if "RUNNING since 60" in message:
            gce.preempt(rig.project, KEY)
        return False

    rig.heard.stop_when = take
    with pytest.raises(NoCapacity, match="the machine ended while it started"):
        rig.deploy(settings={"market": "spot"})
    assert empty(rig)


def test_an_engine_that_does_not_start_is_taken_back_and_its_log_is_quoted(rig: Rig) -> None:
    rig.project.boot = boot.BROKEN
    with pytest.raises(Unexpected) as told:
        rig.deploy()
    assert told.value.answered.startswith("engine failed: no answer from r1; its log: ValueError: model type gemma9")
    assert empty(rig)


def test_being_asked_to_stop_takes_the_machine_back_in_every_phase(rig: Rig) -> None:
    rig.project.boot = boot.SLOW
    for word in ("PROVISIONING", "RUNNING since", "asking for one token"):
        rig.heard.stopped, rig.heard.stop_when = False, lambda message, word=word: word in message  # type: ignore[misc]
        with pytest.raises(Cancelled):
            rig.deploy(name=f"n{len(word)}")
        assert empty(rig), word


def test_a_killed_run_is_taken_up_with_the_same_machine(rig: Rig) -> None:
    plan = rig.begin(rig.gce.plan(rig.spec()))

    class Kill(BaseException):
        pass

    def die(message: str) -> bool:
        if "PROVISIONING" in message:
            raise Kill
        return False

    rig.heard.stop_when = die
    with pytest.raises(Kill):
        rig.gce.create(plan, rig.book, rig.heard)
    assert rig.book.unresolved(plan.deployment)
    rig.heard.stop_when = lambda _: False
    again = replace(rig.gce.plan(rig.spec()), deployment=plan.deployment)
    endpoint = rig.gce.create(again, rig.book, rig.heard)
    assert endpoint.state == "ready"
    assert len(rig.project.bills) == 1


def test_the_same_call_after_its_end_starts_anew_under_another_request_id(rig: Rig) -> None:
    plan = rig.begin(rig.gce.plan(rig.spec()))
    rig.gce.create(plan, rig.book, rig.heard)
    rig.until("19:30")
    again = replace(rig.gce.plan(rig.spec()), deployment=plan.deployment)
    endpoint = rig.gce.create(again, rig.book, rig.heard)
    assert (endpoint.state, endpoint.expires[:13]) == ("ready", "2026-11-29T23")
    ids = [one.parameters["requestId"] for one in rig.seam.sent if one.name == "compute.instances.insert"]
    assert len(ids) == len(set(ids)) == 2
    assert len(rig.project.billing()) == 1


def test_a_machine_of_that_name_that_is_not_ours_is_left_alone(rig: Rig) -> None:
    rig.deploy(name="other")
    stranger = rig.project.instances.pop("us-east5-a/modelrig-other")
    rig.project.instances[KEY] = {**stranger, "name": "modelrig-gemma", "labels": {"team": "other"}}
    other = rig.begin(rig.gce.plan(rig.spec()))
    with pytest.raises(Conflict, match="instance modelrig-gemma exists already and modelrig did not make it"):
        rig.gce.create(other, rig.book, rig.heard)
    assert KEY in rig.project.instances
    assert rig.project.firewalls.keys() == {"modelrig-gce-other"}
    assert rig.gce.delete(REF, rig.book, rig.heard).parts[0].outcome == "was not there"


def test_looking_sends_only_what_it_declares_to_read_and_no_token(rig: Rig) -> None:
    rig.deploy()
    asked, before = len(Engine.asked), len(rig.seam.sent)
    rig.gce.get(REF)
    found = rig.gce.list(scope=Scope())
    page = rig.gce.logs(REF, since=timedelta(minutes=1), limit=2)
    assert set(rig.seam.operations()[before:]) <= reads(rig.gce.reads)
    assert len(Engine.asked) == asked
    assert [one.ref for one in found.found] == [str(REF)]
    assert page.lines[-1].startswith("modelrig phase: engine answers r1 at 2026-11-29T15:00")
    assert (page.source, page.total) == ("serial console of modelrig-gemma", 5)


def test_another_model_replaces_the_container_and_machine_and_clock_stay(rig: Rig) -> None:
    before = rig.deploy()
    number = rig.project.instances[KEY]["id"]
    change = Change(model="google/gemma-4-E4B-it", settings={"max_model_len": 131072})
    after = rig.gce.update(REF, change, rig.book, rig.heard)
    assert (after.state, after.model, after.expires) == ("ready", "google/gemma-4-E4B-it", before.expires)
    assert after.engine is not None
    assert rig.project.instances[KEY]["id"] == number
    program = next(i["value"] for i in rig.project.instances[KEY]["metadata"]["items"] if i["key"] == "modelrig-serve")
    assert "# revision 2" in program
    assert "--max-model-len 131072" in program
    assert len(rig.project.bills) == 1


def test_it_is_not_ready_while_another_model_loads(rig: Rig) -> None:
    rig.deploy()
    states = []
    rig.project.boot = boot.SLOW

    def look(message: str) -> bool:
        if "30 s;" in message:
            states.append(rig.gce.get(REF).state)
            rig.heard.stop_when = lambda _: False
        return False

    rig.heard.stop_when = look
    rig.gce.update(REF, Change(settings={"max_model_len": 4096}), rig.book, rig.heard)
    assert states == ["loading"]


def test_what_cannot_change_in_place_is_refused_before_anything_is_sent(rig: Rig) -> None:
    rig.deploy()
    before = len(rig.seam.sent)
    for change in (Change(settings={"market": "spot"}), Change(settings={"image": "vllm/vllm-tpu:v1"})):
        with pytest.raises(InvalidInput, match="cannot change in place"):
            rig.gce.update(REF, change, rig.book, rig.heard)
    assert len(rig.seam.sent) == before


def test_the_end_of_a_machine_that_runs_is_google_s_and_is_not_said_to_have_moved(rig: Rig) -> None:
    before = rig.deploy()
    with pytest.raises(Conflict, match="a stopped machine alone"):
        rig.gce.update(REF, Change(ttl_hours=8), rig.book, rig.heard)
    assert rig.gce.get(REF).expires == before.expires


def test_deleting_takes_machine_and_rule_and_reads_them_back(rig: Rig) -> None:
    rig.deploy()
    deletion = rig.gce.delete(REF, rig.book, rig.heard)
    assert [(part.part, part.outcome) for part in deletion.parts] == [
        ("instance modelrig-gemma", "deleted"),
        ("firewall rule modelrig-gce-gemma", "deleted"),
    ]
    assert deletion.gone
    assert empty(rig)
    assert rig.steps() == ["firewalls.insert undone", "connect done", "instances.insert undone"]


def test_deleting_what_is_not_there_is_a_success_that_says_so(rig: Rig) -> None:
    deletion = rig.gce.delete(REF, rig.book, rig.heard)
    assert (deletion.gone, deletion.parts[0].outcome) == (True, "was not there")
