"""GPU machines that run and do nothing, and what Azure's own advisor says of costs."""

from __future__ import annotations

from datetime import timedelta

from clouds.azure.checks import words
from clouds.azure.checks.disks import MACHINES
from clouds.azure.checks.machines import MACHINE, STATES, compute_meter, power
from clouds.azure.checks.reads import check, listing
from clouds.azure.checks.steps import act
from clouds.azure.checks.usage import usage
from clouds.models import Call
from clouds.models.waste import Kind, Row, Seen, Waste, Young

_VM = "Microsoft.Compute/virtualMachines"
QUIET_PERCENT = 1.0


def _size(row: Row) -> str:
    return words.size(str((words.props(row).get("hardwareProfile") or {}).get("vmSize", "")))


CPU = usage(
    "Percentage CPU",
    MACHINES,
    days=7,
    absent="unresolved",
    aggregation="Average",
    when=lambda row: words.accelerated(_size(row)),
    unit="% at most, daily average",
    source="Azure Monitor, virtual machines: Percentage CPU is emitted by the host each minute while the machine runs",
)


def _idle(row: Row, seen: Seen) -> Waste | None:
    size = _size(row)
    if not words.accelerated(size):
        return None
    word, since = power(row, seen)
    if word != "running" or CPU.of(seen, row) >= QUIET_PERCENT:
        return None
    if words.older(seen, since, days=CPU.metric.days) is False:
        raise Young  # it may have been started then, and its figures begin there
    about = words.props(row)
    windows = ((about.get("storageProfile") or {}).get("osDisk") or {}).get("osType") == "Windows"
    return Waste(
        reason=f"runs, and its CPU was below {QUIET_PERCENT:g}% on each of 7 days ({size})",
        meters=(compute_meter(row),),
        bound="at least" if windows else "exact",
        evidence={"size": size, "priority": about.get("priority", "Regular"), "Windows": windows},
    )


GPU_IDLE = check(
    id="idle-gpu-vm",
    title="GPU machine that runs and does nothing",
    kind=MACHINE,
    reads=(STATES, *CPU.reads),
    judge=_idle,
    why="A GPU machine bills every hour that it runs; even a model server that only waits keeps a core busy.",
    spares=(f"the CPU came to {QUIET_PERCENT:g}% on any day", "not running", "no GPU",
            "younger than 7 days, or started or changed in them"),
    unchecked=("what the GPU itself does: without an agent no metric says it", "a reservation that pays for it"),
    meter="VM hours of its size, Linux rate, or spot",
    category="ai",
    min_age=timedelta(days=7),
    remove=lambda doomed: (
        act(
            _VM, doomed.id, "deallocate", f"deallocate {doomed.name}; its disks and static addresses stay",
            "statuses.code", "ProvisioningState/succeeded", "PowerState/deallocated", "OSState/generalized",
            look=Call(_VM, "instanceView", {"id": doomed.id}), capacity=True,
        ),
    ),
    reversal="can be undone",
    recovery="It starts again as it was, if there is capacity then; what was in memory and on its local disk is lost.",
    order=13,
    steps=(f"{_VM}.deallocate", f"{_VM}.instanceView"),
)  # fmt: skip

ADVICE = listing("Microsoft.Advisor/recommendations", **{"$filter": "Category eq 'Cost'"})


def _about(row: Row) -> str:
    """The full id of what the advice is about, so that it is booked once beside what other checks say of it."""
    return str((words.props(row).get("resourceMetadata") or {}).get("resourceId") or row["id"])


ADVISED = Kind(
    name="advice of Azure Advisor",
    of=ADVICE,
    id=lambda row, _at: _about(row),
    label=lambda row: (
        f"{words.props(row).get('impactedValue') or words.last(_about(row))} ({words.group(_about(row))})"
    ),
    place=words.place,
    moving=("properties", "id", "name"),
)


def _advised(row: Row, _seen: Seen) -> Waste | None:
    about = words.props(row)
    if about.get("category") != "Cost" or "/resourcegroups/" not in _about(row).lower():
        return None  # advice to buy reservations is about a subscription, and names nothing that is unused
    more = about.get("extendedProperties") or {}
    text = " ".join(str((about.get("shortDescription") or {}).get("problem") or "Advisor sees a saving").split())[:160]
    saves = str(more.get("annualSavingsAmount") or more.get("savingsAmount") or "")
    return Waste(
        reason=f"Advisor: {text}",
        saving=True,
        evidence={
            "Advisor's saving": f"{saves} {more.get('savingsCurrency', '')} a year".strip() if saves else "not said",
            "impact": about.get("impact", ""),
            "changed": about.get("lastUpdated", ""),
        },
    )


ADVISOR = check(
    id="advisor-cost",
    title="What Azure Advisor calls a saving",
    kind=ADVISED,
    judge=_advised,
    why="Advisor looks at usage that no scan from outside sees; its figure is its own and is not added to the total.",
    spares=("advice to buy reservations or savings plans", "advice of other categories"),
    unchecked=("whether its advice still holds: it is days old", "its figure, which is at the rates that you pay"),
    meter="none: Advisor's own figure is in the evidence",
    min_age=timedelta(0),
    remove="what is to be done stands in the advice: it is often a change of size, and its owner's to decide",
    reversal="can be undone",
    recovery="Nothing is changed from here.",
    order=97,
)
CHECKS = (GPU_IDLE, ADVISOR)
