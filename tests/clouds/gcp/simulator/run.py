"""Cloud Run: dry runs, revisions that come up or fail, scaling to zero, labels that make no revision."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.clouds.gcp.simulator.project import Project, missing, refused

COLD, IDLE = 250.0, 900.0
"""Seconds until a revision passes its probe (180 s wait, then the weights); until an idle instance is gone."""


def operation(project: Project, target: str) -> dict[str, Any]:
    where = "/".join(target.split("/")[:4])
    row: dict[str, Any] = {"name": f"{where}/operations/{project.id():08d}", "done": False}
    project.operations[row["name"]] = row
    return row


def create(project: Project, asked: Mapping[str, Any]) -> Any:
    name = f"{asked['parent']}/services/{asked['serviceId']}"
    body = json.loads(json.dumps(asked["body"]))
    limits = body["template"]["containers"][0]["resources"]["limits"]
    if float(limits["cpu"]) < 4:
        raise refused(400, "INVALID_ARGUMENT", "spec.template: GPU services need at least 4 CPU")
    if str(asked.get("validateOnly", "")).lower() == "true":
        return {"name": f"{asked['parent']}/operations/dry", "done": True}
    if name in project.services:
        raise refused(409, "ALREADY_EXISTS", f"Resource '{asked['serviceId']}' already exists.")
    row = {
        **body, "name": name, "createTime": project.stamp(), "generation": "1", "reconciling": True,
        "etag": f'"{project.id()}"', "terminalCondition": _condition(project, "CONDITION_RECONCILING"),
    }  # fmt: skip
    project.services[name] = row
    made = operation(project, name)
    _revise(project, name, row, made)
    return made


def _condition(project: Project, state: str, message: str = "", reason: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {"type": "Ready", "state": state, "lastTransitionTime": project.stamp()}
    if message:
        found.update(message=message, revisionReason=reason)
    return found


def _revise(project: Project, name: str, row: dict[str, Any], made: dict[str, Any]) -> None:
    place, label = name.split("/")[3], f"service {name.rsplit('/', 1)[-1]}"
    number = int(row["generation"])

    def starts() -> None:
        if project.services.get(name) is row and not project.run_fails and row.get("deleteTime") is None:
            project.unbill(label, place)
            project.bill(label, place)

    def up() -> None:
        if project.services.get(name) is not row:
            return
        made["done"] = True
        row["reconciling"] = False
        if project.run_fails:
            row["terminalCondition"] = _condition(project, "CONDITION_FAILED", project.run_fails, "CONTAINER_MISSING")
            row["terminalCondition"].pop("revisionReason")
            return
        row["terminalCondition"] = _condition(project, "CONDITION_SUCCEEDED")
        row["uri"] = project.uri
        row["latestReadyRevision"] = f"{name}/revisions/{name.rsplit('/', 1)[-1]}-{number:05d}"
        if not row.get("scaling", {}).get("minInstanceCount"):
            project.later(IDLE, lambda: project.unbill(label, place))

    project.later(5, starts)
    project.later(COLD, up)


def get(project: Project, asked: Mapping[str, Any]) -> Any:
    if asked["name"] not in project.services:
        raise missing(asked["name"])
    return project.services[asked["name"]]


def patch(project: Project, asked: Mapping[str, Any]) -> Any:
    row, mask = get(project, asked), str(asked.get("updateMask", ""))
    if not mask:
        project.misuse.append(f"{asked['name']} was patched without a mask")
    for field in mask.split(","):
        row[field] = json.loads(json.dumps(asked["body"].get(field)))
    made = operation(project, asked["name"])
    if "template" in mask.split(","):
        row["generation"] = str(int(row["generation"]) + 1)
        row["reconciling"], row["terminalCondition"] = True, _condition(project, "CONDITION_RECONCILING")
        _revise(project, asked["name"], row, made)
    else:
        made["done"] = True
    return made


def delete(project: Project, asked: Mapping[str, Any]) -> Any:
    row, name = get(project, asked), asked["name"]
    row["deleteTime"] = project.stamp()
    made = operation(project, name)

    def gone() -> None:
        project.services.pop(name, None)
        project.unbill(f"service {name.rsplit('/', 1)[-1]}", name.split("/")[3])
        made["done"] = True

    project.later(8, gone)
    return made


def listed(project: Project, asked: Mapping[str, Any]) -> Any:
    place = asked["parent"].rsplit("/", 1)[-1]
    if place == "-":
        raise refused(400, "INVALID_ARGUMENT", "location must be a region and cannot be the wildcard")
    return {"services": [row for name, row in project.services.items() if place == name.split("/")[3]]}


def regions(_: Project, asked: Mapping[str, Any]) -> Any:
    known = ("europe-west4", "us-central1", "us-east4")
    return {"locations": [{"name": f"{asked['name']}/locations/{one}", "locationId": one} for one in known]}


def read_operation(project: Project, asked: Mapping[str, Any]) -> Any:
    if asked["name"] not in project.operations:
        raise missing(asked["name"])
    return project.operations[asked["name"]]


_R = "run.projects.locations"
OPERATIONS: Mapping[str, Callable[[Project, Mapping[str, Any]], Any]] = {
    f"{_R}.services.create": create,
    f"{_R}.services.get": get,
    f"{_R}.services.patch": patch,
    f"{_R}.services.delete": delete,
    f"{_R}.services.list": listed,
    "run-v1.projects.locations.list": regions,
    f"{_R}.operations.get": read_operation,
}
