"""Kubernetes clusters without a node, container groups that run for nobody, what Databricks holds for long."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from clouds.azure.checks import words
from clouds.azure.checks.reads import RESOURCES, aged, aged_kind, check, kind, listing, over
from clouds.azure.checks.steps import delete, sends
from clouds.azure.checks.usage import usage
from clouds.models.waste import Meter, Row, Seen, Unresolved, Waste

_AKS, _GROUP = "Microsoft.ContainerService/managedClusters", "Microsoft.ContainerInstance/containerGroups"
CLUSTERS, GROUPS = listing(_AKS), listing(_GROUP)
DATABRICKS = listing("Microsoft.Databricks/workspaces")
_AGED_GROUPS = aged(GROUPS)


def _cluster(row: Row, _seen: Seen) -> Waste | None:
    about = words.props(row)
    pools = about.get("agentPoolProfiles")
    if about.get("provisioningState", "Succeeded") != "Succeeded":
        return None
    if pools is None:
        raise Unresolved("its node pools are not given")
    if (about.get("nodeProvisioningProfile") or {}).get("mode") == "Auto":
        return None  # nodes that it makes by itself stand in no pool
    stopped = (about.get("powerState") or {}).get("code") == "Stopped"
    nodes = 0 if stopped else sum(int(each.get("count") or 0) for each in pools if _up(each))
    if nodes or (not stopped and any(each.get("enableAutoScaling") and _up(each) for each in pools)):
        return None
    halted = [str(each.get("name")) for each in pools if not _up(each)]
    tier = str((row.get("sku") or {}).get("tier", "Free"))
    meters = () if tier == "Free" else (Meter(f"aks/cluster-{tier.lower()}", "hour"),)
    return Waste(
        reason=("stopped" if stopped else "no node is up in any of its pools") + f" ({tier})",
        meters=meters,
        free=not meters,
        bound="at most" if stopped else "exact",
        blocked="it was stopped on purpose, and comes back as it was when it is started"
        if stopped
        else f"{', '.join(halted)} was stopped on purpose, and comes back as it was when it is started"
        if halted
        else "",
        evidence={"tier": tier, "pools": len(pools), "stopped": stopped, "nodes": about.get("nodeResourceGroup", "")},
    )  # fmt: skip


def _up(pool: Any) -> bool:
    return str((pool.get("powerState") or {}).get("code", "Running")) != "Stopped"


IDLE_CLUSTER = check(
    id="aks-idle-cluster",
    title="AKS cluster that runs no node",
    kind=kind("AKS cluster", CLUSTERS, words.made),
    judge=_cluster,
    why="Standard and Premium clusters bill their control plane by the hour, with nodes or without.",
    spares=(
        "a node is up", "nodes that it provisions by itself, or a pool that grows by itself", "being made or changed",
        "younger than a day",
    ),
    unchecked=(
        "whether a stopped cluster's control plane is billed: an upper bound",
        "disks and addresses in its node group, found by themselves",
    ),
    meter="cluster hours of its tier; Free costs nothing",
    remove=lambda doomed: (
        delete(_AKS, doomed.id, f"delete cluster {doomed.name} and its node group", "cannot be undone", seconds=3600),
    ),
    reversal="cannot be undone",
    recovery="What was deployed in it is lost, with the disks that its claims made.",
    order=21,
    steps=sends(_AKS, "delete"),
)  # fmt: skip

CPU = usage(
    "CpuUsage",
    _AGED_GROUPS,
    days=7,
    absent="unresolved",
    aggregation="Average",
    unit="millicores",
    source="Azure Monitor, Container Instances: CpuUsage is emitted each minute while the group runs",
)
NETWORK = usage(
    "NetworkBytesReceivedPerSecond",
    _AGED_GROUPS,
    days=7,
    absent="unresolved",
    aggregation="Average",
    unit="bytes a second",
    source="Azure Monitor, Container Instances: it is emitted each minute while the group runs",
)
QUIET_MILLICORES, QUIET_BYTES = 5.0, 100.0


def _group(whole: Row, row: Row, seen: Seen) -> Waste | None:
    about = words.props(whole)
    if about.get("restartPolicy", "Always") != "Always" or about.get("priority") == "Spot":
        return None
    containers = about.get("containers") or ()
    states = [
        ((words.props(each).get("instanceView") or {}).get("currentState") or {}).get("state") for each in containers
    ]
    if (
        any(state not in (None, "Running") for state in states)
        or about.get("provisioningState", "Succeeded") != "Succeeded"
    ):
        return None
    if CPU.of(seen, row) >= QUIET_MILLICORES or NETWORK.of(seen, row) >= QUIET_BYTES:
        return None
    asked = [((words.props(each).get("resources") or {}).get("requests") or {}) for each in containers]
    cpu, memory = (sum(float(each.get(name) or 0) for each in asked) for name in ("cpu", "memoryInGB"))
    gpus = sum(int((each.get("gpu") or {}).get("count") or 0) for each in asked)
    return Waste(
        reason=f"hardly any CPU and network in 7 days; {cpu:g} vCPU and {memory:g} GiB are held",
        meters=(
            Meter("container-instances/vcpu", "vCPU-hour", cpu),
            Meter("container-instances/memory", "GiB-hour", memory),
            *((Meter("container-instances/gpu", "GPU-hour", gpus),) if gpus else ()),
        ),
        evidence={"vCPU": cpu, "GiB": memory, "GPU": gpus, "containers": len(containers)},
    )  # fmt: skip


IDLE_GROUP = check(
    id="container-group-idle",
    title="Container group that is up for nobody",
    kind=aged_kind("container group", _AGED_GROUPS),
    reads=(GROUPS, *CPU.reads, *NETWORK.reads),
    judge=over(GROUPS, _group),
    why="A group that always restarts bills vCPU and memory every second.",
    spares=(
        f"more than {QUIET_MILLICORES:g} millicores or {QUIET_BYTES:g} bytes a second on any day",
        "terminated, which bills nothing",
        "groups that end by themselves",
        "younger than 7 days",
    ),
    unchecked=("a watcher that sleeps most of the time",),
    meter="vCPU-hours and GiB-hours that its containers ask for",
    remove=lambda doomed: (
        delete(_GROUP, doomed.id, f"delete container group {doomed.name}", "can be undone"),
    ),
    reversal="can be undone",
    recovery="It can be made again from its image; its address and what it wrote inside are lost.",
    order=48,
    steps=sends(_GROUP, "delete"),
)  # fmt: skip

_PARTS = (
    "microsoft.compute/virtualmachines",
    "microsoft.compute/disks",
    "microsoft.network/natgateways",
    "microsoft.network/publicipaddresses",
)


def _in_group(row: Row) -> tuple[str]:
    return (str(row["id"]).lower().split("/providers/", 1)[0],)


def _databricks(row: Row, seen: Seen) -> Waste | None:
    group = str(words.props(row).get("managedResourceGroupId", "")).lower()
    if not group:
        return None
    held = [
        each
        for each in seen.index(RESOURCES, _in_group).get(group, ())
        if str(each.get("type", "")).lower() in _PARTS and words.older(seen, each.get("createdTime"), days=30)
    ]
    if not held:
        return None
    nats = sum(str(each["type"]).lower().endswith("natgateways") for each in held)
    addresses = sum(str(each["type"]).lower().endswith("publicipaddresses") for each in held)
    disks = sum(str(each["type"]).lower().endswith("disks") for each in held)
    machines = len(held) - nats - addresses - disks
    return Waste(
        reason=f"its managed group has held for more than 30 days: {words.many(machines, 'machine')}, "
        f"{words.many(disks, 'disk')}, {words.many(nats, 'NAT gateway')}, {words.many(addresses, 'address')}",
        meters=(
            *((Meter("nat-gateway/standard", "hour", nats, "global"),) if nats else ()),
            *((Meter("public-ip/standard-static-ipv4", "hour", addresses),) if addresses else ()),
            *((Meter("databricks/held-machines", "hour", machines + disks),) if machines + disks else ()),
        ),
        bound="at least",
        evidence={"managed group": words.last(group), "parts": len(held)},
    )


LEFTOVER = check(
    id="databricks-leftover",
    title="Databricks workspace that holds parts for long",
    kind=kind(
        "Databricks workspace", DATABRICKS, lambda row: words.props(row).get("createdDateTime") or words.made(row)
    ),
    reads=(RESOURCES,),
    judge=_databricks,
    why="The workspace costs nothing by itself; machines, disks, gateways and addresses in its managed group do.",
    spares=("nothing of that sort in its managed group", "parts that are younger than 30 days"),
    unchecked=("clusters that are meant to be always on",),
    meter="NAT gateway and address hours of its managed group; machines and disks come on top",
    min_age=timedelta(days=30),
    remove="the managed group is Databricks' own: end clusters and pools in the workspace",
    reversal="can be undone",
    recovery="Nothing is removed from here.",
    order=75,
)
CHECKS = (IDLE_CLUSTER, IDLE_GROUP, LEFTOVER)
