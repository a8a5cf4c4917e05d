"""Caches, Cosmos DB and search services that nobody asks: they bill by the hour for being ready."""

from __future__ import annotations

from datetime import timedelta

from clouds.azure.checks import words
from clouds.azure.checks.reads import aged, aged_kind, check, children, kind, listing, over
from clouds.azure.checks.steps import delete, sends
from clouds.azure.checks.usage import usage
from clouds.models.waste import Kind, Meter, Row, Seen, Waste

_REDIS, _SEARCH, _COSMOS = (
    "Microsoft.Cache/redis",
    "Microsoft.Search/searchServices",
    "Microsoft.DocumentDB/databaseAccounts",
)
CACHES, SEARCHES, ACCOUNTS = listing(_REDIS), listing(_SEARCH), listing(_COSMOS)
_AGED_CACHES, _AGED_SEARCHES = aged(CACHES), aged(SEARCHES)
CLIENTS = usage(
    "connectedclients",
    _AGED_CACHES,
    days=7,
    absent="unresolved",
    aggregation="Maximum",
    unit="clients at most",
    source="Azure Monitor, Azure Cache for Redis: connectedclients is emitted each minute while the cache is up",
)


def _cache(whole: Row, row: Row, seen: Seen) -> Waste | None:
    about = words.props(whole)
    if about.get("provisioningState", "Succeeded") not in ("Succeeded", "Linking", "Unlinking"):
        return None
    if about.get("linkedServers") or CLIENTS.of(seen, row):
        return None
    sku = about.get("sku") or {}
    tier, size = str(sku.get("name", "")).lower(), f"{sku.get('family', '')}{sku.get('capacity', '')}"
    shards = int(about.get("shardCount") or 0) or 1
    spare = about.get("replicasPerPrimary") or about.get("replicasPerMaster") or 1
    nodes = shards * (1 + int(spare)) if tier == "premium" else {"standard": 2}.get(tier, 1)
    return Waste(
        reason=f"no client was connected in 7 days ({tier} {size}, {words.many(shards, 'shard')}, "
        f"{words.many(nodes, 'node')})",
        meters=(Meter(f"redis/{tier}-{size.lower()}", "instance-hour", nodes),),
        evidence={"tier": tier, "size": size, "shards": shards, "nodes": nodes},
    )


IDLE_REDIS = check(
    id="idle-redis",
    title="Redis cache that no client is connected to",
    kind=aged_kind("Redis cache", _AGED_CACHES),
    reads=(CACHES, *CLIENTS.reads),
    judge=over(CACHES, _cache),
    why="A cache bills each of its nodes by the hour of its size.",
    spares=("a client in 7 days", "geo-replicated: a secondary has no clients", "younger than 7 days"),
    unchecked=("what is in it: it is lost when it is deleted, unless it was exported",),
    meter="node hours of its tier and size: two nodes, in Premium two and more for each shard",
    remove="what is in a cache is lost with it, and only a Premium one can be exported first",
    reversal="cannot be undone",
    recovery="A new cache is empty and has other keys.",
    order=42,
)
_CLUSTER = "Microsoft.Cache/redisEnterprise"
MANAGED = listing(_CLUSTER)
_AGED_MANAGED = aged(MANAGED)
MANAGED_CLIENTS = usage(
    "connectedclients",
    _AGED_MANAGED,
    days=7,
    absent="unresolved",
    aggregation="Maximum",
    unit="clients at most",
    source="Azure Monitor, Azure Managed Redis: connectedclients is emitted each minute while the cache is up",
)


def _managed(whole: Row, row: Row, seen: Seen) -> Waste | None:
    about, sku = words.props(whole), whole.get("sku") or {}
    if about.get("resourceState", "Running") != "Running" or MANAGED_CLIENTS.of(seen, row):
        return None
    name = str(sku.get("name", ""))
    pair = 1 if about.get("highAvailability") == "Disabled" else 2
    nodes = int(sku.get("capacity") or pair)
    return Waste(
        reason=f"no client was connected in 7 days ({name})",
        meters=(Meter(f"redis-enterprise/{name.lower()}", "instance-hour", nodes),),
        evidence={"sku": name, "nodes": nodes},
    )


IDLE_MANAGED = check(
    id="managed-redis-idle",
    title="Managed Redis that no client is connected to",
    kind=aged_kind("Managed Redis", _AGED_MANAGED),
    reads=(MANAGED, *MANAGED_CLIENTS.reads),
    judge=over(MANAGED, _managed),
    why="It bills by the hour of its size, with clients or without.",
    spares=("a client in 7 days", "not running", "younger than 7 days"),
    unchecked=("what is in it", "a geo-replicated group that it belongs to"),
    meter="node hours of its size: two nodes unless it is made without high availability",
    remove="what is in it is lost with it: export it first",
    reversal="cannot be undone",
    recovery="A new one is empty and has other keys.",
    order=42,
)
QUERIES = usage(
    "SearchQueriesPerSecond",
    _AGED_SEARCHES,
    days=14,
    absent="zero",
    aggregation="Average",
    unit="queries a second",
    source="Azure Monitor, AI Search: SearchQueriesPerSecond is emitted when queries arrive",
)


def _search(whole: Row, row: Row, seen: Seen) -> Waste | None:
    sku = str((whole.get("sku") or row.get("sku") or {}).get("name", "")).lower()
    about = words.props(whole)
    if sku in ("free", "serverless", "") or QUERIES.of(seen, row):
        return None
    units = int(about.get("replicaCount") or 1) * int(about.get("partitionCount") or 1)
    return Waste(
        reason=f"no query in 14 days; {units} search units of {sku}",
        meters=(Meter(f"ai-search/{sku}", "unit-hour", units),),
        evidence={"sku": sku, "replicas": about.get("replicaCount"), "partitions": about.get("partitionCount")},
    )


IDLE_SEARCH = check(
    id="search-idle",
    title="AI Search service that nobody asks",
    kind=aged_kind("AI Search service", _AGED_SEARCHES),
    reads=(SEARCHES, *QUERIES.reads),
    judge=over(SEARCHES, _search),
    why="A search service bills each replica times partition by the hour, asked or not.",
    spares=("a query in 14 days", "the free sort", "younger than 14 days"),
    unchecked=("indexers that fill it, and an index that took long to build",),
    meter="search-unit hours of its SKU times replicas times partitions",
    category="ai",
    remove=lambda doomed: (
        delete(_SEARCH, doomed.id, f"delete search service {doomed.name} with its indexes", "cannot be undone"),
    ),
    reversal="cannot be undone",
    recovery="Indexes, their definitions and keys are lost; the name may be taken.",
    order=43,
    steps=sends(_SEARCH, "delete"),
)


def _sql_api(row: Row) -> bool:
    names = {each.get("name") for each in words.props(row).get("capabilities") or ()}
    return "EnableServerless" not in names and str(row.get("kind", "GlobalDocumentDB")) == "GlobalDocumentDB"


BASES = children(ACCOUNTS, f"{_COSMOS}/sqlDatabases", _sql_api)
CONTAINERS = children(BASES, f"{_COSMOS}/sqlDatabases/containers")
SHARED = children(BASES, f"{_COSMOS}/sqlDatabases/throughputSettings")
OWN = children(CONTAINERS, f"{_COSMOS}/sqlDatabases/containers/throughputSettings")
ACCOUNT: Kind = kind("Cosmos DB account", ACCOUNTS)
COSMOS_REQUESTS = usage(
    "TotalRequests",
    ACCOUNTS,
    days=14,
    absent="zero",
    aggregation="Count",
    when=_sql_api,
    unit="requests",
    source="Azure Monitor, Cosmos DB: TotalRequests is emitted for each request",
)


def _of_account(row: Row) -> tuple[str]:
    return (str(row["id"]).lower().split("/sqldatabases/", 1)[0],)


def _cosmos(row: Row, seen: Seen) -> Waste | None:
    if not _sql_api(row):
        return None
    account = str(row["id"]).lower()
    settings = [
        words.props(each).get("resource") or {}
        for read in (SHARED, OWN)
        for each in seen.index(read, _of_account).get(account, ())
    ]
    manual = sum(int(each.get("throughput") or 0) for each in settings if not each.get("autoscaleSettings"))
    scaled = sum(int((each.get("autoscaleSettings") or {}).get("maxThroughput") or 0) for each in settings)
    if not (manual or scaled) or COSMOS_REQUESTS.of(seen, row):
        return None
    about = words.props(row)
    regions = max(1, len(about.get("locations") or ()))
    free = 1000 if about.get("enableFreeTier") else 0
    billed = max(0, manual - free)
    floor = scaled // 10  # autoscale bills a tenth of its maximum while nobody asks
    several = bool(about.get("enableMultipleWriteLocations"))
    by_hand, by_itself = ("multi-write", "multi-write") if several else ("manual", "autoscale")
    return Waste(
        reason=f"no request in 14 days; {manual} RU/s are provisioned, {scaled} RU/s are the most of autoscale, "
        f"in {regions} regions",
        meters=(
            *((Meter(f"cosmos/{by_hand}-100-ru", "hour", billed / 100 * regions),) if billed else ()),
            *((Meter(f"cosmos/{by_itself}-100-ru", "hour", floor / 100 * regions),) if floor else ()),
        ),
        free=not billed and not floor,
        evidence={"manual RU/s": manual, "autoscale RU/s": scaled, "regions": regions, "free tier": bool(free)},
    )  # fmt: skip


IDLE_COSMOS = check(
    id="idle-cosmos-ru",
    title="Cosmos DB throughput that nobody uses",
    kind=ACCOUNT,
    reads=(BASES, CONTAINERS, SHARED, OWN, *COSMOS_REQUESTS.reads),
    judge=_cosmos,
    why="Provisioned throughput bills each 100 RU/s by the hour, in every region, asked or not.",
    spares=("a request in 14 days", "serverless", "the 1,000 RU/s of the free tier", "younger than 14 days"),
    unchecked=("accounts of the Mongo, Cassandra, Gremlin and Table APIs", "storage, which bills apart"),
    meter="hours of 100 RU/s times regions; a tenth of the maximum for autoscale",
    min_age=timedelta(days=14),
    remove="lower the throughput or change it to autoscale: how much is to be kept is its owner's to say",
    reversal="can be undone",
    recovery="Throughput can be raised again at any time.",
    order=52,
)
CHECKS = (IDLE_SEARCH, IDLE_COSMOS, IDLE_REDIS, IDLE_MANAGED)
