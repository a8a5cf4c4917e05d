"""SageMaker capacity that waits: warm pools, provisioned feature stores."""

from __future__ import annotations

from datetime import timedelta

from clouds.aws.checks import words
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import step, until
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Waste, WasteCheck

WARM = Listing("sagemaker", "ListTrainingJobs", "TrainingJobSummaries", {"WarmPoolStatusEquals": "Available"})
JOB = Detail(
    WARM, "sagemaker", "DescribeTrainingJob", lambda rows, _at: {"TrainingJobName": rows[0]["TrainingJobName"]}
)
JOB_TAGS = Detail(
    JOB, "sagemaker", "ListTags", lambda rows, _at: {"ResourceArn": rows[0]["TrainingJobArn"]}, rows="Tags", late=True
)
WARM_POOL = Kind(
    name="SageMaker warm pool",
    of=JOB,
    id=lambda row, _at: row["TrainingJobArn"],
    label=lambda row: row["TrainingJobName"],
    created=lambda row: row.get("TrainingEndTime") or row["LastModifiedTime"],
    tags_read=JOB_TAGS,
    tags_of=words.tag_row,
)


def _warm(row: Row, seen: Seen) -> Waste | None:
    held = row["ResourceConfig"]
    keep = held.get("KeepAlivePeriodInSeconds") or 0
    if row.get("WarmPoolStatus", {}).get("Status") != "Available" or keep < 600 or held.get("TrainingPlanArn"):
        return None
    groups = held.get("InstanceGroups") or [held]
    parts = [(group["InstanceType"], group["InstanceCount"]) for group in groups]
    ended = words.moment(row.get("TrainingEndTime"))
    # Past its period and still there: it will not stay for longer than another one.
    left = timedelta(seconds=keep) - ((seen.now - ended) if ended else timedelta())
    return Waste(
        reason=f"kept warm after its job for up to {keep // 60} minutes",
        until=seen.now + (left if left > timedelta() else timedelta(seconds=keep)),
        meters=tuple(Meter(f"sagemaker-training/{name}/on-demand", "hour", count) for name, count in parts),
        bound="at most",
        evidence={"instances": ", ".join(f"{count} x {name}" for name, count in parts), "keep alive seconds": keep},
    )


def _end_warm_pool(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"TrainingJobName": doomed.row["TrainingJobName"]}
    return (
        step(
            "end", f"end the warm pool of {doomed.name} (keep-alive period 0)", "sagemaker.UpdateTrainingJob",
            {**name, "ResourceConfig": {"KeepAlivePeriodInSeconds": 0}}, "can be undone", capacity=True,
            until=until("sagemaker.DescribeTrainingJob", name, "WarmPoolStatus.Status", "Terminated", seconds=900),
        ),
    )  # fmt: skip


WARM_POOL_IDLE = WasteCheck(
    id="sm-warm-pool",
    title="Training instances kept warm for a next job",
    kind=WARM_POOL,
    judge=_warm,
    why="The instances of a warm pool are billed until its keep-alive period ends or a matching job takes them.",
    spares=("kept for less than 10 minutes", "in use by a job", "younger than half an hour", "in a training plan"),
    unchecked=("whether the next job is about to start",),
    meter="SageMaker training instance hours, at most until the period ends",
    category="ai",
    min_age=timedelta(minutes=30),
    remove=_end_warm_pool,
    reversal="can be undone",
    recovery="The next job starts cold, if there is capacity then.",
    order=12,
    steps=("sagemaker.UpdateTrainingJob", "sagemaker.DescribeTrainingJob"),
)

FEATURE_GROUPS = Listing("sagemaker", "ListFeatureGroups", "FeatureGroupSummaries")
FEATURE_GROUP = Detail(
    FEATURE_GROUPS,
    "sagemaker",
    "DescribeFeatureGroup",
    lambda rows, _at: {"FeatureGroupName": rows[0]["FeatureGroupName"]},
)
FEATURE_TAGS = Detail(
    FEATURE_GROUP, "sagemaker", "ListTags", lambda rows, _at: {"ResourceArn": rows[0]["FeatureGroupArn"]}, rows="Tags",
    late=True,
)  # fmt: skip


def _paid(row: Row) -> bool:
    """Whether an online store costs while idle: provisioned throughput, or kept in memory."""
    store = row.get("OnlineStoreConfig", {})
    if not store.get("EnableOnlineStore"):
        return False
    provisioned = row.get("ThroughputConfig", {}).get("ThroughputMode") == "Provisioned"
    return bool(provisioned or store.get("StorageType") == "InMemory")


_OPERATIONS = ("GetRecord", "BatchGetRecord", "PutRecord", "DeleteRecord")


def _by_operation(row: Row) -> list[dict[str, str]]:
    """Consumption is told for each operation of a group (SageMaker docs, dimensions of Feature Store's metrics)."""
    group = {"FeatureGroupName": row["FeatureGroupName"]}
    return [group, *({**group, "OperationName": each} for each in _OPERATIONS)]


FEATURE_USE = usage(
    "AWS/SageMaker/FeatureStore",
    # Requests are told on demand, capacity where throughput is provisioned.
    "ConsumedReadRequestsUnits ConsumedWriteRequestsUnits ConsumedReadCapacityUnits ConsumedWriteCapacityUnits",
    FEATURE_GROUP,
    by=_by_operation,
    days=14,
    absent="zero",
    when=lambda row: row["FeatureGroupStatus"] == "Created" and _paid(row),
    unit="units",
    source="SageMaker docs, Feature Store metrics: emitted when records are read or written",
)
FEATURE_STORE = Kind(
    name="SageMaker feature group",
    of=FEATURE_GROUP,
    id=lambda row, _at: row["FeatureGroupArn"],
    label=lambda row: row["FeatureGroupName"],
    created=lambda row: row["CreationTime"],
    tags_read=FEATURE_TAGS,
    tags_of=words.tag_row,
)


def _features(row: Row, seen: Seen) -> Waste | None:
    if row["FeatureGroupStatus"] != "Created" or not _paid(row) or seen.metric(FEATURE_USE, row):
        return None
    units = row.get("ThroughputConfig", {})
    reads, writes = units.get("ProvisionedReadCapacityUnits", 0), units.get("ProvisionedWriteCapacityUnits", 0)
    size = (row.get("OnlineStoreTotalSizeBytes") or 0) / 1024**3
    meters = [
        Meter(f"sagemaker-feature-store/{word}", "unit-hour", count)
        for word, count in (("read-capacity", reads), ("write-capacity", writes))
        if count
    ]
    memory = row["OnlineStoreConfig"].get("StorageType") == "InMemory"
    if memory:
        meters.append(Meter("sagemaker-feature-store/in-memory", "GB-month", size))
    return Waste(
        reason="its online store was neither read nor written in 14 days",
        meters=tuple(meters),
        evidence={"read units": reads, "write units": writes, "in memory": memory, "GB": round(size, 3)},
        blocked="it is kept in memory: only deleting the group, with its online records, ends that" if memory else "",
    )


def _on_demand(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"FeatureGroupName": doomed.row["FeatureGroupName"]}
    return (
        step(
            "switch", f"bill {doomed.name} by the request instead of by the hour; its records stay",
            "sagemaker.UpdateFeatureGroup", {**name, "ThroughputConfig": {"ThroughputMode": "OnDemand"}},
            "can be undone",
            until=until("sagemaker.DescribeFeatureGroup", name, "ThroughputConfig.ThroughputMode", "OnDemand"),
        ),
    )  # fmt: skip


FEATURES_IDLE = WasteCheck(
    id="sm-feature-store-online",
    title="Online feature store that nobody reads or writes",
    kind=FEATURE_STORE,
    reads=(FEATURE_USE,),
    judge=_features,
    why="Provisioned throughput and storage in memory are billed by the hour, used or not.",
    spares=("on-demand throughput with standard storage, which costs nothing idle", "read or written in 14 days"),
    unchecked=("an ingestion that runs less often than every 14 days",),
    meter="Feature Store capacity unit hours, in-memory GB-months",
    category="ai",
    min_age=timedelta(days=14),
    remove=_on_demand,
    reversal="can be undone",
    recovery="Provisioned throughput can be set again; records stay.",
    order=60,
    steps=("sagemaker.UpdateFeatureGroup", "sagemaker.DescribeFeatureGroup"),
)
CHECKS = (WARM_POOL_IDLE, FEATURES_IDLE)
