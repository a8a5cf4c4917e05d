"""EMR clusters, Glue endpoints and DMS instances that wait for work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from clouds.aws.checks import words
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import gone, step
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Waste, WasteCheck

EMR_LIST = Listing("emr", "ListClusters", "Clusters", {"ClusterStates": ["WAITING"]})
EMR = Detail(
    EMR_LIST, "emr", "DescribeCluster", lambda rows, _at: {"ClusterId": rows[0]["Id"]}, rows="Cluster", each=True
)
ENDS = Detail(
    EMR, "emr", "GetAutoTerminationPolicy", lambda rows, _at: {"ClusterId": rows[0]["Id"]}, rows="AutoTerminationPolicy"
)
EMR_NODES = Detail(
    EMR,
    "emr",
    "ListInstanceGroups",
    lambda rows, _at: {"ClusterId": rows[0]["Id"]},
    rows="InstanceGroups",
    when=lambda row: row.get("InstanceCollectionType", "INSTANCE_GROUP") == "INSTANCE_GROUP",
)
# A fleet's description says what it may take; only its instances say what it took.
EMR_FLEET = Detail(
    EMR,
    "emr",
    "ListInstances",
    lambda rows, _at: {"ClusterId": rows[0]["Id"], "InstanceStates": ["RUNNING"]},
    rows="Instances",
    when=lambda row: row.get("InstanceCollectionType") == "INSTANCE_FLEET",
)
HADOOP = Kind(
    name="EMR cluster",
    of=EMR,
    id=lambda row, at: row.get("ClusterArn") or words.arn("elasticmapreduce", at, f"cluster/{row['Id']}"),
    label=lambda row: f"{row['Id']} ({row.get('Name', '')})",
    created=lambda row: row["Status"].get("Timeline", {}).get("CreationDateTime"),
    tags=words.tags,
    moving=("NormalizedInstanceHours",),
)
EMR_BUSY = usage(
    "AWS/ElasticMapReduce",
    "AppsRunning AppsPending",
    EMR,
    by=lambda row: [{"JobFlowId": row["Id"]}],
    days=1,
    absent="unresolved",
    when=lambda row: row["Status"]["State"] == "WAITING",
    unit="applications, summed",
    source="EMR docs, cluster metrics: emitted every five minutes while a cluster is up, also at 0",
)


def _nodes(each: list[tuple[Row, int]]) -> list[tuple[str, str, int]]:
    """(instance type, market, how many), groups or single machines of one sort together."""
    found: Counter[tuple[str, str]] = Counter()
    for about, count in each:
        found[about["InstanceType"], "spot" if about.get("Market") == "SPOT" else "on-demand"] += count
    return [(name, market, count) for (name, market), count in found.items() if count]


def _emr(row: Row, seen: Seen) -> Waste | None:
    if row["Status"]["State"] != "WAITING" or seen.of(ENDS, row) or row.get("AutoTerminate"):
        return None
    if seen.metric(EMR_BUSY, row):
        return None
    nodes = _nodes([(each, each["RunningInstanceCount"]) for each in seen.of(EMR_NODES, row)])
    nodes += _nodes([(each, 1) for each in seen.of(EMR_FLEET, row)])
    meters = [
        meter
        for name, market, count in nodes
        for meter in (Meter(f"emr/{name}", "hour", count), Meter(f"ec2/{name}/{market}", "hour", count))
    ]
    shown = ", ".join(f"{count} x {name}" for name, _, count in nodes)
    return Waste(
        reason=f"waits for work and had none in 24 hours, and nothing ends it; {shown or 'nodes not known'}",
        meters=tuple(meters),
        evidence={"nodes": shown, "release": row.get("ReleaseLabel", "")},
        blocked="its termination protection is on" if row.get("TerminationProtected") else "",
    )


def _terminate(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = doomed.row["Id"]
    return (
        step(
            "terminate",
            f"terminate cluster {doomed.name}: HDFS and notebooks on it are lost",
            "emr.TerminateJobFlows",
            {"JobFlowIds": [name]},
            "cannot be undone",
            until=gone(
                "emr.DescribeCluster",
                {"ClusterId": name},
                "Cluster.Status.State",
                "TERMINATED",
                "TERMINATED_WITH_ERRORS",
            ),
            capacity=True,
        ),
    )


EMR_IDLE = WasteCheck(
    id="emr-idle",
    title="EMR cluster that waits for work",
    kind=HADOOP,
    reads=(ENDS, EMR_NODES, EMR_FLEET, EMR_BUSY),
    judge=_emr,
    why="A waiting cluster bills EMR and EC2 for every node.",
    spares=("an auto-termination policy ends it", "an application in 24 hours", "running a step"),
    unchecked=("work on it that is no YARN application", "reserved rates of its nodes"),
    meter="EMR and EC2 instance hours of its nodes",
    remove=_terminate,
    reversal="cannot be undone",
    recovery="A new cluster can be made from the same settings; HDFS is lost, S3 stays.",
    order=20,
    steps=("emr.TerminateJobFlows", "emr.DescribeCluster"),
)

DEV_ENDPOINTS = Listing("glue", "GetDevEndpoints", "DevEndpoints")
DEV_ENDPOINT = Kind(
    name="Glue development endpoint",
    of=DEV_ENDPOINTS,
    id=lambda row, at: words.arn("glue", at, f"devEndpoint/{row['EndpointName']}"),
    label=lambda row: row["EndpointName"],
    created=lambda row: row["CreatedTimestamp"],
    tags_read=Detail(
        DEV_ENDPOINTS,
        "glue",
        "GetTags",
        lambda rows, at: {"ResourceArn": words.arn("glue", at, f"devEndpoint/{rows[0]['EndpointName']}")},
        rows="Tags",
        late=True,
    ),
)


def _dev_endpoint(row: Row, seen: Seen) -> Waste | None:
    changed = row.get("LastModifiedTimestamp") or row["CreatedTimestamp"]
    if row["Status"] != "READY" or not words.older(seen, changed, days=7):
        return None
    # A worker of G.1X is one DPU, of G.2X two; without workers nodes count as DPUs (Glue docs, 2026-11-29).
    size = {"G.1X": 1, "Standard": 1, "G.2X": 2, "G.4X": 4, "G.8X": 8}.get(row.get("WorkerType", ""), 1)
    units = (row.get("NumberOfWorkers") or row.get("NumberOfNodes") or 5) * size
    return Waste(
        reason=f"up and unchanged for {words.days_since(seen, changed)} days; {units} DPU",
        meters=(Meter("glue/dev-endpoint-dpu", "DPU-hour", units),),
        evidence={"DPU": units, "worker": row.get("WorkerType", "")},
    )


def _delete_dev_endpoint(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"EndpointName": doomed.row["EndpointName"]}
    return (
        step(
            "delete",
            f"delete development endpoint {doomed.name}",
            "glue.DeleteDevEndpoint",
            name,
            "can be undone",
            until=gone("glue.GetDevEndpoint", name, "DevEndpoint.Status"),
        ),
    )


DEV_ENDPOINT_IDLE = WasteCheck(
    id="glue-dev-endpoint",
    title="Glue development endpoint that is left on",
    kind=DEV_ENDPOINT,
    judge=_dev_endpoint,
    why="A development endpoint is billed by the DPU hour until it is deleted.",
    spares=("changed in 7 days", "being made"),
    unchecked=("whether somebody works on it: AWS reports no use",),
    meter="Glue development endpoint DPU hours",
    min_age=timedelta(days=7),
    remove=_delete_dev_endpoint,
    reversal="can be undone",
    recovery="It can be made again from the same settings.",
    order=20,
    steps=("glue.DeleteDevEndpoint", "glue.GetDevEndpoint"),
)

REPLICATORS = Listing("dms", "DescribeReplicationInstances", "ReplicationInstances")
TASKS = Listing("dms", "DescribeReplicationTasks", "ReplicationTasks", {"WithoutSettings": True})
REPLICATOR = Kind(
    name="DMS replication instance",
    of=REPLICATORS,
    id=lambda row, _at: row["ReplicationInstanceArn"],
    label=lambda row: row["ReplicationInstanceIdentifier"],
    created=lambda row: row.get("InstanceCreateTime"),
    tags_read=Detail(
        REPLICATORS,
        "dms",
        "ListTagsForResource",
        lambda rows, _at: {"ResourceArn": rows[0]["ReplicationInstanceArn"]},
        rows="TagList",
        late=True,
    ),
    tags_of=words.tag_row,
)


def _busy(row: Row) -> Iterable[Any]:
    """The instance of a task that runs, or that is set up and may go on from where it is."""
    active = row["Status"] in (
        "running", "starting", "stopping", "modifying", "moving", "testing", "ready", "creating",
    )  # fmt: skip
    paused = row["Status"] == "stopped" and "cdc" in row.get("MigrationType", "")
    return [row["ReplicationInstanceArn"]] if active or paused else []


_PLACED = words.by("ReplicationInstanceArn")


def _replicator(row: Row, seen: Seen) -> Waste | None:
    if row["ReplicationInstanceStatus"] != "available":
        return None
    if row["ReplicationInstanceArn"] in seen.index(TASKS, _busy):
        return None
    name = row["ReplicationInstanceClass"]
    many = "multi" if row.get("MultiAZ") else "single"
    ended = len(seen.index(TASKS, _PLACED).get(row["ReplicationInstanceArn"], ()))
    still = "1 ended task is" if ended == 1 else f"{ended} ended tasks are"
    return Waste(
        reason=f"no task runs on it or waits to go on; {name}",
        meters=(Meter(f"dms/{name}/{many}", "hour"),),
        evidence={"class": name, "zones": many, "GB": row.get("AllocatedStorage"), "ended tasks": ended},
        blocked=f"{still} still on it, and AWS deletes an instance only after its tasks" if ended else "",
    )


def _delete_replicator(doomed: Doomed) -> tuple[CleanupStep, ...]:
    look = {"Filters": [{"Name": "replication-instance-arn", "Values": [doomed.id]}]}
    return (
        step(
            "delete",
            f"delete replication instance {doomed.name}",
            "dms.DeleteReplicationInstance",
            {"ReplicationInstanceArn": doomed.id},
            "cannot be undone",
            until=gone(
                "dms.DescribeReplicationInstances",
                look,
                "ReplicationInstances[].ReplicationInstanceStatus",
            ),
        ),
    )


REPLICATOR_IDLE = WasteCheck(
    id="dms-idle",
    title="Replication instance without a task",
    kind=REPLICATOR,
    reads=(TASKS,),
    judge=_replicator,
    why="A replication instance is billed by the hour, replicating or not.",
    spares=("a task runs, is ready, or is a stopped change stream", "being made or changed"),
    unchecked=("a migration that is planned",),
    meter="DMS instance hours by class and zones",
    min_age=timedelta(days=7),
    remove=_delete_replicator,
    reversal="cannot be undone",
    recovery="A new instance can be made from the same settings.",
    order=30,
    steps=("dms.DeleteReplicationInstance", "dms.DescribeReplicationInstances"),
)
CHECKS = (EMR_IDLE, REPLICATOR_IDLE, DEV_ENDPOINT_IDLE)
