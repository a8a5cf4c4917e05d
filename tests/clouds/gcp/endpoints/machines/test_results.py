"""A machine that measures itself: watched until it is gone, its runs brought home, its remains taken away."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clouds.errors import Cancelled, InvalidInput, Unreachable
from tests.clouds.gcp.rig import Rig
from tests.clouds.gcp.simulator import Fault, gce

SETTINGS = {
    "results": "gs://demo-bucket/results",
    "run_code": "gs://demo-bucket/code.tar.gz",
    "run_code_sha256": "b" * 64,
    "run_arms": '[{"name": "base"}, {"name": "long", "max_model_len": 131072}]',
}
RUN = {"schema_version": 1, "id": "r-1"}


def finishes(rig: Rig, *, done: bool = True) -> Any:
    """The machine writes its results and deletes itself after a while."""

    def look(message: str) -> bool:
        key = next(iter(rig.project.instances), "")
        row = rig.project.instances.get(key)
        if row is not None and row["status"] == "RUNNING" and "RUNNING" in message:
            folder = f"demo-bucket/results/{row['labels']['modelrig-deployment']}"
            for arm in ("base", "long") if done else ("base",):
                rig.project.objects[f"{folder}/{arm}/{arm}.json"] = RUN
                rig.project.objects[f"{folder}/{arm}/answer.json"] = {"structured": {}}
            if done:
                rig.project.objects[f"{folder}/done.json"] = {"deployment": "d"}
            gce.delete(rig.project, {"zone": key.split("/")[0], "instance": key.split("/")[1]})
        return False

    return look


def test_the_runs_come_home_as_run_records_and_nothing_remains(rig: Rig) -> None:
    rig.heard.stop_when = finishes(rig)
    endpoint = rig.deploy(settings=SETTINGS)
    assert (endpoint.state, endpoint.billing) == ("deleted", False)
    assert endpoint.reason.startswith("2 run records of gs://demo-bucket/results/d-")
    kept = sorted((rig.book.home / "runs").iterdir())
    assert [path.name.split("-", 3)[-1] for path in kept] == [path.name.split("-", 3)[-1] for path in kept]
    assert [json.loads(path.read_text()) for path in kept] == [RUN, RUN]
    assert (rig.project.instances, rig.project.firewalls, rig.project.billing()) == ({}, {}, [])
    assert rig.book.unresolved() == ()


def test_a_machine_that_was_taken_back_leaves_what_it_had_and_is_said_to_have_failed(rig: Rig) -> None:
    rig.heard.stop_when = finishes(rig, done=False)
    endpoint = rig.deploy(settings=SETTINGS)
    assert endpoint.state == "failed"
    assert endpoint.reason.startswith("it ended before it was done")
    assert "1 run records" in endpoint.reason


def test_the_same_call_after_the_process_died_brings_the_runs_and_starts_no_second_machine(rig: Rig) -> None:
    plan = rig.begin(rig.gce.plan(rig.spec(settings=SETTINGS)))

    class Kill(BaseException):
        pass

    def die(message: str) -> bool:
        if message.startswith("us-east5-a: RUNNING"):
            raise Kill
        return False

    rig.heard.stop_when = die
    with pytest.raises(Kill):
        rig.gce.create(plan, rig.book, rig.heard)
    finishes(rig)("RUNNING")
    rig.project.clock.sleep(60)
    rig.heard.stop_when = lambda _: False
    endpoint = rig.gce.create(plan, rig.book, rig.heard)
    assert (endpoint.state, len(rig.project.bills)) == ("deleted", 1)


def test_results_that_cannot_be_read_now_are_brought_by_the_next_call_without_a_second_machine(rig: Rig) -> None:
    plan = rig.begin(rig.gce.plan(rig.spec(settings=SETTINGS)))
    rig.heard.stop_when = finishes(rig)
    rig.seam.fault = Fault(-1, "server error", "storage.objects.list")
    for _ in range(2):
        with pytest.raises(Unreachable):
            rig.gce.create(plan, rig.book, rig.heard)
    rig.seam.fault = None
    endpoint = rig.gce.create(plan, rig.book, rig.heard)
    assert (endpoint.state, len(rig.project.bills)) == ("deleted", 1)
    assert endpoint.reason.startswith("2 run records")
    assert (rig.project.instances, rig.project.firewalls) == ({}, {})


def test_being_asked_to_stop_takes_the_machine_back(rig: Rig) -> None:
    rig.heard.stop_when = lambda message: "RUNNING" in message
    with pytest.raises(Cancelled):
        rig.deploy(settings=SETTINGS)
    assert (rig.project.instances, rig.project.billing()) == ({}, [])


@pytest.mark.parametrize(
    ("arms", "words"),
    [
        ("[{}]", "arm 1 has no name"),
        ('[{"name": "a"}, {"name": "a"}]', "arm 2 has no name of its own"),
        ("[1, 2]", "arm 1 has no name"),
        ('[{"name": "a", "x": {}}]', "no plain value"),
        ('[{"name": "a", "gpu_memory_utilization": 0.95}]', "691-second"),
        ("[not json]", "is no JSON"),
    ],
)
def test_arms_that_the_engine_cannot_take_are_refused_before_anything_is_sent(rig: Rig, arms: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        rig.gce.plan(rig.spec(settings={**SETTINGS, "run_arms": arms}))
    assert rig.seam.sent == []
