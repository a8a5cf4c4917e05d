"""The calls that make one node of the TPU API, directly or by a queued resource, and the job that ends it."""

from __future__ import annotations

from typing import Any

from clouds.gcp.endpoints import ending
from clouds.gcp.endpoints.hardware import RUNTIMES, Shape
from clouds.gcp.endpoints.machines import calls
from clouds.gcp.endpoints.machines.calls import Build
from clouds.gcp.endpoints.tpu.settings import queued
from clouds.models import Call

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
FLEX = "tpu-v2alpha1"
"""Flex-start is in REST v2alpha1 alone; google-cloud-tpu 1.28.0 has no field for it (facts of 2026-11-29)."""


def parent(project: str, zone: str) -> str:
    """`projects/p/locations/us-west4-a`."""
    return f"projects/{project}/locations/{zone}"


def node_body(build: Build, shape: Shape, zone: str) -> dict[str, Any]:
    """The node itself."""
    chosen = build.chosen
    body: dict[str, Any] = {
        "acceleratorType": shape.type,
        "runtimeVersion": str(chosen.extra.get("runtime") or RUNTIMES[shape.accelerator]),
        "networkConfig": {
            "network": f"projects/{build.project}/global/networks/{chosen.network}",
            "enableExternalIps": True,
        },
        "serviceAccount": {"scope": [SCOPE], **({"email": chosen.service_account} if chosen.service_account else {})},
        "labels": build.labels,
        "tags": [calls.rule_name(build.service, build.name)],
        "metadata": calls.metadata(build, shape, zone, attributes=True),
    }
    if chosen.market == "spot" and not queued(chosen):
        body["schedulingConfig"] = {"spot": True}
    return body


def in_zone(build: Build, shape: Shape, zone: str, number: int, end_by: str) -> tuple[Call, ...]:
    """The calls of one zone: what ends it first, so that nothing ever runs without an end."""
    body, where, name = node_body(build, shape, zone), parent(build.project, zone), calls.label(build.name)
    if build.chosen.market == "flex-start":
        return (_flex(build, body, where, name, number),)
    resource = "queuedResources" if queued(build.chosen) else "nodes"
    uri = f"https://tpu.googleapis.com/v2/{where}/{resource}/{name}{'?force=true' if queued(build.chosen) else ''}"
    job = ending.job(build.project, zone, f"{name}-{zone}", uri, build.labels, build.end, end_by)
    if not queued(build.chosen):
        asked = {"parent": where, "nodeId": name, "body": body}
        return (job, Call("tpu", "projects.locations.nodes.create", asked))
    tier: dict[str, Any] = {"spot": {}} if build.chosen.market == "spot" else {"guaranteed": {}}
    spec = {"nodeSpec": [{"parent": where, "nodeId": name, "node": body}]}
    policy = {"validUntilDuration": f"{round(build.chosen.wait_hours * 3600)}s"}
    asked = {
        "parent": where,
        "queuedResourceId": name,
        "requestId": build.request(number),
        "body": {"tpu": spec, **tier, "queueingPolicy": policy},
    }
    return (job, Call("tpu", "projects.locations.queuedResources.create", asked))


def _flex(build: Build, body: dict[str, Any], where: str, name: str, number: int) -> Call:
    asked = {
        "parent": where,
        "queuedResourceId": name,
        "requestId": build.request(number),
        "body": {
            "tpu": {"nodeSpec": [{"parent": where, "nodeId": name, "node": body}]},
            "provisioningModel": "FLEX_START",
            "runDuration": {"maxRunDuration": f"{build.ttl_seconds}s"},
            "queueingPolicy": {"validUntilDuration": f"{round(build.chosen.wait_hours * 3600)}s"},
        },
    }
    return Call(FLEX, "projects.locations.queuedResources.create", asked)
