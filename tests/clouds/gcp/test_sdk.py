"""Nodes and instances are created and deleted by Google's own packages, and what Google answered comes back whole."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import pytest

from clouds.errors import Conflict, NoCapacity, NotFound, QuotaTooSmall, Unreachable
from clouds.gcp import sdk
from clouds.gcp.api import GcpApi
from clouds.gcp.session import recorded
from clouds.models import Call, Scope
from clouds.readonly import Forbidden, ReadOnly
from clouds.replay import Replay, load
from tests.clouds.gcp.recorded import FIXTURES
from tests.clouds.gcp.server import PROJECT, Google

ZONE = "us-west4-a"
HERE = Scope(ZONE)
PARENT = f"projects/{PROJECT}/locations/{ZONE}"
NODE = f"{PARENT}/nodes/n1"
BODY = {
    "acceleratorType": "v5litepod-1",
    "runtimeVersion": "v2-alpha-tpuv5-lite",
    "metadata": {"startup-script": "#!/bin/bash"},
    "schedulingConfig": {"spot": True},
}
FLEX = {  # as google-cloud-compute 1.57.0 puts the article's flex-start machine on the wire
    "name": "vm1",
    "machineType": f"zones/{ZONE}/machineTypes/ct6e-standard-1t",
    "disks": [
        {
            "boot": True,
            "autoDelete": True,
            "initializeParams": {"sourceImage": "projects/p/global/images/family/ubuntu-accel", "diskSizeGb": "200"},
        }
    ],
    "networkInterfaces": [
        {
            "network": "global/networks/default",
            "accessConfigs": [{"name": "External NAT", "type": "ONE_TO_ONE_NAT"}],
        }
    ],
    "scheduling": {
        "provisioningModel": "FLEX_START",
        "onHostMaintenance": "TERMINATE",
        "automaticRestart": False,
        "instanceTerminationAction": "DELETE",
        "maxRunDuration": {"seconds": "14400"},
    },
    "params": {"requestValidForDuration": {"seconds": "7200"}},
    "reservationAffinity": {"consumeReservationType": "NO_RESERVATION"},
    "metadata": {"items": [{"key": "startup-script", "value": "#!/bin/bash"}]},
    "serviceAccounts": [{"email": "default", "scopes": ["https://www.googleapis.com/auth/cloud-platform"]}],
}
CREATE = Call("tpu", "projects.locations.nodes.create", {"nodeId": "n1", "body": BODY})
DELETE = Call("tpu", "projects.locations.nodes.delete", {"name": NODE})
INSERT = Call("compute", "instances.insert", {"body": FLEX, "requestId": "7e57"})
REMOVE = Call("compute", "instances.delete", {"instance": "vm1"})
RUNNING = {"kind": "compute#operation", "id": "1", "name": "operation-1", "status": "RUNNING", "targetLink": "…/vm1"}
OPERATION = {"name": f"{PARENT}/operations/operation-1"}


def packages(google: Google) -> list[str]:
    """Which of Google's packages sent each request, by the mark that it puts on it: `gapic/1.28.0`."""
    marks = [each.headers.get("x-goog-api-client", "") for each in google.asked]
    return [next((word for word in mark.split() if word.startswith("gapic/")), "none") for mark in marks]


def test_a_node_is_created_read_and_deleted_by_tpu_v2(google: Google) -> None:
    from google.cloud.tpu_v2.gapic_version import __version__

    google.on(str(CREATE), OPERATION)
    google.on("tpu.projects.locations.nodes.get", {"name": NODE, "state": "READY", "protectionTier": "STANDARD"})
    google.on(str(DELETE), {**OPERATION, "done": True})
    api = google.api()
    assert api.send(CREATE, scope=HERE) == OPERATION
    assert api.sdk.node(NODE)["protectionTier"] == "STANDARD"  # tpu_v2 1.28.0 does not know it; it is not lost
    assert api.send(DELETE, scope=HERE) == {**OPERATION, "done": True}
    assert packages(google) == [f"gapic/{__version__}"] * 3
    assert [(each.name.rsplit(".", 1)[-1], each.parameters) for each in google.asked] == [
        ("create", {"parent": PARENT, "nodeId": "n1", "body": BODY}),
        ("get", {"name": NODE}),
        ("delete", {"name": NODE}),
    ]


def test_an_instance_is_created_and_deleted_by_compute_v1(google: Google) -> None:
    from google.cloud.compute_v1.gapic_version import __version__

    google.on(str(INSERT), RUNNING)
    google.on(str(REMOVE), RUNNING)
    api = google.api()
    assert api.send(INSERT, scope=HERE) == RUNNING
    assert api.send(REMOVE, scope=HERE) == RUNNING
    assert packages(google) == [f"gapic/{__version__}"] * 2
    where = {"project": PROJECT, "zone": ZONE}
    assert [each.parameters for each in google.asked] == [
        {**where, "requestId": "7e57", "body": FLEX},
        {**where, "instance": "vm1"},
    ]


def test_the_mark_tells_a_package_from_our_own_request(google: Google) -> None:
    google.on("tpu.projects.locations.nodes.get", {"name": NODE})
    api = google.api()
    api.send(Call("tpu", "projects.locations.nodes.get", {"name": NODE}), scope=HERE)
    assert packages(google) == ["none"]


def test_a_queued_resource_that_the_package_can_express_goes_through_it(google: Google) -> None:
    name = f"{PARENT}/queuedResources/q1"
    body = {"tpu": {"nodeSpec": [{"parent": PARENT, "nodeId": "n1", "node": BODY}]}, "spot": {}}
    create = Call("tpu", "projects.locations.queuedResources.create", {"queuedResourceId": "q1", "body": body})
    delete = Call("tpu", "projects.locations.queuedResources.delete", {"name": name, "force": True})
    google.on(str(create), OPERATION)
    google.on(str(delete), OPERATION)
    api = google.api()
    api.send(create, scope=HERE)
    api.send(delete, scope=HERE)
    assert "none" not in packages(google)
    assert [each.parameters for each in google.asked] == [
        {"parent": PARENT, "queuedResourceId": "q1", "body": body},
        {"name": name, "force": "true"},
    ]


def test_flex_start_on_the_tpu_api_goes_over_rest_because_no_package_knows_it(google: Google) -> None:
    body = {
        "tpu": {"nodeSpec": [{"parent": PARENT, "nodeId": "n1", "node": BODY}]},
        "provisioningModel": "FLEX_START",
        "runDuration": {"maxRunDuration": "14400s"},
        "queueingPolicy": {"validUntilDuration": "7200s"},
    }
    create = Call("tpu-v2alpha1", "projects.locations.queuedResources.create", {"queuedResourceId": "q", "body": body})
    google.on(str(create), OPERATION)
    google.api().send(create, scope=HERE)
    assert packages(google) == ["none"]
    assert google.asked[0].body == body


def test_a_field_that_the_package_does_not_know_yet_goes_over_rest(google: Google) -> None:
    body = {**BODY, "protectionTier": "STANDARD"}
    google.on(str(CREATE), OPERATION)
    google.api().send(Call(CREATE.service, CREATE.operation, {"nodeId": "n1", "body": body}), scope=HERE)
    assert packages(google) == ["none"]
    assert google.asked[0].body == body


@pytest.mark.parametrize(("package", "call"), [("compute_v1", INSERT), ("tpu_v2", CREATE)])
def test_without_a_package_the_same_call_goes_over_rest(
    google: Google, monkeypatch: pytest.MonkeyPatch, package: str, call: Call
) -> None:
    monkeypatch.delattr(import_module("google.cloud"), package, raising=False)
    monkeypatch.setitem(sys.modules, f"google.cloud.{package}", None)
    google.on(str(call), OPERATION)
    assert google.api().send(call, scope=HERE) == OPERATION
    assert packages(google) == ["none"]
    assert google.asked[0].body == call.parameters["body"]


def test_an_answer_that_the_package_cannot_read_is_what_happened_all_the_same(google: Google) -> None:
    done = {
        **OPERATION,
        "done": True,
        "response": {
            "@type": "type.googleapis.com/google.cloud.tpu.v2.Node",
            "name": NODE,
            "protectionTier": "STANDARD",
        },
    }
    google.on(str(CREATE), done)
    assert google.api().send(CREATE, scope=HERE) == done
    assert len(google.asked) == 1


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (
            429,
            {
                "code": 429,
                "status": "RESOURCE_EXHAUSTED",
                "message": "Quota limit 'TPUV6E' has been exceeded. Limit: 0",
            },
            QuotaTooSmall,
        ),
        (
            429,
            {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "There is no more capacity in the zone"},
            NoCapacity,
        ),
        (409, {"code": 409, "status": "ALREADY_EXISTS", "message": "Resource already exists"}, Conflict),
        (404, {"code": 404, "status": "NOT_FOUND", "message": "gone"}, NotFound),
        (503, {"code": 503, "status": "UNAVAILABLE", "message": "later"}, Unreachable),
    ],
)
def test_an_error_of_the_package_is_one_of_our_tree_and_a_create_is_sent_once(
    google: Google, status: int, body: dict[str, Any], kind: type[Exception]
) -> None:
    google.on(str(CREATE), (status, {"error": body}))
    with pytest.raises(kind):
        google.api(attempts=4).send(CREATE, scope=HERE)
    assert len(google.asked) == 1


def test_what_a_package_sends_passes_the_same_guard(google: Google) -> None:
    api = google.api(ReadOnly(frozenset({"compute.instances.get"})))
    for call in (CREATE, DELETE, INSERT, REMOVE):
        with pytest.raises(Forbidden):
            api.send(call, scope=HERE)
    assert google.asked == []


def test_what_a_package_sends_is_answered_from_recordings() -> None:
    replay = Replay([load(FIXTURES / "sdk" / "node_and_instance" / "created_read_and_deleted")])
    api = GcpApi(build=recorded, taps=(replay,), base="http://127.0.0.1:9")
    node = NODE.replace(PROJECT, "modelrig-demo")
    api.send(CREATE, scope=HERE)
    assert api.sdk.node(node)["state"] == "READY"
    api.send(Call(DELETE.service, DELETE.operation, {"name": node}), scope=HERE)
    api.send(INSERT, scope=HERE)
    api.send(REMOVE, scope=HERE)
    assert replay.operations == [
        "tpu.projects.locations.nodes.create",
        "tpu.projects.locations.nodes.get",
        "tpu.projects.locations.nodes.delete",
        "compute.instances.insert",
        "compute.instances.delete",
    ]
    assert replay.sent[0].location == ZONE
    assert replay.missed == []


def test_every_call_that_is_carried_is_one_that_we_know() -> None:
    from clouds.gcp import methods

    assert all(methods.table(name.split(".", 1)[0])[name.split(".", 1)[1]].verb != "GET" for name in sdk.CARRIED)
