"""What is used of quotas whose list does not say it: chips of nodes, queued resources and machines, Cloud Run's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from clouds.gcp import machines, pages
from clouds.gcp.places import is_zone, region_of
from clouds.gcp.tpus import Chips
from clouds.models import Call, Scope

if TYPE_CHECKING:
    from clouds.gcp.api import GcpApi

MACHINES = Call("compute", "instances.aggregatedList")
SERIES = Call("monitoring", "projects.timeSeries.list")
READS = (MACHINES, SERIES)
_COUNTS = frozenset({"PENDING", "PROVISIONING", "STAGING", "RUNNING", "STOPPING", "SUSPENDING", "REPAIRING"})
"""States in which a machine holds its accelerators; a stopped or suspended one does not."""
_WINDOW = timedelta(days=2)
Used = Callable[[str], float | None]
"""Region or zone -> what is used there; None is unknown."""


def of_chips(chips: Sequence[Chips], accelerator: str, spot: bool) -> Used:
    """What the TPU API's nodes and dead queued resources hold."""
    counts = Counter[str]()
    for each in chips:
        if each.accelerator == accelerator and each.spot == spot:
            counts[each.zone] += each.count
    return _summed(counts)


def of_machines(answer: Mapping[str, Any], accelerator: str, spot: bool) -> Used:
    """What the machines of Compute Engine hold."""
    counts = Counter[str]()
    for zone, row in pages.scoped(answer, "instances"):
        machine = machines.find(str(row.get("machineType", "")).rsplit("/", 1)[-1])
        if machine is None or machine.accelerator != accelerator or row.get("status") not in _COUNTS:
            continue
        if bought_cheaply(row) == spot:
            counts[zone] += machine.count
    return _summed(counts)


def bought_cheaply(machine: Mapping[str, Any]) -> bool:
    """Whether a machine counts against a preemptible quota: spot and flex-start do."""
    config = machine.get("scheduling") or {}
    return bool(config.get("preemptible")) or config.get("provisioningModel") in ("SPOT", "FLEX_START")


def of_service(series: Mapping[str, Any], metric: str, divisor: float) -> Used:
    """What a service itself reports as used of a quota metric. No series is unknown, and not zero."""
    newest: dict[str, float] = {}
    for row in series.get("timeSeries") or ():
        if (row.get("metric") or {}).get("labels", {}).get("quota_metric") != metric or not row.get("points"):
            continue
        value = row["points"][0].get("value") or {}
        number = value.get("int64Value", value.get("doubleValue"))
        if number is not None:
            newest[str((row.get("resource") or {}).get("labels", {}).get("location", ""))] = float(number) / divisor
    return newest.get


def allocations(api: GcpApi, service: str, account: str, now: datetime) -> Mapping[str, Any]:
    """The newest of what a service reports as allocated, for every quota metric of it. Raises CloudError."""
    metric = "serviceruntime.googleapis.com/quota/allocation/usage"
    parameters = {
        "filter": f'metric.type = "{metric}" AND resource.labels.service = "{service}"',
        "interval.startTime": f"{now - _WINDOW:%Y-%m-%dT%H:%M:%SZ}",
        "interval.endTime": f"{now:%Y-%m-%dT%H:%M:%SZ}",
    }
    found: Mapping[str, Any] = api.send(
        Call(SERIES.service, SERIES.operation, parameters), scope=Scope(account=account)
    )
    return found


def _summed(counts: Mapping[str, int]) -> Used:
    def used(place: str) -> float:
        if is_zone(place):
            return float(counts.get(place, 0))
        return float(sum(n for zone, n in counts.items() if zone and region_of(zone) == place))

    return used
