"""SQL databases that are paused for long, elastic pools without one, flexible servers that are stopped."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from clouds.azure.checks import words
from clouds.azure.checks.reads import check, children, dated, listing
from clouds.azure.checks.steps import delete, sends
from clouds.models.waste import Kind, Meter, Row, Seen, Waste, WasteCheck

_SERVER = "Microsoft.Sql/servers"
SERVERS = listing(_SERVER)
DATABASES = children(SERVERS, f"{_SERVER}/databases")
POOLS = children(SERVERS, f"{_SERVER}/elasticPools")


def _of(name: str, read: Any) -> Kind:
    return Kind(
        name=name, of=read, id=words.ident, label=words.child_label,
        created=lambda row: words.props(row).get("creationDate"),
        tags=words.tags, managed=words.managed, place=words.place,
    )  # fmt: skip


DATABASE, POOL = _of("SQL database", DATABASES), _of("SQL elastic pool", POOLS)
_STORAGE = {"BusinessCritical": "business-critical", "Hyperscale": "hyperscale"}
PAUSED_DAYS = 30


def _paused(row: Row, seen: Seen) -> Waste | None:
    about = words.props(row)
    since = about.get("pausedDate")
    if about.get("status") != "Paused" or not words.older(seen, since, days=PAUSED_DAYS):
        return None
    gib = round(int(about.get("maxSizeBytes") or 0) / 1024**3, 2)
    tier = str((row.get("sku") or {}).get("tier", "GeneralPurpose"))
    rate = f"sql-storage/{_STORAGE.get(tier, 'general-purpose')}"
    return Waste(
        reason=f"paused for {words.days_since(seen, since)} days; its storage of {gib:g} GB bills on",
        meters=(Meter(rate, "GB-month", gib),),
        bound="at most",
        evidence={"GB at most": gib, "tier": tier, "paused": since, "elastic pool": about.get("elasticPoolId", "")},
    )


PAUSED = check(
    id="paused-sql-database",
    title="SQL database that is paused for long",
    kind=DATABASE,
    judge=_paused,
    why="A serverless database that is paused bills no compute, but its storage and its backups.",
    spares=(f"paused for less than {PAUSED_DAYS} days", "online"),
    unchecked=("who will wake it: a report once a quarter", "long-term backups, which stay"),
    meter="GB-months of its largest size: an upper bound",
    min_age=timedelta(days=PAUSED_DAYS),
    remove=lambda doomed: (
        delete(f"{_SERVER}/databases", doomed.id, f"delete database {doomed.name}", "recoverable", days=7),
    ),
    reversal="recoverable",
    recovery="It can be restored to a point before its deletion, for 7 days by default (1 to 35 as configured).",
    order=65,
    steps=sends(f"{_SERVER}/databases", "delete"),
)


def _pool_of(row: Row) -> Iterable[str]:
    found = words.props(row).get("elasticPoolId")
    return (str(found).lower(),) if found else ()


def _empty_pool(row: Row, seen: Seen) -> Waste | None:
    if seen.index(DATABASES, _pool_of).get(str(row["id"]).lower()):
        return None
    if words.props(row).get("state", "Ready") != "Ready":
        return None
    sku = row.get("sku") or {}
    name, units = str(sku.get("name", "")), int(sku.get("capacity") or 0)
    zones = bool(words.props(row).get("zoneRedundant")) and name.startswith("GP_")
    licensed = "_" in name and words.props(row).get("licenseType") != "BasePrice"
    return Waste(
        reason=f"holds no database ({name}, {words.many(units, 'unit')})",
        meters=(
            Meter(f"sql-elastic-pool/{name.lower()}", "unit-hour", units),
            *((Meter(f"sql-elastic-pool/{name.lower()}-zones", "unit-hour", units),) if zones else ()),
        ),
        bound="at least" if licensed else "exact",
        evidence={"sku": name, "units": units, "zone redundant": zones, "SQL licence bills on top": licensed},
    )


EMPTY_POOL = check(
    id="elastic-pool-empty",
    title="SQL elastic pool with no database",
    kind=POOL,
    reads=(DATABASES,),
    judge=_empty_pool,
    why="A pool bills its eDTU or vCores by the hour, whatever is in it.",
    spares=("a database is in it", "being made or changed", "younger than a day"),
    unchecked=("databases that a schedule moves in and out",),
    meter="eDTU-hours or vCore-hours of its SKU; the SQL licence of a vCore pool is not counted",
    remove=lambda doomed: (
        delete(f"{_SERVER}/elasticPools", doomed.id, f"delete pool {doomed.name}", "can be undone"),
    ),
    reversal="can be undone",
    recovery="A pool can be made again.",
    order=24,
    steps=sends(f"{_SERVER}/elasticPools", "delete"),
)  # fmt: skip


def _stopped(provider: str, name: str, word: str) -> WasteCheck:
    """A check of flexible servers that are stopped: their storage bills on, and they start again by themselves."""
    servers = listing(f"{provider}/flexibleServers")
    known = dated(servers)

    def judge(row: Row, _seen: Seen) -> Waste | None:
        about = words.props(row)
        role = str(about.get("replicationRole", "None"))
        if about.get("state") != "Stopped" or "Replica" in role:
            return None
        gib = int((about.get("storage") or {}).get("storageSizeGB") or 0)
        sku = (row.get("sku") or {}).get("name", "")
        return Waste(
            reason=f"stopped; {gib} GiB of storage bill on, and it starts again by itself within 30 days",
            meters=(Meter(f"{word}-flexible/storage", "GiB-month", gib),),
            evidence={"GiB": gib, "sku": sku},
        )

    return check(
        id=f"{word}-stopped",
        title=f"{name} server that is stopped",
        kind=known.kind(f"{name} flexible server"),
        reads=(known.index,),
        judge=known.judge(judge),
        why="A stopped server bills its storage and backups, and is started again by Azure after some days.",
        spares=("running", "a replica, or with replicas", "younger than 7 days"),
        unchecked=("since when it is stopped: the service does not say",),
        meter="storage GiB-months",
        min_age=timedelta(days=7),
        remove="its data is in it: export it, or delete it knowing that backups end 5 days after",
        reversal="recoverable",
        recovery="A deleted server can be restored for 5 days.",
        order=66,
    )


POSTGRES = _stopped("Microsoft.DBforPostgreSQL", "PostgreSQL", "postgres")
MYSQL = _stopped("Microsoft.DBforMySQL", "MySQL", "mysql")
CHECKS = (EMPTY_POOL, PAUSED, POSTGRES, MYSQL)
