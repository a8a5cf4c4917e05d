"""Machines of Compute Engine that do nothing: GPUs and TPUs first, then those without an end, idle and stopped ones."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from clouds.gcp import machines, meters
from clouds.gcp.checks import words
from clouds.gcp.checks.disks import DISK
from clouds.gcp.checks.metrics import LISTED, usage
from clouds.gcp.checks.reads import DISKS, INSTANCES, compute_kind, gce_key
from clouds.gcp.checks.steps import at, gone, step, until
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Meter, Row, Seen, Unseen, Waste, WasteCheck, Young

MACHINE = compute_kind(
    "machine", INSTANCES, managed=words.machine_managed, moving=("lastStartTimestamp", "cpuPlatform", "resourceStatus")
)
_SOURCE = LISTED + "every running machine reports it"
IDLE_CPU = 0.03
IDLE_BYTES_A_SECOND = 1024


def _type(row: Row) -> str:
    return words.last(row.get("machineType"))


def _runs(row: Row) -> bool:
    return bool(row.get("status") == "RUNNING")


def _gpu(row: Row) -> bool:
    return bool(row.get("guestAccelerators")) or meters.has_gpu(_type(row))


def _tpu(row: Row) -> bool:
    return meters.is_tpu(_type(row))


def _measured(days: float) -> tuple[Any, Any]:
    cpu = usage(
        "highest CPU", INSTANCES, "compute.googleapis.com/instance/cpu/utilization", "gce_instance", ("instance_id",),
        gce_key, days=days, absent="unresolved", fold="max", when=_runs, unit="share", source=_SOURCE,
    )  # fmt: skip
    sent = usage(
        "bytes sent", INSTANCES, "compute.googleapis.com/instance/network/sent_bytes_count", "gce_instance",
        ("instance_id",), gce_key, days=days, absent="unresolved", when=_runs, unit="B", source=_SOURCE,
    )  # fmt: skip
    return cpu, sent


CPU, SENT = _measured(14)
CPU_3, SENT_3 = _measured(3)
GPU = usage(
    "highest GPU use",
    INSTANCES,
    "agent.googleapis.com/gpu/utilization",
    "gce_instance",
    ("instance_id",),
    gce_key,
    days=3,
    absent="unresolved",
    fold="max",
    when=lambda row: _runs(row) and _gpu(row),
    unit="%",
    source="Ops Agent metric list (2026-11-29): reported only where the agent is installed, silence says nothing",
)


def _scheduled(row: Row) -> Mapping[str, Any]:
    found: Mapping[str, Any] = row.get("scheduling") or {}
    return found


def priced(row: Row) -> tuple[Meter, ...]:
    """A machine by the hour at the rate of its provisioning model."""
    return meters.machine(
        _type(row), words.spot(row), meters.model_of(_scheduled(row)), row.get("guestAccelerators") or ()
    )


def _ends(row: Row) -> bool:
    scheduled = _scheduled(row)
    return bool(scheduled.get("maxRunDuration") or scheduled.get("terminationTime"))


def _end(row: Row) -> datetime | None:
    """When Compute Engine ends it: computed from a run duration (resourceStatus), or the time that was asked for."""
    status = (row.get("resourceStatus") or {}).get("scheduling") or {}
    return words.moment(status.get("terminationTimestamp") or _scheduled(row).get("terminationTime"))


def _facts(row: Row) -> dict[str, Any]:
    return {
        "type": _type(row), "provisioning": meters.model_of(_scheduled(row)), "zone": words.spot(row),
        "accelerators": _accelerators(row),
    }  # fmt: skip


def _accelerators(row: Row) -> str:
    """`1 x L4` of a G2 machine too, whose GPU belongs to its type and need not be listed; "none" for a plain one."""
    known = machines.find(_type(row))
    if known is not None:
        return f"{known.count} x {known.accelerator}"
    cards = [f"{each.get('acceleratorCount', 1)} x {words.last(each.get('acceleratorType'))}"
             for each in row.get("guestAccelerators") or ()]  # fmt: skip
    return ", ".join(cards) or "none"


def _quiet(row: Row, seen: Seen, cpu: Any, sent: Any) -> bool:
    """Whether a machine rested for the window. Raises Young where it has run for less: its figures begin then."""
    rested = seen.metric(cpu, row) < IDLE_CPU and seen.metric(sent, row) < IDLE_BYTES_A_SECOND * sent.days * 86400
    if rested and words.older(seen, row.get("lastStartTimestamp"), days=sent.days) is False:
        raise Young
    return rested


def _gpu_idle(row: Row, seen: Seen) -> Waste | None:
    if not _runs(row) or not _gpu(row) or not _quiet(row, seen, CPU_3, SENT_3) or seen.metric(GPU, row) > 1:
        return None
    return Waste(f"its GPUs, CPU and network rested for 3 days ({_type(row)})", priced(row), until=_end(row),
                 evidence=_facts(row))  # fmt: skip


def _tpu_idle(row: Row, seen: Seen) -> Waste | None:
    if not _runs(row) or not _tpu(row) or not _quiet(row, seen, CPU_3, SENT_3):
        return None
    return Waste(f"its CPU and network rested for 3 days ({_type(row)})", priced(row), until=_end(row),
                 evidence=_facts(row))  # fmt: skip


def _idle(row: Row, seen: Seen) -> Waste | None:
    if not _runs(row) or _gpu(row) or _tpu(row) or not _quiet(row, seen, CPU, SENT):
        return None
    return Waste("under 3 % CPU and 1 KB/s for 14 days", priced(row), until=_end(row), evidence=_facts(row))


def _no_end(row: Row, seen: Seen) -> Waste | None:
    model = meters.model_of(_scheduled(row))
    meant_to_end = model in ("flex-start", "spot") or _tpu(row)
    if not _runs(row) or not meant_to_end or _ends(row) or words.labels(row).get("owner"):
        return None
    days = words.days_since(seen, row.get("lastStartTimestamp") or row.get("creationTimestamp"))
    return Waste(f"{model} {_type(row)} has run for {days} days and has no end", priced(row), bound="at most",
                 evidence=_facts(row))  # fmt: skip


def _stop(doomed: Doomed) -> tuple[CleanupStep, ...]:
    row, where = doomed.row, at(doomed.row, doomed.at.account, "instance")
    if _tpu(row) or meters.model_of(_scheduled(row)) == "flex-start":
        return (
            step("delete", f"delete the machine {row['name']} (it cannot be kept stopped)", "compute.instances.delete",
                 where, "cannot be undone", gone("compute.instances.get", where), capacity=True),
        )  # fmt: skip
    if any(each.get("type") == "SCRATCH" for each in row.get("disks") or ()):  # then the API wants to be told
        return (
            step("stop", f"stop the machine {row['name']}: what is on its local SSDs is lost; its disks stay and go on "
                 "billing", "compute.instances.stop", {**where, "discardLocalSsd": True}, "cannot be undone",
                 until("compute.instances.get", where, "status", "TERMINATED", "STOPPED"), capacity=_gpu(row)),
        )  # fmt: skip
    return (
        step("stop", f"stop the machine {row['name']}; its disks stay and go on billing", "compute.instances.stop",
             where, "can be undone", until("compute.instances.get", where, "status", "TERMINATED", "STOPPED"),
             capacity=_gpu(row)),
    )  # fmt: skip


_STOPS = ("compute.instances.stop", "compute.instances.delete", "compute.instances.get")
_SPARES = (
    "a member of an instance group",
    "made by GKE, Dataproc or another service",
    "younger than the window, or started in it",
)

GPU_IDLE = WasteCheck(
    id="gpu-vm-idle", title="GPU machine that computes nothing", kind=MACHINE, judge=_gpu_idle,
    reads=(CPU_3, SENT_3, GPU), why="GPUs bill while the machine runs, whatever they compute.", remove=_stop,
    steps=_STOPS, reversal="can be undone", category="ai", order=15,
    recovery="Start it again; GPUs may not be had then, and a flex-start machine is gone for good.",
    meter="GPUs and host by the hour", min_age=timedelta(days=3),
    spares=(*_SPARES, "its CPU, network or GPUs were used in 3 days"),
    unchecked=("GPU use, where no Ops Agent reports it: then it is unresolved",),
)  # fmt: skip
TPU_IDLE = WasteCheck(
    id="tpu-vm-idle", title="TPU machine that serves nothing", kind=MACHINE, judge=_tpu_idle, reads=(CPU_3, SENT_3),
    why="A TPU machine bills its chips from RUNNING on; a model server that never came up looks like one that works.",
    remove=_stop, steps=_STOPS, reversal="cannot be undone", category="ai", order=15,
    recovery="deploy_endpoint makes another one; the chips may not be had, and its boot disk is lost.",
    meter="TPU chips by the hour", min_age=timedelta(days=3),
    spares=(*_SPARES, "its CPU or network was used in 3 days"),
    unchecked=("the use of the chips themselves, which no metric tells by machine", "its serial log"),
)  # fmt: skip
NO_END = WasteCheck(
    id="vm-no-end",
    title="Spot, flex-start or TPU machine without an end",
    kind=MACHINE,
    judge=_no_end,
    why="Such a machine is made for a while; without maxRunDuration nothing ends it when it is forgotten.",
    remove="whether it is used is not known: give it an end (`gcloud compute instances set-scheduling`), or delete it",
    reversal="can be undone",
    recovery="",
    category="ai",
    order=16,
    meter="its machine type by the hour, at most",
    min_age=timedelta(days=7),
    spares=("it has an end", "it has a label owner", "younger than 7 days", *_SPARES[:2]),
    unchecked=("whether it is in use: the amount is what it costs, not what is wasted",),
)
IDLE = WasteCheck(
    id="vm-idle", title="Machine that does nothing", kind=MACHINE, judge=_idle, reads=(CPU, SENT),
    why="A running machine bills by the hour, also when it rests.", remove=_stop, steps=_STOPS,
    reversal="can be undone", recovery="Start it again; its disks and addresses stay meanwhile and go on billing.",
    order=40, meter="its machine type by the hour", min_age=timedelta(days=14),
    spares=(*_SPARES, "GPU and TPU machines, which have checks of their own"), unchecked=("what it waits for",),
)  # fmt: skip


def _of_machine(disk: Row) -> tuple[str, ...]:
    return tuple(words.tail(user) for user in disk.get("users") or ())


def _stopped(row: Row, seen: Seen) -> Waste | None:
    if row.get("status") not in ("TERMINATED", "STOPPED", "SUSPENDED"):
        return None
    since = words.stopped_since(row)
    if not words.older(seen, since, days=14):
        return None
    blocked = "it is protected from deletion" if row.get("deletionProtection") else ""
    try:
        disks = seen.index(DISKS, _of_machine).get(words.tail(row.get("selfLink")), ())
    except Unseen:  # the scan names it as unread; that the machine is off is known without it
        return Waste(
            f"stopped for {words.days_since(seen, since)} days; its disks, which bill on, could not be read",
            bound="at least",
            blocked=blocked or "its disks could not be read, so nobody knows what goes with it",
            evidence={"status": row["status"], "since": since},
        )
    lines = tuple(line for disk in disks for line in meters.disk(disk, words.spot(disk)))
    return Waste(
        f"stopped for {words.days_since(seen, since)} days, and {words.count(len(disks), 'disk')} still billed",
        lines,
        free=not lines, bound="at least" if row["status"] == "SUSPENDED" else "exact",
        holds=tuple(seen.id(DISK, disk) for disk in disks),
        blocked=blocked,
        evidence={"status": row["status"], "since": since, "GiB": sum(words.number(d.get("sizeGb")) for d in disks)},
    )  # fmt: skip


def _image_and_delete(doomed: Doomed) -> tuple[CleanupStep, ...]:
    row, project = doomed.row, doomed.at.account or ""
    where, name = at(row, project, "instance"), f"modelrig-{doomed.mark}"[:62].rstrip("-")
    image = {"project": project, "machineImage": name}
    body = {"name": name, "sourceInstance": words.tail(row.get("selfLink"))}
    return (
        step("image", f"make the machine image {name} of {row['name']}, with its disks", "compute.machineImages.insert",
             {"project": project, "body": body}, "can be undone",
             until("compute.machineImages.get", image, "status", "READY", failed=("INVALID",), seconds=6 * 3600),
             backup=True, makes=name),  # no rate of machine images is in the table
        step("delete", f"delete the machine {row['name']} and the disks that go with it", "compute.instances.delete",
             where, "can be undone", gone("compute.instances.get", where)),
        *(_left(str(each["source"]), project, number) for number, each in enumerate(row.get("disks") or (), 1)
          if each.get("source") and not each.get("autoDelete") and "/zones/" in str(each["source"])),
    )  # fmt: skip


def _left(source: str, project: str, number: int) -> CleanupStep:
    """A disk that does not go with its machine; the machine image holds a copy of it too."""
    where = {"project": project, "zone": words.part(source, "zones"), "disk": words.last(source)}
    text = f"delete its disk {words.last(source)}, which would stay"
    return step(
        f"disk-{number}", text, "compute.disks.delete", where, "can be undone", gone("compute.disks.get", where)
    )


STOPPED = WasteCheck(
    id="vm-stopped", title="Machine that has been stopped for long", kind=MACHINE, judge=_stopped, reads=(DISKS,),
    why="A stopped machine costs nothing itself, but its disks and addresses do.", remove=_image_and_delete,
    steps=("compute.machineImages.insert", "compute.machineImages.get", "compute.instances.delete",
           "compute.instances.get", "compute.disks.delete", "compute.disks.get"),
    reversal="can be undone", recovery="A machine image with all its disks is made first; it can be made anew from it.",
    order=35, meter="its disks by the GiB and month", min_age=timedelta(days=14),
    spares=("stopped for less than 14 days", *_SPARES[:2], "protected from deletion"),
    unchecked=("when it will be needed again", "the memory of a suspended machine, which has no rate in the table"),
)  # fmt: skip
CHECKS = (GPU_IDLE, TPU_IDLE, NO_END, IDLE, STOPPED)
