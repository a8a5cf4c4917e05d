"""The TPU API: nodes, queued resources, husks; one code for quota and stockout; flex-start in v2alpha1 alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.clouds.gcp.simulator import boot
from tests.clouds.gcp.simulator.project import Project, market_key, missing, refused

CAPACITY = (
    'There is no more capacity in the zone "{zone}"; you can try in another zone where Cloud TPU Nodes are offered '
    "(see https://cloud.google.com/tpu/docs/regions) [EID: 0xba393c906974e61]"
)
"""The words of gsoc-wav2vec2#11."""
_QUOTA = {"v5e": ("V5s", "Litepod"), "v6e": ("V6E", ""), "v5p": ("V5P", "")}


def operation(project: Project, verb: str, target: str, version: str = "v2") -> dict[str, Any]:
    where = "/".join(target.split("/")[:4])
    row: dict[str, Any] = {
        "name": f"{where}/operations/operation-{project.id():06d}",
        "metadata": {
            "@type": f"type.googleapis.com/google.cloud.tpu.{version}.OperationMetadata", "createTime": project.stamp(),
            "target": target, "verb": verb, "apiVersion": version,
        },
        "done": False,
    }  # fmt: skip
    project.operations[row["name"]] = row
    return row


def end(row: dict[str, Any], code: int = 0, message: str = "") -> None:
    row["done"] = True
    row.update({"error": {"code": code, "message": message}} if code else {"response": {"protectionTier": "NEW"}})


def quota_ids(kind: str, market: str, zone: str) -> tuple[str, ...]:
    """Zone and region are counted apart, and both have to do (marin#1612)."""
    family = {"v5litepod": "v5e", "v6e": "v6e", "v5p": "v5p"}[kind.rsplit("-", 1)[0]]
    before, middle = _QUOTA[family]
    spot = "" if market == "STANDARD" else "Preemptible"
    region = zone.rsplit("-", 1)[0]
    return (
        f"TPU{before}{spot}{middle}PerProjectPerZoneForTPUAPI@{zone}",
        f"TPU{before}{spot}{middle}PerProjectPerRegionForTPUAPI@{region}",
    )


def _chips(kind: str) -> int:
    return int(kind.rsplit("-", 1)[1])


def bought_as(node: Mapping[str, Any], queued: Mapping[str, Any] | None = None) -> str:
    if queued is not None and queued.get("provisioningModel") == "FLEX_START":
        return "FLEX_START"
    spot = node.get("schedulingConfig", {}).get("spot") or (queued is not None and "spot" in queued)
    return "SPOT" if spot else "STANDARD"


def too_much(project: Project, kind: str, market: str, zone: str) -> str:
    short = project.limited(quota_ids(kind, market, zone), _chips(kind))
    if not short:
        return ""
    name, _, place = short.partition("@")
    where = "zone" if "PerZone" in name else "region"
    return f"Quota limit '{name}' has been exceeded. Limit: {project.limits[short]:g} in {where} {place}."


def create_node(project: Project, asked: Mapping[str, Any]) -> Any:
    name = f"{asked['parent']}/nodes/{asked['nodeId']}"
    zone, body = asked["parent"].rsplit("/", 1)[-1], json.loads(json.dumps(asked["body"]))
    if name in project.nodes:
        raise refused(409, "ALREADY_EXISTS", f"Resource '{name}' already exists")
    kind, market = body["acceleratorType"], bought_as(body)
    if words := too_much(project, kind, market, zone):
        raise refused(429, "RESOURCE_EXHAUSTED", words)
    made = operation(project, "create", name)
    row = new(project, name, body)

    def placed() -> None:
        if project.nodes.get(name) is not row or row["state"] != "CREATING":
            end(made)
        elif project.takes(market_key(market, kind, zone)):
            ready(project, name)
            end(made)
        else:
            project.nodes.pop(name)
            end(made, 8, CAPACITY.format(zone=zone))

    project.later(20, placed)
    return made


def new(project: Project, name: str, body: dict[str, Any]) -> dict[str, Any]:
    row = {
        **body, "name": name, "state": "CREATING", "createTime": project.stamp(), "apiVersion": "V2",
        "protectionTier": "PROTECTION_TIER_UNSPECIFIED",
    }  # fmt: skip
    project.nodes[name] = row
    return row


def ready(project: Project, name: str) -> None:
    """The node runs and bills from here on."""
    row = project.nodes[name]
    row["state"] = "READY"
    row["networkEndpoints"] = [{"ipAddress": "10.0.0.2", "accessConfig": {"externalIp": "203.0.113.9"}}]
    zone, owner = name.split("/")[3], project.queued.get(str(row.get("queuedResource", "")))
    project.bill(
        f"node {name.rsplit('/', 1)[-1]}", zone, market_key(bought_as(row, owner), row["acceleratorType"], zone)
    )
    boot.begin(project, name)


def preempt(project: Project, name: str) -> None:
    """Taken back: the node lingers, dead, until somebody deletes it (skypilot#1468)."""
    row = project.nodes[name]
    row["state"] = "PREEMPTED"
    project.unbill(f"node {name.rsplit('/', 1)[-1]}", name.split("/")[3], free=False)
    project.started.pop(name, None)


def drop(project: Project, name: str) -> None:
    row = project.nodes.pop(name, None)
    if row is None:
        return
    zone, owner = name.split("/")[3], project.queued.get(str(row.get("queuedResource", "")))
    if row["state"] == "CREATING" and owner is not None:  # its place was taken before it ever billed
        project.capacity[market_key(bought_as(row, owner), row["acceleratorType"], zone)] += 1
    else:
        project.unbill(f"node {name.rsplit('/', 1)[-1]}", zone)
        project.started.pop(name, None)


def get_node(project: Project, asked: Mapping[str, Any]) -> Any:
    if asked["name"] not in project.nodes:
        raise missing(asked["name"])
    return project.nodes[asked["name"]]


def delete_node(project: Project, asked: Mapping[str, Any]) -> Any:
    row, name = get_node(project, asked), asked["name"]
    row["state"] = "DELETING"
    made = operation(project, "delete", name)

    def gone() -> None:
        owner = row.get("queuedResource", "")
        drop(project, name)
        if owner in project.queued and project.queued[owner]["state"]["state"] == "ACTIVE":
            project.queued[owner]["state"] = {"state": "SUSPENDED"}
        end(made)

    project.later(15, gone)
    return made


def patch_node(project: Project, asked: Mapping[str, Any]) -> Any:
    row, body = get_node(project, asked), asked["body"]
    if row["state"] != "READY":
        raise refused(400, "FAILED_PRECONDITION", f"node is {row['state']}")
    for field in str(asked["updateMask"]).split(","):
        row[field] = json.loads(json.dumps(body[field]))
        if field == "metadata":
            boot.changed(project, asked["name"])
    made = operation(project, "update", asked["name"])
    end(made)
    return made


def attributes(project: Project, asked: Mapping[str, Any]) -> Any:
    row = get_node(project, asked)
    text = row.get("metadata", {}).get("modelrig-serve", "")
    found = [line for line in text.splitlines() if line.startswith("# revision ")]
    lines = list(boot.lines(project, asked["name"], int(found[0].split()[-1]) if found else 1))
    marks = "\n".join(line for line in lines if "modelrig phase" in line)
    engine = "\n".join(line for line in lines if "modelrig phase" not in line)
    held = {"phase": marks, "engine": engine, "log": engine[-500:]}
    if asked["body"].get("queryPath", "") == "":
        held = {"hostname": f"t1v-n-{abs(hash(asked['name'])) % 10**8:08d}-w-0"}
    items = [{"namespace": "modelrig", "key": key, "value": value} for key, value in held.items() if value]
    return {"guestAttributes": [{"queryPath": "modelrig/", "queryValue": {"items": items}}]}


def nodes(project: Project, asked: Mapping[str, Any]) -> Any:
    return {"nodes": within(project.nodes, asked["parent"])}


def within(rows: Mapping[str, Any], parent: str) -> list[Any]:
    """The rows of one zone, or of all (`-`)."""
    place = parent.rsplit("/", 1)[-1]
    return [row for name, row in rows.items() if place in {"-", name.split("/")[3]}]


def read_operation(project: Project, asked: Mapping[str, Any]) -> Any:
    if asked["name"] not in project.operations:
        raise missing(asked["name"])
    return project.operations[asked["name"]]


def locations(project: Project, asked: Mapping[str, Any]) -> Any:
    zones = sorted({key.rsplit("@", 1)[1] for key in project.capacity})
    return {"locations": [{"name": f"{asked['name']}/locations/{zone}", "locationId": zone} for zone in zones]}


def types(project: Project, asked: Mapping[str, Any]) -> Any:
    zone = asked["parent"].rsplit("/", 1)[-1]
    found = sorted({k.rsplit(":", 1)[-1].split("@")[0] for k in project.capacity if k.endswith(f"@{zone}")})
    return {"acceleratorTypes": [{"name": f"{asked['parent']}/acceleratorTypes/{t}", "type": t} for t in found]}


_T = "tpu.projects.locations"
OPERATIONS: Mapping[str, Callable[[Project, Mapping[str, Any]], Any]] = {
    f"{_T}.nodes.create": create_node,
    f"{_T}.nodes.get": get_node,
    f"{_T}.nodes.delete": delete_node,
    f"{_T}.nodes.patch": patch_node,
    f"{_T}.nodes.list": nodes,
    f"{_T}.nodes.getGuestAttributes": attributes,
    f"{_T}.operations.get": read_operation,
    f"{_T}.list": locations,
    f"{_T}.acceleratorTypes.list": types,
}
