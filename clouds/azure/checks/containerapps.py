"""Container Apps: GPU apps that are kept warm for nobody, and other apps that are always on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from clouds.azure.checks import words
from clouds.azure.checks.reads import check, kind, listing
from clouds.azure.checks.steps import sends, to_zero
from clouds.azure.checks.usage import usage
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Meter, Row, Seen, Waste

APPS = listing("Microsoft.App/containerApps")
ENVIRONMENTS = listing("Microsoft.App/managedEnvironments")
APP = kind("container app", APPS)
GPU_SHAPES = {"T4": (8, 56), "A100": (24, 220)}
"""vCPU and GiB that a serverless GPU profile gives a replica: the whole of it, whatever the containers ask for."""


def environment_of(row: Row) -> Iterable[str]:
    """The environment that an app, a job or a session pool runs in."""
    about = words.props(row)
    found = about.get("environmentId") or about.get("managedEnvironmentId")
    return (str(found).lower(),) if found else ()


def profile_type(row: Row, seen: Seen) -> str:
    """The sort of the profile that an app runs on: "Consumption", "Consumption-GPU-NC24-A100", "D4" ..."""
    held = [one for name in environment_of(row) for one in seen.index(ENVIRONMENTS, words.key).get(name, ())]
    return profile_in(held[0] if held else {}, row)


def profile_in(environment: Row, app: Row) -> str:
    """The sort of the profile that an app of an environment names; its name where the environment has none of it."""
    name = str(words.props(app).get("workloadProfileName") or "Consumption")
    for each in words.props(environment).get("workloadProfiles") or ():
        if str(each.get("name", "")).lower() == name.lower():
            return str(each.get("workloadProfileType", ""))
    return name


def gpu(profile: str) -> str:
    """The GPU of a serverless profile: "a100", "t4", one that is new by the end of its name; "" for none."""
    found = re.fullmatch(r"consumption-gpu(?:.*-)?-?([a-z0-9]*)", profile.lower())
    return "" if found is None else found[1] or "gpu"


def floor(row: Row) -> int:
    """The replicas that are always up; the service takes 0 for an app that says nothing."""
    return int(((words.props(row).get("template") or {}).get("scale") or {}).get("minReplicas") or 0)


def replica(row: Row) -> tuple[float, float]:
    """The vCPU and GiB of one replica: what its containers ask for."""
    held = [each.get("resources") or {} for each in (words.props(row).get("template") or {}).get("containers") or ()]
    return sum(float(each.get("cpu") or 0) for each in held), sum(gib(each.get("memory")) for each in held)


def shape(row: Row, profile: str) -> tuple[float, float]:
    """The vCPU and GiB that a replica bills: those of its GPU profile, else what its containers ask for."""
    return GPU_SHAPES.get(gpu(profile).upper()) or replica(row)


def standing(row: Row, profile: str) -> tuple[Meter, ...]:
    """What the replicas that are always up cost: a GPU at the active rate, others at the idle one."""
    (cpu, memory), count, sort = shape(row, profile), floor(row), gpu(profile)
    if not sort:
        return (
            Meter("container-apps/idle-vcpu", "vCPU-hour", round(cpu * count, 4)),
            Meter("container-apps/idle-memory", "GiB-hour", round(memory * count, 4)),
        )
    return (
        Meter(f"container-apps/gpu-{sort}", "GPU-hour", count),
        Meter("container-apps/active-vcpu", "vCPU-hour", cpu * count),
        Meter("container-apps/active-memory", "GiB-hour", memory * count),
    )


def gib(text: Any) -> float:
    """ "2Gi" -> 2.0, "512Mi" -> 0.5; 0 for nothing."""
    found = re.fullmatch(r"([0-9.]+)\s*(Gi|Mi|G|M)?", str(text or "0"))
    return (float(found[1]) / (1024 if (found[2] or "Gi").startswith("M") else 1)) if found else 0.0


def kept_up(row: Row) -> bool:
    """Whether replicas of it are up, called or not."""
    about = words.props(row)
    return floor(row) > 0 and about.get("runningStatus") not in ("Stopped", "Suspended")


def ingress(row: Row) -> bool:
    """Whether its requests are counted: over HTTP. TCP is not, and an app without ingress works off a queue."""
    found = (words.props(row).get("configuration") or {}).get("ingress") or {}
    return bool(found) and str(found.get("transport", "auto")).lower() != "tcp" and not _queued(row)


def _queued(row: Row) -> bool:
    """Whether it scales by anything else than requests: a queue, a schedule, an event."""
    rules = ((words.props(row).get("template") or {}).get("scale") or {}).get("rules") or ()
    return any(each.get("custom") or each.get("azureQueue") or each.get("tcp") for each in rules)


REQUESTS = usage(
    "Requests",
    APPS,
    days=7,
    absent="zero",
    when=lambda row: kept_up(row) and ingress(row),
    unit="requests",
    source="Azure Monitor, Container Apps: Requests is emitted for each request that the ingress takes",
)


def _warm(row: Row, seen: Seen) -> Waste | None:
    if not kept_up(row) or not ingress(row):
        return None
    profile = profile_type(row, seen)
    sort = gpu(profile)
    if not sort or REQUESTS.of(seen, row):
        return None
    (cpu, memory), count = shape(row, profile), floor(row)
    return Waste(
        reason=f"no request in 7 days, and minReplicas {count} keeps {count} {sort.upper()} up; a GPU has no idle rate",
        meters=standing(row, profile),
        evidence={"profile": profile, "minReplicas": count, "vCPU": cpu, "GiB": memory},
    )


def _to_zero(doomed: Doomed) -> tuple[CleanupStep, ...]:
    body = {"properties": {"template": {"scale": {"minReplicas": 0}}}}
    path = "properties.template.scale.minReplicas"
    return (to_zero("Microsoft.App/containerApps", doomed.id, f"let {doomed.name} scale to zero", body, path),)


WARM = check(
    id="gpu-container-app-warm",
    title="GPU app that is kept warm and not called",
    kind=APP,
    reads=(ENVIRONMENTS, *REQUESTS.reads),
    judge=_warm,
    why="A GPU replica bills GPU, vCPU and memory at the active rate every second that it is up.",
    spares=("a request came in 7 days", "scales to zero", "no ingress, TCP, or scaled by a queue", "stopped"),
    unchecked=("a cold start of minutes that it is kept warm against",),
    meter="GPU-hours, vCPU-hours and GiB-hours at the active rate: there is no idle rate for a GPU",
    category="ai",
    remove=_to_zero,
    reversal="can be undone",
    recovery="The app stays; the next request waits for a GPU and for the model to load.",
    order=8,
    steps=sends("Microsoft.App/containerApps", "patch"),
)


def _idle(row: Row, seen: Seen) -> Waste | None:
    if not kept_up(row) or not ingress(row):
        return None
    profile = profile_type(row, seen)
    if (
        not profile.lower().startswith("consumption")
        or gpu(profile)
        or ((words.props(row).get("configuration") or {}).get("dapr") or {}).get("enabled")
    ):
        return None
    if REQUESTS.of(seen, row):
        return None
    cpu, memory = replica(row)
    count = floor(row)
    return Waste(
        reason=f"no request in 7 days; minReplicas {count} keeps {cpu:g} vCPU and {memory:g} GiB up",
        meters=standing(row, profile),
        bound="at most",
        evidence={"minReplicas": count, "vCPU": cpu, "GiB": memory, "profile": profile},
    )  # fmt: skip


IDLE = check(
    id="idle-container-app",
    title="Container app that is always on and serves nothing",
    kind=APP,
    reads=(ENVIRONMENTS, *REQUESTS.reads),
    judge=_idle,
    why="A replica that is kept up bills vCPU and memory at the idle rate every second.",
    spares=(
        "a request came in 7 days",
        "no ingress, or scaled by a queue: a worker, of which requests say nothing",
        "TCP ingress, whose connections are not counted",
        "Dapr, whose calls are not counted as requests",
        "GPU and dedicated profiles (priced elsewhere)",
    ),
    unchecked=("the free grant of the subscription",),
    meter="vCPU-hours and GiB-hours at the idle rate, without the free grant: an upper bound",
    remove="lowering minReplicas trades the charge for a cold start of the next request: that is its owner's to decide",
    reversal="can be undone",
    recovery="minReplicas can be set back at any time.",
    order=50,
)  # fmt: skip


CHECKS = (WARM, IDLE)
