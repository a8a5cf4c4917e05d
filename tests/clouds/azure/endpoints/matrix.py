"""One flow against every fault: each request fails in turn in each way, then everything that exists is accounted for.

A flow is recorded once up to where it begins; every case starts from a copy of that moment.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from clouds.base import EndpointService
from clouds.errors import CloudError
from clouds.models import DeploymentPlan, Scope
from tests.clouds.azure.endpoints import rig as rigs
from tests.clouds.azure.endpoints.rig import Rig
from tests.clouds.azure.simulator import Fault, Killed, Subscription
from tests.clouds.azure.simulator.faults import KINDS
from tests.clouds.azure.simulator.subscription import Resource

OURS = "modelrig-deployment"


@dataclass(frozen=True)
class Moment:
    """Where a flow begins: the subscription, the data directory, the plan."""

    account: Subscription
    home: Path
    plan: DeploymentPlan

    @classmethod
    def of(cls, rig: Rig, plan: DeploymentPlan, keep: Path) -> Moment:
        rig.book.close()
        shutil.copytree(rig.book.home, keep)
        return cls(rig.account.copy(), keep, plan)

    def again(self, home: Path) -> Rig:
        shutil.copytree(self.home, home)
        return rigs.rig(home, self.account.copy())


@dataclass(frozen=True)
class Flow:
    """`run` does it and says how it ended; `good` is how it must end in the end."""

    name: str
    service: Callable[[Rig], EndpointService]
    run: Callable[[Rig, DeploymentPlan], str]
    good: str
    from_first: str = ""
    """Only the requests from the first of this name on; empty: all."""
    at_once: int = 1
    """How many may bill at once right after a fault: a change starts the new one before the old one goes."""


@dataclass
class Outcome:
    """What the cases of one flow came to."""

    calls: int = 0
    tried: Counter[str] = field(default_factory=Counter)
    ends: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0


def try_all(flow: Flow, moment: Moment, homes: Path, *, full: bool) -> Outcome:
    """Every request of the flow in every way when `full`; else every third write and one more."""
    found, start = Outcome(), time.monotonic()
    rig = moment.again(homes / "sound")
    ended = flow.run(rig, moment.plan)
    assert ended == flow.good, ended
    assert list(unaccounted(flow, rig, moment.plan)) == []
    names = [str(one) for one in rig.seam.sent]
    tried = worth_trying(names, flow.from_first)
    rig.book.close()
    found.calls = len(tried)
    if not full:
        writes = [at for at in tried if rig.seam.sent[at].changes]
        tried = sorted({*writes[len(flow.name) % 3 :: 3], tried[len(tried) // 2]})
    for place, at in enumerate(tried):
        for kind in KINDS if full else (KINDS[(place + len(flow.name)) % len(KINDS)],):
            if not Fault(at, kind).applies(rig.seam.sent[at]):
                continue
            home = homes / f"{KINDS.index(kind)}-{at}"
            found.tried[kind] += 1
            _case(flow, moment, home, Fault(at, kind), found)
            shutil.rmtree(home)
    found.seconds = time.monotonic() - start
    return found


def worth_trying(names: list[str], first: str = "") -> list[int]:
    """All requests but the inner ones of a wait: of what comes more than six times, the first and last three."""
    places: dict[str, list[int]] = {}
    start = names.index(first) if first else 0
    for at, name in enumerate(names[start:], start):
        places.setdefault(name, []).append(at)
    return sorted(at for found in places.values() for at in (found if len(found) <= 6 else found[:3] + found[-3:]))


def _case(flow: Flow, moment: Moment, home: Path, fault: Fault, found: Outcome) -> None:
    rig = moment.again(home)
    rig.seam.fault = fault
    first = _ended(flow, rig, moment.plan)
    struck = f"{rig.seam.sent[fault.at]} {fault.kind}" if len(rig.seam.sent) > fault.at else f"request {fault.at}"
    rig.seam.fault, rig.seam.down = None, ""
    found.wrong += [
        f"{struck}: after the first run: {word}" for word in unaccounted(flow, rig, moment.plan, flow.at_once)
    ]
    rig.book.close()
    after = rigs.rig(home, rig.account)  # the next process knows nothing but the ledger and what Azure says
    second = _ended(flow, after, moment.plan)
    found.ends[fault.kind, first] += 1
    if second != flow.good:
        found.wrong.append(f"{struck}: {first}, then {second}")
    found.wrong += [f"{struck}: after the second run: {word}" for word in unaccounted(flow, after, moment.plan)]
    after.book.close()


def _ended(flow: Flow, rig: Rig, plan: DeploymentPlan) -> str:
    try:
        return flow.run(rig, plan)
    except Killed:
        return "killed"
    except CloudError as error:
        return "refused in words" if error.fix and error.tried else f"refused without words: {error!r}"


def unaccounted(flow: Flow, rig: Rig, plan: DeploymentPlan, at_once: int = 1) -> Iterator[str]:
    """What exists without our tag or without a row of the ledger, and what bills without being listed."""
    rows = {
        str(step.call.parameters.get("id", "")).lower()
        for step in rig.book.steps(plan.deployment)
        if step.state in {"intent", "done"}
    }
    for one in rig.account.resources.values():
        if theirs(one):
            continue
        if whose(one) not in {plan.deployment, "by its name"}:
            yield f"{one.type} {one.name} has no tag of ours"
        if one.id.lower() not in rows:
            yield f"{one.type} {one.name} is in no row of the ledger"
    yield from rig.account.misuse
    billing = [bill for bill in rig.account.bills if bill.end is None]
    listed = flow.service(rig).list(scope=Scope()).found if billing else ()
    shown = {(one.ref.split(":")[2], one.billing) for one in listed if one.deployment == plan.deployment}
    for bill in billing:
        if not {(bill.region, True), (bill.region, None)} & shown:
            yield f"{bill.what} in {bill.region} bills and is not listed as billing"
    if len(billing) > at_once:
        yield f"{len(billing)} things bill at once: {[bill.what for bill in billing]}"


def theirs(one: Resource) -> bool:
    """What the user had before, and versions that were put away (Azure ML deletes none)."""
    return "/resourcegroups/theirs" in one.id.lower() and (
        one.name in {"theirs", "team", "env"} or bool(one.properties.get("isArchived"))
    )


def whose(one: Resource) -> str:
    """The deployment that a resource names."""
    if one.type.endswith("roleAssignments"):
        return "by its name"
    if one.type.endswith("versions"):
        return str(one.properties["tags"].get(OURS, ""))
    return one.tags.get(OURS, "")
