"""Which permissions each part needs, derived from the very calls it sends: the least-privilege policies are these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from clouds.aws import capacity, identity, images, pricelist, quotas
from clouds.models import Call

READS: Mapping[str, tuple[Call, ...]] = {
    "identity": identity.READS,
    "quotas": quotas.READS,
    "capacity": capacity.READS,
    "images": images.READS,
    "prices": pricelist.READS,
}
"""What each port reads."""

# IAM's word for a service is not always botocore's (Service Authorization Reference, 2026-11-29).
_PREFIXES: Mapping[str, str] = {
    "service-quotas": "servicequotas",
    "sagemaker-runtime": "sagemaker",
    "elb": "elasticloadbalancing",
    "elbv2": "elasticloadbalancing",
    "efs": "elasticfilesystem",
    "emr": "elasticmapreduce",
    "opensearch": "es",
    "opensearchserverless": "aoss",
    "bedrock-agent": "bedrock",
    "resourcegroupstaggingapi": "tag",
}


def reads() -> frozenset[str]:
    """The read-only allow-list of every port: `service.Operation`."""
    return frozenset(str(call) for calls in READS.values() for call in calls)


def action(call: Call | str) -> str:
    """The IAM action of a call: `servicequotas:ListServiceQuotas`."""
    service, _, operation = str(call).partition(".")
    return f"{_PREFIXES.get(service, service)}:{operation}"


def document(calls: Iterable[Call | str]) -> dict[str, Any]:
    """A policy that allows exactly these calls on every resource; for reads, which AWS mostly cannot narrow."""
    actions = sorted({action(call) for call in calls})
    return {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}]}
