"""App Service plans that host nothing, and availability tests of what is gone."""

from __future__ import annotations

import re
from collections.abc import Iterable

from clouds.azure.checks import words
from clouds.azure.checks.reads import check, dated, listing
from clouds.azure.checks.steps import delete, sends
from clouds.models.waste import Meter, Row, Seen, Unresolved, Waste

_PLAN, _TEST = "Microsoft.Web/serverfarms", "Microsoft.Insights/webtests"
PLANS, TESTS = listing(_PLAN, detailed="true"), listing(_TEST)
SITES = listing("Microsoft.Web/sites")
_PLANS, _TESTS = dated(PLANS), dated(TESTS)
COMPONENTS = listing("Microsoft.Insights/components")
_FREE = ("free", "shared", "dynamic", "flexconsumption")


def _plan_of(row: Row) -> Iterable[str]:
    found = words.props(row).get("serverFarmId")
    return (str(found).lower(),) if found else ()


def _spelt(name: str) -> str:
    """A SKU as the price list spells it: P1V3 and P1v3 are one, P1MV3 is P1mv3."""
    return re.sub(r"M?V\d$", lambda found: found[0].lower(), name)


def _plan(row: Row, seen: Seen) -> Waste | None:
    # A recorded answer counts no site in a plan that a running app names (cloud-custodian): both are asked.
    if seen.index(SITES, _plan_of).get(str(row["id"]).lower()):
        return None
    about, sku = words.props(row), row.get("sku") or {}
    if about.get("numberOfSites") is None:
        raise Unresolved("how many apps it hosts is not given")
    if about["numberOfSites"]:
        return None
    tier, name = str(sku.get("tier", "")).lower().replace(" ", ""), _spelt(str(sku.get("name", "")))
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
    kind=_PLANS.kind("App Service plan"),
    reads=(_PLANS.index, SITES),
    judge=_PLANS.judge(_plan),
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


def _test(row: Row, seen: Seen) -> Waste | None:
    watched = [
        name.split(":", 1)[1].lower()
        for name, value in (row.get("tags") or {}).items()
        if name.lower().startswith("hidden-link:") and str(value).lower() == "resource"
    ]
    if not watched:
        return None
    known = seen.index(COMPONENTS, words.key)
    mine = [each for each in watched if each.startswith(f"/subscriptions/{(seen.at.account or '').lower()}/")]
    if len(mine) < len(watched) or any(each in known for each in watched):
        return None
    about = words.props(row)
    return Waste(
        reason=f"reports to {words.last(watched[0])}, which is gone",
        meters=(Meter("availability-test/standard", "month"),) if about.get("Kind") == "standard" else (),
        free=about.get("Kind") != "standard",
        evidence={"component": watched[0], "sort": about.get("Kind", ""), "every s": about.get("Frequency")},
    )


LOST_TEST = check(
    id="unused-availability-test",
    title="Availability test of a component that is gone",
    kind=_TESTS.kind("availability test"),
    reads=(_TESTS.index, COMPONENTS),
    judge=_TESTS.judge(_test),
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
