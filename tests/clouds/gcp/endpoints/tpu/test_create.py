"""Deploying through the TPU API: nodes and queued resources, their ends, their husks, and a log without a console."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from clouds.errors import Conflict, NoCapacity, NotFound, NotOffered, QuotaTooSmall
from clouds.models import Change, EndpointRef, Scope
from clouds.readonly import reads
from tests.clouds.gcp.endpoints.conftest import Engine
from tests.clouds.gcp.rig import Rig
from tests.clouds.gcp.simulator import tpu
from tests.clouds.rows import some

REF = EndpointRef("gcp", "tpu", "us-west4-a", "gemma")
PARENT = "projects/demo-project/locations/us-west4-a"
NODE, QUEUED = f"{PARENT}/nodes/modelrig-gemma", f"{PARENT}/queuedResources/modelrig-gemma"
FLEX = {"market": "flex-start"}


def empty(rig: Rig) -> bool:
    project = rig.project
    held = (project.nodes, project.queued, project.firewalls, project.jobs, project.billing())
    return held == ({}, {}, {}, {}, [])


def test_one_v5e_node_is_deployed_and_a_job_ends_it(rig: Rig) -> None:
    endpoint = rig.deploy("tpu")
    assert (endpoint.ref, endpoint.state, endpoint.billing) == (str(REF), "ready", True)
    assert (endpoint.cloud_status, endpoint.expires) == ("node READY (on-demand, us-west4-a)", "2026-11-29T19:00:00Z")
    assert rig.steps() == ["firewalls.insert done", "connect done", "jobs.create done", "nodes.create done"]
    (job,) = rig.project.jobs.values()
    assert (job["schedule"], job["timeZone"]) == ("0 19 29 11 *", "Etc/UTC")
    assert job["httpTarget"]["uri"] == f"https://tpu.googleapis.com/v2/{NODE}"
    rig.until("18:59")
    assert len(rig.project.billing()) == 1
    rig.until("19:01")
    assert (rig.project.nodes, rig.project.billing(), rig.project.misuse) == ({}, [], [])


def test_flex_start_goes_by_v2alpha1_with_a_run_duration_and_needs_no_job(rig: Rig) -> None:
    rig.deploy("tpu", settings=FLEX)
    (sent,) = [one for one in rig.seam.sent if one.name.endswith("queuedResources.create")]
    assert sent.name.startswith("tpu-v2alpha1.")
    body = sent.parameters["body"]
    assert (body["provisioningModel"], body["runDuration"]) == ("FLEX_START", {"maxRunDuration": "14400s"})
    assert body["queueingPolicy"] == {"validUntilDuration": "7200s"}
    assert rig.project.jobs == {}


def test_when_a_flex_run_is_over_the_husk_is_listed_with_what_it_holds_and_deleting_takes_it(rig: Rig) -> None:
    rig.deploy("tpu", settings=FLEX)
    rig.project.clock.sleep(4 * 3600 + 60)
    (husk,) = rig.tpu.list(scope=Scope()).found
    assert (husk.ref, husk.state, husk.billing) == (str(REF), "stopped", False)
    assert husk.reason.endswith("its name and quota are held until it is deleted")
    deletion = rig.tpu.delete(REF, rig.book, rig.heard)
    assert deletion.gone
    assert [(part.part, part.outcome) for part in deletion.parts] == [
        ("queued resource modelrig-gemma", "deleted"),
        ("firewall rule modelrig-tpu-gemma", "deleted"),
    ]
    assert empty(rig)


@pytest.mark.parametrize("settings", some([{}, {"queued": True}, {"market": "spot", "queued": True}, FLEX], 2))
def test_after_deleting_no_row_of_the_ledger_says_that_something_is_there(
    rig: Rig, settings: dict[str, str | bool]
) -> None:
    rig.deploy("tpu", settings=settings)
    assert rig.tpu.delete(REF, rig.book, rig.heard).gone
    made = [row.split(" ")[-1] for row in rig.steps() if not row.startswith("connect")]
    assert set(made) == {"undone"}
    assert empty(rig)


def test_a_husk_of_an_earlier_run_makes_way_for_the_next(rig: Rig) -> None:
    plan = rig.begin(rig.tpu.plan(rig.spec("tpu", settings=FLEX)))
    rig.tpu.create(plan, rig.book, rig.heard)
    rig.project.clock.sleep(7 * 3600)
    again = replace(rig.tpu.plan(rig.spec("tpu", settings=FLEX)), deployment=plan.deployment)
    assert rig.tpu.create(again, rig.book, rig.heard).state == "ready"
    assert len(rig.project.billing()) == 1


def test_a_spot_node_that_was_taken_back_lingers_is_said_and_makes_way(rig: Rig) -> None:
    plan = rig.begin(rig.tpu.plan(rig.spec("tpu", settings={"market": "spot"})))
    rig.tpu.create(plan, rig.book, rig.heard)
    tpu.preempt(rig.project, NODE)
    taken = rig.tpu.get(REF)
    assert (taken.state, taken.billing) == ("stopped", False)
    assert taken.reason.startswith("Google took the node back")
    rig.project.capacity["spot:v5litepod-1@us-west4-a"] = 1
    assert rig.tpu.create(plan, rig.book, rig.heard).state == "ready"
    assert (len(rig.project.nodes), len(rig.project.billing())) == (1, 1)


def test_no_capacity_that_comes_with_the_operation_is_capacity_although_its_code_is_that_of_quota(rig: Rig) -> None:
    rig.project.capacity["v5litepod-1@us-west4-a"] = 0
    with pytest.raises(NoCapacity, match="There is no more capacity in the zone") as told:
        rig.deploy("tpu")
    assert told.value.code == "8"
    assert empty(rig)


def test_the_region_s_quota_is_quota_although_the_zone_has_some(rig: Rig) -> None:
    plan = rig.begin(rig.tpu.plan(rig.spec("tpu")))
    rig.project.limits["TPUV5sLitepodPerProjectPerRegionForTPUAPI@us-west4"] = 0
    with pytest.raises(QuotaTooSmall, match="has been exceeded"):
        rig.tpu.create(plan, rig.book, rig.heard)
    assert empty(rig)


def test_flex_start_that_a_zone_does_not_offer_is_said_and_the_next_zone_asked(rig: Rig) -> None:
    rig.project.flex_refused.add("us-east5-a")
    where = {"location": None, "regions": ("us-east5-a", "us-east5-b"), "accelerator": "v6e", "settings": FLEX}
    endpoint = rig.deploy("tpu", **where)
    assert endpoint.ref == "gcp:tpu:us-east5-b:gemma"
    attempts = rig.book.facts(endpoint.deployment)["attempts"]
    assert (attempts[0]["kind"], attempts[0]["type"]) == ("not_offered", "v6e-1")


def test_a_queue_that_runs_out_is_capacity_and_leaves_no_husk(rig: Rig) -> None:
    rig.project.capacity["flex:v5litepod-1@us-west4-a"] = 0
    with pytest.raises(NoCapacity, match="no more capacity"):
        rig.deploy("tpu", settings={**FLEX, "wait_hours": 0.1})
    assert empty(rig)


def test_waiting_says_that_quota_and_capacity_look_alike_and_shows_the_quota_read(rig: Rig) -> None:
    rig.project.capacity["flex:v5litepod-1@us-west4-a"] = 0
    seen = []

    def look(message: str) -> bool:
        if "WAITING_FOR_RESOURCES" in message and not seen:
            seen.append((message, rig.tpu.get(REF)))
        return False

    rig.heard.stop_when = look
    with pytest.raises(NoCapacity):
        rig.deploy("tpu", settings={**FLEX, "wait_hours": 0.1})
    message, endpoint = seen[0]
    assert "look alike while they wait" in message
    assert (endpoint.state, endpoint.billing) == ("waiting_for_capacity", False)
    assert "quota read: v5e in the TPU API, spot and flex-start, by zone in us-west4-a: limit 1536" in endpoint.reason


def test_quota_that_is_plainly_too_small_for_flex_start_is_refused_before_anything_waits(rig: Rig) -> None:
    rig.project.limits["TPUV5sPreemptibleLitepodPerProjectPerZoneForTPUAPI@us-west4-a"] = 0
    with pytest.raises(QuotaTooSmall, match="1 are needed; v5e in the TPU API, spot and flex-start, by zone"):
        rig.tpu.plan(rig.spec("tpu", settings=FLEX))
    assert not [one for one in rig.seam.operations() if one.endswith((".create", ".insert"))]


def test_four_chips_are_served_by_one_engine_over_all_of_them(rig: Rig) -> None:
    endpoint = rig.deploy("tpu", instance_types=("v5litepod-4",), max_usd_per_hour=5)
    assert endpoint.hardware is not None
    assert endpoint.hardware.accelerators == ("v5e",) * 4
    assert "--tensor-parallel-size 4" in rig.project.nodes[NODE]["metadata"]["modelrig-serve"]


def test_the_log_is_read_from_guest_attributes_before_any_tunnel(rig: Rig) -> None:
    rig.deploy("tpu")
    rig.tunnels.clear()
    before = len(rig.seam.sent)
    page = rig.tpu.logs(REF, since=timedelta(hours=1), limit=50)
    assert page.source == "guest attributes of modelrig-gemma"
    assert any("TPU KV cache size: 321,280 tokens" in line for line in page.lines)
    assert any(line.startswith("modelrig phase: engine answers r1") for line in page.lines)
    assert set(rig.seam.operations()[before:]) <= reads(rig.tpu.reads)
    assert rig.tunnels == []


def test_the_tunnel_goes_to_the_host_that_the_node_s_attributes_name(rig: Rig) -> None:
    rig.deploy("tpu")
    assert rig.tunnels[0].startswith("open port 8000 of t1v-n-")


def test_looking_asks_no_model(rig: Rig) -> None:
    rig.deploy("tpu")
    asked, before = len(Engine.asked), len(rig.seam.sent)
    rig.tpu.get(REF)
    rig.tpu.list(scope=Scope())
    assert len(Engine.asked) == asked
    assert set(rig.seam.operations()[before:]) <= reads(rig.tpu.reads)


def test_another_model_replaces_the_container_on_the_node_that_is_held(rig: Rig) -> None:
    before = rig.deploy("tpu")
    after = rig.tpu.update(REF, Change(settings={"max_model_len": 131072}), rig.book, rig.heard)
    assert (after.state, after.expires) == ("ready", before.expires)
    assert "--max-model-len 131072" in rig.project.nodes[NODE]["metadata"]["modelrig-serve"]
    assert rig.project.nodes[NODE]["labels"]["modelrig-deployment"] == before.deployment
    assert len(rig.project.bills) == 1


def test_another_end_moves_the_job_and_the_label(rig: Rig) -> None:
    rig.deploy("tpu")
    after = rig.tpu.update(REF, Change(ttl_hours=8), rig.book, rig.heard)
    assert after.expires.startswith("2026-11-29T23:0")
    rig.until("22:59")
    assert len(rig.project.billing()) == 1
    rig.until("23:05")
    assert rig.project.billing() == []


def test_the_end_of_a_flex_start_node_cannot_be_moved(rig: Rig) -> None:
    rig.deploy("tpu", settings=FLEX)
    with pytest.raises(Conflict, match="set the end of a flex-start node when it was made"):
        rig.tpu.update(REF, Change(ttl_hours=8), rig.book, rig.heard)


def test_a_zone_that_could_not_be_looked_at_is_said(rig: Rig) -> None:
    rig.deploy("tpu")
    rig.project.capacity["v6e-1@us-east5-a"] = 0

    from tests.clouds.gcp.simulator import Fault

    rig.seam.fault = Fault(-1, "server error", "tpu-v2alpha1.projects.locations.queuedResources.list")
    read = rig.tpu.list(scope=Scope("us-west4-a"))
    assert [one.ref for one in read.found] == [str(REF)]
    assert [(one.call, one.scope) for one in read.unread] == [
        ("tpu-v2alpha1.projects.locations.queuedResources.list", "us-west4-a")
    ]


def test_a_node_that_is_not_ours_is_not_found(rig: Rig) -> None:
    rig.deploy("tpu")
    rig.project.nodes[NODE]["labels"] = {}
    with pytest.raises(NotFound):
        rig.tpu.get(REF)


def test_what_no_zone_has_is_not_offered_before_anything_is_made(rig: Rig) -> None:
    with pytest.raises(NotOffered, match="v6e-1: us-west4-a does not have it"):
        rig.tpu.plan(rig.spec("tpu", accelerator="v6e"))


def test_a_queued_resource_that_was_deleted_elsewhere_leaves_a_node_that_is_said_and_deleted(rig: Rig) -> None:
    rig.deploy("tpu", settings=FLEX)
    rig.project.queued.clear()
    (left,) = rig.tpu.list(scope=Scope()).found
    assert (left.state, left.billing) == ("ready", True)
    assert left.reason.startswith("its queued resource is gone")
    assert rig.tpu.delete(REF, rig.book, rig.heard).gone
    assert empty(rig)
