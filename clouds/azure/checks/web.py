"""App Service plans that host nothing, and availability tests of what is gone."""

from __future__ import annotations

from clouds.azure.checks import words
from clouds.azure.checks.reads import aged, aged_kind, check, listing, over
from clouds.azure.checks.steps import delete, sends
from clouds.models.waste import Meter, Row, Seen, Waste

_PLAN, _TEST = "Microsoft.Web/serverfarms", "Microsoft.Insights/webtests"
PLANS, TESTS = listing(_PLAN), listing(_TEST)
COMPONENTS = listing("Microsoft.Insights/components")
_FREE = ("free", "shared", "dynamic", "flexconsumption")


def _plan(whole: Row, _row: Row, _seen: Seen) -> Waste | None:
    about, sku = words.props(whole), whole.get("sku") or {}
    if about.get("numberOfSites") is None or about["numberOfSites"]:
        return None
    tier, name = str(sku.get("tier", "")).lower().replace(" ", ""), str(sku.get("name", ""))
    if tier in _FREE or name.upper() in ("F1", "D1", "Y1", "FC1"):
        return None
    count = int(about.get("currentNumberOfWorkers") or about.get("numberOfWorkers") or sku.get("capacity") or 0)
    if not count:
        return None
    system = "linux" if about.get("reserved") else "windows"
    return Waste(
        reason=f"hosts no app; {count} x {name} ({system})",
        meters=(Meter(f"app-service/{name}/{system}", "instance-hour", count),),
        evidence={"sku": name, "instances": count, "system": system},
    )


IDLE_PLAN = check(
    id="idle-app-service-plan",
    title="App Service plan that hosts no app",
    kind=aged_kind("App Service plan", aged(PLANS)),
    reads=(PLANS,),
    judge=over(PLANS, _plan),
    why="A plan bills its instances by the hour, with or without apps; stopped apps count as apps.",
    spares=(
        "an app is on it, also a stopped one",
        "free, shared and consumption plans",
        "elastic plans with no instance",
        "younger than a day",
    ),
    unchecked=("a slot swap or a deployment under way",),
    meter="instance-hours of its SKU, Linux and Windows apart",
    remove=lambda doomed: (delete(_PLAN, doomed.id, f"delete plan {doomed.name}", "can be undone"),),
    reversal="can be undone",
    recovery="A plan can be made again.",
    order=33,
    steps=sends(_PLAN, "delete"),
)  # fmt: skip


def _test(whole: Row, row: Row, seen: Seen) -> Waste | None:
    watched = [
        name.split(":", 1)[1].lower()
        for name, value in (row.get("tags") or whole.get("tags") or {}).items()
        if name.lower().startswith("hidden-link:") and str(value).lower() == "resource"
    ]
    if not watched:
        return None
    known = seen.index(COMPONENTS, words.key)
    mine = [each for each in watched if each.startswith(f"/subscriptions/{(seen.at.account or '').lower()}/")]
    if len(mine) < len(watched) or any(each in known for each in watched):
        return None
    about = words.props(whole)
    return Waste(
        reason=f"reports to {words.last(watched[0])}, which is gone",
        meters=(Meter("availability-test/standard", "month"),) if about.get("Kind") == "standard" else (),
        free=about.get("Kind") != "standard",
        evidence={"component": watched[0], "sort": about.get("Kind", ""), "every s": about.get("Frequency")},
    )


LOST_TEST = check(
    id="unused-availability-test",
    title="Availability test of a component that is gone",
    kind=aged_kind("availability test", aged(TESTS)),
    reads=(TESTS, COMPONENTS),
    judge=over(TESTS, _test),
    why="A standard test bills each run; a classic one only sends requests that nobody reads.",
    spares=("its Application Insights component is there, or in another subscription", "younger than a day"),
    unchecked=("alerts that still point at it",),
    meter="runs of a standard test, which have no rate in the table; classic ping tests cost nothing",
    remove=lambda doomed: (delete(_TEST, doomed.id, f"delete test {doomed.name}", "can be undone"),),
    reversal="can be undone",
    recovery="A test can be made again.",
    order=87,
    steps=sends(_TEST, "delete"),
)
CHECKS = (IDLE_PLAN, LOST_TEST)
