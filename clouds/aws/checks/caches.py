"""ElastiCache clusters that nobody asks, and OpenSearch domains that nobody searches."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from clouds.aws.checks import words
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import gone, step
from clouds.models import Scope
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Waste, WasteCheck, Young

CACHES = Listing("elasticache", "DescribeCacheClusters", "CacheClusters")
CACHE_GROUPS = Listing("elasticache", "DescribeReplicationGroups", "ReplicationGroups")


def cache_arn(row: Row, at: Scope) -> str:
    """The full id; an answer from before 2020 holds none (seen in recordings, 2026-11-30)."""
    return str(row.get("ARN") or words.arn("elasticache", at, f"cluster:{row['CacheClusterId']}"))


CACHE = Kind(
    name="ElastiCache cluster",
    of=CACHES,
    id=cache_arn,
    label=lambda row: row["CacheClusterId"],
    created=lambda row: row.get("CacheClusterCreateTime"),
    tags_read=Detail(
        CACHES, "elasticache", "ListTagsForResource",
        lambda rows, at: {"ResourceName": cache_arn(rows[0], at)}, rows="TagList", late=True,
    ),
    tags_of=words.tag_row,
)  # fmt: skip
CACHE_HITS = usage(
    "AWS/ElastiCache",
    # A queue, a lock or a channel looks nothing up: it is written to, and published on.
    "CacheHits CacheMisses SetTypeCmds PubSubBasedCmds",
    CACHES,
    by=lambda row: [{"CacheClusterId": row["CacheClusterId"]}],
    days=14,
    absent="unresolved",
    when=lambda row: row["CacheClusterStatus"] == "available" and row["Engine"] != "memcached",
    unit="look-ups, writes and messages",
    source="ElastiCache docs, metrics for Valkey and Redis OSS: emitted every minute, also at 0",
)
MEMCACHED_GETS = usage(
    "AWS/ElastiCache",
    "GetHits GetMisses",
    CACHES,
    by=lambda row: [{"CacheClusterId": row["CacheClusterId"]}],
    days=14,
    absent="unresolved",
    when=lambda row: row["CacheClusterStatus"] == "available" and row["Engine"] == "memcached",
    unit="look-ups",
    source="ElastiCache docs, metrics for Memcached: emitted every minute, also at 0",
)


def _members(row: Row) -> Iterable[Any]:
    yield from row.get("MemberClusters", ())


def _name(row: Row) -> Iterable[Any]:
    return [row["CacheClusterId"]]


def _asked(row: Row, group: Row, seen: Seen) -> bool:
    """Whether it is looked up, or any member of its group: a replica that stands by is asked nothing itself."""
    names = list(_members(group))
    members = [each for name in names for each in seen.index(CACHES, _name).get(name, ())] if names else [row]
    if any(each["CacheClusterStatus"] != "available" for each in members):
        return True  # somebody is at work on the group
    return any(seen.metric(MEMCACHED_GETS if each["Engine"] == "memcached" else CACHE_HITS, each) for each in members)


def _cache(row: Row, seen: Seen) -> Waste | None:
    if row["CacheClusterStatus"] != "available":
        return None
    group: Row = next(iter(seen.index(CACHE_GROUPS, _members).get(row["CacheClusterId"], ())), {})
    if group.get("GlobalReplicationGroupInfo", {}).get("GlobalReplicationGroupId"):
        return None
    if row.get("ReplicationGroupId") and not group:
        return None  # its group is being made or taken down
    if _asked(row, group, seen):
        return None
    count = row.get("NumCacheNodes") or 1
    used = "look-up" if row["Engine"] == "memcached" else "look-up, write or message"
    return Waste(
        reason=f"not one {used} in 14 days; {count} x {row['CacheNodeType']} {row['Engine']}",
        meters=(Meter(f"elasticache/{row['CacheNodeType']}/{row['Engine']}", "hour", count),),
        evidence={"nodes": count, "type": row["CacheNodeType"], "group": row.get("ReplicationGroupId", "")},
        blocked="it is a member of a replication group: its whole group has to be judged"
        if row.get("ReplicationGroupId")
        else "",
    )


def _delete_cache(doomed: Doomed) -> tuple[CleanupStep, ...]:
    row = doomed.row
    name = {"CacheClusterId": row["CacheClusterId"]}
    # Neither has snapshots (ElastiCache docs, backups: "not supported on cache.t1.micro nodes", nor for Memcached).
    keeps = row["Engine"] != "memcached" and not row["CacheNodeType"].startswith("cache.t1.")
    last = f"modelrig-{doomed.mark}-{row['CacheClusterId']}"[:255] if keeps else ""
    final = {"FinalSnapshotIdentifier": last} if last else {}
    told = f" after a final snapshot, {last}, which the same call makes" if last else ""
    return (
        step(
            "delete",
            f"delete cache {doomed.name}{told}",
            "elasticache.DeleteCacheCluster", {**name, **final}, "can be undone" if keeps else "cannot be undone",
            until=gone("elasticache.DescribeCacheClusters", name, "CacheClusters[].CacheClusterStatus", seconds=3600),
            makes=last,  # no rate of its snapshots is in the table
        ),
    )  # fmt: skip


CACHE_IDLE = WasteCheck(
    id="elasticache-idle",
    title="Cache that nobody asks",
    kind=CACHE,
    reads=(CACHE_GROUPS, CACHE_HITS, MEMCACHED_GETS),
    judge=_cache,
    why="A cache node is billed by the hour, asked or not.",
    spares=(
        "a hit, a miss, a write or a published message in 14 days, of it or any other member of its group",
        "of a global datastore",
        "younger than 14 days",
    ),
    unchecked=("reserved nodes",),
    meter="ElastiCache node hours by engine",
    min_age=timedelta(days=14),
    remove=_delete_cache,
    reversal="can be undone",
    recovery="A final snapshot (not for Memcached) restores it; the endpoint's name can be the same.",
    order=22,
    steps=("elasticache.DeleteCacheCluster", "elasticache.DescribeCacheClusters"),
)

DOMAINS = Listing("opensearch", "ListDomainNames", "DomainNames")
DOMAIN = Detail(
    DOMAINS,
    "opensearch",
    "DescribeDomains",
    lambda rows, _at: {"DomainNames": [row["DomainName"] for row in rows]},
    rows="DomainStatusList",
    batch=5,
    pair=(lambda row: row["DomainName"], lambda row: row["DomainName"]),
    each=True,
)
OPENSEARCH = Kind(
    name="OpenSearch domain",
    of=DOMAIN,
    id=lambda row, _at: row["ARN"],
    label=lambda row: row["DomainName"],
    tags_read=Detail(
        DOMAIN, "opensearch", "ListTags", lambda rows, _at: {"ARN": rows[0]["ARN"]}, rows="TagList", late=True
    ),
    tags_of=words.tag_row,
)


def _steady(row: Row) -> bool:
    """Whether nobody is at work on a domain: the older marks of it, and the state that newer answers give."""
    changing = row.get("Processing") or row.get("UpgradeProcessing") or row.get("Deleted")
    return not changing and row.get("DomainProcessingStatus", "Active") == "Active"


SEARCHED = usage(
    "AWS/ES",
    "SearchRate IndexingRate",
    DOMAIN,
    by=lambda row: [{"DomainName": row["DomainName"], "ClientId": row["ARN"].split(":")[4]}],
    days=14,
    absent="unresolved",
    when=_steady,
    unit="requests a minute, summed",
    source="OpenSearch docs: emitted every minute while a domain is up, also at 0",
)


# A domain itself does not say when it was made; each of its options does.
OPTIONS = Detail(
    DOMAIN, "opensearch", "DescribeDomainConfig", lambda rows, _at: {"DomainName": rows[0]["DomainName"]},
    rows="DomainConfig", when=_steady, each=True,
)  # fmt: skip


def _made(row: Row, seen: Seen) -> datetime | None:
    """When the oldest option of a domain was set, which is when the domain was made; None where none says it."""
    options = (seen.one(OPTIONS, row) or {}).values()
    told = [each.get("Status", {}).get("CreationDate") for each in options if isinstance(each, dict)]
    return min(filter(None, map(words.moment, told)), default=None)


def _domain(row: Row, seen: Seen) -> Waste | None:
    if not _steady(row) or not row.get("Created", True):
        return None
    if seen.metric(SEARCHED, row):
        return None
    made = _made(row, seen)
    if made is not None and seen.now - made < timedelta(days=SEARCHED.days):
        raise Young
    about = row["ClusterConfig"]
    count = about.get("InstanceCount") or 1
    meters = [Meter(f"opensearch/{about['InstanceType']}", "hour", count)]
    if about.get("DedicatedMasterEnabled"):
        meters.append(
            Meter(f"opensearch/{about['DedicatedMasterType']}", "hour", about.get("DedicatedMasterCount") or 3)
        )
    warm = bool(about.get("WarmEnabled"))
    if warm:
        meters.append(Meter(f"opensearch/{about['WarmType']}", "hour", about.get("WarmCount") or 2))
    for each in about.get("NodeOptions", ()):
        node = each.get("NodeConfig", {})
        if node.get("Enabled"):
            meters.append(Meter(f"opensearch/{node['Type']}", "hour", node["Count"]))
    disk = row.get("EBSOptions", {})
    if disk.get("EBSEnabled") and disk.get("VolumeSize"):
        meters.append(
            Meter(f"opensearch-storage/{disk.get('VolumeType', 'gp2')}", "GB-month", disk["VolumeSize"] * count)
        )
    return Waste(
        reason=f"neither searched nor indexed in 14 days; {count} x {about['InstanceType']}",
        meters=tuple(meters),
        bound="at least" if warm else "exact",  # what the warm nodes store is billed by size, which is not told
        evidence={"instances": f"{count} x {about['InstanceType']}", "version": row.get("EngineVersion", "")},
    )


DOMAIN_IDLE = WasteCheck(
    id="opensearch-idle",
    title="OpenSearch domain that nobody searches",
    kind=OPENSEARCH,
    reads=(SEARCHED, OPTIONS),
    judge=_domain,
    why="A domain is billed by the instance hour and its storage, searched or not.",
    spares=("searched or indexed in 14 days", "being changed", "younger than 14 days"),
    unchecked=("dashboards that only look at it",),
    meter="OpenSearch instance hours and storage GB-months",
    min_age=timedelta(days=14),
    remove="its data can be saved only by a snapshot into an own repository, which is not one call",
    reversal="cannot be undone",
    recovery="Take a manual snapshot into S3 first; a new domain can be restored from that.",
    order=40,
)
CHECKS = (CACHE_IDLE, DOMAIN_IDLE)
