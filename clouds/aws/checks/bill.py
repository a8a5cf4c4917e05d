"""What the bill shows by service, and which of its services the checks look at.

Each request to Cost Explorer costs $0.01 (AWS Cost Explorer pricing, read 2026-11-29). One is asked: thirty days by
service, unblended, without credits and refunds.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from clouds.models import Call, Scope
from clouds.models.waste import Charge
from clouds.models.waste_pack import Bill

DAYS = 30
CHARGE = Charge(0.01, "request", "2026-11-29", "AWS Cost Explorer pricing")
_EC2 = ("ec2", "ebs", "snapshot", "ami", "eip", "nat", "capacity", "dedicated", "asg", "neuron", "eni")
COVERED: Mapping[str, tuple[str, ...]] = {
    "Amazon SageMaker": ("sm",),
    "Amazon Bedrock": ("bedrock",),
    "Amazon Elastic Compute Cloud - Compute": _EC2,
    "EC2 - Other": _EC2,
    "Amazon Virtual Private Cloud": ("eip", "nat", "vpce", "tgw", "vpn", "client-vpn"),
    "Amazon Elastic Load Balancing": ("alb", "clb"),
    "Amazon Relational Database Service": ("rds",),
    "Amazon Redshift": ("redshift",),
    "Amazon ElastiCache": ("elasticache",),
    "Amazon OpenSearch Service": ("opensearch", "aoss"),
    "Amazon DynamoDB": ("dynamodb",),
    "AWS Lambda": ("lambda",),
    "Amazon Kinesis": ("kinesis",),
    "Amazon Managed Streaming for Apache Kafka": ("msk",),
    "Amazon MQ": ("mq",),
    "Amazon Elastic Container Service for Kubernetes": ("eks",),
    "Amazon Elastic Container Service": ("ecs",),
    "Amazon EC2 Container Registry (ECR)": ("ecr",),
    "AmazonCloudWatch": ("logs",),
    "Amazon Simple Storage Service": ("s3",),
    "AWS Key Management Service": ("kms",),
    "AWS Secrets Manager": ("secret",),
    "Amazon Route 53": ("route53",),
    "Amazon Elastic File System": ("efs",),
    "Amazon FSx": ("fsx",),
    "Amazon WorkSpaces": ("workspaces",),
    "AWS Directory Service": ("directory",),
    "Amazon Elastic MapReduce": ("emr",),
    "AWS Glue": ("glue",),
    "AWS Database Migration Service": ("dms",),
    "Amazon Comprehend": ("comprehend",),
    "Amazon Rekognition": ("rekognition",),
    "Amazon Personalize": ("personalize",),
    "Amazon Kendra": ("kendra",),
    "Amazon Lightsail": ("lightsail",),
}


def ask(now: datetime, _scope: Scope) -> Call:
    """Thirty whole days until yesterday, by service."""
    end = now.date()
    return Call(
        "ce",
        "GetCostAndUsage",
        {
            "TimePeriod": {"Start": (end - timedelta(days=DAYS)).isoformat(), "End": end.isoformat()},
            "Granularity": "MONTHLY",
            "Metrics": ["UnblendedCost"],
            "GroupBy": [{"Type": "DIMENSION", "Key": "SERVICE"}],
            "Filter": {"Not": {"Dimensions": {"Key": "RECORD_TYPE", "Values": ["Credit", "Refund"]}}},
        },
    )


def lines(answer: Any) -> Mapping[str, float]:
    """US dollars by service; amounts in another currency are left out rather than added up."""
    found: dict[str, float] = {}
    for period in answer.get("ResultsByTime", ()):
        for group in period.get("Groups", ()):
            cost = group["Metrics"]["UnblendedCost"]
            if cost.get("Unit", "USD") == "USD":
                found[group["Keys"][0]] = found.get(group["Keys"][0], 0.0) + float(cost["Amount"])
    return dict(sorted(found.items(), key=lambda item: -item[1]))


BILL = Bill(ask=ask, charge=CHARGE, lines=lines, days=DAYS, covered=COVERED, permission="ce:GetCostAndUsage")
