"""One Cloud Run service as an endpoint. Reads the API alone: nothing here sends a request to the service itself."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from clouds import enginelog
from clouds.base import PriceBook
from clouds.errors import CloudError, NotFound
from clouds.gcp.api import GcpApi
from clouds.gcp.endpoints import labels as tags
from clouds.gcp.endpoints.machines.held import Standing, missing
from clouds.gcp.endpoints.run import calls
from clouds.models import Call, Endpoint, EndpointRef, EngineFacts, Hardware, Phase, Price, Scope

READS = (
    Call("run", "projects.locations.services.get"),
    Call("run", "projects.locations.services.list"),
    Call("run-v1", "projects.locations.list"),
    Call("run", "projects.locations.operations.get"),
    Call("logging", "entries.list"),
    Call("cloudscheduler", "projects.locations.jobs.get"),
    Call("compute", "projects.get"),
    Call("storage", "buckets.get"),
)
"""What looking at services sends, for the read-only allow-list."""
MOST_LINES, MOST_READ = 1000, 10_000
"""Lines of one page, and of the pages that are read for one answer: ten at most."""
L4_GIB = 22.5


def name_of(project: str, ref: EndpointRef) -> str:
    """The full name of an endpoint's service."""
    return f"projects/{project}/locations/{ref.location}/services/modelrig-{ref.name}"


def find(api: GcpApi, ref: EndpointRef) -> dict[str, Any]:
    """The service. Raises NotFound, also for one that is not ours."""
    call = Call("run", "projects.locations.services.get", {"name": name_of(api.project, ref)})
    try:
        row: dict[str, Any] = api.send(call, scope=Scope(ref.location))
    except NotFound:
        raise missing(ref) from None
    if not row.get("labels", {}).get(tags.DEPLOYMENT):
        raise missing(ref)
    return row


def standing(row: Mapping[str, Any]) -> Standing:
    """What its conditions mean. `ready` only by our own label: a token came once."""
    condition = row.get("terminalCondition", {})
    state, why = str(condition.get("state", "")), str(condition.get("message", ""))[:300]
    least = row.get("scaling", {}).get("minInstanceCount") or row.get("template", {}).get("scaling", {}).get(
        "minInstanceCount", 0
    )
    idle = True if least else None
    rests = (
        "an instance is kept: it bills all the time"
        if least
        else "it scales to zero: it bills while one instance lives"
    )
    if "deleteTime" in row:
        return Standing("deleting", False, why)
    if state == "CONDITION_FAILED":
        reason = str(condition.get("reason") or condition.get("revisionReason") or "")
        return Standing("failed", idle, ": ".join(word for word in (reason, why) if word))
    if state == "CONDITION_SUCCEEDED" and not row.get("reconciling"):
        if tags.moment(row["labels"].get(tags.READY, "")):
            return Standing("ready", idle, rests)
        return Standing("loading", idle, "its revision passed the startup probe; no token was asked for yet")
    if state in {"CONDITION_PENDING", "CONDITION_RECONCILING", "CONDITION_SUCCEEDED", ""}:
        known = "updating" if row.get("latestReadyRevision") else "creating"
        return Standing("updating" if known == "updating" else "creating", True, why or "the revision is being started")
    return Standing("unknown", None, f"Cloud Run says {state[:40]!r}, which is new")


def build(ref: EndpointRef, row: Mapping[str, Any], lines: Sequence[str] | None, prices: PriceBook) -> Endpoint:
    """Pure: the record from what was read."""
    now = standing(row)
    told = serving(row)
    kept = row.get("annotations", {})
    condition = row.get("terminalCondition", {})
    project = str(row.get("name", "//")).split("/")[1]
    revision = str(row.get("latestReadyRevision", "")).rsplit("/", 1)[-1] or "no revision"
    return Endpoint(
        ref=str(ref),
        state=now.state,
        cloud_status=f"{condition.get('state', 'no condition')} ({revision})",
        billing=now.billing,
        model=str(told.get("model", "")),
        reason=now.reason,
        url=str(row.get("uri", "")),
        created=_iso(row.get("createTime")),
        expires=tags.end_of(row.get("labels", {})),
        deployment=row.get("labels", {}).get(tags.DEPLOYMENT, ""),
        account=project,
        engine=_engine(lines, told),
        hardware=hardware(row),
        price=price(prices, ref.location, *_asked(row)),
        phases=_phases(str(kept.get(calls.PHASES, ""))),
    )


def serving(row: Mapping[str, Any]) -> dict[str, Any]:
    """What it was told to serve; empty when its annotation does not say."""
    try:
        found = json.loads(row.get("annotations", {}).get(calls.SERVING, ""))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def hardware(row: Mapping[str, Any]) -> Hardware:
    """What one instance has."""
    cpu, memory = _asked(row)
    return Hardware(
        instance_type=f"{cpu:g} vCPU, {memory:g} GiB, one L4",
        accelerators=("L4",),
        cores=round(cpu),
        memory_bytes=round(memory * 1024**3),
        accelerator_memory_bytes=round(L4_GIB * 1024**3),
    )


def _asked(row: Mapping[str, Any]) -> tuple[float, float]:
    containers = row.get("template", {}).get("containers", [])
    limits = containers[0].get("resources", {}).get("limits", {}) if containers else {}
    return float(limits.get("cpu", 8)), float(str(limits.get("memory", "32Gi")).removesuffix("Gi"))


def price(prices: PriceBook, region: str, cpu: float, memory: float) -> Price | None:
    """An hour of one instance: GPU, vCPU and memory are priced apart and summed. None when one of them is unknown."""
    parts = (
        ("cloud-run/gpu-l4-no-zonal-redundancy", 1.0),
        ("cloud-run/cpu-instance-based", cpu),
        ("cloud-run/memory-instance-based", memory),
    )
    found = [(prices.price(key, region), amount) for key, amount in parts]
    known = [(row, amount) for row, amount in found if row is not None]
    if len(known) < len(parts):
        return None
    return Price(
        amount=round(sum(row.amount * amount * 3600 for row, amount in known), 4),
        unit="hour",
        as_of=min(row.as_of for row, _ in known),
        source="; ".join(dict.fromkeys(row.source for row, _ in known)),
        basis="while an instance lives",
    )


def log_lines(api: GcpApi, ref: EndpointRef, since: datetime, limit: int) -> tuple[tuple[datetime, str], ...]:
    """The newest lines of its instances, oldest first, from Cloud Logging. Raises CloudError."""
    wanted = (
        f'resource.type="cloud_run_revision" AND resource.labels.service_name="modelrig-{ref.name}" '
        f'AND resource.labels.location="{ref.location}" AND timestamp>="{tags.iso(since)}"'
    )
    body = {
        "resourceNames": [f"projects/{api.project}"],
        "filter": wanted,
        "orderBy": "timestamp desc",
        "pageSize": min(limit, MOST_LINES),
    }
    found: list[tuple[datetime, str]] = []
    for page in api.pages(Call("logging", "entries.list", {"body": body}), scope=Scope()):
        for entry in page.get("entries", []):
            at = tags.time_of(entry.get("timestamp", ""))
            text = str(entry.get("textPayload") or entry.get("jsonPayload", {}).get("message", ""))
            if at is not None and text.strip():
                found.append((at, " ".join(text.split())[:2000]))
        if len(found) >= limit:
            break
    return tuple(reversed(found[:limit]))


def engine_lines(api: GcpApi, ref: EndpointRef, row: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The lines of its first start; None when they could not be read."""
    created = tags.time_of(row.get("createTime", ""))
    if created is None:
        return ()
    try:
        return tuple(line for _, line in log_lines(api, ref, created - timedelta(minutes=1), MOST_LINES))
    except CloudError:
        return None


def _engine(lines: Sequence[str] | None, told: Mapping[str, Any]) -> EngineFacts | None:
    facts = enginelog.read(lines or ())
    model, image = str(told.get("model", "")), str(told.get("image", ""))
    if facts is None:
        return EngineFacts(engine="vllm", model=model, image=image) if told else None
    return facts.model_copy(update={"model": model or facts.model, "image": image})


def _phases(text: str) -> tuple[Phase, ...]:
    try:
        rows = json.loads(text or "[]")
        return tuple(Phase(name=str(name)[:80], seconds=float(seconds)) for name, seconds in rows)
    except (ValueError, TypeError):
        return ()


def _iso(text: object) -> str:
    found = tags.time_of(text)
    return tags.iso(found) if found else ""
