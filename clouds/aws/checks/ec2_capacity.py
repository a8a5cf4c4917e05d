"""Capacity that is reserved or kept up by a group, and that nothing uses."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from clouds.aws.checks import words
from clouds.aws.checks.accelerated import accelerated
from clouds.aws.checks.ec2_hosts import HOST_EMPTY
from clouds.aws.checks.ec2_reads import GROUPS, TEMPLATES, apart, group_template, system_part
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import gone, step, until
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Unresolved, Waste, WasteCheck

RESERVATIONS = Listing("ec2", "DescribeCapacityReservations", "CapacityReservations")
RESERVATION = Kind(
    name="capacity reservation",
    of=RESERVATIONS,
    id=lambda row, at: (  # answers of the first months say neither the full id nor the owner
        row.get("CapacityReservationArn")
        or words.arn("ec2", at, f"capacity-reservation/{row['CapacityReservationId']}")
    ),
    label=lambda row: words.named(row, "CapacityReservationId"),
    created=lambda row: row["CreateDate"],
    tags=words.tags,
)


def _system(row: Row) -> str:
    shared = row.get("Tenancy", "default") == "default"
    return system_part(row.get("InstancePlatform")) + ("" if shared else "/dedicated")


def _unused(row: Row, seen: Seen) -> Waste | None:
    free = row["AvailableInstanceCount"]
    if row["State"] != "active" or row.get("ReservationType", "default") != "default" or not free:
        return None
    if row.get("OwnerId", seen.at.account) != seen.at.account or row.get("OutpostArn"):
        return None
    commitment = row.get("CommitmentInfo") or {}
    end = words.moment(row.get("EndDate"))
    if end is not None and end - seen.now < timedelta(days=1):
        return None
    committed = words.moment(commitment.get("CommitmentEndDate"))
    payer, zone = row.get("UnusedReservationBillingOwnerId") or "", apart(row.get("AvailabilityZone"))
    bound = bool(commitment) and (committed is None or committed > seen.now)
    return Waste(
        reason=f"{free} of {row['TotalInstanceCount']} {row['InstanceType']} reserved and not used"
        + (f"; account {payer} is billed for what is unused" if payer not in ("", seen.at.account) else ""),
        meters=(Meter(f"ec2/{row['InstanceType']}{_system(row)}/on-demand", "hour", free, zone),),
        until=end,
        evidence={
            "unused": free, "reserved": row["TotalInstanceCount"], "platform": row.get("InstancePlatform", ""),
            "ends": str(row.get("EndDate", "when cancelled")),
        },
        blocked=f"it is committed until {committed or 'a date that is not given'}"
        if bound
        else f"it is one of {row['CapacityReservationFleetId']}, which keeps its capacity up: change the fleet"
        if row.get("CapacityReservationFleetId")
        else "",
    )  # fmt: skip


def _release(doomed: Doomed) -> tuple[CleanupStep, ...]:
    row = doomed.row
    name = {"CapacityReservationId": row["CapacityReservationId"]}
    used = row["TotalInstanceCount"] - row["AvailableInstanceCount"]
    look = {"CapacityReservationIds": [row["CapacityReservationId"]]}
    if used:
        return (
            step(
                "reduce", f"reduce {doomed.name} to the {words.many(used, 'instance')} in use",
                "ec2.ModifyCapacityReservation", {**name, "InstanceCount": used}, "can be undone", capacity=True,
                until=until("ec2.DescribeCapacityReservations", look, "CapacityReservations[].TotalInstanceCount",
                            str(used), seconds=600),
            ),
        )  # fmt: skip
    return (
        step(
            "cancel", f"cancel {doomed.name}", "ec2.CancelCapacityReservation", name, "can be undone", capacity=True,
            until=gone("ec2.DescribeCapacityReservations", look, "CapacityReservations[].State", "cancelled"),
        ),
    )  # fmt: skip


RESERVATION_UNUSED = WasteCheck(
    id="capacity-reservation-unused",
    title="Reserved capacity that nothing uses",
    kind=RESERVATION,
    judge=_unused,
    why="Reserved capacity is billed at the on-demand rate from its start, used or not.",
    spares=("capacity blocks, which are prepaid", "of another account", "ends within a day", "on an Outpost"),
    unchecked=("whether it is held for a failover",),
    meter="EC2 unused-reservation hours of its type",
    category="ai",
    remove=_release,
    reversal="can be undone",
    recovery="It can be asked for again; capacity of that type may not be free then.",
    order=25,
    steps=("ec2.ModifyCapacityReservation", "ec2.CancelCapacityReservation", "ec2.DescribeCapacityReservations"),
)


def _block(row: Row, seen: Seen) -> Waste | None:
    if row["State"] != "active" or row.get("ReservationType") != "capacity-block":
        return None
    if row.get("OwnerId", seen.at.account) != seen.at.account:
        return None  # shared with this account, and paid by the other
    start, end = words.moment(row.get("StartDate")), words.moment(row.get("EndDate"))
    if row["AvailableInstanceCount"] == 0 or (start is not None and start > seen.now):
        return None
    left = (end - seen.now) if end else None
    return Waste(
        reason=f"{row['AvailableInstanceCount']} of {row['TotalInstanceCount']} {row['InstanceType']} paid, not used"
        + (f", {left.days} days and {left.seconds // 3600} hours are left" if left else ""),
        prepaid=True,
        evidence={"unused": row["AvailableInstanceCount"], "ends": str(row.get("EndDate", ""))},
    )


BLOCK_IDLE = WasteCheck(
    id="capacity-block-idle",
    title="Capacity block that is paid and not used",
    kind=RESERVATION,
    judge=_block,
    why="A capacity block is paid in advance: what is not used of it is lost.",
    spares=("not begun yet", "of another account"),
    meter="none: it is paid already",
    category="ai",
    min_age=timedelta(0),
    remove="it is prepaid and cannot be cancelled: use it",
    reversal="cannot be undone",
    recovery="",
    order=99,
)


def _template_key(row: Row) -> Iterable[Any]:
    return [row["LaunchTemplateId"]] if row.get("LaunchTemplateId") else []


def _untyped(row: Row) -> bool:
    """A group of which nothing but its launch configuration says the type: an answer of years ago."""
    types = [each.get("InstanceType") for each in row.get("Instances", ())]
    return bool(row["MinSize"] and row.get("LaunchConfigurationName") and types and not any(types))


CONFIG = Detail(
    GROUPS,
    "autoscaling",
    "DescribeLaunchConfigurations",
    lambda rows, _at: {"LaunchConfigurationNames": [rows[0]["LaunchConfigurationName"]]},
    rows="LaunchConfigurations",
    when=_untyped,
)


def group_type(row: Row, seen: Seen) -> str:
    """The instance type of a group, from its instances, launch template or launch configuration; "" where none says."""
    for instance in row.get("Instances", ()):
        if instance.get("InstanceType"):
            return str(instance["InstanceType"])
    policy = row.get("MixedInstancesPolicy", {}).get("LaunchTemplate", {})
    for override in policy.get("Overrides", ()):
        if override.get("InstanceType"):
            return str(override["InstanceType"])
    template = group_template(row)
    for version in seen.index(TEMPLATES, _template_key).get(template.get("LaunchTemplateId"), ()):
        if version.get("LaunchTemplateData", {}).get("InstanceType"):
            return str(version["LaunchTemplateData"]["InstanceType"])
    return str((seen.one(CONFIG, row) or {}).get("InstanceType", ""))


def _may_be_accelerated(row: Row) -> bool:
    """An answer of years ago says no type of an instance: then only what starts it says whether it is accelerated."""
    types = [each.get("InstanceType", "") for each in row.get("Instances", ())]
    return row["MinSize"] > 0 and any(not kind or accelerated(kind) for kind in types)


GROUP_CPU = usage(
    "AWS/EC2",
    "CPUUtilization",
    GROUPS,
    by=lambda row: [{"AutoScalingGroupName": row["AutoScalingGroupName"]}],
    days=1,
    absent="unresolved",
    stat="Maximum",
    when=_may_be_accelerated,
    unit="percent",
    source="EC2 docs: the group's instances report together under AutoScalingGroupName",
)
GROUP = Kind(
    name="Auto Scaling group",
    of=GROUPS,
    id=lambda row, _at: row["AutoScalingGroupARN"],
    label=lambda row: row["AutoScalingGroupName"],
    created=lambda row: row["CreatedTime"],
    tags=words.tags,
    managed=words.managed,
    moving=("Instances",),
)


def _floor(row: Row, seen: Seen) -> Waste | None:
    if not row["MinSize"] or not row.get("Instances"):
        return None
    kind = group_type(row, seen)
    if not kind:
        raise Unresolved("neither its instances nor what starts them say of which type it is")
    if not accelerated(kind) or row.get("WarmPoolConfiguration"):
        return None
    cpu = seen.metric(GROUP_CPU, row)
    if cpu >= 3:
        return None
    least = row["MinSize"]
    return Waste(
        reason=f"keeps at least {least} x {kind} up; CPU never above {cpu:.1f} % in 24 hours",
        meters=(Meter(f"ec2/{kind}/on-demand", "hour", least),),
        evidence={"least size": least, "type": kind, "highest CPU percent": round(cpu, 2)},
    )


def _lower_floor(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = doomed.row["AutoScalingGroupName"]
    return (
        step(
            "lower", f"set the least and wanted size of {name} to 0", "autoscaling.UpdateAutoScalingGroup",
            {"AutoScalingGroupName": name, "MinSize": 0, "DesiredCapacity": 0}, "can be undone", capacity=True,
            until=gone("autoscaling.DescribeAutoScalingGroups", {"AutoScalingGroupNames": [name]},
                       "AutoScalingGroups[].Instances[].InstanceId"),
        ),
    )  # fmt: skip


FLOOR = WasteCheck(
    id="asg-gpu-floor",
    title="Group that keeps idle accelerators up",
    kind=GROUP,
    reads=(TEMPLATES, CONFIG, GROUP_CPU),
    judge=_floor,
    why="The least size of a group keeps its instances up, whether there is work or not.",
    spares=("least size 0", "no accelerators", "with a warm pool on purpose", "CPU at 3 % or more in 24 hours"),
    unchecked=("the GPUs' own use", "a scaling schedule that sets the size again"),
    meter="EC2 instance hours of its least size",
    category="ai",
    remove=_lower_floor,
    reversal="can be undone",
    recovery="Set the sizes again; there may be no capacity then. An EKS node group has to be changed in EKS.",
    order=18,
    steps=("autoscaling.UpdateAutoScalingGroup", "autoscaling.DescribeAutoScalingGroups"),
)
CHECKS = (FLOOR, RESERVATION_UNUSED, HOST_EMPTY, BLOCK_IDLE)
