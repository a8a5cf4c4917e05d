"""Kafka clusters and message brokers that pass nothing on."""

from __future__ import annotations

from datetime import timedelta

from clouds.aws.checks import words
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import gone, step
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Waste, WasteCheck

KAFKAS = Listing("kafka", "ListClustersV2", "ClusterInfoList")
KAFKA = Kind(
    name="MSK cluster",
    of=KAFKAS,
    id=lambda row, _at: row["ClusterArn"],
    label=lambda row: row["ClusterName"],
    created=lambda row: row["CreationTime"],
    tags=words.tags,
)
KAFKA_BYTES = usage(
    "AWS/Kafka",
    "BytesInPerSec BytesOutPerSec",
    KAFKAS,
    by=lambda row: [
        {"Cluster Name": row["ClusterName"], "Broker ID": str(number)}
        for number in range(1, (row.get("Provisioned", {}).get("NumberOfBrokerNodes") or 0) + 1)
    ],
    days=14,
    absent="unresolved",
    stat="Maximum",
    when=lambda row: row["State"] == "ACTIVE" and row["ClusterType"] == "PROVISIONED",
    unit="bytes a second",
    source="MSK docs, default metrics: emitted every minute by each broker, also at 0",
)


def _kafka(row: Row, seen: Seen) -> Waste | None:
    if row["State"] != "ACTIVE" or row["ClusterType"] != "PROVISIONED":
        return None
    about = row["Provisioned"]
    if about.get("StorageMode") == "TIERED" or seen.metric(KAFKA_BYTES, row):
        return None
    count, nodes = about["NumberOfBrokerNodes"], about["BrokerNodeGroupInfo"]
    disk = nodes.get("StorageInfo", {}).get("EbsStorageInfo", {}).get("VolumeSize") or 0
    meters = [Meter(f"msk/{nodes['InstanceType']}", "hour", count)]
    if disk:
        meters.append(Meter("msk/storage", "GB-month", disk * count))
    return Waste(
        reason=f"no byte came or went in 14 days; {count} x {nodes['InstanceType']}",
        meters=tuple(meters),
        evidence={"brokers": f"{count} x {nodes['InstanceType']}", "GB each": disk},
    )


def _delete_kafka(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"ClusterArn": doomed.id}
    return (
        step(
            "delete",
            f"delete cluster {doomed.name} with all topics",
            "kafka.DeleteCluster",
            {**name, "CurrentVersion": doomed.row["CurrentVersion"]},
            "cannot be undone",
            until=gone("kafka.DescribeClusterV2", name, "ClusterInfo.State", seconds=3600),
        ),
    )


KAFKA_IDLE = WasteCheck(
    id="msk-idle",
    title="Kafka cluster that nothing is written to or read from",
    kind=KAFKA,
    reads=(KAFKA_BYTES,),
    judge=_kafka,
    why="Brokers are billed by the hour and by their disks, used or not.",
    spares=("a byte in 14 days", "serverless", "with tiered storage", "younger than 14 days"),
    unchecked=("what its topics keep for later",),
    meter="MSK broker hours and storage GB-months",
    min_age=timedelta(days=14),
    remove=_delete_kafka,
    reversal="cannot be undone",
    recovery="Topics and their records are lost.",
    order=45,
    steps=("kafka.DeleteCluster", "kafka.DescribeClusterV2"),
)

BROKERS = Listing("mq", "ListBrokers", "BrokerSummaries")
BROKER = Kind(
    name="Amazon MQ broker",
    of=BROKERS,
    id=lambda row, _at: row["BrokerArn"],
    label=lambda row: row["BrokerName"],
    created=lambda row: row["Created"],
    tags_read=Detail(
        BROKERS, "mq", "ListTags", lambda rows, _at: {"ResourceArn": rows[0]["BrokerArn"]}, rows="Tags", late=True
    ),
)


def engine_of(row: Row) -> str:
    """ACTIVEMQ or RABBITMQ; until there was a second one, a list did not say it (seen in a recording, 2026-11-30)."""
    return str(row.get("EngineType") or "ACTIVEMQ").upper()


def _names(row: Row) -> list[dict[str, str]]:
    name = row["BrokerName"]
    if engine_of(row) == "RABBITMQ":
        return [{"Broker": name}]
    ends = ("-1", "-2") if row["DeploymentMode"] == "ACTIVE_STANDBY_MULTI_AZ" else ("-1",)
    return [{"Broker": f"{name}{end}"} for end in ends]


ACTIVE_CONNECTIONS = usage(
    "AWS/AmazonMQ",
    "CurrentConnectionsCount",
    BROKERS,
    by=_names,
    days=14,
    absent="unresolved",
    stat="Maximum",
    when=lambda row: row["BrokerState"] == "RUNNING" and engine_of(row) == "ACTIVEMQ",
    unit="connections",
    source="Amazon MQ docs, ActiveMQ metrics: emitted every minute by a running broker, also at 0",
)
RABBIT_CONNECTIONS = usage(
    "AWS/AmazonMQ",
    "ConnectionCount",
    BROKERS,
    by=_names,
    days=14,
    absent="unresolved",
    stat="Maximum",
    when=lambda row: row["BrokerState"] == "RUNNING" and engine_of(row) == "RABBITMQ",
    unit="connections",
    source="Amazon MQ docs, RabbitMQ metrics: emitted every minute by a running broker, also at 0",
)
_NODES = {"SINGLE_INSTANCE": 1, "ACTIVE_STANDBY_MULTI_AZ": 2, "CLUSTER_MULTI_AZ": 3}


def _broker(row: Row, seen: Seen) -> Waste | None:
    if row["BrokerState"] != "RUNNING":
        return None
    if seen.metric(RABBIT_CONNECTIONS if engine_of(row) == "RABBITMQ" else ACTIVE_CONNECTIONS, row):
        return None
    engine, count = engine_of(row).lower(), _NODES.get(row["DeploymentMode"], 1)
    return Waste(
        reason=f"nobody connected in 14 days; {count} x {row['HostInstanceType']} {engine}",
        meters=(Meter(f"mq/{row['HostInstanceType']}/{engine}", "hour", count),),
        evidence={"engine": engine, "mode": row["DeploymentMode"], "nodes": count},
    )


def _delete_broker(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"BrokerId": doomed.row["BrokerId"]}
    return (
        step(
            "delete",
            f"delete broker {doomed.name} with its queues",
            "mq.DeleteBroker",
            name,
            "cannot be undone",
            until=gone("mq.DescribeBroker", name, "BrokerState", seconds=3600),
        ),
    )


BROKER_IDLE = WasteCheck(
    id="mq-idle",
    title="Message broker that nobody connects to",
    kind=BROKER,
    reads=(ACTIVE_CONNECTIONS, RABBIT_CONNECTIONS),
    judge=_broker,
    why="A broker is billed by the hour, connected to or not.",
    spares=("anybody connected in 14 days", "being made or rebooted", "younger than 14 days"),
    unchecked=("messages that still wait in its queues",),
    meter="Amazon MQ broker hours, every node; storage not included",
    min_age=timedelta(days=14),
    remove=_delete_broker,
    reversal="cannot be undone",
    recovery="Queues and what waits in them are lost; a new broker has another endpoint.",
    order=45,
    steps=("mq.DeleteBroker", "mq.DescribeBroker"),
)
CHECKS = (KAFKA_IDLE, BROKER_IDLE)
