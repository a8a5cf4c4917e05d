"""Kubernetes, App Engine and DNS zones that nobody uses."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from clouds.gcp import meters
from clouds.gcp.checks import words
from clouds.gcp.checks.metrics import usage
from clouds.gcp.checks.reads import INSTANCES, everywhere
from clouds.gcp.checks.steps import gone, step, until
from clouds.models import Scope
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Waste, WasteCheck, Young

CLUSTERS = everywhere("container", "projects.locations.clusters.list", "clusters", "container.googleapis.com/Cluster")
ZONES = Listing("dns-v1", "managedZones.list", "managedZones", assets=("dns.googleapis.com/ManagedZone",))


def _zone(rows: Sequence[Row], at: Scope) -> dict[str, Any]:
    return {"project": at.account, "managedZone": rows[0]["name"]}


RECORDS = Detail(ZONES, "dns-v1", "resourceRecordSets.list", _zone, rows="rrsets")
APP_SERVICES = Listing(
    "appengine", "apps.services.list", "services", ask=lambda at: {"appsId": at.account},
    assets=("appengine.googleapis.com/Service",), nothing_on=("NOT_FOUND", "404"),
)  # fmt: skip
VERSIONS = Detail(
    APP_SERVICES, "appengine", "apps.services.versions.list",
    lambda rows, at: {"appsId": at.account, "servicesId": rows[0]["id"]}, rows="versions",
)  # fmt: skip


def _cluster_id(row: Row, at: Scope) -> str:
    return f"//container.googleapis.com/projects/{at.account}/locations/{row['location']}/clusters/{row['name']}"


CLUSTER = Kind(
    name="GKE cluster",
    of=CLUSTERS,
    id=_cluster_id,
    label=lambda row: str(row["name"]),
    created=lambda row: row.get("createTime"),
    tags=words.labels,
    managed=lambda row: "Composer" if words.labels(row).get("goog-composer-environment") else "",
    place=lambda row, _at: str(row["location"]),
    moving=("etag", "currentMasterVersion", "currentNodeVersion", "conditions"),
)
DNS_ZONE = Kind(
    name="DNS zone",
    of=ZONES,
    id=lambda row, at: f"//dns.googleapis.com/projects/{at.account}/managedZones/{row['name']}",
    label=lambda row: f"{row['name']} ({row.get('dnsName', '')})",
    created=lambda row: row.get("creationTime"),
    tags=words.labels,
    place=lambda _row, _at: "global",
)
VERSION = Kind(
    name="App Engine version", of=VERSIONS, id=lambda row, _at: f"//appengine.googleapis.com/{row['name']}",
    label=lambda row: f"{words.part(row['name'], 'services')}/{row['id']}", created=lambda row: row.get("createTime"),
    place=lambda _row, _at: "global", moving=("diskUsageBytes",),
)  # fmt: skip


def _no_nodes(row: Row, seen: Seen) -> Waste | None:
    del seen
    if row.get("status") != "RUNNING" or (row.get("autopilot") or {}).get("enabled"):
        return None
    pools = row.get("nodePools") or ()
    grows = any((each.get("autoscaling") or {}).get("enabled") for each in pools)
    # only the present count says anything: the initial one is of the day it was made
    if (
        int(words.number(row.get("currentNodeCount")))
        or grows
        or (row.get("autoscaling") or {}).get("enableNodeAutoprovisioning")
    ):
        return None
    return Waste(
        "has no node, and nothing would give it one",
        (Meter("gke/cluster-management", "hour", 1.0, row["location"]),),
        evidence={"node pools": len(pools), "version": row.get("currentMasterVersion", "")},
    )


def _cluster_name(doomed: Doomed) -> dict[str, str]:
    row = doomed.row
    return {"name": f"projects/{doomed.at.account}/locations/{row['location']}/clusters/{row['name']}"}


def _delete_cluster(doomed: Doomed) -> tuple[CleanupStep, ...]:
    where = _cluster_name(doomed)
    return (
        step(
            "delete",
            f"delete the cluster {doomed.row['name']}",
            "container.projects.locations.clusters.delete",
            where,
            "cannot be undone",
            gone("container.projects.locations.clusters.get", where),
        ),
    )


NO_NODES = WasteCheck(
    id="gke-no-nodes",
    title="Kubernetes cluster without nodes",
    kind=CLUSTER,
    judge=_no_nodes,
    why="The management of a cluster bills by the hour, whether anything runs in it or not.",
    remove=_delete_cluster,
    steps=("container.projects.locations.clusters.delete", "container.projects.locations.clusters.get"),
    reversal="cannot be undone",
    recovery="What is defined in it (deployments, secrets, volumes' claims) is lost.",
    order=52,
    meter="cluster management by the hour; one zonal cluster of a billing account is free",
    min_age=timedelta(days=7),
    spares=("it has a node now", "a pool that grows by itself", "Autopilot", "made by Composer"),
    unchecked=("what is defined in it",),
)

DUTY = usage(
    "highest use of its accelerators", CLUSTERS, "kubernetes.io/node/accelerator/duty_cycle", "k8s_node",
    ("cluster_name", "location"), lambda row: (str(row["name"]), str(row["location"])), days=7, absent="unresolved",
    fold="max", unit="%", when=lambda row: bool(_accelerated(row)),
    source="GKE system metric list (not tried live, 2026-11-29): every node with accelerators reports it",
)  # fmt: skip


def _accelerated(row: Row) -> list[Row]:
    found = []
    for pool in row.get("nodePools") or ():
        config = pool.get("config") or {}
        kind = str(config.get("machineType") or "")
        if config.get("accelerators") or meters.has_gpu(kind) or meters.is_tpu(kind):
            found.append(pool)
    return found


def _accelerators(row: Row, seen: Seen) -> Waste | None:
    pools = [each for each in _accelerated(row) if not (each.get("autoscaling") or {}).get("enabled")]
    if row.get("status") != "RUNNING" or not pools or seen.metric(DUTY, row) > 1:
        return None
    names = {f"/{each['name']}-" for each in pools}
    machines = [
        each for each in seen.rows(INSTANCES)
        if words.labels(each).get("goog-k8s-cluster-name") == row["name"] and each.get("status") == "RUNNING"
        and (words.labels(each).get("goog-k8s-node-pool-name") in {pool["name"] for pool in pools}
             or any(name.strip("/") in str(each["name"]) for name in names))
    ]  # fmt: skip
    if not machines:
        return None
    young = [each for each in machines if words.older(seen, _started(each), days=DUTY.days) is False]
    spot = [each for each in young if meters.model_of(each.get("scheduling")) == "spot"]
    if len(spot) < len(young):
        raise Young  # the figure is of the nodes that are there
    lines = tuple(
        line
        for each in machines
        for line in meters.machine(words.last(each.get("machineType")), words.spot(each),
                                   meters.model_of(each.get("scheduling")), each.get("guestAccelerators") or ())
    )  # fmt: skip
    return Waste(
        f"{words.count(len(machines), 'node')} with accelerators that rested for 7 days, in pools that do not scale",
        lines,
        evidence={"nodes": len(machines), "pools": ", ".join(str(each["name"]) for each in pools)},
        # Spot nodes are replaced all the time, and would be too new for ever.
        blocked=f"{words.count(len(spot), 'Spot node')} came within 7 days: somebody may have sized it up"
        if spot
        else "",
    )


def _started(machine: Row) -> Any:
    return machine.get("lastStartTimestamp") or machine.get("creationTimestamp")


def _size_zero(doomed: Doomed) -> tuple[CleanupStep, ...]:
    cluster = _cluster_name(doomed)["name"]
    pools = [each for each in _accelerated(doomed.row) if not (each.get("autoscaling") or {}).get("enabled")]
    found = []
    for number, pool in enumerate(pools, 1):
        where = {"name": f"{cluster}/nodePools/{pool['name']}"}
        found.append(
            step(
                f"size-{number}",
                f"size the pool {pool['name']} of {doomed.row['name']} to 0 nodes",
                "container.projects.locations.clusters.nodePools.setSize",
                {**where, "body": {"nodeCount": 0}},
                "can be undone",
                until(
                    "container.projects.locations.clusters.nodePools.get", where, "status", "RUNNING", failed=("ERROR",)
                ),
                capacity=True,
            )
        )
    return tuple(found)


POOL_IDLE = WasteCheck(
    id="gke-accelerators-idle", title="Kubernetes nodes whose accelerators rest", kind=CLUSTER, judge=_accelerators,
    reads=(DUTY, INSTANCES), why="Nodes with GPUs or TPUs bill whether a pod uses them or not.", remove=_size_zero,
    steps=("container.projects.locations.clusters.nodePools.setSize",
           "container.projects.locations.clusters.nodePools.get"),
    reversal="can be undone", recovery="Size the pool again; GPUs may not be had then.", category="ai", order=17,
    meter="its nodes by the hour", min_age=timedelta(days=7),
    spares=("any accelerator of the cluster was used in 7 days", "pools that scale", "not measured"),
    unchecked=("pods that wait for a rare job",),
)  # fmt: skip


def _empty_zone(row: Row, seen: Seen) -> Waste | None:
    records = seen.of(RECORDS, row)
    if any(each.get("type") not in ("SOA", "NS") for each in records) or not records:
        return None
    if row.get("forwardingConfig") or row.get("peeringConfig") or row.get("serviceDirectoryConfig"):
        return None
    return Waste(f"only the records that every zone has ({row.get('visibility', 'public')})",
                 (Meter("dns/managed-zone/first-25", "zone-month", 1.0, "global"),), bound="at most",
                 evidence={"domain": row.get("dnsName", ""), "records": len(records)})  # fmt: skip


def _delete_zone(doomed: Doomed) -> tuple[CleanupStep, ...]:
    where = {"project": doomed.at.account or "", "managedZone": str(doomed.row["name"])}
    return (
        step("delete", f"delete the zone {doomed.row['name']}", "dns-v1.managedZones.delete", where, "cannot be undone",
             gone("dns-v1.managedZones.get", where)),
    )  # fmt: skip


ZONE_EMPTY = WasteCheck(
    id="dns-zone-empty",
    title="DNS zone without records",
    kind=DNS_ZONE,
    judge=_empty_zone,
    reads=(RECORDS,),
    why="Each zone bills by the month.",
    remove=_delete_zone,
    steps=("dns-v1.managedZones.delete", "dns-v1.managedZones.get"),
    reversal="cannot be undone",
    recovery="It can be made again, with other name servers.",
    order=82,
    meter="zone-month, at most: cheaper from the 26th",
    min_age=timedelta(days=7),
    spares=("it has a record of its own", "forwarding, peering and service directory zones"),
    unchecked=("a registrar that delegates to it: then the domain would be open to a takeover",),
)


def _traffic(row: Row) -> tuple[str, ...]:
    allocations = (row.get("split") or {}).get("allocations") or {}
    return tuple(f"{row['id']}/{version}" for version, share in allocations.items() if float(share or 0) > 0)


def _flex(row: Row, seen: Seen) -> Waste | None:
    if row.get("env") not in ("flex", "flexible") or row.get("servingStatus") != "SERVING":
        return None
    key = f"{words.part(row['name'], 'services')}/{row['id']}"
    if key in seen.index(APP_SERVICES, _traffic):
        return None
    resources, manual = row.get("resources") or {}, row.get("manualScaling") or {}
    count = (
        words.number(manual.get("instances"))
        or words.number((row.get("automaticScaling") or {}).get("minTotalInstances"))
        or 1
    )
    cores, gib = words.number(resources.get("cpu")) or 1, words.number(resources.get("memoryGb")) or 0.6
    return Waste(f"serves no share of the traffic and keeps {count:g} machines",
                 (Meter("appengine-flex/vCPU", "vCPU-hour", count * cores, "global"),
                  Meter("appengine-flex/memory", "GiB-hour", count * gib, "global")),
                 evidence={"machines": count, "vCPU": cores, "GiB": gib})  # fmt: skip


def _stop_version(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = str(doomed.row["name"])
    where = {
        "appsId": words.part(name, "apps"),
        "servicesId": words.part(name, "services"),
        "versionsId": words.last(name),
    }
    return (
        step("stop", f"stop the version {words.part(name, 'services')}/{words.last(name)}",
             "appengine.apps.services.versions.patch",
             {**where, "updateMask": "servingStatus", "body": {"servingStatus": "STOPPED"}}, "can be undone",
             until("appengine.apps.services.versions.get", where, "servingStatus", "STOPPED", seconds=900)),
    )  # fmt: skip


FLEX = WasteCheck(
    id="appengine-flex-idle", title="App Engine flexible version without traffic", kind=VERSION, judge=_flex,
    reads=(), why="A flexible version keeps its machines, whether it gets traffic or not.", remove=_stop_version,
    steps=("appengine.apps.services.versions.patch", "appengine.apps.services.versions.get"), reversal="can be undone",
    recovery="Start it again.", order=53, meter="vCPU and GiB by the hour; the table has no rate for them",
    min_age=timedelta(days=1), spares=("it has a share of the traffic", "stopped", "the standard environment"),
    unchecked=("calls to its own address",),
)  # fmt: skip
CHECKS = (POOL_IDLE, NO_NODES, FLEX, ZONE_EMPTY)
