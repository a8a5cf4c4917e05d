"""Vertex AI: endpoints, indexes and pools that keep machines for nobody."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from clouds.gcp.checks import words
from clouds.gcp.checks.metrics import LISTED, usage
from clouds.gcp.checks.reads import VERTEX, in_each, named_kind
from clouds.gcp.checks.steps import remove_named, step
from clouds.models.removal import CleanupStep, Doomed, Until
from clouds.models.waste import Meter, Row, Seen, Waste, WasteCheck, Young

ENDPOINTS = in_each(VERTEX, "projects.locations.endpoints.list", "endpoints", "aiplatform.googleapis.com/Endpoint")
INDEX_ENDPOINTS = in_each(
    VERTEX, "projects.locations.indexEndpoints.list", "indexEndpoints", "aiplatform.googleapis.com/IndexEndpoint"
)
POOLS = in_each(VERTEX, "projects.locations.deploymentResourcePools.list", "deploymentResourcePools")
PERSISTENT = in_each(VERTEX, "projects.locations.persistentResources.list", "persistentResources")
"""No inventory knows pools and persistent resources (asset types page of 2026-04-10): they are always asked for."""
ENDPOINT = named_kind("Vertex endpoint", ENDPOINTS, "aiplatform", label=words.shown)
INDEX_ENDPOINT = named_kind("Vertex index endpoint", INDEX_ENDPOINTS, "aiplatform", label=words.shown)
POOL = named_kind("Vertex resource pool", POOLS, "aiplatform")
RESOURCE = named_kind("Vertex persistent resource", PERSISTENT, "aiplatform", label=words.shown)


def _id(row: Row) -> tuple[str, ...]:
    return (words.last(row["name"]), words.part(row["name"], "locations"))


def machines(resources: Any, region: str) -> tuple[list[Meter], str]:
    """The nodes that a deployment always keeps, as meters, and in words; nothing where it may scale to zero."""
    dedicated = (resources or {}).get("dedicatedResources") or {}
    least = int(words.number(dedicated.get("minReplicaCount")))
    spec = dedicated.get("machineSpec") or {}
    if not least:
        automatic = int(words.number(((resources or {}).get("automaticResources") or {}).get("minReplicaCount")))
        return (
            ([Meter("vertex/automatic-node", "hour", automatic, region)], f"{automatic} automatic")
            if automatic
            else ([], "")
        )
    kind, gpu = spec.get("machineType", ""), str(spec.get("acceleratorType") or "").lower().replace("_", "-")
    found = [Meter(f"vertex/{kind}", "hour", least, region)]
    if gpu and gpu != "accelerator-type-unspecified":
        count = int(words.number(spec.get("acceleratorCount")) or 1)
        found.append(Meter(f"vertex-gpu/{gpu}", "GPU-hour", least * count, region))
        return found, f"{least} x {kind} with {count} {gpu}"
    return found, f"{least} x {kind}"


def _kept(row: Row) -> bool:
    return any(machines(each, "")[0] for each in row.get("deployedModels") or ())


REPLICAS = usage(
    "replicas",
    ENDPOINTS,
    "aiplatform.googleapis.com/prediction/online/replicas",
    "aiplatform.googleapis.com/Endpoint",
    ("endpoint_id", "location"),
    _id,
    days=7,
    absent="unresolved",
    fold="max",
    when=_kept,
    source=LISTED + "reported by every deployed model; it shows that the endpoint is measured at all",
)
RESPONSES = usage(
    "responses",
    ENDPOINTS,
    "aiplatform.googleapis.com/prediction/online/response_count",
    "aiplatform.googleapis.com/Endpoint",
    ("endpoint_id", "location"),
    _id,
    days=7,
    absent="zero",
    when=_kept,
    source=LISTED + "a counter, emitted on use; that the endpoint is measured is shown by its replicas",
)


def _new(deployed: Any, seen: Seen, days: float) -> bool:
    """Whether anything was deployed within the window: it had no time to be asked."""
    return any(words.older(seen, each.get("createTime"), days=days) is False for each in deployed or ())


def _endpoint(row: Row, seen: Seen) -> Waste | None:
    kept = [machines(each, words.name_place(row, seen.at)) for each in row.get("deployedModels") or ()]
    if not any(meters for meters, _ in kept):
        return None
    seen.metric(REPLICAS, row)  # an endpoint that nobody measures is unresolved and never idle
    if seen.metric(RESPONSES, row):
        return None
    if _new(row.get("deployedModels"), seen, RESPONSES.days):
        raise Young
    named = ", ".join(text for _, text in kept if text)
    return Waste(f"keeps {named}, and answered nothing in 7 days",
                 tuple(meter for meters, _ in kept for meter in meters),
                 evidence={"models": len(kept), "keeps": named})  # fmt: skip


def _undeploy(doomed: Doomed) -> tuple[CleanupStep, ...]:
    """Those without traffic first: Vertex refuses to take away one that has a share while others stay."""
    name, shares = str(doomed.row["name"]), doomed.row.get("trafficSplit") or {}
    models = sorted(doomed.row.get("deployedModels") or (), key=lambda each: words.number(shares.get(str(each["id"]))))
    steps = []
    for number, each in enumerate(models, 1):
        body: dict[str, Any] = {"deployedModelId": each["id"]}
        if number < len(models) and words.number(shares.get(str(each["id"]))):
            body["trafficSplit"] = {str(models[-1]["id"]): 100}
        text = f"undeploy the model {each.get('displayName') or each['id']} from {words.last(name)}"
        wait = _without(
            "aiplatform.projects.locations.endpoints.get", {"name": name}, "deployedModels.id", models, number
        )
        operation = "aiplatform.projects.locations.endpoints.undeployModel"
        parameters = {"endpoint": name, "body": body}
        steps.append(step(f"undeploy-{number}", text, operation, parameters, "can be undone", wait, capacity=True))
    return tuple(steps)


def _without(operation: str, where: Any, path: str, every: Iterable[Any], number: int) -> Until:
    """Wait until an id is no longer in a list: what is left then are the ids that come after it."""
    from clouds.gcp.checks.steps import call

    left = tuple(str(each["id"]) for each in every)[number:]
    return Until(call(operation, where), path, gone=True, gone_on=left, seconds=1800, every=10)


ENDPOINT_IDLE = WasteCheck(
    id="vertex-endpoint-idle",
    title="Vertex endpoint that answers nobody",
    kind=ENDPOINT,
    judge=_endpoint,
    reads=(REPLICAS, RESPONSES),
    why="Deployed models keep their least number of machines at all hours.",
    remove=_undeploy,
    steps=("aiplatform.projects.locations.endpoints.undeployModel", "aiplatform.projects.locations.endpoints.get"),
    reversal="can be undone",
    recovery="The models stay registered and can be deployed again; that takes 10 to 30 minutes.",
    category="ai",
    order=20,
    meter="Vertex nodes and GPUs by the hour; the table has no rate for them",
    min_age=timedelta(days=7),
    spares=("it answered anything in 7 days", "it may scale to zero", "only shared resources", "not measured"),
    unchecked=("private endpoints that are called without a metric",),
)


def _index_kept(row: Row) -> bool:
    return bool(row.get("deployedIndexes"))


QUERIES = usage(
    "queries", INDEX_ENDPOINTS, "aiplatform.googleapis.com/matching_engine/query/request_count",
    "aiplatform.googleapis.com/IndexEndpoint", ("index_endpoint_id", "location"), _id, days=14, absent="zero",
    when=_index_kept, source=LISTED + "a counter that is emitted on use",
)  # fmt: skip


def _index(row: Row, seen: Seen) -> Waste | None:
    deployed = row.get("deployedIndexes") or ()
    if not deployed or seen.metric(QUERIES, row):
        return None
    if _new(deployed, seen, QUERIES.days):
        raise Young
    region = words.name_place(row, seen.at)
    kept = [machines(each, region) for each in deployed]
    return Waste(f"{len(deployed)} deployed index{'' if len(deployed) == 1 else 'es'}, and no query in 14 days",
                 tuple(meter for meters, _ in kept for meter in meters),
                 evidence={"keeps": ", ".join(text for _, text in kept if text)})  # fmt: skip


def _undeploy_index(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = str(doomed.row["name"])
    where = {"name": name}
    return tuple(
        step(
            f"undeploy-{number}", f"undeploy the index {each['id']} from {words.last(name)}",
            "aiplatform.projects.locations.indexEndpoints.undeployIndex",
            {"indexEndpoint": name, "body": {"deployedIndexId": each["id"]}}, "can be undone",
            _without("aiplatform.projects.locations.indexEndpoints.get", where, "deployedIndexes.id",
                     doomed.row.get("deployedIndexes") or (), number),
        )
        for number, each in enumerate(doomed.row.get("deployedIndexes") or (), 1)
    )  # fmt: skip


INDEX_IDLE = WasteCheck(
    id="vertex-index-idle", title="Vector index that nobody queries", kind=INDEX_ENDPOINT, judge=_index,
    reads=(QUERIES,), why="A deployed index keeps its machines at all hours.", remove=_undeploy_index,
    steps=("aiplatform.projects.locations.indexEndpoints.undeployIndex",
           "aiplatform.projects.locations.indexEndpoints.get"),
    reversal="can be undone", recovery="The index stays and can be deployed again; that takes up to an hour.",
    category="ai", order=21, meter="Vertex nodes by the hour; the table has no rate for them",
    min_age=timedelta(days=14), spares=("queried in 14 days", "nothing is deployed on it"),
    unchecked=("whether an application falls back to it",),
)  # fmt: skip


def _by_pool(endpoint: Row) -> tuple[str, ...]:
    return tuple(
        str(each["sharedResources"]) for each in endpoint.get("deployedModels") or () if each.get("sharedResources")
    )


def _pool(row: Row, seen: Seen) -> Waste | None:
    kept, text = machines(row, words.name_place(row, seen.at))
    name = str(row["name"])
    used = seen.index(ENDPOINTS, _by_pool)
    short = name[name.index("/locations/") :]  # a project is named by its number here and by its id there
    if not kept or any(each.endswith(short) for each in used):
        return None
    return Waste(f"keeps {text}, and no model is deployed on it", tuple(kept), evidence={"keeps": text})


def _delete_pool(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return (remove_named(doomed, "aiplatform.projects.locations.deploymentResourcePools", "resource pool",
                         reversal="can be undone", capacity=True),)  # fmt: skip


POOL_EMPTY = WasteCheck(
    id="vertex-pool-empty", title="Vertex resource pool without models", kind=POOL, judge=_pool, reads=(ENDPOINTS,),
    why="A pool keeps its machines whether a model is deployed on it or not.", remove=_delete_pool,
    steps=("aiplatform.projects.locations.deploymentResourcePools.delete",
           "aiplatform.projects.locations.deploymentResourcePools.get"),
    reversal="can be undone", recovery="A pool of the same size can be made again; nothing is in it.", category="ai",
    order=22, meter="Vertex nodes by the hour; the table has no rate for them", min_age=timedelta(days=1),
    spares=("a model is deployed on it", "it may scale to zero"), unchecked=("endpoints of other projects",),
)  # fmt: skip


def _resource(row: Row, seen: Seen) -> Waste | None:
    pools = row.get("resourcePools") or ()
    kept = sum(int(words.number(each.get("replicaCount"))) for each in pools)
    used = sum(int(words.number(each.get("usedReplicaCount"))) for each in pools)
    if row.get("state") not in ("RUNNING", "ERROR") or used or not kept:
        return None
    region = words.name_place(row, seen.at)
    lines = [
        meter
        for each in pools
        for meter in machines({"dedicatedResources": {**each, "minReplicaCount": each.get("replicaCount")}}, region)[0]
    ]
    return Waste(f"{row['state']}: keeps {kept} machines, and no job uses one", tuple(lines),
                 evidence={"machines": kept, "in use": used})  # fmt: skip


def _delete_resource(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return (remove_named(doomed, "aiplatform.projects.locations.persistentResources", "persistent resource",
                         capacity=True),)  # fmt: skip


PERSISTENT_IDLE = WasteCheck(
    id="vertex-persistent-idle", title="Persistent training resource without jobs", kind=RESOURCE, judge=_resource,
    why="A persistent resource bills for its machines until it is deleted.", remove=_delete_resource,
    steps=("aiplatform.projects.locations.persistentResources.delete",
           "aiplatform.projects.locations.persistentResources.get"),
    reversal="cannot be undone", recovery="It can be made again; its GPUs may not be had then.", category="ai",
    order=23, meter="Vertex nodes and GPUs by the hour; the table has no rate for them", min_age=timedelta(days=1),
    spares=("a job uses it now", "provisioning or stopping", "younger than a day"),
    unchecked=("jobs that come once a day",),
)  # fmt: skip
CHECKS = (ENDPOINT_IDLE, INDEX_IDLE, POOL_EMPTY, PERSISTENT_IDLE)
