"""SageMaker HyperPod: groups that hold accelerators which nothing uses."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from clouds.aws.checks import words
from clouds.aws.checks.accelerated import accelerated, neuron
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import step, until
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Unresolved, Waste, WasteCheck, Young

CLUSTERS = Listing("sagemaker", "ListClusters", "ClusterSummaries")
CLUSTER = Detail(CLUSTERS, "sagemaker", "DescribeCluster", lambda rows, _at: {"ClusterName": rows[0]["ClusterArn"]})
CLUSTER_TAGS = Detail(
    CLUSTER, "sagemaker", "ListTags", lambda rows, _at: {"ResourceArn": rows[0]["ClusterArn"]}, rows="Tags", late=True
)
HYPERPOD = Kind(
    name="SageMaker HyperPod cluster",
    of=CLUSTER,
    id=lambda row, _at: row["ClusterArn"],
    label=lambda row: row.get("ClusterName") or row["ClusterArn"].rsplit("/", 1)[-1],
    created=lambda row: row["CreationTime"],
    tags_read=CLUSTER_TAGS,
    tags_of=words.tag_row,
)


def _groups(row: Row) -> list[Row]:
    """All groups of a cluster; the restricted ones, which customise Nova models, stand in a list of their own."""
    return [*row.get("InstanceGroups", ()), *row.get("RestrictedInstanceGroups", ())]


def _held(group: Row) -> list[tuple[str, int]]:
    """(instance type, how many) of a group; one that may take several types names them one by one."""
    if group.get("InstanceType"):
        return [(group["InstanceType"], group["CurrentCount"])] if group.get("CurrentCount") else []
    return [
        (each["InstanceType"], each["CurrentCount"])
        for each in group.get("InstanceTypeDetails", ())
        if each.get("CurrentCount")
    ]


def _billed(row: Row) -> list[Row]:
    """Groups that hold accelerators and are paid by the hour: not those of a training plan, which is prepaid."""
    return [
        group
        for group in _groups(row)
        if not group.get("TrainingPlanArn") and any(accelerated(name) for name, _ in _held(group))
    ]


def _with_gpus(row: Row) -> list[Row]:
    """Those of them with GPUs alone: Trainium's use is no part of the figure that is read."""
    return [group for group in _billed(row) if not any(neuron(name) for name, _ in _held(group))]


GPU_USE = usage(
    "ContainerInsights",
    "node_gpu_utilization",
    CLUSTER,
    by=lambda row: [{"ClusterName": row["Orchestrator"]["Eks"]["ClusterArn"].rsplit("/", 1)[-1]}],
    days=1,
    absent="unresolved",
    stat="Maximum",
    when=lambda row: bool(_with_gpus(row)) and "Eks" in row.get("Orchestrator", {}),
    unit="percent",
    source="Container Insights for EKS with enhanced observability: emitted while a node with a GPU is there",
)


def _rested(row: Row, seen: Seen) -> bool:
    """Whether no GPU was used; one that is too new for the figure is told to be so without its nodes."""
    try:
        return seen.metric(GPU_USE, row) < 1
    except Young:
        return False


# The figure is of the nodes that are there: those that came an hour ago have not rested for a day.
NODES = Detail(
    CLUSTER,
    "sagemaker",
    "ListClusterNodes",
    lambda rows, _at: {"ClusterName": rows[0]["ClusterArn"]},
    rows="ClusterNodeSummaries",
    when=lambda row: bool(_with_gpus(row)) and "Eks" in row.get("Orchestrator", {}),
    after=(GPU_USE,),
    needed=_rested,
)


def _just_started(row: Row, groups: list[Row], seen: Seen) -> bool:
    """Whether a node of these groups was started within the day that the figure is of."""
    names = {group["InstanceGroupName"] for group in groups}
    return any(
        each["InstanceGroupName"] in names and words.older(seen, each["LaunchTime"], days=GPU_USE.days) is False
        for each in seen.of(NODES, row)
    )


def _hyperpod(row: Row, seen: Seen) -> Waste | None:
    if row["ClusterStatus"] != "InService" or not _billed(row):
        return None
    groups = _with_gpus(row)
    if any(group.get("OnStartDeepHealthChecks") and group.get("Status") != "InService" for group in groups):
        return None
    if "Eks" not in row.get("Orchestrator", {}):
        raise Unresolved("a Slurm cluster shows its queue only on its own head node")
    if not groups:
        raise Unresolved("its Trainium or Inferentia reports no use to Container Insights' GPU figure")
    if seen.metric(GPU_USE, row) >= 1:
        return None
    if _just_started(row, groups, seen):
        raise Young
    held = [each for group in groups for each in _held(group)]
    shown = ", ".join(f"{count} x {name}" for name, count in held)
    spot = any("Spot" in (group.get("CapacityRequirements") or {}) for group in groups)
    odd = [group["InstanceGroupName"] for group in groups if not _plain(group, row)]
    return Waste(
        reason=f"no GPU of {shown} was used in 24 hours",
        meters=tuple(Meter(f"sagemaker-cluster/{name}/on-demand", "hour", count) for name, count in held),
        bound="at most" if spot else "exact",
        evidence={"groups": ", ".join(group["InstanceGroupName"] for group in groups), "instances": shown},
        blocked=f"{', '.join(odd)}: a group that is restricted or of several instance types is scaled with settings "
        "that its description does not give"
        if odd
        else "",
    )


def _plain(group: Row, row: Row) -> bool:
    """Whether an update of a group can be written from its description."""
    return bool(group.get("InstanceType")) and group not in row.get("RestrictedInstanceGroups", ())


_SETTINGS = (
    "InstanceGroupName", "InstanceType", "LifeCycleConfig", "ExecutionRole", "ThreadsPerCore", "InstanceStorageConfigs",
    "OnStartDeepHealthChecks", "OverrideVpcConfig", "ScheduledUpdateConfig", "CapacityRequirements", "SlurmConfig",
    "NetworkInterface",
)  # fmt: skip
"""What a group's description and its update write alike (botocore 1.44.8 models)."""


_WANTED = ("KubernetesConfig", "AutoPatchConfig")
"""What the description tells twice, as it is now and as it is wanted, and the update once."""


def _written(about: Row) -> dict[str, Any]:
    """`DesiredLabels` of a description as `Labels` of an update, without what is there now."""
    return {key.removeprefix("Desired"): each for key, each in about.items() if not key.startswith("Current")}


def _scale_groups(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"ClusterName": doomed.row["ClusterArn"]}
    groups = [
        {
            "InstanceCount": 0,
            **{key: group[key] for key in _SETTINGS if group.get(key)},
            **{key: _written(group[key]) for key in _WANTED if group.get(key)},
        }
        for group in _with_gpus(doomed.row)
    ]
    return (
        step(
            "scale",
            f"scale {', '.join(sorted(group['InstanceGroupName'] for group in groups))} of {doomed.name} to 0",
            "sagemaker.UpdateCluster",
            {**name, "InstanceGroups": groups},
            "can be undone",
            capacity=True,
            until=until(
                "sagemaker.DescribeCluster", name, "ClusterStatus", "InService", failed=("Failed",), seconds=3600
            ),
        ),
    )


HYPERPOD_IDLE = WasteCheck(
    id="sm-hyperpod-idle",
    title="HyperPod groups with accelerators that nothing uses",
    kind=HYPERPOD,
    reads=(GPU_USE, NODES),
    judge=_hyperpod,
    why="A HyperPod instance is billed by the hour as long as its group holds it.",
    spares=(
        "groups of a training plan, which is prepaid",
        "groups without accelerators",
        "deep health checks under way",
        "any GPU used at 1 % or more in 24 hours",
        "a node was started in 24 hours",
    ),
    unchecked=(
        "the queue of a Slurm cluster",
        "GPU use where Container Insights is not on",
        "use of Trainium and Inferentia",
    ),
    meter="SageMaker HyperPod instance hours",
    category="ai",
    min_age=timedelta(days=1),
    remove=_scale_groups,
    reversal="can be undone",
    recovery="Scale the group up again, if there is capacity then. What is on its instances is lost.",
    order=12,
    steps=("sagemaker.UpdateCluster", "sagemaker.DescribeCluster"),
)
CHECKS = (HYPERPOD_IDLE,)
