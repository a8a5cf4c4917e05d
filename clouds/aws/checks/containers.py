"""Container services that answer nothing."""

from __future__ import annotations

from datetime import timedelta

from clouds.aws.checks import words
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import step, until
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Unresolved, Waste, WasteCheck

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
    each=True,
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


def target_groups(row: Row) -> list[str]:
    """The target groups that a service's tasks are in: with blue and green deployments either may have the traffic."""
    parts = [part for each in row.get("loadBalancers", ()) for part in (each, each.get("advancedConfiguration") or {})]
    found = [part.get(name) for part in parts for name in ("targetGroupArn", "alternateTargetGroupArn")]
    return list(dict.fromkeys(each for each in found if each))


TARGETS = Detail(
    ECS_SERVICE,
    "elbv2",
    "DescribeTargetGroups",
    lambda rows, _at: {"TargetGroupArns": target_groups(rows[0])},
    rows="TargetGroups",
    when=serving,
)


def of_requests(group: Row) -> bool:
    """Whether a target group is an Application Load Balancer's: those of other balancers have no request count."""
    return group["Protocol"] in ("HTTP", "HTTPS")


# Requests of one target group are counted with its balancer beside it (Application Load Balancer docs, dimensions).
TARGET_REQUESTS = usage(
    "AWS/ApplicationELB",
    "RequestCount",
    TARGETS,
    by=lambda row: [
        {"TargetGroup": row["TargetGroupArn"].split(":", 5)[5], "LoadBalancer": each.split(":loadbalancer/", 1)[1]}
        for each in row["LoadBalancerArns"]
    ],
    days=14,
    absent="zero",
    when=lambda row: of_requests(row) and bool(row.get("LoadBalancerArns")),
    unit="requests",
    source="Application Load Balancer docs: RequestCount is reported when it is not zero",
)


def _asked(row: Row, seen: Seen) -> bool | None:
    """Whether a request came through any of its target groups; None where a balancer does not count them."""
    groups = seen.of(TARGETS, row)
    if len(groups) < len(target_groups(row)):
        raise Unresolved("not all of its target groups are there")
    if not all(map(of_requests, groups)):
        return None
    return any(seen.metric(TARGET_REQUESTS, each) for each in groups if each.get("LoadBalancerArns"))


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
    if cpu >= 2 or _asked(row, seen) is not False:
        return None
    count, held = row["runningCount"], ", ".join(sorted(providers(row))) or f"launch type {row['launchType']}"
    reason = f"{count} task{'s' if count != 1 else ''}, no request in 14 days and CPU never above {cpu:.1f} %"
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
    reads=(TASK, SERVICE_CPU, TARGETS, TARGET_REQUESTS),
    judge=_service,
    why="A Fargate task is billed by the second for its CPU and memory, whether a request comes or not; a task on "
    "instances keeps them up.",
    spares=(
        "without a load balancer: a worker's queue is not seen",
        "behind a Network or Gateway Load Balancer, which counts no requests",
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
CHECKS = (SERVICE_IDLE,)
