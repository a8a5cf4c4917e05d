"""What stands around the three services: scheduler jobs, buckets, logs, who we are, and quotas."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from clouds.gcp import methods
from tests.clouds.gcp.simulator.project import NAME, NUMBER, Project, missing, refused

REGIONS = ("us-west4", "us-east5", "us-central1", "europe-west4")


def job_create(project: Project, asked: Mapping[str, Any]) -> Any:
    body = json.loads(json.dumps(asked["body"]))
    if body["name"] in project.jobs:
        raise refused(409, "ALREADY_EXISTS", f"Job {body['name']} already exists.")
    body["state"] = "ENABLED"
    project.jobs[body["name"]] = body
    _arm(project, body)
    return body


def _arm(project: Project, body: dict[str, Any]) -> None:
    """The job sends its request at its minute, as long as it is there and not moved."""
    minute, hour, day, month = (int(word) for word in body["schedule"].split()[:4])
    when = datetime(project.now().year, month, day, hour, minute, tzinfo=UTC)
    schedule = body["schedule"]
    if when < project.now():
        when = when.replace(year=when.year + 1)

    def send() -> None:
        if project.jobs.get(body["name"]) is not body or body["schedule"] != schedule:
            return
        target = body["httpTarget"]
        for service in ("tpu", "run"):
            found = methods.recognise(service, target["httpMethod"], target["uri"])
            if found is not None:
                _sent(project, f"{service}.{found[0].operation}", found[1])

    if when - project.now() < timedelta(days=32):
        project.clock.at(when, send)


def _sent(project: Project, name: str, parameters: Mapping[str, Any]) -> None:
    from tests.clouds.gcp.simulator import OPERATIONS
    from tests.clouds.gcp.simulator.project import Refused

    try:
        OPERATIONS[name](project, parameters)
    except Refused as error:
        project.misuse += [] if error.status == 404 else [f"the job's {name} was refused with {error.status}"]


def rearmed(project: Project) -> None:
    """A copy of a project has lost what was to happen: its jobs are set again."""
    for body in project.jobs.values():
        _arm(project, body)


def job_get(project: Project, asked: Mapping[str, Any]) -> Any:
    if asked["name"] not in project.jobs:
        raise missing(asked["name"])
    return project.jobs[asked["name"]]


def job_patch(project: Project, asked: Mapping[str, Any]) -> Any:
    row = job_get(project, asked)
    row.update({field: asked["body"][field] for field in str(asked["updateMask"]).split(",")})
    _arm(project, row)
    return row


def job_delete(project: Project, asked: Mapping[str, Any]) -> Any:
    job_get(project, asked)
    project.jobs.pop(asked["name"])
    return {}


def bucket(project: Project, asked: Mapping[str, Any]) -> Any:
    if asked["bucket"] not in project.buckets:
        raise missing(f"b/{asked['bucket']}")
    return {"name": asked["bucket"], "location": project.buckets[asked["bucket"]]}


def objects(project: Project, asked: Mapping[str, Any]) -> Any:
    start = f"{asked['bucket']}/{asked.get('prefix', '')}"
    names = [key.removeprefix(f"{asked['bucket']}/") for key in sorted(project.objects) if key.startswith(start)]
    return {"items": [{"name": name, "bucket": asked["bucket"]} for name in names]}


def content(project: Project, asked: Mapping[str, Any]) -> Any:
    key = f"{asked['bucket']}/{asked['object']}"
    if key not in project.objects:
        raise missing(key)
    return project.objects[key]


def entries(project: Project, _: Mapping[str, Any]) -> Any:
    if not project.services:
        return {"entries": []}
    line = "INFO GPU KV cache size: 17,990 tokens, Maximum concurrency for 2,048 tokens per request: 8.78x"
    return {"entries": [{"timestamp": project.stamp(), "textPayload": line, "logName": f"projects/{NAME}/logs/run"}]}


def infos(project: Project, asked: Mapping[str, Any]) -> Any:
    """Every quota that a limit was set for; the rest has its usual 1,536."""
    usual = [
        *(f"TPU{kind}PerProjectPer{place}ForTPUAPI" for place in ("Zone", "Region")
          for kind in ("V5sLitepod", "V5sPreemptibleLitepod", "V6E", "V6EPreemptible", "V5P", "V5PPreemptible")),
        "TPUS-PER-TPU-FAMILY-per-project-region", "PREEMPTIBLE-TPU-V6E-per-project-region",
        "NvidiaL4GpuAllocNoZonalRedundancyPerProjectRegion", "NvidiaL4GpuAllocPerProjectRegion",
        "MemAllocPerProjectRegion", "CpuAllocPerProjectRegion",
    ]  # fmt: skip
    return {"quotaInfos": [_info(project, asked["parent"], quota) for quota in usual]}


def info(project: Project, asked: Mapping[str, Any]) -> Any:
    return _info(project, asked["name"].rsplit("/quotaInfos/", 1)[0], asked["name"].rsplit("/", 1)[-1])


def _info(project: Project, parent: str, quota: str) -> dict[str, Any]:
    zones = sorted({key.rsplit("@", 1)[1] for key in project.capacity}) or ["us-west4-a"]
    places = zones if "PerZone" in quota else sorted({*REGIONS, *(zone.rsplit("-", 1)[0] for zone in zones)})
    word = "zone" if "PerZone" in quota else "region"
    family = {"tpu_family": "CT6E"} if quota.startswith("TPUS-PER") else {}
    scale = 1024**3 if quota.startswith("Mem") else 1000 if quota.startswith("Cpu") else 1
    rows = [
        {
            "dimensions": {word: place, **family},
            "details": {"value": str(round(project.limits.get(f"{quota}@{place}", 1536) * scale))},
            "applicableLocations": [place],
        }
        for place in places
    ]
    return {"name": f"{parent}/quotaInfos/{quota}", "quotaId": quota, "dimensionsInfos": rows, "isPrecise": True}


def regions(project: Project, _: Mapping[str, Any]) -> Any:
    def quotas(region: str) -> list[dict[str, Any]]:
        names = ("NVIDIA_L4_GPUS", "PREEMPTIBLE_NVIDIA_L4_GPUS", "CPUS")
        return [{"metric": n, "limit": project.limits.get(f"{n}@{region}", 16.0), "usage": 0.0} for n in names]

    return {"items": [{"name": region, "quotas": quotas(region)} for region in REGIONS]}


OPERATIONS: Mapping[str, Callable[[Project, Mapping[str, Any]], Any]] = {
    "cloudscheduler.projects.locations.jobs.create": job_create,
    "cloudscheduler.projects.locations.jobs.get": job_get,
    "cloudscheduler.projects.locations.jobs.patch": job_patch,
    "cloudscheduler.projects.locations.jobs.delete": job_delete,
    "storage.buckets.get": bucket,
    "storage.objects.list": objects,
    "storage-media.objects.get": content,
    "logging.entries.list": entries,
    "compute.projects.get": lambda _project, _asked: {
        "name": NAME,
        "defaultServiceAccount": f"{NUMBER}-compute@developer.gserviceaccount.com",
        "quotas": [{"metric": "GPUS_ALL_REGIONS", "limit": 16.0, "usage": 0.0}],
    },
    "compute.regions.list": regions,
    "cloudquotas.projects.locations.services.quotaInfos.list": infos,
    "cloudquotas.projects.locations.services.quotaInfos.get": info,
    "cloudresourcemanager.projects.get": lambda _project, _asked: {"projectId": NAME, "name": f"projects/{NUMBER}"},
    "cloudbilling.projects.getBillingInfo": lambda _project, _asked: {"billingEnabled": True},
    "oauth2.userinfo.get": lambda _project, _asked: {"email": "dev@example.com"},
    "monitoring.projects.timeSeries.list": lambda _project, _asked: {"timeSeries": []},
    "iamcredentials.projects.serviceAccounts.generateIdToken": lambda _project, _asked: {"token": "a.b.c"},
}
