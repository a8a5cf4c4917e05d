"""Compute Engine: operations, stockouts, flex-start's wait, run durations, preemption, serial console, labels."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.clouds.gcp.simulator import boot
from tests.clouds.gcp.simulator.project import NAME, Project, market_key, missing, refused

BASE = "https://www.googleapis.com/compute/v1/projects"


def operation(project: Project, kind: str, target: str, zone: str = "") -> dict[str, Any]:
    """A new operation; what ends it is scheduled by whoever made it."""
    number = project.id()
    where = f"{BASE}/{NAME}/zones/{zone}" if zone else f"{BASE}/{NAME}/global"
    row: dict[str, Any] = {
        "kind": "compute#operation", "id": str(7_000_000 + number), "name": f"operation-{number:06d}",
        "operationType": kind, "status": "RUNNING", "progress": 0, "targetLink": target, "insertTime": project.stamp(),
        "selfLink": f"{where}/operations/operation-{number:06d}",
    }  # fmt: skip
    if zone:
        row["zone"] = where
    project.operations[row["name"]] = row
    return row


def end(row: dict[str, Any], error: Mapping[str, Any] | None = None, status: int = 0, words: str = "") -> None:
    row.update(status="DONE", progress=100)
    if error is not None:
        row.update(error={"errors": [error]}, httpErrorStatusCode=status, httpErrorMessage=words)


def stockout(project: Project, kind: str, zone: str) -> dict[str, Any]:
    """The words of a public report (sample-platform#901), with the zones that have some."""
    info = {
        "reason": "stockout", "domain": "compute.googleapis.com",
        "metadatas": {"vmType": kind, "zone": zone, **({"zonesAvailable": project.hints} if project.hints else {})},
    }  # fmt: skip
    return {
        "code": "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS",
        "message": f"The zone 'projects/{NAME}/zones/{zone}' does not have enough resources available to fulfill the "
        "request.  '(resource type:compute)'.",
        "errorDetails": [{"errorInfo": info}],
    }


def _quota(kind: str, market: str, zone: str) -> tuple[str, ...]:
    region = zone.rsplit("-", 1)[0]
    if kind.startswith("ct6e"):
        spot = f"PREEMPTIBLE-TPU-V6E-per-project-region@{region}"
        return (f"TPUS-PER-TPU-FAMILY-per-project-region@{region}",) if market == "STANDARD" else (spot,)
    return (f"{'' if market == 'STANDARD' else 'PREEMPTIBLE_'}NVIDIA_L4_GPUS@{region}",)


def insert(project: Project, asked: Mapping[str, Any]) -> Any:
    zone, body = asked["zone"], json.loads(json.dumps(asked["body"]))
    if (known := asked.get("requestId")) and known in project.requests:
        return project.operations[project.requests[known]]
    kind, key = body["machineType"].rsplit("/", 1)[-1], f"{zone}/{body['name']}"
    if key in project.instances:
        words = f"The resource 'projects/{NAME}/zones/{zone}/instances/{body['name']}' already exists"
        raise refused(409, "ALREADY_EXISTS", words, errors=[{"reason": "alreadyExists", "message": words}])
    if not any(one.endswith(f"{kind}@{zone}") for one in project.capacity):
        raise refused(400, "INVALID_ARGUMENT", f"Machine type {kind} does not exist in zone {zone}.")
    market = body["scheduling"]["provisioningModel"]
    link = f"{BASE}/{NAME}/zones/{zone}/instances/{body['name']}"
    row = {
        **body, "id": str(9_000_000 + project.id()), "kind": "compute#instance", "selfLink": link,
        "zone": f"{BASE}/{NAME}/zones/{zone}", "creationTimestamp": project.stamp(), "labelFingerprint": "1",
        "status": "PENDING" if market == "FLEX_START" else "PROVISIONING",
        "machineType": f"{BASE}/{NAME}/zones/{zone}/machineTypes/{kind}",
        "metadata": {**body["metadata"], "fingerprint": "1"},
    }  # fmt: skip
    row.pop("params", None)
    project.instances[key] = row
    made = operation(project, "insert", link, zone)
    if known:
        project.requests[known] = made["name"]
    if market == "FLEX_START":
        waits = float(body["params"]["requestValidForDuration"]["seconds"])
        project.later(5, lambda: _wait(project, key, made, kind, zone, waits))
    else:
        project.later(6, lambda: _place(project, key, made, kind, market, zone))
    return made


def _lost(project: Project, key: str, made: dict[str, Any], kind: str, zone: str) -> None:
    project.instances.pop(key, None)
    end(made, stockout(project, kind, zone), 503, "SERVICE UNAVAILABLE")


def _place(project: Project, key: str, made: dict[str, Any], kind: str, market: str, zone: str) -> None:
    if key not in project.instances or project.instances[key]["status"] == "STOPPING":
        end(made)
        return
    short = project.limited(_quota(kind, market, zone), 1)
    if short:
        project.instances.pop(key)
        name = short.split("@")[0]
        message = f"Quota '{name}' exceeded.  Limit: {project.limits[short]} in region {zone.rsplit('-', 1)[0]}."
        end(made, {"code": "QUOTA_EXCEEDED", "message": message}, 403, "FORBIDDEN")
    elif not project.takes(market_key(market, kind, zone)):
        _lost(project, key, made, kind, zone)
    else:
        _begin(project, key, made, zone)


def _wait(project: Project, key: str, made: dict[str, Any], kind: str, zone: str, left: float) -> None:
    """Flex-start: no word whether it is quota or capacity that is missing."""
    row = project.instances.get(key)
    if row is None or row["status"] != "PENDING":
        end(made)
        return
    allowed = not project.limited(_quota(kind, "FLEX_START", zone), 1)
    if allowed and zone not in project.flex_refused and project.takes(market_key("FLEX_START", kind, zone)):
        _begin(project, key, made, zone)
    elif left <= 0:
        _lost(project, key, made, kind, zone)
    else:
        project.later(60, lambda: _wait(project, key, made, kind, zone, left - 60))


def _begin(project: Project, key: str, made: dict[str, Any], zone: str) -> None:
    row = project.instances[key]
    row["status"] = "STAGING"
    kind = row["machineType"].rsplit("/", 1)[-1]
    taken = market_key(row["scheduling"]["provisioningModel"], kind, zone)
    project.bill(f"instance {row['name']}", zone, taken)

    def run() -> None:
        if row["status"] != "STAGING":
            return
        row["status"] = "RUNNING"
        end(made)
        boot.begin(project, key)
        seconds = float(row["scheduling"]["maxRunDuration"]["seconds"])
        from datetime import timedelta

        when = project.now() + timedelta(seconds=seconds)
        row["resourceStatus"] = {"scheduling": {"terminationTimestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ")}}
        project.clock.at(when, lambda: _gone(project, key, row))

    project.later(10, run)


def _gone(project: Project, key: str, row: dict[str, Any]) -> None:
    if project.instances.get(key) is row:
        project.instances.pop(key)
        project.unbill(f"instance {row['name']}", key.split("/", maxsplit=1)[0])
        project.started.pop(key, None)


def preempt(project: Project, key: str) -> None:
    """Google takes a spot machine back: it is stopped, then deleted as its termination action says."""
    row = project.instances[key]
    row["status"] = "STOPPING"
    project.later(30, lambda: _gone(project, key, row))


def delete(project: Project, asked: Mapping[str, Any]) -> Any:
    key = f"{asked['zone']}/{asked['instance']}"
    row = _row(project, asked)
    made = operation(project, "delete", row["selfLink"], asked["zone"])
    row["status"] = "STOPPING"

    def gone() -> None:
        _gone(project, key, row)
        end(made)

    project.later(20, gone)
    return made


def _row(project: Project, asked: Mapping[str, Any]) -> dict[str, Any]:
    key = f"{asked['zone']}/{asked['instance']}"
    if key not in project.instances:
        raise missing(f"projects/{NAME}/zones/{asked['zone']}/instances/{asked['instance']}")
    return project.instances[key]


def aggregated(project: Project, asked: Mapping[str, Any]) -> Any:
    scopes: dict[str, Any] = {}
    wanted = str(asked.get("filter", ""))
    for key, row in project.instances.items():
        if not wanted or "modelrig-deployment" in row.get("labels", {}):
            scopes.setdefault(f"zones/{key.split('/')[0]}", {"instances": []})["instances"].append(row)
    return {"kind": "compute#instanceAggregatedList", "items": scopes}


def machine_types(project: Project, asked: Mapping[str, Any]) -> Any:
    kind = str(asked.get("filter", "")).removeprefix("name=")
    scopes: dict[str, Any] = {}
    for key in project.capacity:
        name, _, zone = key.rsplit(":", 1)[-1].partition("@")
        if name == kind:
            scopes[f"zones/{zone}"] = {"machineTypes": [{"name": name, "zone": zone}]}
    return {"items": scopes}


def serial(project: Project, asked: Mapping[str, Any]) -> Any:
    row, key = _row(project, asked), f"{asked['zone']}/{asked['instance']}"
    text = "\r\n".join(boot.lines(project, key, revision(row)))
    return {"contents": f"{text}\r\n", "start": "0", "next": str(len(text)), "kind": "compute#serialPortOutput"}


def revision(row: Mapping[str, Any]) -> int:
    """The revision of the program in a machine's metadata."""
    items = row["metadata"]["items"] if "items" in row["metadata"] else [row["metadata"]]
    text = next((item["value"] for item in items if item.get("key") == "modelrig-serve"), "")
    found = [line for line in text.splitlines() if line.startswith("# revision ")]
    return int(found[0].split()[-1]) if found else 1


def set_labels(project: Project, asked: Mapping[str, Any]) -> Any:
    row, body = _row(project, asked), asked["body"]
    if body.get("labelFingerprint") != row["labelFingerprint"]:
        raise refused(412, "FAILED_PRECONDITION", "Labels fingerprint either invalid or resource labels have changed")
    row["labels"], row["labelFingerprint"] = dict(body["labels"]), str(int(row["labelFingerprint"]) + 1)
    made = operation(project, "setLabels", row["selfLink"], asked["zone"])
    end(made)
    return made


def set_metadata(project: Project, asked: Mapping[str, Any]) -> Any:
    row, body = _row(project, asked), asked["body"]
    if body.get("fingerprint") != row["metadata"]["fingerprint"]:
        raise refused(412, "FAILED_PRECONDITION", "Supplied fingerprint does not match current metadata fingerprint.")
    row["metadata"] = {"items": list(body["items"]), "fingerprint": str(int(body["fingerprint"]) + 1)}
    boot.changed(project, f"{asked['zone']}/{asked['instance']}")
    made = operation(project, "setMetadata", row["selfLink"], asked["zone"])
    end(made)
    return made


def read_operation(project: Project, asked: Mapping[str, Any]) -> Any:
    if asked["operation"] not in project.operations:
        raise missing(f"operations/{asked['operation']}")
    return project.operations[asked["operation"]]


def firewall_insert(project: Project, asked: Mapping[str, Any]) -> Any:
    body = dict(asked["body"])
    if (known := asked.get("requestId")) and known in project.requests:
        return project.operations[project.requests[known]]
    if body["name"] in project.firewalls:
        words = f"The resource 'projects/{NAME}/global/firewalls/{body['name']}' already exists"
        raise refused(409, "ALREADY_EXISTS", words, errors=[{"reason": "alreadyExists", "message": words}])
    project.firewalls[body["name"]] = body
    made = operation(project, "insert", f"{BASE}/{NAME}/global/firewalls/{body['name']}")
    end(made)
    if known:
        project.requests[known] = made["name"]
    return made


def firewall_get(project: Project, asked: Mapping[str, Any]) -> Any:
    if asked["firewall"] not in project.firewalls:
        raise missing(f"projects/{NAME}/global/firewalls/{asked['firewall']}")
    return project.firewalls[asked["firewall"]]


def firewall_delete(project: Project, asked: Mapping[str, Any]) -> Any:
    firewall_get(project, asked)
    made = operation(project, "delete", f"{BASE}/{NAME}/global/firewalls/{asked['firewall']}")

    def gone() -> None:
        project.firewalls.pop(asked["firewall"], None)
        end(made)

    project.later(3, gone)
    return made


def image(_: Project, asked: Mapping[str, Any]) -> Any:
    return {"name": f"{asked['family']}-v20261101", "family": asked["family"]}


OPERATIONS: Mapping[str, Callable[[Project, Mapping[str, Any]], Any]] = {
    "compute.instances.insert": insert,
    "compute.instances.delete": delete,
    "compute.instances.get": _row,
    "compute.instances.aggregatedList": aggregated,
    "compute.instances.getSerialPortOutput": serial,
    "compute.instances.setLabels": set_labels,
    "compute.instances.setMetadata": set_metadata,
    "compute.machineTypes.aggregatedList": machine_types,
    "compute.zoneOperations.get": read_operation,
    "compute.globalOperations.get": read_operation,
    "compute.firewalls.insert": firewall_insert,
    "compute.firewalls.get": firewall_get,
    "compute.firewalls.delete": firewall_delete,
    "compute.images.getFromFamily": image,
}
