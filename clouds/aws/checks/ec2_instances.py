"""EC2 instances that run and do nothing."""

from __future__ import annotations

import re
from datetime import timedelta

from clouds.aws.checks import words
from clouds.aws.checks.accelerated import accelerated, neuron
from clouds.aws.checks.ec2_reads import (
    INSTANCE,
    INSTANCES,
    grouped,
    instance_meters,
    lent_address,
)
from clouds.aws.checks.ec2_stopped import STOPPED
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import step, until
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Metric, Row, Seen, Waste, WasteCheck


def _running(row: Row) -> bool:
    return row["State"]["Name"] == "running" and not grouped(words.tags(row))


def _metric(name: str, days: float, stat: str, *, gpu: bool) -> Metric:
    return usage(
        "AWS/EC2",
        name,
        INSTANCES,
        by=lambda row: [{"InstanceId": row["InstanceId"]}],
        days=days,
        absent="unresolved",
        stat="Maximum" if stat == "Maximum" else "Sum",
        when=lambda row: _running(row) and accelerated(row["InstanceType"]) == gpu,
        unit="percent" if name == "CPUUtilization" else "bytes",
        source="EC2 docs, instance metrics: emitted every five minutes while an instance runs",
    )


CPU = _metric("CPUUtilization", 14, "Maximum", gpu=False)
NETWORK = _metric("NetworkIn NetworkOut", 14, "Sum", gpu=False)
GPU_CPU = _metric("CPUUtilization", 1, "Maximum", gpu=True)
GPU_NETWORK = _metric("NetworkIn", 1, "Sum", gpu=True)
MIB = 1024**2
_ON_PURPOSE = re.compile(r"bastion|jump|vpn|standby|(?<![a-z])nat(?![a-z])")
"""Machines that are there for when they are needed; "nat" only as a word: there are international ones."""


def _unstoppable(row: Row) -> str:
    """Why an instance cannot be stopped, or would be replaced ("" for neither; EC2 API, StopInstances; EC2 fleets)."""
    if row.get("RootDeviceType") == "instance-store":
        return "its root is instance store: it cannot be stopped, only terminated, and what is on it is lost"
    tags = words.tags(row)
    for key in ("aws:ec2spot:fleet-request-id", "aws:ec2:fleet-id"):
        if tags.get(key):
            return f"fleet {tags[key]} started it and may start another in its place: change the fleet"
    if row.get("InstanceLifecycle") == "spot":
        return "only a Spot instance of a persistent request can be stopped: cancel its request, or terminate it"
    return ""


def _idle_cpu(row: Row, seen: Seen) -> Waste | None:
    if not _running(row) or accelerated(row["InstanceType"]) or not row.get("SourceDestCheck", True):
        return None
    if _ON_PURPOSE.search(words.tags(row).get("Name", "").lower()):
        return None
    cpu = seen.metric(CPU, row)
    if cpu >= 5:
        return None
    daily = seen.metric(NETWORK, row) / CPU.days
    if daily >= 5 * MIB:
        return None
    return Waste(
        reason=f"CPU never above {cpu:.1f} % and {daily / MIB:.2f} MiB a day over the network in 14 days",
        meters=instance_meters(row),
        free=not instance_meters(row),
        bound="at least" if lent_address(row) else "exact",
        evidence={
            "type": row["InstanceType"],
            "highest CPU percent": round(cpu, 2),
            "MiB a day": round(daily / MIB, 3),
        },
        blocked=_unstoppable(row),
    )


def _stop(doomed: Doomed) -> tuple[CleanupStep, ...]:
    instance = doomed.row["InstanceId"]
    return (
        step(
            "stop", f"stop {doomed.name}; its volumes stay and go on billing", "ec2.StopInstances",
            {"InstanceIds": [instance]}, "can be undone", capacity=True,
            until=until("ec2.DescribeInstances", {"InstanceIds": [instance]}, "Reservations[].Instances[].State.Name",
                        "stopped", seconds=1800),
        ),
    )  # fmt: skip


_STOP_STEPS = ("ec2.StopInstances", "ec2.DescribeInstances")
IDLE = WasteCheck(
    id="ec2-idle-cpu",
    title="Instance that runs and does nothing",
    kind=INSTANCE,
    reads=(CPU, NETWORK),
    judge=_idle_cpu,
    why="A running instance bills every second, whatever it does.",
    spares=(
        "in an Auto Scaling group, EKS, ECS or EMR (emr-idle)", "named bastion, NAT, jump, VPN or standby",
        "a NAT instance",
        "with accelerators (ec2-gpu-idle)", "CPU at 5 % or more, or 5 MiB a day, at any time in 14 days",
    ),
    unchecked=("memory and disk, which EC2 does not report", "a licence bound to the machine"),
    meter="EC2 instance hours, Linux on demand or spot; a public IPv4 address that AWS lends it not included",
    min_age=timedelta(days=14),
    remove=_stop,
    reversal="can be undone",
    recovery="Start it again, if there is capacity then; a public address that is not an Elastic IP changes.",
    order=20,
    steps=_STOP_STEPS,
)  # fmt: skip


def _accelerator_idle(row: Row, seen: Seen, *, chips: bool) -> Waste | None:
    kind = row["InstanceType"]
    if not _running(row) or not accelerated(kind) or neuron(kind) != chips or row.get("CapacityBlockId"):
        return None
    if any("checkpoint" in key.lower() for key in words.tags(row)):
        return None
    cpu = seen.metric(GPU_CPU, row)
    if cpu >= 3:
        return None
    received = seen.metric(GPU_NETWORK, row)
    if received >= 50 * MIB:
        return None
    return Waste(
        reason=f"{kind}: CPU never above {cpu:.1f} % and {received / MIB:.2f} MiB received in 24 hours",
        meters=instance_meters(row),
        free=not instance_meters(row),
        bound="at least" if lent_address(row) else "exact",
        evidence={"type": kind, "highest CPU percent": round(cpu, 2), "MiB received": round(received / MIB, 2)},
        blocked=_unstoppable(row),
    )


GPU_IDLE = WasteCheck(
    id="ec2-gpu-idle",
    title="GPU instance that does nothing",
    kind=INSTANCE,
    reads=(GPU_CPU, GPU_NETWORK),
    judge=lambda row, seen: _accelerator_idle(row, seen, chips=False),
    why="An accelerator bills every second from the start of its instance; a forgotten one is the dearest of all.",
    spares=(
        "in a capacity block, which is prepaid", "in an Auto Scaling group (asg-gpu-floor), EKS, ECS or EMR (emr-idle)",
        "tagged with a checkpoint", "CPU at 3 % or more, or 50 MiB received, in 24 hours",
    ),
    unchecked=("the GPU's own use: only an agent on the machine reports that", "a job that computes on the GPU alone"),
    meter="EC2 instance hours, Linux on demand or spot; a public IPv4 address that AWS lends it not included",
    category="ai",
    remove=_stop,
    reversal="can be undone",
    recovery="Start it again, if there is capacity then. What was in memory and on instance store is lost.",
    order=20,
    steps=_STOP_STEPS,
)  # fmt: skip
NEURON_IDLE = WasteCheck(
    id="neuron-idle",
    title="Inferentia or Trainium instance that does nothing",
    kind=INSTANCE,
    reads=(GPU_CPU, GPU_NETWORK),
    judge=lambda row, seen: _accelerator_idle(row, seen, chips=True),
    why="An accelerator bills every second from the start of its instance.",
    spares=GPU_IDLE.spares,
    unchecked=("the chips' own use: only neuron-monitor on the machine reports that", "a compilation in between"),
    meter="EC2 instance hours, Linux on demand or spot; a public IPv4 address that AWS lends it not included",
    category="ai",
    remove=_stop,
    reversal="can be undone",
    recovery="Start it again, if there is capacity then. What was in memory and on instance store is lost.",
    order=20,
    steps=_STOP_STEPS,
)
CHECKS = (GPU_IDLE, NEURON_IDLE, IDLE, STOPPED)
