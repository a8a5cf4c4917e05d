"""What nodes and queued resources mean together: which waits, which bills, which is only a husk."""

from __future__ import annotations

from typing import Any

import pytest

from clouds.gcp.endpoints.tpu.states import held_of

WHERE = "projects/p/locations/us-west4-a"


def node(status: str, **more: Any) -> dict[str, Any]:
    row = {"name": f"{WHERE}/nodes/modelrig-x", "state": status, "acceleratorType": "v5litepod-1"}
    return {**row, "labels": {"modelrig-deployment": "d-1"}, **more}


def queued(status: str, **more: Any) -> dict[str, Any]:
    spec = {"parent": WHERE, "nodeId": "modelrig-x", "node": node("")}
    row = {"name": f"{WHERE}/queuedResources/modelrig-x", "state": {"state": status}, "tpu": {"nodeSpec": [spec]}}
    return {**row, **more}


@pytest.mark.parametrize(
    ("of_node", "of_queue", "state", "billing", "dead"),
    [
        ("", "WAITING_FOR_RESOURCES", "waiting_for_capacity", False, False),
        ("", "ACCEPTED", "waiting_for_capacity", False, False),
        ("", "PROVISIONING", "creating", True, False),
        ("CREATING", "PROVISIONING", "creating", True, False),
        ("READY", "ACTIVE", "loading", True, False),
        ("READY", "", "loading", True, False),
        ("PREEMPTED", "SUSPENDED", "stopped", False, True),
        ("PREEMPTED", "", "stopped", False, True),
        ("TERMINATED", "", "stopped", False, True),
        ("DELETING", "", "deleting", False, False),
        ("", "SUSPENDED", "stopped", False, True),
        ("", "FAILED", "failed", False, True),
        ("", "DELETING", "deleting", False, False),
        ("", "ACTIVE", "unknown", None, False),
        ("REPAIRING", "", "unknown", None, False),
        ("A_FUTURE_STATE", "", "unknown", None, False),
        ("", "A_FUTURE_STATE", "unknown", None, False),
    ],
)
def test_every_state_has_one_meaning(of_node: str, of_queue: str, state: str, billing: bool | None, dead: bool) -> None:
    held = held_of(node(of_node) if of_node else None, queued(of_queue) if of_queue else None)
    assert (held.standing.state, held.standing.billing, held.dead) == (state, billing, dead)
    assert (held.name, held.zone, held.project, held.deployment) == ("modelrig-x", "us-west4-a", "p", "d-1")


def test_a_husk_says_what_it_holds_and_a_failure_why() -> None:
    husk = held_of(None, queued("SUSPENDED"))
    assert husk.standing.reason.endswith("its name and quota are held until it is deleted")
    failed = queued("FAILED", state={"state": "FAILED", "failedData": {"error": {"code": 8, "message": "no more"}}})
    assert held_of(None, failed).standing.reason.endswith("until it is deleted: no more")


@pytest.mark.parametrize(
    ("of_node", "of_queue", "market"),
    [
        (node("READY"), None, "on-demand"),
        (node("READY", schedulingConfig={"spot": True}), None, "spot"),
        (node("READY", schedulingConfig={"preemptible": True}), None, "spot"),
        (None, queued("ACCEPTED", spot={}), "spot"),
        (None, queued("ACCEPTED", provisioningModel="FLEX_START"), "flex-start"),
        (node("READY", schedulingConfig={"reserved": True}), None, "reserved"),
    ],
)
def test_the_market_is_told_from_either(
    of_node: dict[str, Any] | None, of_queue: dict[str, Any] | None, market: str
) -> None:
    assert held_of(of_node, of_queue).market == market


def test_a_node_whose_queued_resource_is_gone_says_that_nothing_ends_it() -> None:
    made = node("READY", queuedResource=f"{WHERE}/queuedResources/modelrig-x")
    assert held_of(made, None).standing.reason.endswith("only deleting ends it now")
    assert held_of(made, queued("ACTIVE")).standing.reason == ""
    assert held_of(made, None, looked=False).standing.reason == ""  # it may be there: it could not be read
    assert held_of(node("READY"), None).standing.reason == ""
    assert "only deleting" not in held_of({**made, "state": "PREEMPTED"}, None).standing.reason
