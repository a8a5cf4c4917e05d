"""Log groups that keep everything for ever, and buckets that keep what nobody can see."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from clouds.aws.checks import words
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import step, until
from clouds.models import Scope
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Waste, WasteCheck

GROUPS = Listing("logs", "DescribeLogGroups", "logGroups")
GIB = 1024**3


def group_arn(row: Row) -> str:
    """The full id without the star that some answers end with."""
    return str(row.get("logGroupArn") or row["arn"]).removesuffix(":*")


GROUP = Kind(
    name="log group",
    of=GROUPS,
    id=lambda row, _at: group_arn(row),
    label=lambda row: row["logGroupName"],
    created=lambda row: row["creationTime"],
    tags_read=Detail(
        GROUPS,
        "logs",
        "ListTagsForResource",
        lambda rows, _at: {"resourceArn": group_arn(rows[0])},
        rows="tags",
        late=True,
    ),
    moving=("storedBytes",),
)
_AUDIT = re.compile(r"cloudtrail|vpc-?flow|flowlog|audit|route53|(?<![a-z])waf(?![a-z])")
"""Logs that somebody may have to keep; "waf" only as a word."""


def _keeps_all(row: Row, _seen: Seen) -> Waste | None:
    stored = (row.get("storedBytes") or 0) / GIB
    if row.get("retentionInDays") or row.get("retentionPolicyName") or stored < 1:
        return None
    if _AUDIT.search(row["logGroupName"].lower().replace("_", "-")):
        return None
    return Waste(
        reason=f"keeps everything for ever: {stored:,.1f} GB so far",
        meters=(Meter("cloudwatch-logs/storage", "GB-month", round(stored, 4)),),
        bound="at most",
        evidence={"GB": round(stored, 3), "class": row.get("logGroupClass", "STANDARD")},
    )


def _retain(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = doomed.row["logGroupName"]
    return (
        step(
            "retain",
            f"keep {name} for 365 days: what is older is deleted",
            "logs.PutRetentionPolicy",
            {"logGroupName": name, "retentionInDays": 365},
            "cannot be undone",
            until=until(
                "logs.DescribeLogGroups",
                {"logGroupIdentifiers": [name]},  # a prefix would read other groups too, whose retention is another
                "logGroups[].retentionInDays",
                "365",
                seconds=120,
            ),
        ),
    )


KEEPS_ALL = WasteCheck(
    id="logs-no-retention",
    title="Log group that keeps everything for ever",
    kind=GROUP,
    judge=_keeps_all,
    why="Logs are billed by what is stored; without an end it only grows.",
    spares=("a retention is set", "less than 1 GB", "named as audit, CloudTrail, flow, DNS or firewall logs"),
    unchecked=("whether somebody has to keep it by law",),
    meter="CloudWatch Logs storage GB-months of everything: only what is older than the retention is saved",
    min_age=timedelta(days=30),
    remove=_retain,
    reversal="cannot be undone",
    recovery="Lines that are older than the retention are deleted for good; export them to S3 first.",
    order=85,
    steps=("logs.PutRetentionPolicy", "logs.DescribeLogGroups"),
)

# S3 says in which region a bucket is only when it is asked with a parameter (botocore 1.44.8 model, Bucket).
BUCKETS = Listing("s3", "ListBuckets", "Buckets", {"MaxBuckets": 1000}, once=True)


def bucket_place(row: Row, at: Scope) -> Scope:
    """A bucket's own region: its calls go there."""
    return Scope(row.get("BucketRegion") or at.location, at.account)


def bucket(rows: Any, _at: Scope) -> Mapping[str, Any]:
    """The parameters of most calls about a bucket."""
    return {"Bucket": rows[0]["Name"]}


LIFECYCLE = Detail(
    BUCKETS,
    "s3",
    "GetBucketLifecycleConfiguration",
    bucket,
    rows="Rules",
    nothing_on=("NoSuchLifecycleConfiguration",),
    where=bucket_place,
)
VERSIONING = Detail(BUCKETS, "s3", "GetBucketVersioning", bucket, where=bucket_place)
LOCK = Detail(
    BUCKETS, "s3", "GetObjectLockConfiguration", bucket, rows="ObjectLockConfiguration",
    nothing_on=("ObjectLockConfigurationNotFoundError",), where=bucket_place,
)  # fmt: skip
UPLOADS = Detail(BUCKETS, "s3", "ListMultipartUploads", bucket, rows="Uploads", where=bucket_place)
BUCKET = Kind(
    name="S3 bucket",
    of=BUCKETS,
    id=lambda row, at: row.get("BucketArn") or words.arn("s3", at, row["Name"], region=False, account=False),
    label=lambda row: row["Name"],
    created=lambda row: row["CreationDate"],
    tags_read=Detail(
        BUCKETS, "s3", "GetBucketTagging", bucket, rows="TagSet", nothing_on=("NoSuchTagSet",), late=True,
        where=bucket_place,
    ),
    tags_of=words.tag_row,
    place=lambda row, at: row.get("BucketRegion") or at.location or "",
)  # fmt: skip


def active(rules: Any, part: str) -> bool:
    """Whether an enabled rule for the whole bucket does that part."""
    for rule in rules:
        whole = not rule.get("Prefix") and rule.get("Filter", {}) in ({}, {"Prefix": ""})
        if rule["Status"] == "Enabled" and rule.get(part) and whole:
            return True
    return False


def _multipart(row: Row, seen: Seen) -> Waste | None:
    old = [each for each in seen.of(UPLOADS, row) if words.older(seen, each["Initiated"], days=7)]
    if not old or active(seen.of(LIFECYCLE, row), "AbortIncompleteMultipartUpload"):
        return None
    return Waste(
        reason=f"{words.many(len(old), 'upload')} begun over 7 days ago and never ended; "
        "the parts are billed, not listed",
        meters=(Meter("s3/unfinished-uploads", "month"),),
        evidence={"unfinished uploads": len(old), "oldest": str(min(each["Initiated"] for each in old))},
    )


MULTIPART = WasteCheck(
    id="s3-multipart",
    title="Bucket with uploads that never ended",
    kind=BUCKET,
    reads=(UPLOADS, LIFECYCLE),
    judge=_multipart,
    why="Parts of an unfinished upload are billed as storage, and no listing of the bucket shows them.",
    spares=("begun in the last 7 days", "a rule for the whole bucket ends them"),
    unchecked=("how large the parts are: that takes one request an upload, so it has no price here",),
    meter="S3 storage of the parts, not measured",
    min_age=timedelta(days=7),
    remove="a rule that ends unfinished uploads replaces all rules of the bucket: add it where those are written",
    reversal="cannot be undone",
    recovery="An upload that was ended has to be begun again.",
    order=85,
)

SIZE = usage(
    "AWS/S3",
    "BucketSizeBytes",
    BUCKETS,
    by=lambda row: [{"BucketName": row["Name"], "StorageType": "StandardStorage"}],
    days=3,
    absent="zero",
    stat="Maximum",
    unit="bytes",
    source="S3 docs, storage metrics: reported once a day for a bucket that holds something",
    where=lambda row: row.get("BucketRegion") or "us-east-1",
)


def _versions(row: Row, seen: Seen) -> Waste | None:
    state = seen.one(VERSIONING, row) or {}
    if state.get("Status") != "Enabled" or active(seen.of(LIFECYCLE, row), "NoncurrentVersionExpiration"):
        return None
    if seen.one(LOCK, row):
        return None
    size = seen.metric(SIZE, row) / GIB
    if size < 1:
        return None
    return Waste(
        reason=f"every old version is kept for ever; the bucket holds {size:,.1f} GB in all",
        meters=(Meter("s3/standard", "GB-month", round(size, 3)),),
        bound="at most",
        evidence={"GB of all versions": round(size, 3), "versioning": "enabled"},
    )


VERSIONS = WasteCheck(
    id="s3-noncurrent-versions",
    title="Versioned bucket that keeps every old version",
    kind=BUCKET,
    reads=(VERSIONING, LIFECYCLE, LOCK, SIZE),
    judge=_versions,
    why="With versioning on, an overwritten or deleted object goes on being billed as an old version.",
    spares=("a rule for the whole bucket ends old versions", "Object Lock is on", "less than 1 GB"),
    unchecked=("how much of it are old versions: the price is that of the whole bucket, an upper bound", "replication"),
    meter="S3 standard GB-months of the whole bucket: an upper bound",
    min_age=timedelta(days=30),
    remove="a rule that ends old versions replaces all rules of the bucket: add it where those are written",
    reversal="cannot be undone",
    recovery="A version that was ended is gone.",
    order=85,
)
CHECKS = (VERSIONS, KEEPS_ALL, MULTIPART)
