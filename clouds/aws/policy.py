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


def deployer() -> dict[str, Any]:
    """The policy of whoever deploys: all reads, what both services send, and roles of our own names alone.

    A role made with tags needs the tagging action too. An account's first spot machine also needs
    iam:CreateServiceLinkedRole, once, from whoever may.
    """
    from clouds.aws.endpoints.ec2 import Ec2
    from clouds.aws.endpoints.sagemaker import SageMaker

    writes = {str(call) for service in (SageMaker, Ec2) for call in service.writes}
    roles = {call for call in writes if call.startswith("iam.")}
    looked = {str(call) for service in (SageMaker, Ec2) for call in service.reads}
    everywhere = document(reads() | looked | (writes - roles))["Statement"][0]
    handed = document(roles | {"iam.PassRole", "iam.TagRole", "iam.TagInstanceProfile"})["Statement"][0]
    ours = ["arn:aws:iam::*:role/modelrig-*", "arn:aws:iam::*:instance-profile/modelrig-*"]
    return {
        "Version": "2012-10-17",
        "Statement": [
            {"Sid": "ModelrigDeployer", **everywhere},
            {"Sid": "ModelrigRoles", **handed, "Resource": ours},
        ],
    }


def action(call: Call | str) -> str:
    """The IAM action of a call: `servicequotas:ListServiceQuotas`."""
    service, _, operation = str(call).partition(".")
    return f"{_PREFIXES.get(service, service)}:{operation}"


def document(calls: Iterable[Call | str]) -> dict[str, Any]:
    """A policy that allows exactly these calls on every resource; for reads, which AWS mostly cannot narrow."""
    actions = sorted({action(call) for call in calls})
    return {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}]}
