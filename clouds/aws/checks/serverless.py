"""DynamoDB, Lambda and Kinesis: capacity that is provisioned and not used."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from clouds.aws.checks import words
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import gone, step, until
from clouds.models import Scope
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Waste, WasteCheck

TABLES = Listing("dynamodb", "ListTables", "TableNames")
TABLE = Detail(TABLES, "dynamodb", "DescribeTable", lambda rows, _at: {"TableName": rows[0]}, rows="Table", each=True)


def _table_arn(row: Row, at: Scope) -> str:
    """The full id; an answer of long ago holds none."""
    return str(row.get("TableArn") or words.arn("dynamodb", at, f"table/{row['TableName']}"))


DYNAMO = Kind(
    name="DynamoDB table",
    of=TABLE,
    id=_table_arn,
    label=lambda row: row["TableName"],
    created=lambda row: row["CreationDateTime"],
    tags_read=Detail(
        TABLE, "dynamodb", "ListTagsOfResource", lambda rows, at: {"ResourceArn": _table_arn(rows[0], at)}, rows="Tags",
        late=True,
    ),
    tags_of=words.tag_row,
    moving=("ItemCount", "TableSizeBytes"),
)  # fmt: skip


def provisioned(row: Row) -> bool:
    """Whether capacity is provisioned: a table without a summary of its billing mode is."""
    return bool(row.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED") == "PROVISIONED")


CONSUMED = usage(
    "AWS/DynamoDB",
    "ConsumedReadCapacityUnits ConsumedWriteCapacityUnits",
    TABLE,
    # What is read through a global index is counted with that index alone (DynamoDB docs, metrics and dimensions).
    by=lambda row: [
        {"TableName": row["TableName"]},
        *(
            {"TableName": row["TableName"], "GlobalSecondaryIndexName": each["IndexName"]}
            for each in row.get("GlobalSecondaryIndexes", ())
        ),
    ],
    days=30,
    absent="zero",
    when=lambda row: row["TableStatus"] == "ACTIVE" and provisioned(row),
    unit="capacity units",
    source="DynamoDB docs: consumed units are emitted when they are consumed",
)


def units(row: Row) -> tuple[int, int]:
    """Read and write units of a table and of its global indexes."""
    parts = [row, *row.get("GlobalSecondaryIndexes", ())]
    found = [each.get("ProvisionedThroughput", {}) for each in parts]
    return (
        sum(int(each.get("ReadCapacityUnits") or 0) for each in found),
        sum(int(each.get("WriteCapacityUnits") or 0) for each in found),
    )


def _table(row: Row, seen: Seen) -> Waste | None:
    reads, writes = units(row)
    if row["TableStatus"] != "ACTIVE" or not provisioned(row) or not reads + writes:
        return None
    if row.get("Replicas") or row.get("GlobalTableVersion"):  # tables of 2017's version do not list their replicas
        return None
    if seen.metric(CONSUMED, row):
        return None
    return Waste(
        reason=f"{reads} read and {writes} write units provisioned, none consumed in 30 days",
        meters=(
            Meter("dynamodb/read-capacity-unit", "unit-hour", reads),
            Meter("dynamodb/write-capacity-unit", "unit-hour", writes),
        ),
        # Units of the infrequent-access class cost more, and only those of the standard class are in the table.
        bound="exact" if row.get("TableClassSummary", {}).get("TableClass", "STANDARD") == "STANDARD" else "at least",
        evidence={
            "read units": reads,
            "write units": writes,
            "items": row.get("ItemCount"),
            "bytes": row.get("TableSizeBytes"),
        },
    )


def _on_demand(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"TableName": doomed.row["TableName"]}
    return (
        step(
            "switch",
            f"switch table {doomed.name} to on-demand: idle it costs only its storage",
            "dynamodb.UpdateTable",
            {**name, "BillingMode": "PAY_PER_REQUEST"},
            "can be undone",
            until=until("dynamodb.DescribeTable", name, "Table.TableStatus", "ACTIVE", seconds=3600),
        ),
    )


TABLE_IDLE = WasteCheck(
    id="dynamodb-idle-provisioned",
    title="DynamoDB table with capacity that nobody consumes",
    kind=DYNAMO,
    reads=(CONSUMED,),
    judge=_table,
    why="Provisioned capacity is billed by the hour, consumed or not; on demand an idle table costs only its storage.",
    spares=("on-demand tables", "replicas of a global table", "anything consumed in 30 days, also through an index"),
    unchecked=("reserved capacity", "an autoscaling target, which stays and may be removed"),
    meter="DynamoDB capacity unit hours of the table and its indexes",
    min_age=timedelta(days=30),
    remove=_on_demand,
    reversal="can be undone",
    recovery="It can be switched back once a day; no data is touched.",
    order=45,
    steps=("dynamodb.UpdateTable", "dynamodb.DescribeTable"),
)

FUNCTIONS = Listing("lambda", "ListFunctions", "Functions")
CONCURRENCY = Detail(
    FUNCTIONS,
    "lambda",
    "ListProvisionedConcurrencyConfigs",
    lambda rows, _at: {"FunctionName": rows[0]["FunctionName"]},
    rows="ProvisionedConcurrencyConfigs",
    nothing_on=("ResourceNotFoundException",),
)


def function_of(row: Row) -> tuple[str, str]:
    """(function, version or alias) of a provisioned configuration, from its full id."""
    parts = row["FunctionArn"].split(":")
    return parts[6], parts[7] if len(parts) > 7 else "$LATEST"


PROVISIONED = Kind(
    name="Lambda provisioned concurrency",
    of=CONCURRENCY,
    id=lambda row, _at: row["FunctionArn"],
    label=lambda row: ":".join(function_of(row)),
    created=lambda row: row.get("LastModified"),
    tags_read=Detail(
        CONCURRENCY, "lambda", "ListTags",
        lambda rows, _at: {"Resource": ":".join(rows[0]["FunctionArn"].split(":")[:7])}, rows="Tags", late=True,
    ),
)  # fmt: skip
INVOKED = usage(
    "AWS/Lambda",
    "ProvisionedConcurrencyInvocations",
    CONCURRENCY,
    by=lambda row: [{"FunctionName": function_of(row)[0], "Resource": ":".join(function_of(row))}],
    days=7,
    absent="zero",
    when=lambda row: row["Status"] == "READY",
    unit="invocations",
    source="Lambda docs: emitted when a function runs on provisioned concurrency",
)


def _by_function(row: Row) -> list[Any]:
    return [row["FunctionName"]]


def _concurrency(row: Row, seen: Seen) -> Waste | None:
    if row["Status"] != "READY" or seen.metric(INVOKED, row):
        return None
    name, _ = function_of(row)
    function: Row = next(iter(seen.index(FUNCTIONS, _by_function).get(name, ())), {})
    count = row.get("AllocatedProvisionedConcurrentExecutions") or row["RequestedProvisionedConcurrentExecutions"]
    memory = function.get("MemorySize") or 128
    arm = "-arm" if "arm64" in function.get("Architectures", ()) else ""
    return Waste(
        reason=f"{count} execution{'s' if count != 1 else ''} of {memory} MB kept ready, none used in 7 days",
        meters=(Meter(f"lambda/provisioned-concurrency{arm}", "GB-second", round(count * memory / 1024, 4)),),
        evidence={"executions": count, "MB": memory},
    )


def _drop(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name, qualifier = function_of(doomed.row)
    which = {"FunctionName": name, "Qualifier": qualifier}
    return (
        step(
            "delete", f"delete the provisioned concurrency of {doomed.name}; the function stays",
            "lambda.DeleteProvisionedConcurrencyConfig", which, "can be undone",
            until=gone("lambda.GetProvisionedConcurrencyConfig", which, "Status"),
        ),
    )  # fmt: skip


CONCURRENCY_IDLE = WasteCheck(
    id="lambda-provisioned-idle",
    title="Lambda provisioned concurrency that is not used",
    kind=PROVISIONED,
    reads=(INVOKED,),
    judge=_concurrency,
    why="Provisioned concurrency is billed by the second from when it is there, whether a request comes or not.",
    spares=("used in 7 days", "being set up"),
    unchecked=("a scaling schedule that sets it again",),
    meter="Lambda provisioned GB-seconds",
    min_age=timedelta(days=7),
    remove=_drop,
    reversal="can be undone",
    recovery="It can be set again in minutes.",
    order=45,
    steps=("lambda.DeleteProvisionedConcurrencyConfig", "lambda.GetProvisionedConcurrencyConfig"),
)

STREAMS = Listing("kinesis", "ListStreams", "StreamNames")
STREAM = Detail(
    STREAMS,
    "kinesis",
    "DescribeStreamSummary",
    lambda rows, _at: {"StreamName": rows[0]},
    rows="StreamDescriptionSummary",
    each=True,
)
KINESIS = Kind(
    name="Kinesis stream",
    of=STREAM,
    id=lambda row, _at: row["StreamARN"],
    label=lambda row: row["StreamName"],
    created=lambda row: row["StreamCreationTimestamp"],
    tags_read=Detail(
        STREAM, "kinesis", "ListTagsForStream", lambda rows, _at: {"StreamName": rows[0]["StreamName"]}, rows="Tags",
        late=True,
    ),
    tags_of=words.tag_row,
)  # fmt: skip
RECORDS = usage(
    "AWS/Kinesis",
    "IncomingRecords GetRecords.Records",
    STREAM,
    by=lambda row: [{"StreamName": row["StreamName"]}],
    days=7,
    absent="zero",
    when=lambda row: row["StreamStatus"] == "ACTIVE",
    unit="records",
    source="Kinesis docs, stream metrics: emitted with puts and gets",
)


def _stream(row: Row, seen: Seen) -> Waste | None:
    if row["StreamStatus"] != "ACTIVE" or row.get("ConsumerCount") or seen.metric(RECORDS, row):
        return None
    shards = row["OpenShardCount"]
    on_demand = row.get("StreamModeDetails", {}).get("StreamMode") == "ON_DEMAND"
    shown = "on demand" if on_demand else f"{shards} shard{'s' if shards != 1 else ''}"
    meter = Meter("kinesis/on-demand-stream", "hour") if on_demand else Meter("kinesis/shard", "hour", shards)
    return Waste(
        reason=f"no record came or was read in 7 days; {shown}",
        meters=(meter,),
        evidence={"shards": shards, "mode": "on demand" if on_demand else "provisioned",
                  "retention hours": row["RetentionPeriodHours"]},
    )  # fmt: skip


def _delete_stream(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"StreamName": doomed.row["StreamName"]}
    return (
        step(
            "delete", f"delete stream {doomed.name}", "kinesis.DeleteStream", name, "cannot be undone",
            until=gone("kinesis.DescribeStreamSummary", name, "StreamDescriptionSummary.StreamStatus"),
        ),
    )  # fmt: skip


STREAM_IDLE = WasteCheck(
    id="kinesis-idle",
    title="Kinesis stream that nothing is written to or read from",
    kind=KINESIS,
    reads=(RECORDS,),
    judge=_stream,
    why="A stream is billed by the shard or stream hour, used or not.",
    spares=("a record in 7 days", "a consumer with enhanced fan-out is registered", "younger than 7 days"),
    unchecked=("records kept for longer than a week",),
    meter="Kinesis shard or stream hours",
    min_age=timedelta(days=7),
    remove=_delete_stream,
    reversal="cannot be undone",
    recovery="Records that are still kept in it are lost; the stream itself can be made again.",
    order=45,
    steps=("kinesis.DeleteStream", "kinesis.DescribeStreamSummary"),
)
CHECKS = (CONCURRENCY_IDLE, TABLE_IDLE, STREAM_IDLE)
