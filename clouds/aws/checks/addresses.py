"""Elastic IPs and network interfaces that belong to nothing, or to a machine that is stopped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from clouds.aws.checks import words
from clouds.aws.checks.ec2_reads import (
    ADDRESS,
    INSTANCES,
    INTERFACE,
    grouped,
    instance_key,
    scheduled,
    stopped_at,
)
from clouds.aws.checks.steps import gone, step
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Listing, Meter, Row, Seen, Unseen, Waste, WasteCheck

# Public IPv4 is billed by VPC since February 2024: $0.005 an hour, idle or in use (AWS announcement, July 2023).
IPV4 = Meter("vpc/public-ipv4", "hour")
NAT_GATEWAYS = Listing("ec2", "DescribeNatGateways", "NatGateways")
ENDPOINTS = Listing("ec2", "DescribeVpcEndpoints", "VpcEndpoints")


def own_pool(row: Row) -> bool:
    """Whether an address is of a pool that the customer brought along, which is not billed."""
    return row.get("PublicIpv4Pool", "amazon") not in ("amazon", "") or bool(row.get("CustomerOwnedIpv4Pool"))


def address_key(row: Row) -> Iterable[Any]:
    """The id that a NAT gateway knows an address by."""
    return [row["AllocationId"]] if row.get("AllocationId") else []


def _nat_addresses(row: Row) -> Iterable[Any]:
    if row["State"] in ("deleted", "failed"):
        return []
    return [each["AllocationId"] for each in row.get("NatGatewayAddresses", ()) if each.get("AllocationId")]


UNSURE = "not all that may hold it could be read"


def _of_a_gateway(allocation: str, seen: Seen) -> bool | None:
    """Whether a NAT gateway names an address that is listed without its association (an emulator's, 2026-11-29).

    None where the gateways were not read, which the scan names: AWS itself always lists the association, so that it
    is found all the same, and not removed.
    """
    try:
        return allocation in seen.index(NAT_GATEWAYS, _nat_addresses)
    except Unseen:
        return None


def _unassociated(row: Row, seen: Seen) -> Waste | None:
    if row.get("AssociationId") or row.get("InstanceId") or row.get("NetworkInterfaceId") or own_pool(row):
        return None
    allocation = row.get("AllocationId")
    held = _of_a_gateway(allocation, seen) if allocation else False
    if held:
        return None
    return Waste(
        reason="belongs to nothing",
        meters=(IPV4,),
        blocked=UNSURE if held is None else "",
        evidence={"address": row["PublicIp"], "allocation": allocation or "none (EC2-Classic)"},
    )


def _release(doomed: Doomed) -> tuple[CleanupStep, ...]:
    row = doomed.row
    allocation = row.get("AllocationId")
    name = {"AllocationId": allocation} if allocation else {"PublicIp": row["PublicIp"]}
    look = {"AllocationIds": [allocation]} if allocation else {"PublicIps": [row["PublicIp"]]}
    return (
        step(
            "release", f"release {row['PublicIp']}: the address goes back to AWS", "ec2.ReleaseAddress", name,
            "cannot be undone", until=gone("ec2.DescribeAddresses", look, "Addresses[].PublicIp"),
        ),
    )  # fmt: skip


def releases(addresses: Iterable[Row]) -> str:
    """The addresses that go with what holds them, as evidence: `release_each` reads it back."""
    return ", ".join(f"{each['AllocationId']} {each['PublicIp']}" for each in addresses)


def release_each(doomed: Doomed) -> Iterator[CleanupStep]:
    """A step for each address of its evidence "releases"."""
    held = [each.split(" ", 1) for each in str(doomed.evidence["releases"]).split(", ") if each]
    for number, (allocation, address) in enumerate(held, 1):
        yield step(
            f"release-{number}", f"release its address {address}", "ec2.ReleaseAddress",
            {"AllocationId": allocation}, "cannot be undone",
            until=gone("ec2.DescribeAddresses", {"AllocationIds": [allocation]}, "Addresses[].PublicIp"),
        )  # fmt: skip


UNASSOCIATED = WasteCheck(
    id="eip-unassociated",
    title="Elastic IP that belongs to nothing",
    kind=ADDRESS,
    reads=(NAT_GATEWAYS,),
    judge=_unassociated,
    why="Every public IPv4 address is billed by the hour, and this one is not even in use.",
    spares=("belongs to an instance, interface or NAT gateway", "managed by a service", "of an own pool (BYOIP)"),
    unchecked=("a DNS record or somebody's firewall rule that names it", "since when: AWS does not say"),
    meter="public IPv4 hours (billed by VPC)",
    remove=_release,
    reversal="cannot be undone",
    recovery="The address is lost; recovering it works only while nobody else was given it.",
    order=65,
    steps=("ec2.ReleaseAddress", "ec2.DescribeAddresses"),
)


STOPPED_DAYS = 7
"""A machine may be stopped for a night or a week of holidays: its address bills, but cannot be had again."""


def _on_stopped(row: Row, seen: Seen) -> Waste | None:
    instance = row.get("InstanceId")
    if not instance or own_pool(row):
        return None
    holder = next(iter(seen.index(INSTANCES, instance_key).get(instance, ())), None)
    if holder is None or holder["State"]["Name"] != "stopped" or words.kept(holder):
        return None
    tags, at = words.tags(holder), stopped_at(holder)
    if scheduled(tags) or grouped(tags):
        return None
    since = f" {words.many((seen.now - at).days, 'day')} ago" if at else ""
    stays = "" if at else "AWS does not say when its machine was stopped: it may have been an hour ago"
    if at is not None and seen.now - at < timedelta(days=STOPPED_DAYS):
        stays = f"its machine was stopped less than {STOPPED_DAYS} days ago: it may be off for a night or a week"
    return Waste(
        reason=f"belongs to {instance}, which was stopped{since}",
        meters=(IPV4,),
        blocked=stays,
        evidence={"address": row["PublicIp"], "instance": instance},
    )


def _disassociate(doomed: Doomed) -> tuple[CleanupStep, ...]:
    row = doomed.row
    association = row.get("AssociationId")
    if not association:
        return _release(doomed)
    return (
        step(
            "disassociate", f"take {row['PublicIp']} from {row['InstanceId']}", "ec2.DisassociateAddress",
            {"AssociationId": association}, "can be undone",
            until=gone("ec2.DescribeAddresses", {"AllocationIds": [row["AllocationId"]]}, "Addresses[].AssociationId"),
        ),
        *_release(doomed),
    )  # fmt: skip


ON_STOPPED = WasteCheck(
    id="eip-on-stopped",
    title="Elastic IP of a stopped instance",
    kind=ADDRESS,
    reads=(INSTANCES,),
    judge=_on_stopped,
    why="The address is billed by the hour while its machine is stopped.",
    spares=(
        "of a running instance", "of an own pool (BYOIP)",
        "the instance is tagged with a schedule or to be kept, or is in an Auto Scaling group, EKS, ECS or EMR",
    ),
    unchecked=("whether somebody starts the instance once a month", "a firewall rule that names the address"),
    meter="public IPv4 hours (billed by VPC)",
    remove=_disassociate,
    reversal="cannot be undone",
    recovery="The address is lost; the instance gets another one when it starts.",
    order=64,
    steps=("ec2.DisassociateAddress", "ec2.ReleaseAddress", "ec2.DescribeAddresses"),
)  # fmt: skip


_SERVICES = (
    "AWS Lambda", "EFS mount target", "ELB ", "aws-K8S", "RDSNetworkInterface", "AWS created network interface",
    "VPC Endpoint Interface", "Interface for NAT Gateway", "Network Interface for Transit Gateway",
)  # fmt: skip
"""How services describe the interfaces that they make."""


def _nat_interfaces(row: Row) -> Iterable[Any]:
    return [each["NetworkInterfaceId"] for each in row.get("NatGatewayAddresses", ()) if each.get("NetworkInterfaceId")]


def _endpoint_interfaces(row: Row) -> Iterable[Any]:
    yield from row.get("NetworkInterfaceIds", ())


def _made_by_a_service(row: Row, seen: Seen) -> bool | None:
    """Whether a NAT gateway or an endpoint names it: AWS marks those as managed, an emulator does not (2026-11-30).

    None where not all of them were read, which the scan names: AWS's own mark decides, and nothing is removed.
    """
    name, unread = row["NetworkInterfaceId"], False
    for read, by in ((NAT_GATEWAYS, _nat_interfaces), (ENDPOINTS, _endpoint_interfaces)):
        try:
            if name in seen.index(read, by):
                return True
        except Unseen:
            unread = True
    return None if unread else False


def _interface(row: Row, seen: Seen) -> Waste | None:
    if row["Status"] != "available" or row.get("Attachment") or row.get("InterfaceType", "interface") != "interface":
        return None
    if row.get("OwnerId", seen.at.account) != seen.at.account:
        return None  # in a shared subnet its owner sees those of the others too
    text = row.get("Description", "")
    public = bool((row.get("Association") or {}).get("PublicIp"))
    if text.startswith(_SERVICES):
        return None
    # one that somebody described is nobody's else
    made = _made_by_a_service(row, seen) if public or not text else False
    if made:
        return None
    return Waste(
        blocked=UNSURE if made is None else "",
        reason="attached to nothing" + ("; holds a public address" if public else ""),
        meters=(IPV4,) if public else (),
        free=not public,
        evidence={"subnet": row["SubnetId"], "description": text[:100]},
    )


def _delete_interface(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"NetworkInterfaceId": doomed.row["NetworkInterfaceId"]}
    look = {"NetworkInterfaceIds": [doomed.row["NetworkInterfaceId"]]}
    return (
        step(
            "delete", f"delete network interface {doomed.name}", "ec2.DeleteNetworkInterface", name, "can be undone",
            until=gone("ec2.DescribeNetworkInterfaces", look, "NetworkInterfaces[].Status"),
        ),
    )  # fmt: skip


UNUSED_INTERFACE = WasteCheck(
    id="eni-unused",
    title="Network interface attached to nothing",
    kind=INTERFACE,
    reads=(NAT_GATEWAYS, ENDPOINTS),
    judge=_interface,
    why="It costs nothing without a public address, but keeps its subnet and security groups from being deleted.",
    spares=(
        "managed by a service",
        "of another account",
        "of Lambda, EFS, load balancers, Kubernetes, RDS, a NAT gateway or an endpoint",
    ),
    unchecked=("since when: AWS does not say",),
    meter="none, or public IPv4 hours",
    min_age=timedelta(0),
    remove=_delete_interface,
    reversal="can be undone",
    recovery="Another one can be made; its private address may be taken by then.",
    order=62,
    steps=("ec2.DeleteNetworkInterface", "ec2.DescribeNetworkInterfaces"),
)
CHECKS = (UNASSOCIATED, ON_STOPPED, UNUSED_INTERFACE)
