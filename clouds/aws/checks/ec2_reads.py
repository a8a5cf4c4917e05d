"""What EC2 checks read, each once for all of them, and the kinds of resources that it holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from clouds.aws.checks import words
from clouds.models import Scope
from clouds.models.waste import Detail, Kind, Listing, Meter, Row

INSTANCES = Listing("ec2", "DescribeInstances", "Reservations[].Instances[]")
VOLUMES = Listing("ec2", "DescribeVolumes", "Volumes")
SNAPSHOTS = Listing("ec2", "DescribeSnapshots", "Snapshots", {"OwnerIds": ["self"]})
# Images that are disabled are listed only when they are asked for (EC2 API); their snapshots are needed all the same.
IMAGES = Listing("ec2", "DescribeImages", "Images", {"Owners": ["self"], "IncludeDisabled": True})
ADDRESSES = Listing("ec2", "DescribeAddresses", "Addresses")
INTERFACES = Listing("ec2", "DescribeNetworkInterfaces", "NetworkInterfaces")
TEMPLATES = Listing(
    "ec2", "DescribeLaunchTemplateVersions", "LaunchTemplateVersions", {"Versions": ["$Latest", "$Default"]}
)
LAUNCH_CONFIGS = Listing("autoscaling", "DescribeLaunchConfigurations", "LaunchConfigurations")
GROUPS = Listing("autoscaling", "DescribeAutoScalingGroups", "AutoScalingGroups")


def group_template(row: Row) -> Row:
    """The launch template that a group names, directly or in a policy of mixed instances; {} for none."""
    policy = row.get("MixedInstancesPolicy", {}).get("LaunchTemplate", {})
    found: Row = row.get("LaunchTemplate") or policy.get("LaunchTemplateSpecification") or {}
    return found


def _overrides(row: Row) -> Sequence[Row]:
    """What a group's policy of mixed instances says of single types."""
    found: Sequence[Row] = row.get("MixedInstancesPolicy", {}).get("LaunchTemplate", {}).get("Overrides") or ()
    return found


def override_images(row: Row) -> Iterable[Any]:
    """The images that a group names itself, for single types of its mixed instances."""
    return [each["ImageId"] for each in _overrides(row) if each.get("ImageId")]


_MOST_PINNED = 4
"""Template versions that are asked for a group: its own and its overrides', of which mixed processors need two."""


def pinned(row: Row) -> list[Row]:
    """The template versions that a group, or an override of its mixed instances, names by number, each once."""
    named = [group_template(row), *(each.get("LaunchTemplateSpecification") or {} for each in _overrides(row))]
    found = {
        (str(each.get("LaunchTemplateId") or each.get("LaunchTemplateName")), str(each["Version"])): each
        for each in named
        if str(each.get("Version", "$")).isdigit()
    }
    return list(found.values())


def _pin(place: int) -> Detail:
    """The read of one of a group's pinned versions: one request names one template."""

    def ask(rows: Sequence[Row], _at: Scope) -> Mapping[str, Any]:
        spec = pinned(rows[0])[place]
        name = "LaunchTemplateId" if spec.get("LaunchTemplateId") else "LaunchTemplateName"
        return {name: spec[name], "Versions": [str(spec["Version"])]}

    return Detail(
        GROUPS,
        "ec2",
        "DescribeLaunchTemplateVersions",
        ask,
        rows="LaunchTemplateVersions",
        when=lambda row: len(pinned(row)) > place,
    )


# Without naming a template only $Latest and $Default can be listed: a group may be pinned to an older version.
PINNED = tuple(map(_pin, range(_MOST_PINNED)))


def ec2_id(kind: str, key: str) -> Any:
    """The full id of an EC2 resource from its short one."""
    return lambda row, at: words.arn("ec2", at, f"{kind}/{row[key]}")


INSTANCE = Kind(
    name="EC2 instance",
    of=INSTANCES,
    id=ec2_id("instance", "InstanceId"),
    label=lambda row: words.named(row, "InstanceId"),
    created=lambda row: row["LaunchTime"],
    tags=words.tags,
    managed=words.managed,
)
VOLUME = Kind(
    name="EBS volume",
    of=VOLUMES,
    id=ec2_id("volume", "VolumeId"),
    label=lambda row: words.named(row, "VolumeId"),
    created=lambda row: row["CreateTime"],
    tags=words.tags,
    managed=words.managed,
)
SNAPSHOT = Kind(
    name="EBS snapshot",
    of=SNAPSHOTS,
    id=lambda row, at: words.arn("ec2", at, f"snapshot/{row['SnapshotId']}", account=False),
    label=lambda row: words.named(row, "SnapshotId"),
    created=lambda row: row["StartTime"],
    tags=words.tags,
)
IMAGE = Kind(
    name="AMI",
    of=IMAGES,
    id=lambda row, at: words.arn("ec2", at, f"image/{row['ImageId']}", account=False),
    label=lambda row: f"{row['ImageId']} ({row.get('Name', '')})",
    created=lambda row: row["CreationDate"],
    tags=words.tags,
)


def address_id(row: Row, at: Scope) -> str:
    """The full id of an Elastic IP; one of EC2-Classic's time has no allocation and is named by its address."""
    return words.arn("ec2", at, f"elastic-ip/{row.get('AllocationId') or row['PublicIp']}")


ADDRESS = Kind(
    name="Elastic IP",
    of=ADDRESSES,
    id=address_id,
    label=lambda row: words.named(row, "PublicIp"),
    tags=words.tags,
    managed=words.managed,
)
INTERFACE = Kind(
    name="network interface",
    of=INTERFACES,
    id=ec2_id("network-interface", "NetworkInterfaceId"),
    label=lambda row: row["NetworkInterfaceId"],
    tags=words.tags,
    managed=words.managed,
)


_IO2_TIERS = (32_000, 64_000)
"""Above each of these an io2 volume pays less for an IOPS (meters `VolumeP-IOPS.io2.tier2` and `.tier3`)."""


_ZONE = re.compile(r"[a-z]+(-[a-z]+)+-\d+[a-z]")


def apart(zone: str | None) -> str:
    """A Local or Wavelength Zone, which has rates of its own and fewer sorts of volumes; "" for a zone of a region.

    Theirs are written `us-east-1-bos-1a` and `us-east-1-wl1-bos-wlz-1`.
    """
    return "" if not zone or _ZONE.fullmatch(zone) else zone


def volume_meters(row: Row) -> tuple[Meter, ...]:
    """What a volume costs: its size, and what of IOPS and throughput is provisioned beyond what is included.

    gp3 includes 3,000 IOPS and 125 MiB/s (Amazon EBS docs, read 2026-11-29).
    """
    kind, size, where = row["VolumeType"], row["Size"], apart(row.get("AvailabilityZone"))
    meters = [Meter(f"ebs/{kind}", "GiB-month", size)]
    iops, throughput = row.get("Iops") or 0, row.get("Throughput") or 0
    if kind == "gp3" and iops > 3000:
        meters.append(Meter("ebs/gp3-iops", "IOPS-month", iops - 3000))
    if kind in ("io1", "io2") and iops:
        first = min(iops, _IO2_TIERS[0]) if kind == "io2" else iops
        meters.append(Meter(f"ebs/{kind}-iops", "IOPS-month", first))
    if kind == "io2" and iops > _IO2_TIERS[0]:
        meters.append(Meter("ebs/io2-iops-tier2", "IOPS-month", min(iops, _IO2_TIERS[1]) - _IO2_TIERS[0]))
    if kind == "io2" and iops > _IO2_TIERS[1]:
        meters.append(Meter("ebs/io2-iops-tier3", "IOPS-month", iops - _IO2_TIERS[1]))
    if kind == "gp3" and throughput > 125:
        meters.append(Meter("ebs/gp3-throughput", "MiBps-month", throughput - 125))
    return tuple(replace(each, location=where) for each in meters) if where else tuple(meters)


def system_part(platform: str | None) -> str:
    """The part of a price key for an operating system, "" for Linux; others have rates of their own."""
    plain = (platform or "Linux/UNIX") == "Linux/UNIX"
    return "" if plain else f"/{str(platform).lower().replace(' ', '-').replace('/', '-')}"


def lent_address(row: Row) -> bool:
    """Whether AWS lends a running machine a public IPv4 address, which is billed and goes back when it is stopped.

    An Elastic IP is the account's own, and is billed on.
    """
    cards = [each.get("Association") or {} for each in row.get("NetworkInterfaces", ())]
    return any(each.get("PublicIp") and each.get("IpOwnerId") == "amazon" for each in cards)


def instance_meters(row: Row) -> tuple[Meter, ...]:
    """What a running instance costs by the hour; only Linux without licences has a rate in the tables."""
    if row.get("Placement", {}).get("Tenancy") == "host" or row.get("OutpostArn"):
        return ()  # its host or its Outpost is billed, whatever runs on it
    market = "spot" if row.get("InstanceLifecycle") == "spot" else "on-demand"
    shared = row.get("Placement", {}).get("Tenancy", "default") == "default"
    system = system_part(row.get("PlatformDetails")) + ("" if shared else "/dedicated")
    where = apart(row.get("Placement", {}).get("AvailabilityZone"))
    return (Meter(f"ec2/{row['InstanceType']}{system}/{market}", "hour", location=where),)


def attached_to(row: Row) -> Iterable[Any]:
    """The instances that a volume is attached to."""
    return [each["InstanceId"] for each in row.get("Attachments", ()) if each.get("InstanceId")]


def address_of(row: Row) -> Iterable[Any]:
    """The instance that an address belongs to; moto and old accounts write an empty text for none."""
    return [row["InstanceId"]] if row.get("InstanceId") else []


def instance_key(row: Row) -> Iterable[Any]:
    """The id of an instance."""
    return [row["InstanceId"]]


def volume_key(row: Row) -> Iterable[Any]:
    """The id of a volume."""
    return [row["VolumeId"]]


def stopped_at(row: Row) -> datetime | None:
    """When an instance was stopped: only the words of its last transition say it."""
    found = re.search(r"\((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?:GMT|UTC)\)", row.get("StateTransitionReason", ""))
    return datetime.strptime(found[1], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC) if found else None


_MARKS = ("schedule", "offhours", "maid_", "autostop", "auto-stop")
_OTHERWISE = ("backup", "snapshot", "patch", "maintenance")
"""Whose schedules start and stop nothing: `backup-schedule` is also on what was stopped for good."""


def scheduled(tags: Any) -> bool:
    """Whether a tag says that something is started and stopped by a schedule."""
    keys = [key.lower() for key in tags if not any(word in key.lower() for word in _OTHERWISE)]
    return any(word in key for key in keys for word in _MARKS)


_GROUPS = (
    "aws:autoscaling:groupName", "eks:nodegroup-name", "aws:ecs:clusterName", "karpenter.sh/nodepool",
    "karpenter.sh/provisioner-name", "aws:elasticmapreduce:job-flow-id",
)  # fmt: skip
"""Tags of what starts and stops machines by itself (EMR: Management Guide, tag clusters, read 2026-11-30)."""


def grouped(tags: Any) -> str:
    """The group that starts and stops an instance: an Auto Scaling group, EKS, ECS or EMR; "" for none."""
    for key in _GROUPS:
        if tags.get(key):
            return f"{key}={tags[key]}"
    return next((key for key in tags if key.startswith("kubernetes.io/cluster/")), "")
