"""Google's own advice: how obtainable a spot GPU is, and when calendar mode has chips. It reserves and costs nothing.

`advice.capacity` answers for spot machines with CPUs and GPUs, and not for TPUs (Google's page on VM availability);
`advice.calendarMode` answers for TPUs (discovery document of compute v1, 2026-11-06).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from clouds.gcp.catalogue import money
from clouds.gcp.machines import Machine
from clouds.gcp.words import hourly
from clouds.models import Call

CAPACITY = Call("compute", "advice.capacity")
CALENDAR = Call("compute", "advice.calendarMode")
HISTORY = Call("compute", "advice.capacityHistory")
_FAMILIES: Mapping[str, str] = {
    "v5e": "VM_FAMILY_CLOUD_TPU_LITE_POD_SLICE_CT5LP",
    "v5p": "VM_FAMILY_CLOUD_TPU_POD_SLICE_CT5P",
    "v6e": "VM_FAMILY_CLOUD_TPU_LITE_POD_SLICE_CT6E",
    "TPU7x": "VM_FAMILY_CLOUD_TPU_POD_SLICE_TPU7X",
}
_SPEC = "asked"
_SOON, _LATE = timedelta(days=1), timedelta(days=14)
_DAY = "86400s"


def spot(kinds: Sequence[str], zones: Sequence[str], region: str) -> Call:
    """How obtainable one spot machine of these types is in a region."""
    body = {
        "distributionPolicy": {
            "targetShape": "ANY_SINGLE_ZONE",
            "zones": [{"zone": f"zones/{zone}"} for zone in sorted(zones)],
        },
        "instanceProperties": {"scheduling": {"provisioningModel": "SPOT"}},
        "instanceFlexibilityPolicy": {"instanceSelections": {_SPEC: {"machineTypes": list(kinds)}}},
        "size": 1,
    }
    return Call(CAPACITY.service, CAPACITY.operation, {"region": region, "body": body})


def scores(answer: Mapping[str, Any]) -> dict[str, str]:
    """Zone -> `score 0.8 of 1`, with how long such a machine is estimated to run."""
    found: dict[str, str] = {}
    for row in answer.get("recommendations") or ():
        marks = row.get("scores") or {}
        if "obtainability" not in marks:
            continue
        words = f"score {float(marks['obtainability']):g} of 1"
        uptime = str(marks.get("estimatedUptime", ""))
        if uptime.endswith("s") and uptime[:-1].isdigit():
            words += f", estimated to run {int(uptime[:-1]) / 3600:g} h"
        for shard in row.get("shards") or ():
            found.setdefault(str(shard.get("zone", "")).rsplit("/", 1)[-1], words)
    return found


def history(kind: str, region: str) -> Call:
    """What a spot machine of a type cost in a region, and how often it was taken away."""
    body = {
        "instanceProperties": {"machineType": kind, "scheduling": {"provisioningModel": "SPOT"}},
        "locationPolicy": {"location": f"regions/{region}"},
        "types": ["PRICE", "PREEMPTION"],
    }
    return Call(HISTORY.service, HISTORY.operation, {"region": region, "body": body})


def past(kind: str, answer: Mapping[str, Any]) -> str:
    """`spot g2-standard-4 lists $0.31 an hour since 2026-11-20, 4 % were preempted until 2026-11-28`; may be empty."""
    parts = []
    if priced := _newest(answer.get("priceHistory")):
        since = str((priced.get("interval") or {}).get("startTime", ""))[:10]
        usd = money(priced.get("listPrice") or {})
        parts += [f"lists {hourly(usd)} since {since}"] if usd else []
    if taken := _newest(answer.get("preemptionHistory")):
        until = str((taken.get("interval") or {}).get("endTime", ""))[:10]
        parts += (
            [f"{float(taken['preemptionRate']):.0%} were preempted until {until}"] if "preemptionRate" in taken else []
        )
    return f"spot {kind} {', '.join(parts)}" if parts else ""


def _newest(rows: Any) -> Mapping[str, Any]:
    return max(rows or ({},), key=lambda row: str((row.get("interval") or {}).get("startTime", "")))


def calendar(machine: Machine, region: str, zones: Sequence[str], now: datetime) -> Call:
    """When in the next two weeks a day of these chips could be had in a region."""
    spec = {
        "targetResources": {
            "aggregateResources": {
                "vmFamily": _FAMILIES[machine.accelerator],
                "acceleratorCount": str(machine.count),
                "workloadType": "SERVING",
            }
        },
        "timeRangeSpec": {
            "minDuration": _DAY,
            "startTimeNotEarlierThan": f"{now + _SOON:%Y-%m-%dT%H:%M:%SZ}",
            "startTimeNotLaterThan": f"{now + _LATE:%Y-%m-%dT%H:%M:%SZ}",
        },
        "locationPolicy": {"locations": {f"zones/{zone}": {"preference": "ALLOW"} for zone in sorted(zones)}},
    }
    return Call(
        CALENDAR.service, CALENDAR.operation, {"region": region, "body": {"futureResourcesSpecs": {_SPEC: spec}}}
    )


def days(answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Zone and what calendar mode says of it."""
    for row in answer.get("recommendations") or ():
        for each in (row.get("recommendationsPerSpec") or {}).values():
            if where := str(each.get("location", "")).rsplit("/", 1)[-1]:
                until = str(each.get("endTime", ""))[:16]
                yield where, f"calendar mode has a day from {str(each.get('startTime', ''))[:16]} to {until} UTC"
            for zone, other in (each.get("otherLocations") or {}).items():
                words = str(other.get("status", "")).lower().replace("_", " ")
                told = str(other.get("details", ""))[:100]
                yield zone.rsplit("/", 1)[-1], f"calendar mode: {words}{f' ({told})' if told else ''}"
