"""Cloud Run: instances that are kept warm for nobody, GPUs first."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from clouds.gcp import meters
from clouds.gcp.checks import words
from clouds.gcp.checks.metrics import LISTED, usage
from clouds.gcp.checks.reads import RUN, in_each, named_kind
from clouds.gcp.checks.steps import gone, step
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Row, Seen, Waste, WasteCheck

SERVICES = in_each(RUN, "projects.locations.services.list", "services", "run.googleapis.com/Service", service="run")
POOLS = in_each(
    RUN, "projects.locations.workerPools.list", "workerPools", "run.googleapis.com/WorkerPool", service="run"
)
SERVICE = named_kind("Cloud Run service", SERVICES, "run", moving=("conditions", "terminalCondition"))
POOL = named_kind("Cloud Run worker pool", POOLS, "run", moving=("conditions", "terminalCondition"))


def kept(row: Row) -> int:
    """How many instances a service always has: by hand, of the service, or of the revision."""
    scaling = row.get("scaling") or {}
    if scaling.get("scalingMode") == "MANUAL":
        return int(words.number(scaling.get("manualInstanceCount")))
    revision = (row.get("template") or {}).get("scaling") or {}
    return int(max(words.number(scaling.get("minInstanceCount")), words.number(revision.get("minInstanceCount"))))


def _gpu(row: Row) -> str:
    return str(((row.get("template") or {}).get("nodeSelector") or {}).get("accelerator") or "")


def _id(row: Row) -> tuple[str, ...]:
    return (words.last(row["name"]), words.part(row["name"], "locations"))


def _standing(row: Row) -> bool:
    return kept(row) > 0


REQUESTS = usage(
    "requests", SERVICES, "run.googleapis.com/request_count", "cloud_run_revision", ("service_name", "location"), _id,
    days=7, absent="zero", when=_standing,
    source=LISTED + "a counter that is emitted on use; that the service is measured "
    "is shown by its instances",
)  # fmt: skip
INSTANCES_UP = usage(
    "instances", SERVICES, "run.googleapis.com/container/instance_count", "cloud_run_revision",
    ("service_name", "location"), _id, days=7, absent="unresolved", fold="max", when=_standing,
    source=LISTED + "every revision with instances reports it",
)  # fmt: skip


def standing(row: Row, instances: int, place: str) -> tuple[Any, ...]:
    """Instances that are always there, by the second."""
    template = row.get("template") or {}
    found: list[Any] = []
    for number, container in enumerate(template.get("containers") or ({},)):
        limits = (container.get("resources") or {}).get("limits") or {}
        gpu = _gpu(row) if limits.get("nvidia.com/gpu") or (number == 0 and _gpu(row)) else ""
        redundant = not template.get("gpuZonalRedundancyDisabled")
        found += meters.run(limits, instances, place, gpu, redundant=redundant)
    return tuple(found)


def _quiet(row: Row, seen: Seen) -> bool:
    seen.metric(INSTANCES_UP, row)  # a service that nobody measures is unresolved and never idle
    return not seen.metric(REQUESTS, row)


def _waste(row: Row, seen: Seen) -> Waste:
    count, gpu, place = kept(row), _gpu(row), words.name_place(row, seen.at)
    what = f"{count} instance{'' if count == 1 else 's'}{' with ' + gpu if gpu else ''}"
    by_hand = (row.get("scaling") or {}).get("scalingMode") == "MANUAL"
    return Waste(
        f"keeps {what}{' by hand' if by_hand else ''}, and got no request in 7 days",
        standing(row, count, place),
        bound="exact" if gpu else "at most",
        evidence={"instances": count, "GPU": gpu, "uri": row.get("uri", "")},
    )


def _gpu_idle(row: Row, seen: Seen) -> Waste | None:
    return _waste(row, seen) if kept(row) and _gpu(row) and _quiet(row, seen) else None


def _idle(row: Row, seen: Seen) -> Waste | None:
    return _waste(row, seen) if kept(row) and not _gpu(row) and _quiet(row, seen) else None


def _to_zero(doomed: Doomed) -> tuple[CleanupStep, ...]:
    """A minimum may stand on the service, on its revisions, or on both: each that is set goes."""
    scaling, template = doomed.row.get("scaling") or {}, doomed.row.get("template") or {}
    if scaling.get("scalingMode") == "MANUAL":
        return _patched(doomed, "services", {"scaling": {"manualInstanceCount": 0}}, "scaling.manualInstanceCount")
    body: dict[str, Any] = {}
    masks = []
    if words.number(scaling.get("minInstanceCount")):
        body["scaling"] = {"minInstanceCount": 0}
        masks.append("scaling.minInstanceCount")
    if words.number((template.get("scaling") or {}).get("minInstanceCount")):
        body["template"] = {"scaling": {"minInstanceCount": 0}}
        masks.append("template.scaling.minInstanceCount")
    return _patched(doomed, "services", body, ",".join(masks))


def _pool_to_zero(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return _patched(doomed, "workerPools", {"scaling": {"manualInstanceCount": 0}}, "scaling.manualInstanceCount")


def _patched(doomed: Doomed, kind: str, body: dict[str, Any], mask: str) -> tuple[CleanupStep, ...]:
    where = {"name": str(doomed.row["name"])}
    # a count of zero is left out of the answer
    wait = gone(f"run.projects.locations.{kind}.get", where, mask.rpartition(",")[2], "0", seconds=900)
    parameters = {**where, "updateMask": mask, "body": body}
    text = f"let {words.short(doomed.row)} scale to zero"
    operation = f"run.projects.locations.{kind}.patch"
    return (step("zero", text, operation, parameters, "can be undone", wait, capacity=bool(_gpu(doomed.row))),)


_STEPS = (
    "run.projects.locations.services.patch", "run.projects.locations.services.get",
)  # fmt: skip
GPU_MIN = WasteCheck(
    id="run-gpu-idle", title="Cloud Run GPU that is kept for nobody", kind=SERVICE, judge=_gpu_idle,
    reads=(INSTANCES_UP, REQUESTS), why="An instance with a GPU bills for GPU, CPU and memory as long as it stands.",
    remove=_to_zero, steps=_STEPS, reversal="can be undone", category="ai", order=18,
    recovery="Set the number of instances again; the next request waits for a cold start.",
    meter="GPU, vCPU and memory by the second", min_age=timedelta(days=7),
    spares=("it may scale to zero", "a request in 7 days", "not measured", "younger than 7 days"),
    unchecked=("work that goes on without requests",),
)  # fmt: skip
MIN = WasteCheck(
    id="run-min-idle", title="Cloud Run service that is kept warm for nobody", kind=SERVICE, judge=_idle,
    reads=(INSTANCES_UP, REQUESTS), why="Instances of a minimum bill at all hours, idle at a lower rate.",
    remove=_to_zero, steps=_STEPS, reversal="can be undone", order=50,
    recovery="Set the number of instances again; the next request waits for a cold start.",
    meter="vCPU and memory by the second, at most: idle instances under request billing cost less",
    min_age=timedelta(days=7), spares=("it may scale to zero", "a request in 7 days", "not measured"),
    unchecked=("work that goes on without requests",),
)  # fmt: skip


def _failing(row: Row, seen: Seen) -> Waste | None:
    count = int(words.number((row.get("scaling") or {}).get("manualInstanceCount")))
    state = (row.get("terminalCondition") or {}).get("state")
    if not count or state != "CONDITION_FAILED":
        return None
    why = str((row.get("terminalCondition") or {}).get("message") or "no reason given")[:120]
    return Waste(f"keeps {count} instances that do not come up: {why}",
                 standing(row, count, words.name_place(row, seen.at)), bound="at most",
                 evidence={"instances": count, "GPU": _gpu(row), "state": state})  # fmt: skip


POOL_FAILING = WasteCheck(
    id="run-pool-failing", title="Cloud Run worker pool that does not come up", kind=POOL, judge=_failing,
    why="A worker pool has no requests by which it would scale down: its instances are tried for ever.",
    remove=_pool_to_zero, steps=("run.projects.locations.workerPools.patch", "run.projects.locations.workerPools.get"),
    reversal="can be undone", recovery="Set the number of instances again.", order=51, category="ai",
    meter="vCPU, memory and GPU by the second, at most", min_age=timedelta(days=1),
    spares=("its instances are up", "no instances are asked for"),
    unchecked=("whether a pool that is up does anything: no metric tells that",),
)  # fmt: skip
CHECKS = (GPU_MIN, MIN, POOL_FAILING)
