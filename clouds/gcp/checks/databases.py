"""Cloud SQL, AlloyDB, Spanner and Bigtable that nobody connects to."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from clouds.gcp import meters
from clouds.gcp.checks import words
from clouds.gcp.checks.metrics import LISTED, usage
from clouds.gcp.checks.reads import named_kind
from clouds.gcp.checks.steps import gone, step, until
from clouds.models import Scope
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Kind, Listing, Meter, Row, Seen, Waste, WasteCheck

SQL = Listing("sqladmin", "instances.list", "items", assets=("sqladmin.googleapis.com/Instance",))
BACKUPS = Listing(
    "sqladmin", "Backups.ListBackups", "backups", ask=lambda at: {"parent": f"projects/{at.account}"},
)  # fmt: skip
ALLOYDB = Listing(
    "alloydb", "projects.locations.clusters.instances.list", "instances",
    ask=lambda at: {"parent": f"projects/{at.account}/locations/-/clusters/-"},
    assets=("alloydb.googleapis.com/Instance",),
)  # fmt: skip
SPANNER = Listing("spanner", "projects.instances.list", "instances", assets=("spanner.googleapis.com/Instance",))
BIGTABLE = Listing(
    "bigtableadmin", "projects.instances.clusters.list", "clusters",
    ask=lambda at: {"parent": f"projects/{at.account}/instances/-"}, assets=("bigtableadmin.googleapis.com/Cluster",),
)  # fmt: skip


def _sql_id(row: Row, at: Scope) -> str:
    return f"//cloudsql.googleapis.com/projects/{row.get('project') or at.account}/instances/{row['name']}"


DATABASE = Kind(
    name="Cloud SQL instance", of=SQL, id=_sql_id, label=lambda row: str(row["name"]),
    created=lambda row: row.get("createTime"),
    tags=lambda row: dict((row.get("settings") or {}).get("userLabels") or {}),
    place=lambda row, _at: str(row.get("region") or "global"),
    moving=("etag", "currentDiskSize", "serverCaCert", "availableMaintenanceVersions", "scheduledMaintenance"),
)  # fmt: skip
BACKUP = named_kind(
    "Cloud SQL backup",
    BACKUPS,
    "cloudsql",
    place=lambda row, _at: str(row.get("location") or "global"),
    created=lambda row: (row.get("backupInterval") or {}).get("endTime"),
)
ALLOY = named_kind("AlloyDB instance", ALLOYDB, "alloydb", moving=("nodes", "state", "reconciling"))
SPANNER_INSTANCE = named_kind("Spanner instance", SPANNER, "spanner", place=lambda row, _at: _spanner_place(row))
CLUSTER = named_kind("Bigtable cluster", BIGTABLE, "bigtableadmin", dated=False,
                     place=lambda row, _at: words.region(words.last(row.get("location"))) or "global",
                     label=lambda row: f"{words.part(row['name'], 'instances')}/{words.last(row['name'])}")  # fmt: skip
_GAUGE = LISTED + "every running instance reports it"


def _settings(row: Row) -> dict[str, Any]:
    return dict(row.get("settings") or {})


def _plain(row: Row) -> bool:
    return bool(row.get("instanceType") == "CLOUD_SQL_INSTANCE" and row.get("backendType") != "EXTERNAL")


def _sql_stopped(row: Row, seen: Seen) -> Waste | None:
    del seen
    settings = _settings(row)
    if settings.get("activationPolicy") != "NEVER" or not _plain(row) or row.get("replicaNames"):
        return None
    meter, exact = meters.sql_disk(row)
    return Waste(
        f"switched off; its {meter.quantity:g} GiB go on billing",
        (meter,),
        bound="at least" if exact else "at most",
        blocked="it is protected from deletion" if settings.get("deletionProtectionEnabled") else "",
        evidence={"tier": settings.get("tier", ""), "GiB": meter.quantity, "version": row.get("databaseVersion")},
    )


SQL_STOPPED = WasteCheck(
    id="sql-stopped",
    title="Cloud SQL instance that is switched off",
    kind=DATABASE,
    judge=_sql_stopped,
    why="Its storage, backups and address bill while it is off.",
    remove="start it once, export it or make a final backup, and delete it: an instance that is off takes no backup",
    reversal="cannot be undone",
    recovery="",
    order=41,
    meter="storage by the GiB and month, at least",
    min_age=timedelta(days=14),
    spares=("running", "replicas, and instances that have replicas", "younger than 14 days"),
    unchecked=("since when it is off: Google does not say", "its backups and address"),
)


def _sql_key(row: Row) -> tuple[str, ...]:
    return (f"{row.get('project')}:{row['name']}",)


def _sql_runs(row: Row) -> bool:
    return row.get("state") == "RUNNABLE" and _settings(row).get("activationPolicy") == "ALWAYS" and _plain(row)


CONNECTIONS = usage(
    "most connections", SQL, "cloudsql.googleapis.com/database/network/connections", "cloudsql_database",
    ("database_id",), _sql_key, days=14, absent="unresolved", fold="max", when=_sql_runs, source=_GAUGE,
)  # fmt: skip


def _sql_idle(row: Row, seen: Seen) -> Waste | None:
    if not _sql_runs(row) or row.get("replicaNames") or seen.metric(CONNECTIONS, row) > 0:
        return None
    settings = _settings(row)
    licensed = str(row.get("databaseVersion")).startswith("SQLSERVER")
    disk, exact = meters.sql_disk(row)
    return Waste(
        "no connection in 14 days",
        (*meters.sql(row), disk),
        bound="at least" if licensed else "exact" if exact else "at most",
        evidence={
            "tier": settings.get("tier", ""), "availability": settings.get("availabilityType", ""),
            "version": row.get("databaseVersion"),
        },
    )  # fmt: skip


def _sql_off(doomed: Doomed) -> tuple[CleanupStep, ...]:
    where = {"project": doomed.at.account or "", "instance": str(doomed.row["name"])}
    return (
        step(
            "off",
            f"switch the instance {doomed.row['name']} off; its data stays and its storage goes on billing",
            "sqladmin.instances.patch",
            {**where, "body": {"settings": {"activationPolicy": "NEVER"}}},
            "can be undone",
            until("sqladmin.instances.get", where, "settings.activationPolicy", "NEVER", seconds=1800),
        ),
    )


SQL_IDLE = WasteCheck(
    id="sql-idle", title="Cloud SQL instance that nobody connects to", kind=DATABASE, judge=_sql_idle,
    reads=(CONNECTIONS,), why="A running instance bills CPU and memory at all hours, twice where it is regional.",
    remove=_sql_off, steps=("sqladmin.instances.patch", "sqladmin.instances.get"), reversal="can be undone",
    recovery="Switch it on again (activationPolicy ALWAYS); its data stays.", order=42,
    meter="vCPU and memory of its tier by the hour, storage by the GiB and month; licences are not in it",
    min_age=timedelta(days=14),
    spares=("a connection in 14 days", "replicas, and instances that have replicas", "switched off", "not measured"),
    unchecked=("exports and replication out of Google Cloud",),
)  # fmt: skip


def _by_name(row: Row) -> tuple[str]:
    return (str(row["name"]),)


def _orphan(row: Row, seen: Seen) -> Waste | None:
    if row.get("state") != "SUCCESSFUL" or words.last(row.get("instance")) in seen.index(SQL, _by_name):
        return None
    if not row.get("instanceDeletionTime"):
        return None
    gib = words.gib(row.get("maxChargeableBytes"))
    days = words.days_since(seen, row["instanceDeletionTime"])
    return Waste(f"a backup of {words.last(row.get('instance'))}, which was deleted {days} days ago; kept until "
                 f"{str(row.get('expiryTime') or 'for ever')[:10]}",
                 (Meter("cloudsql-backup/storage", "GiB-month", gib, str(row.get("location") or "")),),
                 bound="at most", evidence={"GiB at most": round(gib, 2), "type": row.get("type", "")})  # fmt: skip


def _delete_backup(doomed: Doomed) -> tuple[CleanupStep, ...]:
    where = {"name": str(doomed.row["name"])}
    return (
        step("delete", f"delete the backup {words.short(doomed.row)}", "sqladmin.Backups.DeleteBackup", where,
             "cannot be undone", gone("sqladmin.Backups.GetBackup", where, "state", "DELETED")),
    )  # fmt: skip


ORPHAN = WasteCheck(
    id="sql-backup-orphan", title="Backup of a Cloud SQL instance that is gone", kind=BACKUP, judge=_orphan,
    reads=(SQL,), why="Backups that were kept at deletion bill until their end, which may never come.",
    remove=_delete_backup, steps=("sqladmin.Backups.DeleteBackup", "sqladmin.Backups.GetBackup"),
    reversal="cannot be undone", recovery="It cannot come back, and it may be the last copy of the data.", order=75,
    meter="GiB-month, at most; the table has no rate for it", min_age=timedelta(days=30),
    spares=("its instance is still there", "younger than 30 days"), unchecked=("whether an audit needs it",),
)  # fmt: skip


def _alloy_key(row: Row) -> tuple[str, ...]:
    name = row["name"]
    return (words.part(name, "clusters"), words.last(name), words.part(name, "locations"))


def _alloy_runs(row: Row) -> bool:
    return bool(row.get("state") == "READY" and row.get("activationPolicy") != "NEVER")


ALLOY_CONNECTIONS = usage(
    "most connections", ALLOYDB, "alloydb.googleapis.com/instance/postgres/total_connections",
    "alloydb.googleapis.com/Instance", ("cluster_id", "instance_id", "location"), _alloy_key, days=14,
    absent="unresolved", fold="max", when=_alloy_runs, source=_GAUGE,
)  # fmt: skip


def _alloy(row: Row, seen: Seen) -> Waste | None:
    if not _alloy_runs(row) or row.get("instanceType") == "SECONDARY" or seen.metric(ALLOY_CONNECTIONS, row) > 0:
        return None
    cores = words.number((row.get("machineConfig") or {}).get("cpuCount"))
    nodes = 2 if row.get("availabilityType") == "REGIONAL" else 1
    return Waste("no connection in 14 days",
                 (Meter("alloydb/vCPU", "vCPU-hour", cores * nodes, words.name_place(row, seen.at)),), bound="at least",
                 evidence={"vCPU": cores, "nodes": nodes, "sort": row.get("instanceType", "")})  # fmt: skip


ALLOY_IDLE = WasteCheck(
    id="alloydb-idle", title="AlloyDB instance that nobody connects to", kind=ALLOY, judge=_alloy,
    reads=(ALLOY_CONNECTIONS,), why="An instance bills CPU and memory at all hours, twice where it is regional.",
    remove="stop it (`gcloud alloydb instances update --activation-policy=NEVER`) after a look at its read pools",
    reversal="can be undone", recovery="", order=43, meter="vCPU by the hour, at least; the table has no rate for it",
    min_age=timedelta(days=14), spares=("a connection in 14 days", "stopped", "secondary instances", "not measured"),
    unchecked=("connections of its own health checks",),
)  # fmt: skip


def _spanner_place(row: Row) -> str:
    return words.last(row.get("config")).removeprefix("regional-") or "global"


def _spanner_runs(row: Row) -> bool:
    return bool(row.get("state") == "READY" and row.get("instanceType") != "FREE_INSTANCE")


SPANNER_CALLS = usage(
    "requests", SPANNER, "spanner.googleapis.com/api/request_count", "spanner_instance", ("instance_id",),
    lambda row: (words.last(row["name"]),), days=14, absent="zero", when=_spanner_runs,
    source=LISTED + "a counter that is emitted on use",
)  # fmt: skip


def _spanner(row: Row, seen: Seen) -> Waste | None:
    if not _spanner_runs(row) or seen.metric(SPANNER_CALLS, row):
        return None
    units = words.number(row.get("processingUnits")) or words.number(row.get("nodeCount")) * 1000
    edition = str(row.get("edition") or "standard").lower().replace("edition_unspecified", "standard")
    return Waste(
        f"{units:g} processing units, and no request in 14 days",
        (Meter(f"spanner/{edition}-node", "hour", units / 1000, _spanner_place(row)),),
        evidence={"processing units": units, "edition": edition, "config": words.last(row.get("config"))},
    )


SPANNER_IDLE = WasteCheck(
    id="spanner-idle", title="Spanner instance without requests", kind=SPANNER_INSTANCE, judge=_spanner,
    reads=(SPANNER_CALLS,), why="Its processing units bill at all hours.",
    remove="export its databases to a bucket of yours first; its backups go with it",
    reversal="cannot be undone", recovery="", order=44, meter="node by the hour; the table has no rate for it",
    min_age=timedelta(days=14), spares=("a request in 14 days", "free instances"),
    unchecked=("its storage and backups",),
)  # fmt: skip
BIGTABLE_CALLS = usage(
    "requests",
    BIGTABLE,
    "bigtable.googleapis.com/server/request_count",
    "bigtable_table",
    ("instance", "cluster"),
    lambda row: (words.part(row["name"], "instances"), words.last(row["name"])),
    days=14,
    absent="unresolved",
    when=lambda row: row.get("state") == "READY",
    source=LISTED + "emitted on use; when a cluster was made is not said, so that silence says nothing",
)


def _bigtable(row: Row, seen: Seen) -> Waste | None:
    if row.get("state") != "READY" or seen.metric(BIGTABLE_CALLS, row):
        return None
    nodes = words.number(row.get("serveNodes"))
    return Waste(f"{nodes:g} nodes, and no request in 14 days",
                 (Meter("bigtable/node", "hour", nodes, words.region(words.last(row.get("location")))),),
                 evidence={"nodes": nodes, "storage": row.get("defaultStorageType", "")})  # fmt: skip


BIGTABLE_IDLE = WasteCheck(
    id="bigtable-idle", title="Bigtable cluster without requests", kind=CLUSTER, judge=_bigtable,
    reads=(BIGTABLE_CALLS,), why="Its nodes bill at all hours.",
    remove="make a backup of each table that outlives the cluster first; replication may need it",
    reversal="cannot be undone", recovery="", order=45, meter="node by the hour; the table has no rate for it",
    min_age=timedelta(days=14), spares=("a request in 14 days", "no series at all: then it is unresolved"),
    unchecked=("its age, which Google does not say", "its storage"),
)  # fmt: skip
CHECKS = (SQL_IDLE, SQL_STOPPED, ALLOY_IDLE, SPANNER_IDLE, BIGTABLE_IDLE, ORPHAN)
