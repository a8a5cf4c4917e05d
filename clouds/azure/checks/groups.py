"""Resource groups with nothing in them, and groups that have gone quiet as a whole: only the bill shows those."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from clouds.azure.checks import words
from clouds.azure.checks.reads import GROUPS, RESOURCES, check
from clouds.azure.checks.steps import delete, sends
from clouds.models import Scope
from clouds.models.waste import Kind, Meter, Metric, Question, Row, Seen, Waste

_GROUP = "Microsoft.Resources/resourceGroups"


def _managed(row: Row) -> str:
    """Who manages a group: a resource that it was made for, or the service that its name or tags speak of."""
    if row.get("managedBy"):
        return words.last(str(row["managedBy"]))
    found = words.managed(row)
    default = str(row.get("name", "")).lower()
    return found or ("Azure" if default.startswith(("networkwatcherrg", "defaultresourcegroup-")) else "")


def _created(row: Row) -> Any:
    return words.made(row) or row.get("createdTime")


GROUP = Kind(
    name="resource group", of=GROUPS, id=words.ident, label=lambda row: str(row["name"]), created=_created,
    tags=words.tags, managed=_managed, place=words.place,
)  # fmt: skip


def in_group(row: Row) -> tuple[str]:
    """The group of a resource, as an id in lower case."""
    return (str(row["id"]).lower().split("/providers/", 1)[0],)


def _empty(row: Row, seen: Seen) -> Waste | None:
    if seen.index(RESOURCES, in_group).get(str(row["id"]).lower()):
        return None
    if (row.get("properties") or {}).get("provisioningState", "Succeeded") != "Succeeded":
        return None
    return Waste(reason="holds no resource, also none that the portal hides", free=True, evidence={"resources": 0})


EMPTY_GROUP = check(
    id="empty-resource-group",
    title="Resource group with nothing in it",
    kind=GROUP,
    reads=(RESOURCES,),
    judge=_empty,
    why="It costs nothing; it keeps permissions, policies and locks that look as if they mattered.",
    spares=("any resource in it", "managed by a service (AKS, Databricks)", "Network Watcher's own"),
    unchecked=("its age, which Azure does not say", "templates that expect it by name", "permissions given on it"),
    meter="none",
    min_age=timedelta(days=7),
    remove=lambda doomed: (
        delete(_GROUP, doomed.id, f"delete resource group {doomed.name}", "can be undone"),
    ),
    reversal="can be undone",
    recovery="It can be made again; permissions and policies on it are lost.",
    order=99,
    steps=sends(_GROUP, "delete"),
)  # fmt: skip

DAYS = 30
STANDING: Mapping[str, str] = {
    "microsoft.containerregistry/registries": "registry",
    "microsoft.network/publicipaddresses": "address",
    "microsoft.network/natgateways": "NAT gateway",
    "microsoft.network/loadbalancers": "balancer",
    "microsoft.network/privateendpoints": "private endpoint",
    "microsoft.network/dnszones": "DNS zone",
    "microsoft.network/privatednszones": "DNS zone",
    "microsoft.compute/disks": "disk",
    "microsoft.compute/snapshots": "snapshot",
    "microsoft.keyvault/vaults": "vault",
    "microsoft.app/managedenvironments": "environment",
    "microsoft.web/serverfarms": "plan",
    "microsoft.search/searchservices": "search service",
}
"""Types that bill for being there; what is left bills on use, or cannot be told from it (a machine, a database)."""
SHARE, USE_USD = 0.95, 0.50


@dataclass(frozen=True)
class Bill(Question):
    """One question for the cost of every resource of a subscription."""

    ids: tuple[str, ...] = ()


def _ask(rows: Sequence[Row], scope: Scope, start: datetime, end: datetime) -> Iterator[Question]:
    body = {
        "type": "ActualCost",
        "timeframe": "Custom",
        "timePeriod": {"from": f"{start:%Y-%m-%d}T00:00:00Z", "to": f"{end:%Y-%m-%d}T00:00:00Z"},
        "dataset": {
            "granularity": "None",
            "aggregation": {
                "totalCost": {"name": "Cost", "function": "Sum"},
                "totalCostUSD": {"name": "CostUSD", "function": "Sum"},
            },
            "grouping": [{"type": "Dimension", "name": "ResourceId"}],
        },
    }
    yield Bill(
        {"parent": f"/subscriptions/{scope.account}", "body": body},
        tuple(range(len(rows))), None, tuple(str(row["id"]).lower() for row in rows),
    )  # fmt: skip


def _points(answer: Any, question: Question) -> Sequence[Sequence[float] | str | None]:
    """The cost of each resource in US dollars; a text where the columns are not what was asked for."""
    ids = question.ids if isinstance(question, Bill) else ()
    about = (answer or {}).get("properties") or {}
    if not about:  # 204: nothing was billed
        return [None] * len(ids)
    columns = [str(each.get("name", "")).lower() for each in about.get("columns") or ()]
    dollars = "costusd" in columns
    try:
        money = columns.index("costusd" if dollars else "cost")
        name, currency = columns.index("resourceid"), columns.index("currency")
    except ValueError:
        return ["Cost Management answered without the cost, the resource or the currency"] * len(ids)
    cost: dict[str, list[float]] = {}
    for row in about.get("rows") or ():
        if not dollars and str(row[currency]).upper() != "USD":
            return [f"the bill is in {str(row[currency])[:8]}, and is not added to US dollars"] * len(ids)
        cost.setdefault(str(row[name]).lower(), []).append(float(row[money]))
    return [cost.get(each) for each in ids]


COST = Metric(
    name="actual cost",
    of=RESOURCES,
    days=DAYS,
    absent="zero",
    service="Microsoft.CostManagement/query",
    operation="query",
    ask=_ask,
    points=_points,
    unit="USD",
    source="Cost Management, query by ResourceId: a row is reported for each resource that was billed",
)


def _quiet(row: Row, seen: Seen) -> Waste | None:
    members = seen.index(RESOURCES, in_group).get(str(row["id"]).lower(), ())
    if any(words.older(seen, each.get("createdTime"), days=DAYS) is False for each in members):
        return None  # a project that has just begun
    cost = {str(each["id"]): seen.metric(COST, each) for each in members}
    total = sum(cost.values())
    standing = {str(each["id"]): each for each in members if str(each.get("type", "")).lower() in STANDING}
    fixed = sum(usd for name, usd in cost.items() if name in standing)
    if total < 1 or len(members) == len(standing) or fixed / total < SHARE or total - fixed > USE_USD:
        return None
    dearest = max(cost, key=lambda name: cost[name])
    share = 100 * cost[dearest] / total
    return Waste(
        reason=f"${total:,.2f} in {DAYS} days, {words.last(dearest)} is {share:.1f}% of it; what bills on use came "
        f"to ${total - fixed:,.3f}",
        meters=tuple(meter for each in standing.values() if (meter := _meter(each))),
        bound="at least",
        holds=tuple(name for name, each in standing.items() if _meter(each)),
        evidence={
            "USD in 30 days": round(total, 3), "standing USD": round(fixed, 3), "on use USD": round(total - fixed, 3),
            "dearest": words.last(dearest), "dearest %": round(share, 1), "resources": len(members),
        },
    )  # fmt: skip


def _meter(row: Row) -> Meter | None:
    if str(row.get("type", "")).lower() == "microsoft.containerregistry/registries":
        return Meter(f"acr/registry-{str((row.get('sku') or {}).get('name', 'Basic')).lower()}", "day", 1.0, "global")
    return None


QUIET = check(
    id="quiet-resource-group",
    title="Resource group that has gone quiet as a whole",
    kind=GROUP,
    reads=(RESOURCES, COST),
    judge=_quiet,
    why="Each resource in it is in use by another, so that no check finds it; the bill shows that nobody uses them.",
    spares=(
        "under a dollar in 30 days",
        f"what bills on use is more than ${USE_USD:.2f}, or the standing charges are less than {SHARE:.0%}",
        "machines and databases in it, whose charge does not tell use from idleness",
        "a resource in it is younger than 30 days",
    ),
    unchecked=("what it is kept for", "resources deleted within the 30 days", "platform groups that others share"),
    meter="what Cost Management charged is in the evidence; the price is that of its registries at list price",
    min_age=timedelta(days=DAYS),
    remove="whether a project has ended is its owner's to say",
    reversal="cannot be undone",
    recovery="Nothing is removed from here.",
    order=98,
)  # fmt: skip
CHECKS = (QUIET, EMPTY_GROUP)
