"""Kubernetes control planes without a node."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from clouds.aws.checks import words
from clouds.aws.checks.ec2_reads import GROUPS, INSTANCES
from clouds.aws.checks.sagemaker_hyperpod import CLUSTER, CLUSTERS
from clouds.aws.checks.steps import gone, step
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Unseen, Waste, WasteCheck

EKS_CLUSTERS = Listing("eks", "ListClusters", "clusters")
EKS_CLUSTER = Detail(
    EKS_CLUSTERS, "eks", "DescribeCluster", lambda rows, _at: {"name": rows[0]}, rows="cluster", each=True
)
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


def _named(row: Row) -> list[str]:
    return [key.rsplit("/", 1)[-1] for key in words.tags(row) if key.startswith("kubernetes.io/cluster/")]


def _clusters_of(row: Row) -> Iterable[Any]:
    """The Kubernetes clusters that an instance is a node of, whoever started it."""
    if row["State"]["Name"] not in ("pending", "running", "stopping", "stopped"):
        return []
    return _named(row)


def _fed_by(row: Row) -> Iterable[Any]:
    """The Kubernetes clusters that an Auto Scaling group starts nodes for, also one of size 0."""
    return _named(row)


def _trains_on(row: Row) -> Iterable[Any]:
    """The Kubernetes cluster that runs the nodes of a HyperPod cluster: those are no instances of the account's own."""
    found = row.get("Orchestrator", {}).get("Eks", {}).get("ClusterArn")
    return [found] if found else []


def _no_nodes(row: Row, seen: Seen) -> Waste | None:
    if row["status"] != "ACTIVE" or row.get("computeConfig", {}).get("enabled") or row.get("connectorConfig"):
        return None
    if seen.of(NODE_GROUPS, row) or seen.of(FARGATE, row) or row.get("remoteNetworkConfig"):
        return None
    if row["name"] in seen.index(INSTANCES, _clusters_of) or row["name"] in seen.index(GROUPS, _fed_by):
        return None
    try:
        if row["arn"] in seen.index(CLUSTER, _trains_on):
            return None
        unsure = ""
    except Unseen:  # the scan names it as unread: few clusters have such nodes, and not every region has HyperPod
        unsure = "whether HyperPod runs on it could not be read"
    # Extended support, which costs more once a version is old, is what a cluster has that was made without a policy.
    extended = row.get("upgradePolicy", {}).get("supportType", "EXTENDED") == "EXTENDED"
    return Waste(
        reason=f"runs no node: no node group, no Fargate profile, no machine of its own (Kubernetes {row['version']})",
        meters=(Meter("eks/cluster", "hour"),),
        bound="at least" if extended else "exact",
        evidence={"version": row["version"], "support": "extended" if extended else "standard"},
        blocked="its deletion protection is on" if row.get("deletionProtection") else unsure,
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
    reads=(NODE_GROUPS, FARGATE, INSTANCES, GROUPS, CLUSTERS, CLUSTER),
    judge=_no_nodes,
    why="The control plane is billed by the hour, whether a node is there or not.",
    spares=(
        "a node group, whatever its size is now",
        "a Fargate profile",
        "EKS Auto Mode, or hybrid nodes",
        "an instance tagged as a node of it, also a stopped one, or an Auto Scaling group, also of size 0",
        "HyperPod runs on it",
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
CHECKS = (NO_NODES,)
