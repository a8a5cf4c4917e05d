"""What is stored for nobody: buckets, logs and images."""

from __future__ import annotations

from datetime import timedelta

from clouds.gcp.checks import words
from clouds.gcp.checks.metrics import LISTED, usage
from clouds.gcp.checks.reads import everywhere, in_each, locations, named_kind
from clouds.gcp.checks.steps import step, until
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Kind, Listing, Meter, Row, Seen, Waste, WasteCheck

BUCKETS = Listing("storage", "buckets.list", "items", ask=lambda at: {"project": at.account},
                  assets=("storage.googleapis.com/Bucket",))  # fmt: skip
LOGS = everywhere("logging", "projects.locations.buckets.list", "buckets")
IMAGES = in_each(
    locations("artifactregistry"), "projects.locations.repositories.list", "repositories",
    "artifactregistry.googleapis.com/Repository",
)  # fmt: skip

_MADE = ("gcf-", "staging.", "artifacts.", "cloud-ai-platform-", "dataproc-", "run-sources-")


def _made_for(row: Row) -> str:
    found = words.managed(row)
    name = str(row["name"])
    return found or ("App Engine or Cloud Functions" if name.startswith(_MADE) or name.endswith(".appspot.com") else "")


BUCKET = Kind(
    name="bucket", of=BUCKETS, id=lambda row, _at: f"//storage.googleapis.com/{row['name']}",
    label=lambda row: str(row["name"]), created=lambda row: row.get("timeCreated"), tags=words.labels,
    managed=_made_for, place=lambda row, _at: str(row.get("location") or "global").lower(),
    moving=("updated", "metageneration", "etag", "generation"),
)  # fmt: skip
LOG_BUCKET = named_kind("log bucket", LOGS, "logging")
REPOSITORY = named_kind("image repository", IMAGES, "artifactregistry", moving=("sizeBytes",))
BYTES = usage(
    "bytes stored",
    BUCKETS,
    "storage.googleapis.com/storage/v2/total_bytes",
    "gcs_bucket",
    ("bucket_name",),
    lambda row: (str(row["name"]),),
    days=2,
    absent="zero",
    fold="max",
    unit="B",
    source=LISTED + "reported daily for what a bucket holds; a bucket without a series holds nothing",
)
_BIG = 10 * 2**30


def _no_lifecycle(row: Row, seen: Seen) -> Waste | None:
    rules = (row.get("lifecycle") or {}).get("rule")
    if rules or (row.get("autoclass") or {}).get("enabled") or (row.get("retentionPolicy") or {}).get("isLocked"):
        return None
    if row.get("storageClass") not in (None, "STANDARD") or (row.get("versioning") or {}).get("enabled"):
        return None
    held = seen.metric(BYTES, row)
    if held < _BIG:
        return None
    place = str(row.get("location") or "").lower()
    return Waste(f"{held / 2**30:,.0f} GiB in Standard, and no rule ever moves or deletes any of it",
                 (Meter("gcs/standard", "GiB-month", round(held / 2**30, 2), place),), saving=True, bound="at most",
                 evidence={"GiB": round(held / 2**30, 1), "class": row.get("storageClass", "STANDARD")})  # fmt: skip


NO_LIFECYCLE = WasteCheck(
    id="bucket-no-lifecycle",
    title="Bucket that only grows",
    kind=BUCKET,
    judge=_no_lifecycle,
    reads=(BYTES,),
    why="Without a lifecycle rule or Autoclass, what nobody reads any more stays in the dearest class for ever.",
    remove="which objects may move or go is not to be guessed: write a lifecycle rule, or switch Autoclass on",
    reversal="can be undone",
    recovery="",
    order=83,
    meter="GiB-month in Standard, at most: the most that could be saved",
    min_age=timedelta(days=30),
    spares=("a lifecycle rule", "Autoclass", "under 10 GiB", "locked retention", "made by a service of Google's"),
    unchecked=("when its objects were last read", "model weights that a service mounts"),
)


def _versions(row: Row, seen: Seen) -> Waste | None:
    rules = (row.get("lifecycle") or {}).get("rule") or ()
    ends = any((each.get("condition") or {}).get(word) is not None for each in rules
               for word in ("numNewerVersions", "daysSinceNoncurrentTime", "noncurrentTimeBefore"))  # fmt: skip
    if not (row.get("versioning") or {}).get("enabled") or ends:
        return None
    held = seen.metric(BYTES, row)
    if held < _BIG:
        return None
    return Waste("keeps every version of every object, and no rule ends old ones",
                 (Meter("gcs/standard", "GiB-month", round(held / 2**30, 2), str(row.get("location") or "").lower()),),
                 saving=True, bound="at most", evidence={"GiB": round(held / 2**30, 1)})  # fmt: skip


VERSIONED = WasteCheck(
    id="bucket-versions-kept",
    title="Bucket that keeps every old version",
    kind=BUCKET,
    judge=_versions,
    reads=(BYTES,),
    why="Each overwrite and delete leaves a version that bills like the object itself.",
    remove="how many versions to keep is not to be guessed: write a lifecycle rule for noncurrent versions",
    reversal="can be undone",
    recovery="",
    order=84,
    meter="GiB-month, at most: only old versions could be saved",
    min_age=timedelta(days=30),
    spares=("a rule for noncurrent versions", "no versioning", "under 10 GiB"),
    unchecked=("how much of it is old versions",),
)


def _logs(row: Row, seen: Seen) -> Waste | None:
    del seen
    days = int(words.number(row.get("retentionDays")))
    if (
        row.get("lifecycleState") != "ACTIVE"
        or row.get("locked")
        or days <= 30
        or words.last(row["name"]) == "_Required"
    ):
        return None
    return Waste(f"keeps logs for {days} days; the first 30 are free",
                 evidence={"days": days, "analytics": bool(row.get("analyticsEnabled"))}, saving=True)  # fmt: skip


def _shorten(doomed: Doomed) -> tuple[CleanupStep, ...]:
    where = {"name": str(doomed.row["name"])}
    return (
        step("shorten", f"keep logs of {words.short(doomed.row)} for 30 days; older ones are deleted",
             "logging.projects.locations.buckets.patch",
             {**where, "updateMask": "retentionDays", "body": {"retentionDays": 30}}, "cannot be undone",
             until("logging.projects.locations.buckets.get", where, "retentionDays", "30", seconds=600)),
    )  # fmt: skip


LOGS_KEPT = WasteCheck(
    id="log-bucket-long", title="Logs that are kept for long", kind=LOG_BUCKET, judge=_logs,
    why="Logs bill for every month that they are kept beyond the first.", remove=_shorten,
    steps=("logging.projects.locations.buckets.patch", "logging.projects.locations.buckets.get"),
    reversal="cannot be undone", recovery="What is older than 30 days is gone.", order=86,
    meter="GiB-month of logs; how much a bucket holds is not in any reading", min_age=timedelta(days=1),
    spares=("30 days or less", "locked", "the bucket _Required"), unchecked=("what rules ask to be kept", "its size"),
)  # fmt: skip


def _registry(row: Row, seen: Seen) -> Waste | None:
    policies = row.get("cleanupPolicies") and not row.get("cleanupPolicyDryRun")
    gib = words.gib(row.get("sizeBytes"))
    if policies or gib < 5 or row.get("mode", "STANDARD_REPOSITORY") != "STANDARD_REPOSITORY":
        return None
    dry = " (its policy only tries)" if row.get("cleanupPolicyDryRun") else ""
    return Waste(
        f"{gib:,.0f} GiB of {str(row.get('format', '')).lower()}, and no policy cleans it up{dry}",
        (Meter("artifact-registry/storage", "GiB-month", round(gib, 2), words.name_place(row, seen.at)),),
        saving=True,
        bound="at most",
        evidence={"GiB": round(gib, 1), "format": row.get("format", "")},
    )


REGISTRY = WasteCheck(
    id="registry-no-cleanup", title="Image repository that only grows", kind=REPOSITORY, judge=_registry,
    why="Every build leaves its layers; without a cleanup policy they stay for ever.",
    remove="which images are in use is not to be guessed: set a cleanup policy (`gcloud artifacts repositories "
    "set-cleanup-policies`), first as a dry run",
    reversal="can be undone", recovery="", order=87, meter="GiB-month, at most: the most that could be saved",
    min_age=timedelta(days=30), spares=("a cleanup policy", "under 5 GiB", "virtual and remote repositories"),
    unchecked=("which images are in use",),
)  # fmt: skip


CHECKS = (NO_LIFECYCLE, VERSIONED, REGISTRY, LOGS_KEPT)
