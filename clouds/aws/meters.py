"""Which rows of the Price List make which rows of our table.

Traps that the patterns answer (public price samples and filters of cost tools, read 2026-11-29): `Storage Snapshot`
returns about six meters of which only `EBS:SnapshotUsage` is the plain one; a public IPv4 address has no row at all; a
usage type carries the region's prefix except in us-east-1; several rows are zero.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from clouds.aws.pricelist import LINUX, Offer
from clouds.aws.prices import Row

_VOLUMES = {"piops": "io1", "": "standard"}


@dataclass(frozen=True)
class Meter:
    """One kind of row. `usage` matches a whole usage type without its prefix; its groups fill `key`."""

    key: str
    service: str
    usage: str
    listed_unit: str
    unit: str
    where: Mapping[str, str] = field(default_factory=dict)
    each_region: bool = False
    """Ask region by region, where all regions at once would be hundreds of pages."""

    @property
    def section(self) -> str:
        """The first part of its keys."""
        return self.key.split("/", 1)[0]

    def covers(self, key: str) -> bool:
        """Whether a key of the table is one that this meter makes."""
        pattern = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(self.key))
        return re.fullmatch(pattern, key) is not None


_FAMILY = "productFamily"
METERS = (
    Meter(
        "sagemaker-hosting/{kind}/on-demand",
        "AmazonSageMaker",
        r"Host:(?P<kind>ml\.\S+)",
        "Hrs",
        "hour",
        {"component": "Hosting"},
    ),
    Meter("ec2/{kind}/on-demand", "AmazonEC2", r"BoxUsage:(?P<kind>\S+)", "Hrs", "hour", LINUX, each_region=True),
    Meter(
        "ebs/{kind}",
        "AmazonEC2",
        r"EBS:VolumeUsage(?:\.(?P<kind>gp2|gp3|sc1|st1|piops|io2))?",
        "GB-Mo",
        "GiB-month",
        {_FAMILY: "Storage"},
    ),
    Meter(
        "ebs-snapshot/standard", "AmazonEC2", r"EBS:SnapshotUsage", "GB-Mo", "GiB-month", {_FAMILY: "Storage Snapshot"}
    ),
    Meter("nat-gateway/hour", "AmazonEC2", r"NatGateway-Hours", "Hrs", "hour", {_FAMILY: "NAT Gateway"}),
    Meter("elb/alb", "AWSELB", r"LoadBalancerUsage", "Hrs", "hour", {_FAMILY: "Load Balancer-Application"}),
    Meter("elb/nlb", "AWSELB", r"LoadBalancerUsage", "Hrs", "hour", {_FAMILY: "Load Balancer-Network"}),
    Meter("elb/classic", "AWSELB", r"LoadBalancerUsage", "Hrs", "hour", {_FAMILY: "Load Balancer"}),
    Meter("vpc-endpoint/interface", "AmazonVPC", r"VpcEndpoint-Hours", "Hrs", "hour", {_FAMILY: "VpcEndpoint"}),
    Meter("ecr/storage", "AmazonECR", r"TimedStorage-ByteHrs", "GB-Mo", "GB-month"),
    Meter(
        "efs/standard", "AmazonEFS", r"TimedStorage-ByteHrs", "GB-Mo", "GB-month", {"storageClass": "General Purpose"}
    ),
    Meter("cloudwatch-logs/storage", "AmazonCloudWatch", r"TimedStorage-ByteHrs", "GB-Mo", "GB-month"),
    Meter("s3/standard", "AmazonS3", r"TimedStorage-ByteHrs", "GB-Mo", "GB-month", {"volumeType": "Standard"}),
    Meter(
        "dynamodb/read-capacity-unit", "AmazonDynamoDB", r"ReadCapacityUnit-Hrs", "ReadCapacityUnit-Hrs", "unit-hour"
    ),
    Meter(
        "dynamodb/write-capacity-unit", "AmazonDynamoDB", r"WriteCapacityUnit-Hrs", "WriteCapacityUnit-Hrs", "unit-hour"
    ),
)
"""What a refresh rebuilds. Rows of other keys stay as they are, with their own dates."""


def rows(meter: Meter, offers: Iterable[Offer]) -> Iterator[Row]:
    """The rows of a meter; where AWS lists two prices for one key and place, neither is taken."""
    found: dict[tuple[str, str], dict[float, Offer]] = {}
    for offer in offers:
        match = re.fullmatch(meter.usage, offer.usage)
        region = offer.attributes.get("regionCode", "")
        if match and region and offer.unit == meter.listed_unit:
            groups = {name: _VOLUMES.get(value or "", value or "") for name, value in match.groupdict().items()}
            found.setdefault((meter.key.format(**groups), region), {})[offer.usd] = offer
    for (key, region), prices in found.items():
        if len(prices) == 1:
            usd, offer = next(iter(prices.items()))
            yield Row(key, meter.unit, region, usd, offer.as_of, "AWS Price List API")
