"""Registries with nothing in them, storage that only grows, NetApp pools beyond their volumes, logs without a cap."""

from __future__ import annotations

from datetime import timedelta

from clouds.azure.checks import words
from clouds.azure.checks.reads import check, children, kind, listing
from clouds.azure.checks.steps import delete, sends
from clouds.models.waste import Detail, Kind, Meter, Row, Seen, Unresolved, Waste

_ACR, _SA, _LOGS = (
    "Microsoft.ContainerRegistry/registries",
    "Microsoft.Storage/storageAccounts",
    "Microsoft.OperationalInsights/workspaces",
)
_NETAPP = "Microsoft.NetApp/netAppAccounts"
REGISTRIES, STORAGES, WORKSPACES, NETAPPS = listing(_ACR), listing(_SA), listing(_LOGS), listing(_NETAPP)
USAGES = Detail(REGISTRIES, _ACR, "listUsages", lambda rows, _at: {"id": rows[0]["id"]}, rows="value")
_NO_BLOBS = ("FeatureNotSupportedForAccount", "OperationNotAllowedOnKind", "BlobServiceNotSupported")


def _has_blobs(row: Row) -> bool:
    return str(row.get("kind", "StorageV2")) != "FileStorage"


BLOBS = Detail(
    STORAGES, f"{_SA}/blobServices", "get", lambda rows, _at: {"id": f"{rows[0]['id']}/blobServices/default"},
    when=_has_blobs, nothing_on=_NO_BLOBS,
)  # fmt: skip
# Asked only where versions are kept: accounts of older kinds answer the question with an error.
POLICY = Detail(
    BLOBS,
    f"{_SA}/managementPolicies",
    "get",
    lambda rows, _at: {"id": f"{words.parent(rows[0]['id'])}/managementPolicies/default"},
    when=lambda row: bool(words.props(row).get("isVersioningEnabled")),
    nothing_on=("ManagementPolicyNotFound", *_NO_BLOBS),
)
REGISTRY = kind("container registry", REGISTRIES, lambda row: words.props(row).get("creationDate"))
STORAGE = kind("storage account", STORAGES, lambda row: words.props(row).get("creationTime"))


def _empty(row: Row, seen: Seen) -> Waste | None:
    sizes = [each for each in seen.of(USAGES, row) if each.get("name") == "Size"]
    if not sizes or sizes[0].get("currentValue") is None:
        raise Unresolved("how much it holds is not given")
    if sizes[0]["currentValue"]:
        return None
    tier = str((row.get("sku") or {}).get("name", "Basic"))
    return Waste(
        reason=f"holds nothing ({tier})",
        meters=(Meter(f"acr/registry-{tier.lower()}", "day", 1.0, "global"),),
        evidence={"tier": tier, "bytes": 0, "server": words.props(row).get("loginServer", "")},
    )


EMPTY_REGISTRY = check(
    id="empty-container-registry",
    title="Container registry with nothing in it",
    kind=REGISTRY,
    reads=(USAGES,),
    judge=_empty,
    why="A registry bills its tier by the day, whatever is in it.",
    spares=("anything is stored in it", "its size could not be read", "younger than 7 days"),
    unchecked=("pipelines that are to push to it",),
    meter="registry days of its tier",
    min_age=timedelta(days=7),
    remove=lambda doomed: (
        delete(_ACR, doomed.id, f"delete registry {doomed.name}", "cannot be undone"),
    ),
    reversal="cannot be undone",
    recovery="Nothing is lost but its settings, tokens and name.",
    order=51,
    steps=sends(_ACR, "delete"),
)  # fmt: skip


def _unmanaged(row: Row, seen: Seen) -> Waste | None:
    if not _has_blobs(row):
        return None
    service = seen.one(BLOBS, row)
    if service is None or not words.props(service).get("isVersioningEnabled"):
        return None
    policy = seen.one(POLICY, service)
    rules = ((words.props(policy or {}).get("policy") or {}).get("rules")) or ()
    if any(each.get("enabled", True) for each in rules):
        return None
    return Waste(
        reason="keeps every version of every blob, and no lifecycle rule ends any",
        meters=(Meter("blob/old-versions", "GB-month"),),
        bound="at least",
        evidence={"kind": row.get("kind", ""), "sku": (row.get("sku") or {}).get("name", ""), "rules": len(rules)},
    )


UNMANAGED = check(
    id="unmanaged-storage-account",
    title="Storage account whose old versions never end",
    kind=STORAGE,
    reads=(BLOBS, POLICY),
    judge=_unmanaged,
    why="With versioning each change keeps the blob that was before, and bills it until something ends it.",
    spares=("versioning is off", "a lifecycle rule is on", "accounts for files", "younger than 30 days"),
    unchecked=("how much of it is old versions: that would need a listing of all blobs",),
    meter="none: how much of it is old is not known from here",
    min_age=timedelta(days=30),
    remove="which versions may go is their owner's to say: a lifecycle rule ends them by age",
    reversal="cannot be undone",
    recovery="A version that a rule has deleted is lost, unless soft delete keeps it.",
    order=84,
)


def _unbounded(row: Row, _seen: Seen) -> Waste | None:
    about = words.props(row)
    quota = (about.get("workspaceCapping") or {}).get("dailyQuotaGb")
    days = int(about.get("retentionInDays") or 30)
    if quota not in (None, -1, -1.0) or days <= 90:
        return None
    return Waste(
        reason=f"takes in without a daily limit, and keeps all of it for {days} days",
        meters=(Meter("log-analytics/kept", "GB-month"),),
        bound="at least",
        evidence={"retention days": days, "daily limit": "none", "sku": (about.get("sku") or {}).get("name", "")},
    )


UNBOUNDED = check(
    id="unbounded-log-workspace",
    title="Log workspace without a limit",
    kind=kind("Log Analytics workspace", WORKSPACES, lambda row: words.props(row).get("createdDate")),
    judge=_unbounded,
    why="Each GB is billed when it comes in, and again each month beyond the free retention.",
    spares=("a daily limit is set", "kept for 90 days or less", "younger than 30 days"),
    unchecked=("how much comes in", "whether Sentinel or a law asks for the retention"),
    meter="none: how much it takes in is not known from here",
    min_age=timedelta(days=30),
    remove="how long logs are to be kept, and what may be dropped at a limit, is their owner's to say",
    reversal="can be undone",
    recovery="A limit and a retention can be changed at any time; what was dropped is lost.",
    order=83,
)
NETAPP_POOLS = children(NETAPPS, f"{_NETAPP}/capacityPools")
VOLUMES = children(NETAPP_POOLS, f"{_NETAPP}/capacityPools/volumes")
NETAPP_POOL = Kind(
    name="NetApp capacity pool",
    of=NETAPP_POOLS,
    id=words.ident,
    label=words.child_label,
    created=words.made,
    tags=words.tags,
    place=words.place,
)
_GIB = 1024**3


def _netapp(row: Row, seen: Seen) -> Waste | None:
    about = words.props(row)
    size = int(about.get("size") or 0)
    volumes = seen.of(VOLUMES, row)
    given = sum(int(words.props(each).get("usageThreshold") or 0) for each in volumes)
    free = size - given
    if volumes and (free < size // 2 or size <= 1024 * _GIB):
        return None
    level = str(about.get("serviceLevel", "Standard")).lower()
    return Waste(
        reason=f"{free // _GIB:,} of its {size // _GIB:,} GiB belong to no volume ({level}, {len(volumes)} volumes)",
        meters=(Meter(f"netapp/{level}", "GiB-hour", free / _GIB),),
        bound="exact" if not volumes else "at most",
        evidence={"GiB": size // _GIB, "in volumes": given // _GIB, "volumes": len(volumes), "level": level},
    )


NETAPP = check(
    id="netapp-pool-overprovisioned",
    title="NetApp pool that is much larger than its volumes",
    kind=NETAPP_POOL,
    reads=(VOLUMES,),
    judge=_netapp,
    why="A pool bills its whole size by the hour, and its volumes nothing beside it.",
    spares=("half of it belongs to volumes", "the least size of a pool, 1 TiB", "younger than 7 days"),
    unchecked=("snapshots that grow into it", "growth that it is kept for"),
    meter="GiB-hours of what belongs to no volume",
    min_age=timedelta(days=7),
    remove="to which size it may shrink is its owner's to say",
    reversal="can be undone",
    recovery="A pool can grow again at any time.",
    order=22,
)
CHECKS = (NETAPP, EMPTY_REGISTRY, UNMANAGED, UNBOUNDED)
