"""NAT gateways, endpoints, transit attachments and VPNs that bill by the hour and carry nothing."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from clouds.aws.checks import words
from clouds.aws.checks.addresses import (
    ENDPOINTS,
    IPV4,
    NAT_GATEWAYS,
    address_key,
    own_pool,
    release_each,
    releases,
)
from clouds.aws.checks.ec2_reads import ADDRESS, ADDRESSES, ec2_id
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import gone, step
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Kind, Listing, Meter, Row, Seen, Unresolved, Unseen, Waste, WasteCheck

ROUTES = Listing("ec2", "DescribeRouteTables", "RouteTables")
NAT = Kind(
    name="NAT gateway",
    of=NAT_GATEWAYS,
    id=ec2_id("natgateway", "NatGatewayId"),
    label=lambda row: words.named(row, "NatGatewayId"),
    created=lambda row: row["CreateTime"],
    tags=words.tags,
    managed=words.managed,
)
NAT_BYTES = usage(
    "AWS/NATGateway",
    "BytesOutToDestination BytesOutToSource",
    NAT_GATEWAYS,
    by=lambda row: [{"NatGatewayId": row["NatGatewayId"]}],
    days=7,
    absent="unresolved",
    when=lambda row: row["State"] == "available",
    unit="bytes",
    source="NAT gateway docs: emitted every minute while the gateway is there, also at 0",
)


def _gateways(row: Row) -> Iterable[Any]:
    return [route["NatGatewayId"] for route in row.get("Routes", ()) if route.get("NatGatewayId")]


def _nat(row: Row, seen: Seen) -> Waste | None:
    if row["State"] != "available" or row.get("AvailabilityMode", "zonal") != "zonal":
        return None
    routed = row["NatGatewayId"] in seen.index(ROUTES, _gateways)
    try:
        if seen.metric(NAT_BYTES, row):
            return None
    except Unresolved:
        if routed:
            raise
    try:
        known = seen.index(ADDRESSES, address_key)
    except Unseen:  # the scan names it as unread; the gateway can go without them
        known = None
    own = [
        address
        for each in row.get("NatGatewayAddresses", ())
        for address in (known or {}).get(each.get("AllocationId"), ())
        if not own_pool(address) and not words.kept(address)
    ]
    return Waste(
        reason="no byte passed in 7 days" if routed else "no route leads to it",
        meters=(Meter("nat-gateway/hour", "hour"), *(IPV4 for _ in own)),
        holds=tuple(seen.id(ADDRESS, each) for each in own),
        bound="exact" if known is not None else "at least",
        evidence={
            "subnet": row["SubnetId"],
            "routed": routed,
            "releases": releases(own),
        },
    )


def _delete_nat(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = doomed.row["NatGatewayId"]
    return (
        step(
            "delete", f"delete NAT gateway {doomed.name}", "ec2.DeleteNatGateway",
            {"NatGatewayId": name}, "can be undone",
            until=gone("ec2.DescribeNatGateways", {"NatGatewayIds": [name]}, "NatGateways[].State", "deleted"),
        ),
        *release_each(doomed),
    )  # fmt: skip


NAT_IDLE = WasteCheck(
    id="nat-idle",
    title="NAT gateway that carries nothing",
    kind=NAT,
    reads=(ROUTES, NAT_BYTES, ADDRESSES),
    judge=_nat,
    why="A NAT gateway is billed by the hour, and its public addresses with it.",
    spares=(
        "a byte passed in 7 days",
        "younger than 7 days",
        "regional, which follows its workloads",
        "its addresses of an own pool (BYOIP), or that are tagged to be kept: they stay",
    ),
    unchecked=("a zone kept ready for a failover", "allow-lists elsewhere that name its address"),
    meter="NAT gateway hours and its public IPv4 hours; data not included",
    min_age=timedelta(days=7),
    remove=_delete_nat,
    reversal="cannot be undone",
    recovery="A new gateway takes minutes and has another id; released addresses are lost.",
    order=30,
    steps=("ec2.DeleteNatGateway", "ec2.DescribeNatGateways", "ec2.ReleaseAddress", "ec2.DescribeAddresses"),
)

VPC_ENDPOINT = Kind(
    name="VPC endpoint",
    of=ENDPOINTS,
    id=ec2_id("vpc-endpoint", "VpcEndpointId"),
    label=lambda row: words.named(row, "VpcEndpointId"),
    created=lambda row: row["CreationTimestamp"],
    tags=words.tags,
    managed=words.managed,
)


def _billed(row: Row) -> bool:
    return row.get("VpcEndpointType") in ("Interface", "GatewayLoadBalancer") and row["State"].lower() == "available"


ENDPOINT_BYTES = usage(
    "AWS/PrivateLinkEndpoints",
    "BytesProcessed",
    ENDPOINTS,
    by=lambda row: [
        {
            "Endpoint Type": row["VpcEndpointType"],
            "Service Name": row["ServiceName"],
            "VPC Endpoint Id": row["VpcEndpointId"],
            "VPC Id": row["VpcId"],
        }
    ],
    days=14,
    absent="zero",
    when=_billed,
    unit="bytes",
    source="PrivateLink docs, endpoint metrics: emitted when traffic passes",
)
_BREAK_GLASS = (".ssm", ".ssmmessages", ".ec2messages", ".ecr.api", ".ecr.dkr")


def _endpoint(row: Row, seen: Seen) -> Waste | None:
    if not _billed(row) or row["ServiceName"].endswith(_BREAK_GLASS):
        return None
    if seen.metric(ENDPOINT_BYTES, row):
        return None
    zones = max(len(row.get("SubnetIds", ())), len(row.get("NetworkInterfaceIds", ())), 1)
    key = "vpc-endpoint/interface" if row["VpcEndpointType"] == "Interface" else "vpc-endpoint/gateway-load-balancer"
    return Waste(
        reason=f"no byte passed in 14 days; {row['ServiceName']} in {zones} zone{'' if zones == 1 else 's'}",
        meters=(Meter(key, "hour", zones),),
        evidence={"service": row["ServiceName"], "zones": zones, "vpc": row["VpcId"]},
    )


def _delete_endpoint(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"VpcEndpointIds": [doomed.row["VpcEndpointId"]]}
    return (
        step(
            "delete", f"delete VPC endpoint {doomed.name}", "ec2.DeleteVpcEndpoints", name, "can be undone",
            until=gone("ec2.DescribeVpcEndpoints", name, "VpcEndpoints[].State", "deleted", "Deleted"),
        ),
    )  # fmt: skip


ENDPOINT_IDLE = WasteCheck(
    id="vpce-interface-idle",
    title="Interface endpoint that carries nothing",
    kind=VPC_ENDPOINT,
    reads=(ENDPOINT_BYTES,),
    judge=_endpoint,
    why="An interface endpoint is billed by the hour for each zone that it is in.",
    spares=(
        "a byte passed in 14 days",
        "managed by a service",
        "for SSM or ECR, which are needed when nothing else works",
    ),
    unchecked=("a use that comes less often than every 14 days",),
    meter="interface endpoint hours a zone",
    min_age=timedelta(days=14),
    remove=_delete_endpoint,
    reversal="can be undone",
    recovery="It can be made again; its id, addresses and own DNS names differ.",
    order=32,
    steps=("ec2.DeleteVpcEndpoints", "ec2.DescribeVpcEndpoints"),
)

ATTACHMENTS = Listing("ec2", "DescribeTransitGatewayAttachments", "TransitGatewayAttachments")
ATTACHMENT = Kind(
    name="transit gateway attachment",
    of=ATTACHMENTS,
    id=ec2_id("transit-gateway-attachment", "TransitGatewayAttachmentId"),
    label=lambda row: words.named(row, "TransitGatewayAttachmentId"),
    created=lambda row: row["CreationTime"],
    tags=words.tags,
)
ATTACHMENT_BYTES = usage(
    "AWS/TransitGateway",
    "BytesIn BytesOut",
    ATTACHMENTS,
    by=lambda row: [
        {"TransitGateway": row["TransitGatewayId"], "TransitGatewayAttachment": row["TransitGatewayAttachmentId"]}
    ],
    days=14,
    absent="unresolved",
    when=lambda row: row["State"] == "available" and row["ResourceType"] == "vpc",
    unit="bytes",
    source="Transit gateway docs: emitted every minute for an attachment, also at 0",
)


def _attachment(row: Row, seen: Seen) -> Waste | None:
    if row["State"] != "available" or row["ResourceType"] != "vpc" or row["ResourceOwnerId"] != seen.at.account:
        return None
    if seen.metric(ATTACHMENT_BYTES, row):
        return None
    return Waste(
        reason=f"no byte passed in 14 days between {row['ResourceId']} and {row['TransitGatewayId']}",
        meters=(Meter("transit-gateway/attachment", "hour"),),
        evidence={"vpc": row["ResourceId"], "gateway": row["TransitGatewayId"]},
    )


def _delete_attachment(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = doomed.row["TransitGatewayAttachmentId"]
    return (
        step(
            "delete", f"delete attachment {doomed.name}", "ec2.DeleteTransitGatewayVpcAttachment",
            {"TransitGatewayAttachmentId": name}, "can be undone",
            until=gone("ec2.DescribeTransitGatewayAttachments", {"TransitGatewayAttachmentIds": [name]},
                       "TransitGatewayAttachments[].State", "deleted"),
        ),
    )  # fmt: skip


ATTACHMENT_IDLE = WasteCheck(
    id="tgw-attachment-idle",
    title="Transit gateway attachment that carries nothing",
    kind=ATTACHMENT,
    reads=(ATTACHMENT_BYTES,),
    judge=_attachment,
    why="Each attachment is billed by the hour.",
    spares=("a byte passed in 14 days", "VPN, peering and Direct Connect", "a VPC of another account"),
    unchecked=("routes that are kept ready for a failover",),
    meter="transit gateway attachment hours",
    min_age=timedelta(days=14),
    remove=_delete_attachment,
    reversal="can be undone",
    recovery="It can be attached again; routes and associations have to be made anew.",
    order=34,
    steps=("ec2.DeleteTransitGatewayVpcAttachment", "ec2.DescribeTransitGatewayAttachments"),
)

CHECKS = (NAT_IDLE, ENDPOINT_IDLE, ATTACHMENT_IDLE)
