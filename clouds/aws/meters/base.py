"""The plainest meters: instances, volumes, balancers, storage.

Traps that the patterns answer (public price samples and filters of cost tools, read 2026-11-29): `Storage Snapshot`
returns about six meters of which only `EBS:SnapshotUsage` is the plain one; a public IPv4 address has no row at all; a
usage type carries the region's prefix except in us-east-1; several rows are zero.
"""

from __future__ import annotations

from clouds.aws.meters.meter import GB_MONTHS, HOURS, Meter
from clouds.aws.pricelist import LINUX

_FAMILY = "productFamily"
BASE = (
    Meter(
        "sagemaker-hosting/{kind}/on-demand",
        "AmazonSageMaker",
        r"Host:(?P<kind>ml\.\S+)",
        HOURS,
        "hour",
        {"component": "Hosting"},
        every_kind=False,
    ),
    Meter(
        "ec2/{kind}/on-demand",
        "AmazonEC2",
        r"BoxUsage:(?P<kind>\S+)",
        HOURS,
        "hour",
        LINUX,
        each_region=True,
        every_kind=False,
    ),
    Meter(
        "ebs/{kind}",
        "AmazonEC2",
        r"EBS:VolumeUsage(?:\.(?P<kind>gp2|gp3|sc1|st1|piops|io2))?",
        GB_MONTHS,
        "GiB-month",
        {_FAMILY: "Storage"},
    ),
    Meter(
        "ebs-snapshot/standard",
        "AmazonEC2",
        r"EBS:SnapshotUsage",
        GB_MONTHS,
        "GiB-month",
        {_FAMILY: "Storage Snapshot"},
    ),
    Meter("nat-gateway/hour", "AmazonEC2", r"NatGateway-Hours", HOURS, "hour", {_FAMILY: "NAT Gateway"}),
    Meter("elb/alb", "AWSELB", r"LoadBalancerUsage", HOURS, "hour", {_FAMILY: "Load Balancer-Application"}),
    Meter("elb/nlb", "AWSELB", r"LoadBalancerUsage", HOURS, "hour", {_FAMILY: "Load Balancer-Network"}),
    Meter("elb/classic", "AWSELB", r"LoadBalancerUsage", HOURS, "hour", {_FAMILY: "Load Balancer"}),
    Meter("vpc-endpoint/interface", "AmazonVPC", r"VpcEndpoint-Hours", HOURS, "hour", {_FAMILY: "VpcEndpoint"}),
    Meter("ecr/storage", "AmazonECR", r"TimedStorage-ByteHrs", GB_MONTHS, "GB-month"),
    Meter(
        "efs/standard", "AmazonEFS", r"TimedStorage-ByteHrs", GB_MONTHS, "GB-month", {"storageClass": "General Purpose"}
    ),
    Meter("cloudwatch-logs/storage", "AmazonCloudWatch", r"TimedStorage-ByteHrs", GB_MONTHS, "GB-month"),
    Meter("s3/standard", "AmazonS3", r"TimedStorage-ByteHrs", GB_MONTHS, "GB-month", {"volumeType": "Standard"}),
    Meter(
        "dynamodb/read-capacity-unit", "AmazonDynamoDB", r"ReadCapacityUnit-Hrs", ("ReadCapacityUnit-Hrs",), "unit-hour"
    ),
    Meter(
        "dynamodb/write-capacity-unit",
        "AmazonDynamoDB",
        r"WriteCapacityUnit-Hrs",
        ("WriteCapacityUnit-Hrs",),
        "unit-hour",
    ),
)
"""Compute, volumes, network and storage by their plainest meters."""
