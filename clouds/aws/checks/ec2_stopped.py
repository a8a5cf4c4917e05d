"""EC2 instances that are stopped and still pay for their disks and addresses."""

from __future__ import annotations

from datetime import timedelta

from clouds.aws.checks import words
from clouds.aws.checks.addresses import IPV4, own_pool, release_each, releases
from clouds.aws.checks.ec2_reads import (
    ADDRESS,
    ADDRESSES,
    INSTANCE,
    VOLUME,
    VOLUMES,
    address_of,
    attached_to,
    grouped,
    scheduled,
    stopped_at,
    volume_meters,
)
from clouds.aws.checks.steps import MARK, call, gone, step, stored, until
from clouds.models.removal import CleanupStep, Doomed, From, Lookup
from clouds.models.waste import Meter, Row, Seen, Unresolved, Unseen, Waste, WasteCheck


def held(row: Row, seen: Seen) -> tuple[list[Row], list[Row], str]:
    """What goes with an instance: its own volumes and Elastic IPs, save those that are tagged to be kept.

    That it is stopped is known without them; the third says what could not be read ("" for nothing).
    """
    name = row["InstanceId"]
    unread = []
    try:
        disks = seen.index(VOLUMES, attached_to).get(name, ())
    except Unseen:  # the scan names it as unread
        disks, unread = (), ["volumes"]
    try:
        owned = seen.index(ADDRESSES, address_of).get(name, ())
    except Unseen:
        owned, unread = (), [*unread, "addresses"]
    volumes = [each for each in disks if not words.kept(each) and set(attached_to(each)) == {name}]
    addresses = [each for each in owned if not words.kept(each) and not own_pool(each) and each.get("AllocationId")]
    return volumes, addresses, " and ".join(unread)


def _stopped(row: Row, seen: Seen) -> Waste | None:
    if row["State"]["Name"] != "stopped" or row.get("OutpostArn"):
        return None
    tags = words.tags(row)
    if scheduled(tags) or grouped(tags) or row.get("HibernationOptions", {}).get("Configured"):
        return None
    at = stopped_at(row)
    if at is None:
        raise Unresolved("AWS does not say when it was stopped: it may have been yesterday")
    if seen.now - at < timedelta(days=30):
        return None
    volumes, addresses, unread = held(row, seen)
    ids = (*(seen.id(VOLUME, each) for each in volumes), *(seen.id(ADDRESS, each) for each in addresses))
    meters = (*(meter for each in volumes for meter in volume_meters(each)), *(IPV4 for _ in addresses))
    left = [each["VolumeId"] for each in volumes if not each["Attachments"][0].get("DeleteOnTermination")]
    days = (seen.now - at).days
    pays = f"still pays for {words.many(len(volumes), 'disk')} and {words.many(len(addresses), 'address')}"
    if unread:
        pays = f"still pays for its disks; its {unread} could not be read"
    return Waste(
        reason=f"stopped {days} days ago; {pays}",
        meters=meters,
        free=not meters and not unread,
        bound="at least" if unread else "exact",
        blocked=f"its {unread} could not be read, so nobody knows what goes with it" if unread else "",
        holds=ids,
        evidence={
            "stopped days ago": days,
            "type": row["InstanceType"],
            "holds": len(ids),
            "deletes": ", ".join(left),
            "releases": releases(addresses),
        },
    )


def _terminate(doomed: Doomed) -> tuple[CleanupStep, ...]:
    instance = doomed.row["InstanceId"]
    name = f"modelrig-{doomed.mark}-{instance}"
    left = [each for each in str(doomed.evidence["deletes"]).split(", ") if each]
    marks = [{"Key": MARK, "Value": f"{doomed.mark}-{instance}"}]
    return (
        step(
            "image",
            f"make an image of {doomed.name} and wait until it is available",
            "ec2.CreateImage",
            {
                "InstanceId": instance,
                "Name": name,
                "NoReboot": True,
                "TagSpecifications": [
                    {"ResourceType": "image", "Tags": marks},
                    {"ResourceType": "snapshot", "Tags": marks},
                ],
            },
            "can be undone",
            until=until(
                "ec2.DescribeImages", {"ImageIds": [From("image", "ImageId")]}, "Images[].State", "available",
                failed=("failed", "error", "invalid"), seconds=6 * 3600,
            ),
            backup=True,
            again=Lookup(
                call("ec2.DescribeImages", {"Owners": ["self"], "Filters": [{"Name": "name", "Values": [name]}]}),
                {"ImageId": "Images[].ImageId"},
            ),
            makes=From("image", "ImageId"),
            bills=_imaged(doomed),
        ),
        step(
            "terminate",
            f"terminate {doomed.name}",
            "ec2.TerminateInstances",
            {"InstanceIds": [instance]},
            "cannot be undone",
            until=gone(
                "ec2.DescribeInstances", {"InstanceIds": [instance]}, "Reservations[].Instances[].State.Name",
                "terminated",
            ),
            capacity=True,
        ),
        *(
            step(
                f"delete-{number}", f"delete its volume {volume}, which is in the image too", "ec2.DeleteVolume",
                {"VolumeId": volume}, "can be undone",
                until=gone("ec2.DescribeVolumes", {"VolumeIds": [volume]}, "Volumes[].State"),
            )
            for number, volume in enumerate(left, 1)
        ),
        *release_each(doomed),
    )  # fmt: skip


def _imaged(doomed: Doomed) -> tuple[Meter, ...]:
    """What the snapshots of its image bill at most; nothing is said where a disk is in it that was not priced here."""
    sizes = [each.quantity for each in doomed.meters if each.key.startswith("ebs/") and each.unit == "GiB-month"]
    mapped = [each for each in doomed.row.get("BlockDeviceMappings") or () if each.get("Ebs")]
    return stored(sum(sizes)) if sizes and len(sizes) == len(mapped) else ()


STOPPED = WasteCheck(
    id="ec2-stopped",
    title="Stopped instance that still pays for its disks",
    kind=INSTANCE,
    reads=(VOLUMES, ADDRESSES),
    judge=_stopped,
    why="A stopped instance bills nothing itself; its volumes and addresses bill on.",
    spares=(
        "stopped less than 30 days ago", "hibernated", "on an Outpost", "in an Auto Scaling group, EKS, ECS or EMR",
        "tagged with a schedule",
        "volumes of several machines, and volumes and addresses that are tagged to be kept: they stay",
    ),
    unchecked=("whether somebody starts it once a quarter", "instance store data, which is lost already"),
    meter="its EBS volumes and public IPv4 addresses",
    min_age=timedelta(days=30),
    remove=_terminate,
    reversal="cannot be undone",
    recovery="An image is made first; a new instance from it has another id and another private address.",
    order=20,
    steps=(
        "ec2.CreateImage", "ec2.DescribeImages", "ec2.TerminateInstances", "ec2.DescribeInstances", "ec2.DeleteVolume",
        "ec2.DescribeVolumes", "ec2.ReleaseAddress", "ec2.DescribeAddresses",
    ),
)  # fmt: skip
