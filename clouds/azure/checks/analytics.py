"""Warehouses, clusters and pools for analysis that are up and do nothing; Fabric and batch capacity."""

from __future__ import annotations

from datetime import timedelta

from clouds.azure.checks import words
from clouds.azure.checks.reads import aged, aged_kind, check, children, listing, located, over
from clouds.azure.checks.steps import act, change, sends
from clouds.azure.checks.usage import usage
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Kind, Meter, Row, Seen, Waste

_SYNAPSE, _KUSTO, _BATCH = "Microsoft.Synapse/workspaces", "Microsoft.Kusto/clusters", "Microsoft.Batch/batchAccounts"
SYNAPSES, CLUSTERS, BATCHES = listing(_SYNAPSE), listing(_KUSTO), listing(_BATCH)
SQL_POOLS = children(SYNAPSES, f"{_SYNAPSE}/sqlPools")
NODE_POOLS = children(BATCHES, f"{_BATCH}/pools")
_AGED_CLUSTERS = aged(CLUSTERS)
SQL_POOL = Kind(
    name="Synapse dedicated SQL pool",
    of=SQL_POOLS,
    id=words.ident,
    label=words.child_label,
    created=lambda row: words.props(row).get("creationDate"),
    tags=words.tags,
    place=words.place,
)
ACTIVE = usage(
    "ActiveQueries",
    SQL_POOLS,
    days=7,
    absent="unresolved",
    aggregation="Total",
    when=lambda row: words.props(row).get("status") == "Online",
    unit="queries",
    source="Azure Monitor, Synapse SQL pools: ActiveQueries is emitted while the pool is online",
)


def _warehouse(row: Row, seen: Seen) -> Waste | None:
    if words.props(row).get("status") != "Online" or ACTIVE.of(seen, row):
        return None
    name = str((row.get("sku") or {}).get("name", ""))
    units = int("".join(each for each in name if each.isdigit()) or 0) / 100
    return Waste(
        reason=f"online, and no query in 7 days ({name})",
        meters=(Meter("synapse/100-dwu", "hour", units),),
        evidence={"sku": name},
    )


WAREHOUSE = check(
    id="synapse-dedicated-pool",
    title="Synapse SQL pool that is online for nobody",
    kind=SQL_POOL,
    reads=(*ACTIVE.reads,),
    judge=_warehouse,
    why="A dedicated pool bills its DWU every hour that it is online; paused, only its storage.",
    spares=("a query in 7 days", "paused", "younger than 7 days"),
    unchecked=("a load once a month that it is kept up for",),
    meter="hours of its DWU",
    remove=lambda doomed: (
        act(
            f"{_SYNAPSE}/sqlPools", doomed.id, "pause", f"pause pool {doomed.name}; its data stays",
            "properties.status", "Paused", seconds=3600,
        ),
    ),
    reversal="can be undone",
    recovery="A paused pool is resumed in minutes, with all its data.",
    order=14,
    steps=(f"{_SYNAPSE}/sqlPools.pause", f"{_SYNAPSE}/sqlPools.get"),
)  # fmt: skip
ASKED = usage(
    "QueryDuration",
    _AGED_CLUSTERS,
    days=7,
    absent="zero",
    aggregation="Maximum",
    unit="ms at most",
    source="Azure Monitor, Data Explorer: QueryDuration is emitted for each query",
)
FED = usage(
    "EventsProcessed",
    _AGED_CLUSTERS,
    days=7,
    absent="zero",
    unit="events",
    source="Azure Monitor, Data Explorer: EventsProcessed is emitted when events are taken in",
)


def _explorer(whole: Row, row: Row, seen: Seen) -> Waste | None:
    about, sku = words.props(whole), whole.get("sku") or {}
    if about.get("state") != "Running" or about.get("enableAutoStop"):
        return None
    if str(sku.get("tier", "")) == "Basic" and about.get("enableAutoStop") is None:
        return None
    if ASKED.of(seen, row) or FED.of(seen, row):
        return None
    name, count = words.size(str(sku.get("name", ""))), int(sku.get("capacity") or 1)
    return Waste(
        reason=f"running, and neither asked nor fed in 7 days; {count} x {name}, and nothing stops it",
        meters=(Meter(f"vm/{name}/on-demand", "hour", count),),
        bound="at least",
        evidence={"sku": name, "instances": count, "auto stop": bool(about.get("enableAutoStop"))},
    )


EXPLORER = check(
    id="kusto-idle",
    title="Data Explorer cluster that is neither asked nor fed",
    kind=aged_kind("Data Explorer cluster", _AGED_CLUSTERS),
    reads=(CLUSTERS, *ASKED.reads, *FED.reads),
    judge=over(CLUSTERS, _explorer),
    why="A cluster bills its machines and a markup on them every hour that it runs.",
    spares=("a query or an event in 7 days", "automatic stop is on", "stopped", "younger than 7 days"),
    unchecked=("dashboards that are opened less than once a week",),
    meter="VM hours of its instances, without the markup: a lower bound",
    remove=lambda doomed: (
        act(
            _KUSTO, doomed.id, "stop", f"stop cluster {doomed.name}; its data stays", "properties.state", "Stopped",
            seconds=3600,
        ),
    ),
    reversal="can be undone",
    recovery="It is started again in minutes, with all its data.",
    order=16,
    steps=(f"{_KUSTO}.stop", f"{_KUSTO}.get"),
)  # fmt: skip
POOL = Kind(
    name="Batch pool",
    of=NODE_POOLS,
    id=words.ident,
    label=words.child_label,
    created=lambda row: words.props(row).get("creationTime"),
    tags=words.tags,
    place=words.place,
)
TASKS = usage(
    "TaskStartEvent",
    BATCHES,
    days=7,
    absent="zero",
    unit="tasks",
    source="Azure Monitor, Batch accounts: TaskStartEvent is emitted for each task that starts",
)


def _nodes(row: Row, seen: Seen) -> Waste | None:
    about = words.props(row)
    fixed = (about.get("scaleSettings") or {}).get("fixedScale") or {}
    wanted = int(fixed.get("targetDedicatedNodes") or 0), int(fixed.get("targetLowPriorityNodes") or 0)
    held = (
        min(wanted[0], int(about.get("currentDedicatedNodes") or 0)),
        min(wanted[1], int(about.get("currentLowPriorityNodes") or 0)),
    )
    if not any(held) or about.get("allocationState", "Steady") != "Steady":
        return None
    account = seen.index(BATCHES, words.key).get(words.parent(row["id"]).lower())
    if not account or TASKS.of(seen, account[0]):
        return None
    size = words.size(str(about.get("vmSize", "")))
    located(row, seen, BATCHES)
    return Waste(
        reason=f"a fixed size keeps {held[0]} dedicated and {held[1]} low-priority nodes up ({size}), and its account "
        "started no task in 7 days",
        meters=(
            *((Meter(f"vm/{size}/on-demand", "hour", held[0]),) if held[0] else ()),
            *((Meter(f"vm/{size}/spot", "hour", held[1]),) if held[1] else ()),
        ),
        evidence={"size": size, "dedicated": held[0], "low priority": held[1]},
    )  # fmt: skip


def _shrink(doomed: Doomed) -> tuple[CleanupStep, ...]:
    none = {"fixedScale": {"targetDedicatedNodes": 0, "targetLowPriorityNodes": 0}}
    return (
        change(
            f"{_BATCH}/pools", doomed.id, f"shrink pool {doomed.name} to no node",
            {"properties": {"scaleSettings": none}},
            "properties.currentDedicatedNodes", "0", capacity=True, seconds=3600,
        ),
    )  # fmt: skip


BATCH = check(
    id="batch-pool-idle",
    title="Batch pool whose nodes run no task",
    kind=POOL,
    reads=(*TASKS.reads,),
    judge=_nodes,
    why="The nodes of a pool bill like their VMs, whether a task runs or not.",
    spares=("a task started in 7 days in its account", "a formula scales it", "being resized", "younger than 7 days"),
    unchecked=("one task that runs for longer than a week",),
    meter="VM hours of its nodes",
    min_age=timedelta(days=7),
    remove=_shrink,
    reversal="can be undone",
    recovery="The pool stays and can be resized again, if there is capacity then.",
    order=17,
    steps=sends(f"{_BATCH}/pools", "patch"),
)  # fmt: skip
CHECKS = (WAREHOUSE, EXPLORER, BATCH)
