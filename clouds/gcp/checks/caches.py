"""Redis, Memcached, Filestore, BigQuery slots and Dataproc clusters that nobody uses."""

from __future__ import annotations

from datetime import timedelta

from clouds.gcp import meters
from clouds.gcp.checks import words
from clouds.gcp.checks.metrics import LISTED, usage
from clouds.gcp.checks.reads import everywhere, in_each, locations, named_kind
from clouds.gcp.checks.steps import MARK, call, remove_named, step, until
from clouds.models import Scope
from clouds.models.removal import CleanupStep, Doomed, Lookup
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Waste, WasteCheck

REDIS = everywhere("redis", "projects.locations.instances.list", "instances", "redis.googleapis.com/Instance")
REDIS_CLUSTERS = everywhere("redis", "projects.locations.clusters.list", "clusters", "redis.googleapis.com/Cluster")
MEMCACHE = in_each(
    locations("memcache"), "projects.locations.instances.list", "instances", "memcache.googleapis.com/Instance"
)
FILES = everywhere("file", "projects.locations.instances.list", "instances", "file.googleapis.com/Instance")
REGIONS = Listing("compute", "regions.list", "items")
DATAPROC = Detail(
    REGIONS, "dataproc", "projects.regions.clusters.list",
    lambda rows, at: {"projectId": at.account, "region": rows[0]["name"]}, rows="clusters",
    where=lambda row, at: Scope(str(row["name"]), at.account), assets=("dataproc.googleapis.com/Cluster",),
    spot=lambda row: str(row["name"]),
)  # fmt: skip
CACHE = named_kind("Redis instance", REDIS, "redis")
REDIS_CLUSTER = named_kind("Redis cluster", REDIS_CLUSTERS, "redis", moving=("stateInfo",))
MEMCACHED = named_kind("Memcached instance", MEMCACHE, "memcache")
FILESTORE = named_kind("Filestore instance", FILES, "file")


def _began(row: Row) -> str | None:
    states = [*(row.get("statusHistory") or ()), row.get("status") or {}]
    times = sorted(str(each["stateStartTime"]) for each in states if each.get("stateStartTime"))
    return times[0] if times else None


def _zone(row: Row) -> str:
    return words.region(words.last(((row.get("config") or {}).get("gceClusterConfig") or {}).get("zoneUri")))


DATAPROC_CLUSTER = Kind(
    name="Dataproc cluster", of=DATAPROC,
    id=lambda row, at: f"//dataproc.googleapis.com/projects/{row.get('projectId') or at.account}/clusters/"
    f"{row.get('clusterUuid') or row['clusterName']}",
    label=lambda row: str(row["clusterName"]), created=_began, tags=words.labels,
    managed=lambda row: "" if not words.labels(row).get("goog-composer-environment") else "Composer",
    place=lambda row, _at: words.labels(row).get("goog-dataproc-location") or _zone(row) or "global",
    moving=("metrics", "status", "statusHistory"),
)  # fmt: skip
_GAUGE = LISTED + "every running instance reports it"


def _ready(row: Row) -> bool:
    return row.get("state") in ("READY", "ACTIVE")


CLIENTS = usage(
    "most clients", REDIS, "redis.googleapis.com/clients/connected", "redis_instance", ("instance_id",),
    lambda row: (str(row["name"]),), days=14, absent="unresolved", fold="max", when=_ready, source=_GAUGE,
)  # fmt: skip
CLUSTER_CLIENTS = usage(
    "most clients", REDIS_CLUSTERS, "redis.googleapis.com/cluster/clients/total_connected_clients",
    "redis.googleapis.com/Cluster", ("cluster_id",), lambda row: (str(row["name"]),), days=14, absent="unresolved",
    fold="max", when=_ready, source=_GAUGE,
)  # fmt: skip
MEM_CLIENTS = usage(
    "most connections", MEMCACHE, "memcache.googleapis.com/node/active_connections", "memcache_node", ("instance_id",),
    lambda row: (str(row["name"]),), days=14, absent="unresolved", fold="max", when=_ready, source=_GAUGE,
)  # fmt: skip


def _redis(row: Row, seen: Seen) -> Waste | None:
    if not _ready(row) or seen.metric(CLIENTS, row) > 0:
        return None
    gib, tier = words.number(row.get("memorySizeGb")), str(row.get("tier") or "BASIC").lower()
    return Waste(f"{gib:g} GiB {tier}, and no client in 14 days", meters.redis(row, words.name_place(row, seen.at)),
                 evidence={"GiB": gib, "tier": tier, "replicas": words.number(row.get("replicaCount"))})  # fmt: skip


_LOSES = (
    "its data would be lost: export it to a bucket of yours first (`gcloud redis instances export`), then delete it"
)
REDIS_IDLE = WasteCheck(
    id="redis-idle", title="Redis instance without clients", kind=CACHE, judge=_redis, reads=(CLIENTS,),
    why="A cache bills for its whole memory at all hours.", remove=_LOSES, reversal="cannot be undone", recovery="",
    order=46, meter="GiB by the hour, by tier and band of size", min_age=timedelta(days=14),
    spares=("a client in 14 days", "not ready", "not measured"), unchecked=("what is in it",),
)  # fmt: skip


def _redis_cluster(row: Row, seen: Seen) -> Waste | None:
    if not _ready(row) or seen.metric(CLUSTER_CLIENTS, row) > 0:
        return None
    nodes = words.number(row.get("shardCount")) * (1 + words.number(row.get("replicaCount")))
    kind = str(row.get("nodeType") or "REDIS_HIGHMEM_MEDIUM").lower().replace("_", "-")
    return Waste(f"{nodes:g} nodes, and no client in 14 days",
                 (Meter(f"redis-cluster/{kind}", "hour", nodes, words.name_place(row, seen.at)),),
                 blocked="it is protected from deletion" if row.get("deletionProtectionEnabled") else "",
                 evidence={"nodes": nodes, "type": kind})  # fmt: skip


REDIS_CLUSTER_IDLE = WasteCheck(
    id="redis-cluster-idle", title="Redis cluster without clients", kind=REDIS_CLUSTER, judge=_redis_cluster,
    reads=(CLUSTER_CLIENTS,), why="Every node of a cluster bills at all hours.",
    remove="its data would be lost: back it up first (`gcloud redis clusters backups create`), then delete it",
    reversal="cannot be undone", recovery="", order=46, meter="node by the hour; the table has no rate for it",
    min_age=timedelta(days=14), spares=("a client in 14 days", "not active", "not measured"),
    unchecked=("what is in it",),
)  # fmt: skip


def _memcache(row: Row, seen: Seen) -> Waste | None:
    if not _ready(row) or seen.metric(MEM_CLIENTS, row) > 0:
        return None
    nodes, config = words.number(row.get("nodeCount")), row.get("nodeConfig") or {}
    cores, gib = words.number(config.get("cpuCount")), words.number(config.get("memorySizeMb")) / 1024
    place = words.name_place(row, seen.at)
    return Waste(f"{nodes:g} nodes, and no client in 14 days",
                 (Meter("memcache/vCPU", "vCPU-hour", nodes * cores, place),
                  Meter("memcache/memory", "GiB-hour", nodes * gib, place)),
                 evidence={"nodes": nodes, "vCPU a node": cores, "GiB a node": gib})  # fmt: skip


def _delete_memcache(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return (remove_named(doomed, "memcache.projects.locations.instances", "Memcached instance"),)


MEMCACHE_IDLE = WasteCheck(
    id="memcache-idle", title="Memcached instance without clients", kind=MEMCACHED, judge=_memcache,
    reads=(MEM_CLIENTS,), why="A cache bills for all its nodes at all hours.", remove=_delete_memcache,
    steps=("memcache.projects.locations.instances.delete", "memcache.projects.locations.instances.get"),
    reversal="cannot be undone", recovery="It can be made again; what it held is a cache and is lost.", order=47,
    meter="vCPU and GiB by the hour; the table has no rate for them", min_age=timedelta(days=14),
    spares=("a client in 14 days", "not ready", "not measured"), unchecked=("how long it takes to fill it again",),
)  # fmt: skip
_OPS = LISTED + "every instance reports it, also when nobody reads"


def _file_key(row: Row) -> tuple[str, ...]:
    return (words.last(row["name"]),)


FILE_READS = usage(
    "reads", FILES, "file.googleapis.com/nfs/server/read_ops_count", "filestore_instance", ("instance_name",),
    _file_key, days=14, absent="unresolved", when=_ready, source=_OPS,
)  # fmt: skip
FILE_WRITES = usage(
    "writes", FILES, "file.googleapis.com/nfs/server/write_ops_count", "filestore_instance", ("instance_name",),
    _file_key, days=14, absent="unresolved", when=_ready, source=_OPS,
)  # fmt: skip


_TIERS = {"high-scale-ssd": "zonal", "enterprise": "regional"}
"""Older names of two tiers, described in the same words as the newer ones (discovery file v1, 2026-11-29)."""


def _file(row: Row, seen: Seen) -> Waste | None:
    if not _ready(row) or seen.metric(FILE_READS, row) or seen.metric(FILE_WRITES, row):
        return None
    gib = sum(words.number(each.get("capacityGb")) for each in row.get("fileShares") or ())
    tier = str(row.get("tier") or "").lower().replace("_", "-")
    place, rate = words.name_place(row, seen.at), _TIERS.get(tier, tier)
    return Waste(f"{gib:g} GiB {tier}, and not one operation in 14 days",
                 (Meter(f"filestore/{rate}", "GiB-month", gib, words.region(place)),),
                 blocked="it is protected from deletion" if row.get("deletionProtectionEnabled") else "",
                 evidence={"GiB": gib, "tier": tier})  # fmt: skip


def _backup_files(doomed: Doomed) -> tuple[CleanupStep, ...]:
    row, project = doomed.row, doomed.at.account
    place = words.region(words.part(row["name"], "locations"))
    name = f"modelrig-{doomed.mark}".lower()[:62].rstrip("-")
    parent, backup = f"projects/{project}/locations/{place}", f"projects/{project}/locations/{place}/backups/{name}"
    share = str((row.get("fileShares") or [{}])[0].get("name") or "")
    body = {"sourceInstance": row["name"], "sourceFileShare": share, "labels": {MARK: doomed.mark.lower()[:63]}}
    return (
        step("backup", f"back up the share {share} of {words.short(row)} as {name}",
             "file.projects.locations.backups.create", {"parent": parent, "backupId": name, "body": body},
             "can be undone", until("file.projects.locations.backups.get", {"name": backup}, "state", "READY",
                                    failed=("INVALID",), seconds=6 * 3600), backup=True, makes=name,
             again=Lookup(call("file.projects.locations.backups.list",
                               {"parent": parent, "filter": f'name="{backup}"'}), {"name": "backups.name"})),
        remove_named(doomed, "file.projects.locations.instances", "Filestore instance", reversal="can be undone"),
    )  # fmt: skip


FILE_IDLE = WasteCheck(
    id="filestore-idle", title="Filestore instance that nobody reads", kind=FILESTORE, judge=_file,
    reads=(FILE_READS, FILE_WRITES), why="A share bills for its whole capacity, however little is on it.",
    remove=_backup_files,
    steps=("file.projects.locations.backups.create", "file.projects.locations.backups.get",
           "file.projects.locations.backups.list", "file.projects.locations.instances.delete",
           "file.projects.locations.instances.get"),
    reversal="can be undone", recovery="A backup is made first; a new instance can be filled from it.", order=48,
    meter="GiB-month of its tier", min_age=timedelta(days=14),
    spares=("an operation in 14 days", "protected from deletion", "not measured"), unchecked=("what is on it",),
)  # fmt: skip


def _dataproc(row: Row, seen: Seen) -> Waste | None:
    config = row.get("config") or {}
    life = config.get("lifecycleConfig") or {}
    if (row.get("status") or {}).get("state") != "RUNNING" or not config:
        return None
    if life.get("idleDeleteTtl") or life.get("idleStopTtl") or life.get("autoDeleteTime") or life.get("autoDeleteTtl"):
        return None
    if not words.older(seen, life.get("idleStartTime"), hours=24):
        return None
    place, lines = words.labels(row).get("goog-dataproc-location") or _zone(row), []
    for group in ("masterConfig", "workerConfig", "secondaryWorkerConfig"):
        part = config.get(group) or {}
        count = words.number(part.get("numInstances"))
        if count:
            model = "spot" if part.get("preemptibility") in ("SPOT", "PREEMPTIBLE") else "on-demand"
            lines += [Meter(line.key, line.unit, line.quantity * count, line.location)
                      for line in meters.machine(words.last(part.get("machineTypeUri")), place, model)]  # fmt: skip
    return Waste(f"no job since {str(life['idleStartTime'])[:10]}, and nothing ends it", tuple(lines), bound="at least",
                 evidence={"idle since": life["idleStartTime"]})  # fmt: skip


def _stop_dataproc(doomed: Doomed) -> tuple[CleanupStep, ...]:
    where = {"projectId": doomed.at.account or "", "region": words.labels(doomed.row).get("goog-dataproc-location")
             or _zone(doomed.row), "clusterName": str(doomed.row["clusterName"])}  # fmt: skip
    return (
        step("stop", f"stop the cluster {doomed.row['clusterName']}; its disks stay and go on billing",
             "dataproc.projects.regions.clusters.stop", {**where, "body": {}}, "can be undone",
             until("dataproc.projects.regions.clusters.get", where, "status.state", "STOPPED", failed=("ERROR",))),
    )  # fmt: skip


DATAPROC_IDLE = WasteCheck(
    id="dataproc-idle", title="Dataproc cluster without jobs", kind=DATAPROC_CLUSTER, judge=_dataproc,
    why="A cluster bills its machines and a premium as long as it runs.", remove=_stop_dataproc,
    steps=("dataproc.projects.regions.clusters.stop", "dataproc.projects.regions.clusters.get"),
    reversal="can be undone", recovery="Start it again; local disks are lost, persistent ones stay.", order=37,
    meter="its machines by the hour, at least: the premium has no rate in the table", min_age=timedelta(days=1),
    spares=("a job within a day", "it ends by itself when idle", "on GKE", "made by Composer"),
    unchecked=("work that does not go through jobs",),
)  # fmt: skip
CHECKS = (DATAPROC_IDLE, REDIS_IDLE, REDIS_CLUSTER_IDLE, MEMCACHE_IDLE, FILE_IDLE)
