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

CHANGES: Mapping[str, tuple[str, ...]] = {
    "sagemaker": (
        "sagemaker.CreateModel",
        "sagemaker.CreateEndpointConfig",
        "sagemaker.CreateEndpoint",
        "sagemaker.AddTags",
        "sagemaker.UpdateEndpoint",
        "sagemaker.DeleteModel",
        "sagemaker.DeleteEndpointConfig",
        "sagemaker.DeleteEndpoint",
        "sagemaker-runtime.InvokeEndpoint",
        "sagemaker-runtime.InvokeEndpointWithResponseStream",
        "scheduler.CreateSchedule",
        "scheduler.UpdateSchedule",
        "scheduler.DeleteSchedule",
    ),
    "ec2": (
        "ec2.RunInstances",
        "ec2.CreateTags",
        "ec2.TerminateInstances",
        "ec2.CreateSecurityGroup",
        "ec2.AuthorizeSecurityGroupIngress",
        "ec2.DeleteSecurityGroup",
        "ec2-instance-connect.SendSSHPublicKey",
    ),
}
"""What each way of serving sends beside its reads."""

ROLES = (
    *("iam.CreateRole", "iam.TagRole", "iam.PutRolePolicy", "iam.DeleteRolePolicy", "iam.DeleteRole", "iam.PassRole"),
    *("iam.CreateInstanceProfile", "iam.TagInstanceProfile", "iam.AddRoleToInstanceProfile"),
    *("iam.RemoveRoleFromInstanceProfile", "iam.DeleteInstanceProfile"),
)
"""What is made and handed over of roles; every one of ours begins with `modelrig-`."""

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
    """The policy of a person who deploys: all reads, what both services send, and roles of our own names alone.

    A first spot machine of an account also needs iam:CreateServiceLinkedRole, once, from whoever may.
    """
    from clouds.aws.endpoints.ec2.machine import READS as MACHINES
    from clouds.aws.endpoints.sagemaker.view import READS as ENDPOINTS

    sent = [*reads(), *map(str, MACHINES), *map(str, ENDPOINTS), *(one for each in CHANGES.values() for one in each)]
    ours = ["arn:aws:iam::*:role/modelrig-*", "arn:aws:iam::*:instance-profile/modelrig-*"]
    everywhere = document(sent)["Statement"][0]
    return {
        "Version": "2012-10-17",
        "Statement": [
            {"Sid": "ModelrigDeployer", **everywhere},
            {"Sid": "ModelrigRoles", "Effect": "Allow", "Action": sorted(map(action, ROLES)), "Resource": ours},
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
