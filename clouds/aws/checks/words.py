"""How AWS names things: full ids, tags in their three spellings, who manages a resource, which code it belongs to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from clouds.models import Scope
from clouds.models.waste import Row, Seen

_PARTITIONS = (
    ("cn-", "aws-cn"), ("us-gov-", "aws-us-gov"), ("eusc-", "aws-eusc"), ("us-iso-", "aws-iso"),
    ("us-isob-", "aws-iso-b"), ("eu-isoe-", "aws-iso-e"), ("us-isof-", "aws-iso-f"),
)  # fmt: skip
"""How the names of a partition's regions begin (botocore 1.44.8, partitions.json)."""
_CODE = (
    ("aws:cloudformation:stack-name", "CloudFormation stack"),
    ("aws:servicecatalog:provisionedProductArn", "Service Catalog product"),
    ("elasticbeanstalk:environment-name", "Elastic Beanstalk environment"),
    ("eks:cluster-name", "EKS cluster"),
    ("aws:eks:cluster-name", "EKS cluster"),
    ("eks:eks-cluster-name", "EKS cluster"),
    ("elbv2.k8s.aws/cluster", "Kubernetes cluster"),
    ("KubernetesCluster", "Kubernetes cluster"),
    ("pulumi:stack", "Pulumi stack"),
)
_OLD_SERVICE = re.compile(r":service/[^/]+$")
_TERRAFORM = ("terraform", "opentofu", "atlantis")


@cache
def _partition(place: str) -> str:
    """Asked for each of a hundred thousand rows, of a few dozen regions."""
    return next((word for start, word in _PARTITIONS if place.startswith(start)), "aws")


def arn(service: str, at: Scope, rest: str, *, region: bool = True, account: bool = True) -> str:
    """The full id: `arn:aws:ec2:eu-west-1:123456789012:volume/vol-1`."""
    place = at.location or ""
    return f"arn:{_partition(place)}:{service}:{place if region else ''}:{(at.account or '') if account else ''}:{rest}"


def tags(row: Row) -> Mapping[str, str]:
    """The tags of an answer: a list of Key and Value in either case, or a map."""
    found: Any = next((row[name] for name in ("Tags", "TagSet", "tags", "TagList", "Tag") if row.get(name)), {})
    if isinstance(found, Mapping):
        return {str(key): str(value) for key, value in found.items()}
    return dict(pair(each) for each in found)


def pair(tag: Mapping[str, Any]) -> tuple[str, str]:
    """One tag, however its keys are spelt (DynamoDB and KMS have spellings of their own)."""
    lower = {key.lower(): value for key, value in tag.items()}
    key = next((lower[name] for name in ("key", "tagkey") if name in lower), "")
    value = next((lower[name] for name in ("value", "tagvalue") if name in lower), "")
    return str(key), str(value or "")


def tag_row(tag: Mapping[str, Any]) -> Mapping[str, str]:
    """One tag as a map, for a read that answers a list of tags."""
    return dict([pair(tag)])


def managed(row: Row) -> str:
    """Which service manages an EC2 resource ("" for none): such a one is never touched."""
    operator = row.get("Operator") or {}
    if operator.get("Managed"):
        return str(operator.get("Principal") or "an AWS service")
    if row.get("ServiceManaged"):
        return str(row["ServiceManaged"])
    return str(row.get("RequesterId") or "an AWS service") if row.get("RequesterManaged") else ""


def owner(found: Mapping[str, str]) -> str:
    """The infrastructure as code that tags name: deleting beneath it drifts. "" when none is named."""
    for key, words in _CODE:
        if found.get(key):
            return f"{words} {found[key]}"
    for key, value in found.items():
        if key.startswith("kubernetes.io/cluster/"):
            return f"Kubernetes cluster {key.rsplit('/', 1)[-1]}"
        text = f"{key}={value}".lower()
        if any(word in text for word in _TERRAFORM):
            return f"Terraform ({key}={value})"[:120]
        if key.startswith("aws-cdk:"):
            return f"CDK ({key})"
    return ""


def kept(row: Row) -> bool:
    """Whether somebody marked a resource to be kept: no other resource's cleanup takes it along, expired or not."""
    return "modelrig-keep" in tags(row)


def named(row: Row, key: str) -> str:
    """An id with the name tag beside it, where there is one."""
    name = tags(row).get("Name", "")
    return f"{row[key]} ({name})" if name else str(row[key])


def many(number: int, one: str) -> str:
    """A number with its noun: `1 disk`, `2 disks`, `0 addresses`."""
    return f"{number} {one if number == 1 else f'{one}es' if one.endswith('s') else f'{one}s'}"


def moment(value: Any) -> datetime | None:
    """A time of an answer: a datetime as botocore parses it, or ISO 8601 text. None for anything else.

    EC2 writes some times as text, and those of client VPNs without a zone: they are UTC (EC2 API reference).
    """
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return None
    if not isinstance(found, datetime):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def older(seen: Seen, value: Any, **span: float) -> bool | None:
    """Whether a time lies more than a span (days=, hours=) back; None when it is not known."""
    at = moment(value)
    return None if at is None else seen.now - at > timedelta(**span)


def days_since(seen: Seen, value: Any) -> int | None:
    """Whole days since a time; None when it is not known."""
    at = moment(value)
    return None if at is None else (seen.now - at).days


def by(*names: str) -> Callable[[Row], Iterable[Any]]:
    """A key for an index: the field, or the fields one below the other. Make it once, at the top of a module."""

    def key(row: Row) -> Iterable[Any]:
        for name in names:
            row = row.get(name) if isinstance(row, Mapping) else None
        return () if row is None else (row,)

    return key


def lost(answer: Any) -> Sequence[str]:
    """What a batch says it could not read. What is gone since it was listed is not lost: there is nothing to judge.

    ECS gives `failures` (reason, arn), OpenSearch Serverless `collectionErrorDetails` (botocore 1.44.8 models). An ECS
    service of an old id, which does not name its cluster, may be in another cluster than the one asked: it is lost.
    An image's permissions are listed also where there are none (DescribeImageAttribute's reference, 2026-11).
    """
    if not isinstance(answer, Mapping):
        return ()
    if "ImageId" in answer and "LaunchPermissions" not in answer:
        return ("no launchPermission",)
    told = [
        (each.get("reason") or each.get("errorCode") or "no reason", each.get("arn") or each.get("id") or "")
        for word in ("failures", "collectionErrorDetails")
        for each in answer.get(word) or ()
        if isinstance(each, Mapping)
    ]
    return tuple(
        f"{reason} {which}".strip()[:200]
        for reason, which in told
        if reason not in ("MISSING", "NOT_FOUND") or _OLD_SERVICE.search(which)
    )
