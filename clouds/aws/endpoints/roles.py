"""The roles that AWS acts in for us, with no more than they need: read the image, write the log, delete our own."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from clouds.aws.endpoints import tags
from clouds.models import Call

EXECUTION, SCHEDULER = "modelrig-sagemaker", "modelrig-scheduler"
DLC_ACCOUNT = "763104351884"
"""AWS's account for deep learning container images in most regions."""


def partition(region: str) -> str:
    """`aws`, or that of China and GovCloud."""
    return {"cn": "aws-cn", "us-gov": "aws-us-gov"}.get(region.rsplit("-", 2)[0], "aws")


def arn(name: str, account: str, region: str) -> str:
    """The ARN of a role."""
    return f"arn:{partition(region)}:iam::{account}:role/{name}"


def trust(service: str, account: str) -> str:
    """Only this service, and only for this account's own resources (the confused deputy is kept out)."""
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": "sts:AssumeRole",
        "Condition": {"StringEquals": {"aws:SourceAccount": account}},
    }
    return _document([statement])


def _document(statements: Sequence[dict[str, Any]]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def execution_policy(account: str, region: str) -> str:
    """Pull AWS's vLLM image, write this account's endpoint logs and the metrics that SageMaker emits."""
    aws = partition(region)
    pull = ["ecr:BatchCheckLayerAvailability", "ecr:GetDownloadUrlForLayer", "ecr:BatchGetImage"]
    write = ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents", "logs:DescribeLogStreams"]
    return _document(
        [
            {"Effect": "Allow", "Action": "ecr:GetAuthorizationToken", "Resource": "*"},
            {"Effect": "Allow", "Action": pull, "Resource": f"arn:{aws}:ecr:*:{DLC_ACCOUNT}:repository/vllm"},
            {
                "Effect": "Allow",
                "Action": write,
                "Resource": f"arn:{aws}:logs:*:{account}:log-group:/aws/sagemaker/Endpoints/*",
            },
            {
                "Effect": "Allow",
                "Action": "cloudwatch:PutMetricData",
                "Resource": "*",
                "Condition": {"StringLike": {"cloudwatch:namespace": ["AWS/SageMaker", "/aws/sagemaker/*"]}},
            },
        ]
    )


def scheduler_policy(account: str, region: str) -> str:
    """Delete endpoints, configurations and models that carry our tag, and nothing else."""
    aws = partition(region)
    base = f"arn:{aws}:sagemaker:*:{account}"
    statement = {
        "Effect": "Allow",
        "Action": ["sagemaker:DeleteEndpoint", "sagemaker:DeleteEndpointConfig", "sagemaker:DeleteModel"],
        "Resource": [f"{base}:endpoint/*", f"{base}:endpoint-config/*", f"{base}:model/*"],
        "Condition": {"StringLike": {f"aws:ResourceTag/{tags.DEPLOYMENT}": "*"}},
    }
    return _document([statement])


def extra_policy(region: str, *, image: str = "", secret: str = "", model: str = "") -> str:
    """What one deployment needs besides: an image of one's own, a secret, a folder of weights. Empty for nothing."""
    aws, statements = partition(region), list[dict[str, Any]]()
    own = re.match(r"(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/([^:@]+)", image)
    if own and (own[1], own[3]) != (DLC_ACCOUNT, "vllm"):
        pull = ["ecr:BatchCheckLayerAvailability", "ecr:GetDownloadUrlForLayer", "ecr:BatchGetImage"]
        resource = f"arn:{aws}:ecr:{own[2]}:{own[1]}:repository/{own[3]}"
        statements.append({"Effect": "Allow", "Action": pull, "Resource": resource})
    if secret:
        statements.append({"Effect": "Allow", "Action": "secretsmanager:GetSecretValue", "Resource": secret})
    if model.startswith("s3://"):
        bucket, _, prefix = model.removeprefix("s3://").partition("/")
        statements += [
            {"Effect": "Allow", "Action": "s3:GetObject", "Resource": f"arn:{aws}:s3:::{bucket}/{prefix}*"},
            {
                "Effect": "Allow",
                "Action": "s3:ListBucket",
                "Resource": f"arn:{aws}:s3:::{bucket}",
                "Condition": {"StringLike": {"s3:prefix": f"{prefix}*"}},
            },
        ]
    return _document(statements) if statements else ""


def create(name: str, service: str, account: str, owner: str, purpose: str) -> Call:
    """The call that makes a role of ours; it is shared by all deployments and stays."""
    return Call(
        "iam",
        "CreateRole",
        {
            "RoleName": name,
            "AssumeRolePolicyDocument": trust(service, account),
            "Description": purpose,
            "MaxSessionDuration": 3600,
            "Tags": tags.make(tags.SHARED, None, owner),
        },
    )


def put(name: str, policy: str, document: str) -> Call:
    """The call that gives a role one inline policy; putting the same again changes nothing."""
    return Call("iam", "PutRolePolicy", {"RoleName": name, "PolicyName": policy, "PolicyDocument": document})
