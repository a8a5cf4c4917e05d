"""Azure Machine Learning: endpoints that nobody calls, instances and clusters that are up for nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from clouds.azure.checks import words
from clouds.azure.checks.reads import check, children, listing
from clouds.azure.checks.steps import act, delete, sends, to_zero
from clouds.azure.checks.usage import usage
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Meter, Row, Seen, Waste

_ML = "Microsoft.MachineLearningServices/workspaces"
WORKSPACES = listing(_ML)
ENDPOINTS = children(WORKSPACES, f"{_ML}/onlineEndpoints")
DEPLOYMENTS = children(ENDPOINTS, f"{_ML}/onlineEndpoints/deployments")
COMPUTES = children(WORKSPACES, f"{_ML}/computes")


def _kind(name: str, of: Detail, created: Any = words.made) -> Kind:
    return Kind(
        name=name, of=of, id=words.ident, label=words.child_label, created=created, tags=words.tags,
        place=words.place,
    )  # fmt: skip


ENDPOINT = _kind("ML online endpoint", ENDPOINTS)
DEPLOYMENT = _kind("ML online deployment", DEPLOYMENTS)
COMPUTE = _kind("ML compute", COMPUTES, lambda row: words.made(row) or words.props(row).get("createdOn"))
REQUESTS = usage(
    "RequestsPerMinute",
    ENDPOINTS,
    days=7,
    absent="zero",
    aggregation="Average",
    unit="requests a minute",
    source="Azure Monitor, online endpoints: RequestsPerMinute is emitted when requests arrive",
)


def _managed(row: Row) -> bool:
    return str(words.props(row).get("endpointComputeType", "Managed")) == "Managed"


def placed(row: Row) -> list[tuple[str, int]]:
    """(VM size, instances) of a deployment that holds machines of Azure's; none on Kubernetes."""
    count = int((row.get("sku") or {}).get("capacity") or 0)
    name = str(words.props(row).get("instanceType") or "")
    return [(words.size(name), count)] if _managed(row) and name and count else []


def _endpoint(row: Row, seen: Seen) -> Waste | None:
    deployments = seen.of(DEPLOYMENTS, row)
    held = [each for deployment in deployments for each in placed(deployment)]
    if not held:
        return None
    if any(words.older(seen, words.made(each), days=7) is False for each in deployments):
        return None  # somebody is at work on it: a new colour beside the old one
    if REQUESTS.of(seen, row):
        return None
    shown = ", ".join(f"{count} x {name}" for name, count in held)
    return Waste(
        reason=f"no request in 7 days; holds {shown}",
        meters=tuple(Meter(f"vm/{name}/on-demand", "hour", count) for name, count in held),
        holds=tuple(each["id"] for each in deployments),
        evidence={
            "instances": shown,
            "traffic": str(words.props(row).get("traffic", "")),
            "deployments": tuple(each["id"] for each in deployments),
        },
    )


def _delete_endpoint(doomed: Doomed) -> tuple[CleanupStep, ...]:
    deployments = doomed.evidence.get("deployments", ())
    return (
        *(
            delete(
                f"{_ML}/onlineEndpoints/deployments", each, f"delete deployment {words.last(each)} and its machines",
                "can be undone", name=f"deployment-{number}", capacity=True, seconds=3600,
            )
            for number, each in enumerate(deployments, 1)
        ),
        delete(f"{_ML}/onlineEndpoints", doomed.id, f"delete endpoint {doomed.name}", "cannot be undone"),
    )  # fmt: skip


IDLE_ENDPOINT = check(
    id="idle-ml-endpoint",
    title="ML online endpoint that nobody calls",
    kind=ENDPOINT,
    reads=(DEPLOYMENTS, *REQUESTS.reads),
    judge=_endpoint,
    why="Each instance of a managed deployment bills like its VM, with or without requests; it never scales to zero.",
    spares=(
        "a request came in 7 days",
        "a deployment of it is younger than 7 days",
        "no instance: all its deployments are gone or on Kubernetes",
    ),
    unchecked=("a schedule that calls it less than once a week",),
    meter="VM hours of the instance type times instances",
    category="ai",
    remove=_delete_endpoint,
    reversal="cannot be undone",
    recovery="Model and environment stay registered; keys and the address are lost, and capacity may be.",
    order=10,
    steps=(
        *sends(f"{_ML}/onlineEndpoints/deployments", "delete"),
        *sends(f"{_ML}/onlineEndpoints", "delete"),
    ),
)


def _unrouted(row: Row, seen: Seen) -> Waste | None:
    held = placed(row)
    if not held:
        return None
    above = seen.index(ENDPOINTS, words.key).get(words.parent(row["id"]).lower())
    if not above:
        return None
    shares = words.props(above[0])
    name = words.last(row["id"]).lower()
    for word in ("traffic", "mirrorTraffic"):
        if any(str(key).lower() == name and share for key, share in (shares.get(word) or {}).items()):
            return None
    if not any((shares.get("traffic") or {}).values()):
        return None  # no deployment of it gets traffic by weight: callers may name one in a header
    shown = ", ".join(f"{count} x {size}" for size, count in held)
    return Waste(
        reason=f"gets no share of its endpoint's traffic and mirrors none; holds {shown}",
        meters=tuple(Meter(f"vm/{size}/on-demand", "hour", count) for size, count in held),
        evidence={"instances": shown, "traffic": str(shares.get("traffic", ""))},
    )


UNROUTED = check(
    id="unrouted-ml-deployment",
    title="ML deployment that gets no traffic",
    kind=DEPLOYMENT,
    judge=_unrouted,
    why="The old colour of a switch goes on billing every instance until it is deleted.",
    spares=("any share of traffic or mirrored traffic", "younger than 7 days", "endpoints without any weights"),
    unchecked=("callers that name the deployment in a header", "a way back that it is kept for"),
    meter="VM hours of the instance type times instances",
    category="ai",
    min_age=timedelta(days=7),
    remove=lambda doomed: (
        delete(
            f"{_ML}/onlineEndpoints/deployments", doomed.id, f"delete deployment {doomed.name} and its machines",
            "can be undone", capacity=True, seconds=3600,
        ),
    ),
    reversal="can be undone",
    recovery="Model and environment stay registered; it can be deployed again, if there is capacity then.",
    order=9,
    steps=sends(f"{_ML}/onlineEndpoints/deployments", "delete"),
)  # fmt: skip


def _rate(size: str, low: bool) -> str:
    return f"vm/{words.size(size)}/{'spot' if low else 'on-demand'}"


def _instance(about: Any) -> Waste | None:
    if about.get("state") != "Running" or about.get("idleTimeBeforeShutdown"):
        return None
    starts = ((about.get("schedules") or {}).get("computeStartStop")) or ()
    if any(each.get("action") == "Stop" and each.get("status", "Enabled") == "Enabled" for each in starts):
        return None
    size = words.size(str(about.get("vmSize", "")))
    return Waste(
        reason=f"a compute instance is running, and neither idle time nor a schedule will stop it ({size})",
        meters=(Meter(_rate(size, False), "hour"),),
        evidence={"size": size, "state": "Running", "sort": "ComputeInstance"},
    )


def _cluster(about: Any) -> Waste | None:
    floor = int((about.get("scaleSettings") or {}).get("minNodeCount") or 0)
    idle = int((about.get("nodeStateCounts") or {}).get("idleNodeCount") or 0)
    held = min(floor, idle)
    if not held:
        return None
    size, low = words.size(str(about.get("vmSize", ""))), about.get("vmPriority") == "LowPriority"
    return Waste(
        reason=f"its minimum of {floor} keeps {held} idle {'low-priority ' if low else ''}nodes up ({size})",
        meters=(Meter(_rate(size, low), "hour", held),),
        evidence={
            "size": size, "minimum": floor, "idle nodes": idle, "sort": "AmlCompute",
            "most": int((about.get("scaleSettings") or {}).get("maxNodeCount") or 0),
        },
    )  # fmt: skip


def _compute(row: Row, _seen: Seen) -> Waste | None:
    about = words.props(row)
    inner = about.get("properties") or {}
    match about.get("computeType"):
        case "ComputeInstance":
            return _instance(inner)
        case "AmlCompute":
            return _cluster(inner)
    return None


def _stop_compute(doomed: Doomed) -> tuple[CleanupStep, ...]:
    if doomed.evidence.get("sort") == "ComputeInstance":
        step = act(
            f"{_ML}/computes", doomed.id, "stop", f"stop compute instance {doomed.name}; its disk stays",
            "properties.properties.state", "Stopped", capacity=True,
        )  # fmt: skip
    else:
        scale = {"minNodeCount": 0, "maxNodeCount": doomed.evidence.get("most", 1)}
        step = to_zero(
            f"{_ML}/computes", doomed.id, f"let cluster {doomed.name} scale to zero",
            {"properties": {"properties": {"scaleSettings": scale}}},
            "properties.properties.scaleSettings.minNodeCount",
        )  # fmt: skip
    return (step,)


IDLE_COMPUTE = check(
    id="idle-ml-compute",
    title="ML compute that is up for nothing",
    kind=COMPUTE,
    judge=_compute,
    why="A compute instance bills while it runs, and a cluster's minimum keeps its nodes up between jobs.",
    spares=(
        "an instance with idle shutdown or a schedule that stops it",
        "an instance that is not running",
        "nodes that run something",
    ),
    unchecked=("what runs on the instance: a notebook, a long training", "fast starts that a minimum is set for"),
    meter="VM hours; low-priority nodes at the spot rate",
    category="ai",
    remove=_stop_compute,
    reversal="can be undone",
    recovery="Nothing is deleted: an instance starts again, a cluster scales up when a job comes.",
    order=12,
    steps=(f"{_ML}/computes.stop", *sends(f"{_ML}/computes", "patch")),
)

CHECKS = (IDLE_ENDPOINT, UNROUTED, IDLE_COMPUTE)
