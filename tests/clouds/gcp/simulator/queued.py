"""Queued resources of the TPU API: they wait without a word, become active, and stay as husks that hold quota."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from tests.clouds.gcp.simulator.project import Project, market_key, missing, refused
from tests.clouds.gcp.simulator.tpu import CAPACITY, bought_as, drop, end, new, operation, ready, too_much, within


def create_queued(project: Project, asked: Mapping[str, Any]) -> Any:
    name = f"{asked['parent']}/queuedResources/{asked['queuedResourceId']}"
    if (known := asked.get("requestId")) and known in project.requests:
        return project.operations[project.requests[known]]
    if name in project.queued:
        raise refused(409, "ALREADY_EXISTS", f"Resource '{name}' already exists")
    zone, body = asked["parent"].rsplit("/", 1)[-1], json.loads(json.dumps(asked["body"]))
    spec = body["tpu"]["nodeSpec"][0]
    kind, bought = spec["node"]["acceleratorType"], bought_as(spec["node"], body)
    made = operation(project, "create", name, "v2alpha1" if bought == "FLEX_START" else "v2")
    if known:
        project.requests[known] = made["name"]
    if bought == "FLEX_START" and zone in project.flex_refused:
        words = f'FLEX_START provisioning model is not supported for accelerator type "{kind}" in location "{zone}"'
        end(made, 3, words)
        return made
    row = {**body, "name": name, "state": {"state": "CREATING"}, "createTime": project.stamp()}
    project.queued[name] = row
    waits = float(str(body.get("queueingPolicy", {}).get("validUntilDuration", "7200s")).rstrip("s"))
    project.later(5, lambda: end(made))
    project.later(6, lambda: _waiting(project, name, row, kind, bought, waits))
    return made


def _waiting(project: Project, name: str, row: dict[str, Any], kind: str, market: str, left: float) -> None:
    """Neither missing quota nor missing capacity is told while it waits."""
    if project.queued.get(name) is not row or row["state"]["state"] not in {"CREATING", "WAITING_FOR_RESOURCES"}:
        return
    zone = name.split("/")[3]
    if not too_much(project, kind, market, zone) and project.takes(market_key(market, kind, zone)):
        row["state"] = {"state": "PROVISIONING"}
        spec = row["tpu"]["nodeSpec"][0]
        node = f"{spec['parent']}/nodes/{spec['nodeId']}"
        new(project, node, {**spec["node"], "queuedResource": name})
        project.later(20, lambda: _active(project, name, row, node))
    elif left <= 0:
        row["state"] = {"state": "FAILED", "failedData": {"error": {"code": 8, "message": CAPACITY.format(zone=zone)}}}
    else:
        row["state"] = {"state": "WAITING_FOR_RESOURCES"}
        project.later(60, lambda: _waiting(project, name, row, kind, market, left - 60))


def _active(project: Project, name: str, row: dict[str, Any], node: str) -> None:
    if project.queued.get(name) is not row or row["state"]["state"] != "PROVISIONING" or node not in project.nodes:
        return
    row["state"] = {"state": "ACTIVE"}
    ready(project, node)
    seconds = str(row.get("runDuration", {}).get("maxRunDuration", ""))
    if seconds:
        project.clock.at(
            project.now() + timedelta(seconds=float(seconds.rstrip("s"))), lambda: _over(project, name, row, node)
        )


def _over(project: Project, name: str, row: dict[str, Any], node: str) -> None:
    """The run is over: the node is deleted, the queued resource stays as a husk that holds quota (marin#87)."""
    if project.queued.get(name) is row:
        drop(project, node)
        row["state"] = {"state": "SUSPENDED"}


def get_queued(project: Project, asked: Mapping[str, Any]) -> Any:
    if asked["name"] not in project.queued:
        raise missing(asked["name"])
    return project.queued[asked["name"]]


def delete_queued(project: Project, asked: Mapping[str, Any]) -> Any:
    row, name = get_queued(project, asked), asked["name"]
    state = row["state"]["state"]
    force = str(asked.get("force", "")).lower() == "true"
    if state in {"PROVISIONING", "CREATING"} or (state == "ACTIVE" and not force):
        raise refused(400, "FAILED_PRECONDITION", f"queued resource is {state} and cannot be deleted")
    row["state"] = {"state": "DELETING"}
    made = operation(project, "delete", name)
    spec = row["tpu"]["nodeSpec"][0]

    def gone() -> None:
        drop(project, f"{spec['parent']}/nodes/{spec['nodeId']}")
        project.queued.pop(name, None)
        end(made)

    project.later(20, gone)
    return made


def queued(project: Project, asked: Mapping[str, Any]) -> Any:
    return {"queuedResources": within(project.queued, asked["parent"])}


_OWN: Mapping[str, Callable[[Project, Mapping[str, Any]], Any]] = {
    "create": create_queued,
    "get": get_queued,
    "delete": delete_queued,
    "list": queued,
}
OPERATIONS = {
    f"{service}.projects.locations.queuedResources.{verb}": handler
    for service in ("tpu", "tpu-v2alpha1")
    for verb, handler in _OWN.items()
}
