"""Kubernetes control planes without nodes, container services that do nothing, images that nobody pulls."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from clouds.aws.checks import words
from clouds.aws.checks.ec2_reads import INSTANCES
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import gone, step, until
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Waste, WasteCheck

EKS_CLUSTERS = Listing("eks", "ListClusters", "clusters")
EKS_CLUSTER = Detail(EKS_CLUSTERS, "eks", "DescribeCluster", lambda rows, _at: {"name": rows[0]}, rows="cluster")
NODE_GROUPS = Detail(
    EKS_CLUSTER, "eks", "ListNodegroups", lambda rows, _at: {"clusterName": rows[0]["name"]}, rows="nodegroups"
)
FARGATE = Detail(
    EKS_CLUSTER,
    "eks",
    "ListFargateProfiles",
    lambda rows, _at: {"clusterName": rows[0]["name"]},
    rows="fargateProfileNames",
)
EKS = Kind(
    name="EKS cluster",
    of=EKS_CLUSTER,
    id=lambda row, _at: row["arn"],
    label=lambda row: row["name"],
    created=lambda row: row["createdAt"],
    tags=words.tags,
)


def _clusters_of(row: Row) -> Iterable[Any]:
    """The Kubernetes clusters that an instance is a node of, whoever started it."""
    if row["State"]["Name"] not in ("pending", "running", "stopping", "stopped"):
        return []
    return [key.rsplit("/", 1)[-1] for key in words.tags(row) if key.startswith("kubernetes.io/cluster/")]


def _no_nodes(row: Row, seen: Seen) -> Waste | None:
    if row["status"] != "ACTIVE" or row.get("computeConfig", {}).get("enabled") or row.get("connectorConfig"):
        return None
    if seen.of(NODE_GROUPS, row) or seen.of(FARGATE, row) or row.get("remoteNetworkConfig"):
        return None
    if row["name"] in seen.index(INSTANCES, _clusters_of):
        return None
    extended = row.get("upgradePolicy", {}).get("supportType") == "EXTENDED"
    return Waste(
        reason=f"runs no node: no node group, no Fargate profile, no machine of its own (Kubernetes {row['version']})",
        meters=(Meter("eks/cluster", "hour"),),
        bound="at least" if extended else "exact",
        evidence={"version": row["version"], "support": "extended" if extended else "standard"},
    )


def _delete_cluster(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"name": doomed.row["name"]}
    return (
        step(
            "delete",
            f"delete cluster {doomed.name} with everything that is declared in it",
            "eks.DeleteCluster",
            name,
            "cannot be undone",
            until=gone("eks.DescribeCluster", name, "cluster.status", seconds=3600),
        ),
    )


NO_NODES = WasteCheck(
    id="eks-idle-cluster",
    title="Kubernetes cluster without a node",
    kind=EKS,
    reads=(NODE_GROUPS, FARGATE, INSTANCES),
    judge=_no_nodes,
    why="The control plane is billed by the hour, whether a node is there or not.",
    spares=(
        "a node group, whatever its size is now",
        "a Fargate profile",
        "EKS Auto Mode, or hybrid nodes",
        "an instance tagged as a node of it, also a stopped one",
        "younger than 7 days",
    ),
    unchecked=("the surcharge of an old version under extended support",),
    meter="EKS cluster hours, without the surcharge of extended support",
    min_age=timedelta(days=7),
    remove=_delete_cluster,
    reversal="cannot be undone",
    recovery="A new cluster has another endpoint, and everything has to be deployed into it again.",
    order=26,
    steps=("eks.DeleteCluster", "eks.DescribeCluster"),
)

ECS_CLUSTERS = Listing("ecs", "ListClusters", "clusterArns")
ECS_LIST = Detail(ECS_CLUSTERS, "ecs", "ListServices", lambda rows, _at: {"cluster": rows[0]}, rows="serviceArns")


def _cluster_arn(service: str) -> str:
    """arn:…:service/CLUSTER/NAME -> the name of the cluster; old ids have none, and are of "default"."""
    parts = service.split(":service/", 1)[1].split("/")
    return parts[0] if len(parts) > 1 else "default"


ECS_SERVICE = Detail(
    ECS_LIST,
    "ecs",
    "DescribeServices",
    lambda rows, _at: {"cluster": _cluster_arn(rows[0]), "services": list(rows), "include": ["TAGS"]},
    rows="services",
)


_FARGATE = frozenset({"FARGATE", "FARGATE_SPOT"})


def providers(row: Row) -> frozenset[str]:
    """The capacity providers that a service's tasks are placed on; none for a launch type. Raises KeyError."""
    return frozenset(each["capacityProvider"] for each in row.get("capacityProviderStrategy") or ())


def on_fargate(row: Row) -> bool:
    """Whether all of a service's tasks are Fargate's: AWS takes no strategy of Fargate and of instances at once."""
    named = providers(row)
    if named & _FARGATE and named - _FARGATE:
        raise ValueError("a strategy of Fargate and of instances at once")
    return bool(named & _FARGATE) if named else row.get("launchType") == "FARGATE"


def on_instances(row: Row) -> bool:
    """Whether its tasks are on EC2 instances of the account: a provider of one's own, or launch type EC2."""
    return bool(providers(row) - _FARGATE) or row.get("launchType") == "EC2"


def serving(row: Row) -> bool:
    """A service with tasks behind a load balancer: only there is a request count that says something."""
    return bool(
        row["status"] == "ACTIVE"
        and row.get("runningCount")
        and row.get("schedulingStrategy") != "DAEMON"
        and any(each.get("targetGroupArn") for each in row.get("loadBalancers", ()))
        and (on_fargate(row) or on_instances(row))
    )


TASK = Detail(
    ECS_SERVICE,
    "ecs",
    "DescribeTaskDefinition",
    lambda rows, _at: {"taskDefinition": rows[0]["taskDefinition"]},
    rows="taskDefinition",
    when=lambda row: serving(row) and on_fargate(row),
)


SERVICE = Kind(
    name="ECS service",
    of=ECS_SERVICE,
    id=lambda row, _at: row["serviceArn"],
    label=lambda row: row["serviceName"],
    created=lambda row: row["createdAt"],
    tags=words.tags,
    moving=("events", "deployments"),
)
SERVICE_CPU = usage(
    "AWS/ECS",
    "CPUUtilization",
    ECS_SERVICE,
    by=lambda row: [{"ClusterName": row["clusterArn"].rsplit("/", 1)[-1], "ServiceName": row["serviceName"]}],
    days=14,
    absent="unresolved",
    stat="Maximum",
    when=serving,
    unit="percent",
    source="ECS docs, service metrics: emitted every minute while tasks run",
)
SERVICE_REQUESTS = usage(
    "AWS/ApplicationELB",
    "RequestCount",
    ECS_SERVICE,
    by=lambda row: [
        {"TargetGroup": each["targetGroupArn"].split(":", 5)[5]}
        for each in row.get("loadBalancers", ())
        if each.get("targetGroupArn")
    ],
    days=14,
    absent="zero",
    when=serving,
    unit="requests",
    source="Application Load Balancer docs: RequestCount is reported when it is not zero",
)


def _fargate(task: Row) -> str:
    """Which of Fargate's prices: ARM and Windows each have their own."""
    platform = task.get("runtimePlatform") or {}
    if str(platform.get("operatingSystemFamily", "")).startswith("WINDOWS"):
        return "-windows"
    return "-arm" if platform.get("cpuArchitecture") == "ARM64" else ""


def _service(row: Row, seen: Seen) -> Waste | None:
    if not serving(row):
        return None
    cpu = seen.metric(SERVICE_CPU, row)
    if cpu >= 2 or seen.metric(SERVICE_REQUESTS, row):
        return None
    count, held = row["runningCount"], ", ".join(sorted(providers(row))) or f"launch type {row['launchType']}"
    reason = f"{count} tasks, no request in 14 days and CPU never above {cpu:.1f} %"
    about = {"tasks": count, "runs on": held, "highest CPU percent": round(cpu, 2)}
    if not on_fargate(row):
        return Waste(reason=f"{reason}; its instances bill, and are judged by themselves", free=True, evidence=about)
    task = seen.one(TASK, row) or {}
    vcpu, memory = int(task.get("cpu") or 0) / 1024, int(task.get("memory") or 0) / 1024
    kind = _fargate(task)
    meters = (
        Meter(f"fargate/vcpu{kind}", "vCPU-hour", round(vcpu * count, 4)),
        Meter(f"fargate/memory{kind}", "GB-hour", round(memory * count, 4)),
    )
    return Waste(
        reason=reason,
        meters=meters if vcpu and memory else (),
        # Spot's own rate moves and is never above Fargate's; how many of the tasks are on Spot is not said.
        bound="at most" if "FARGATE_SPOT" in providers(row) else "exact",
        evidence={**about, "vCPU each": vcpu, "GB each": memory},
    )


def _to_zero(doomed: Doomed) -> tuple[CleanupStep, ...]:
    row = doomed.row
    which = {"cluster": row["clusterArn"], "service": row["serviceName"]}
    look = {"cluster": row["clusterArn"], "services": [row["serviceName"]]}
    return (
        step(
            "scale",
            f"set the wanted tasks of {doomed.name} to 0",
            "ecs.UpdateService",
            {**which, "desiredCount": 0},
            "can be undone",
            until=until("ecs.DescribeServices", look, "services[].runningCount", "0", seconds=1800),
        ),
    )


SERVICE_IDLE = WasteCheck(
    id="ecs-service-idle",
    title="Container service that answers nothing",
    kind=SERVICE,
    reads=(TASK, SERVICE_CPU, SERVICE_REQUESTS),
    judge=_service,
    why="A Fargate task is billed by the second for its CPU and memory, whether a request comes or not; a task on "
    "instances keeps them up.",
    spares=(
        "without a load balancer: a worker's queue is not seen",
        "a daemon, which has one task on each instance",
        "on machines of one's own (launch type EXTERNAL)",
        "a request in 14 days",
    ),
    unchecked=("work that it does besides answering", "a scaling policy that sets the tasks again"),
    meter="Fargate vCPU and memory hours, an upper bound with Fargate Spot; none on instances, which bill themselves",
    min_age=timedelta(days=14),
    remove=_to_zero,
    reversal="can be undone",
    recovery="Set the wanted tasks again.",
    order=24,
    steps=("ecs.UpdateService", "ecs.DescribeServices"),
)
CHECKS = (NO_NODES, SERVICE_IDLE)
