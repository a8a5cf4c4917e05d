"""One flow against every fault: each call fails in turn in each way, then everything that exists is accounted for.

A flow is recorded once up to where it begins; every case starts from a copy of that moment.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from clouds.base import EndpointService
from clouds.errors import CloudError
from clouds.models import DeploymentPlan, Scope
from tests.clouds.aws import rig as rigs
from tests.clouds.aws.rig import Rig
from tests.clouds.aws.simulator import Account, Fault, Killed, Sent
from tests.clouds.aws.simulator.faults import KINDS
from tools.ledger import Book

OURS = "modelrig-deployment"


@dataclass(frozen=True)
class Moment:
    """Where a flow begins: the account, the ledger's file, the plan."""

    account: Account
    ledger: Path
    plan: DeploymentPlan

    @classmethod
    def of(cls, rig: Rig, plan: DeploymentPlan, keep: Path) -> Moment:
        rig.book.close()
        keep.mkdir()
        shutil.copy(rig.book.home / "ledger.sqlite3", keep)
        return cls(rig.account.copy(), keep / "ledger.sqlite3", plan)

    def again(self, home: Path, *, checked: bool = False) -> Rig:
        home.mkdir()
        shutil.copy(self.ledger, home)
        rig = rigs.rig(home, self.account.copy())
        rig.seam.checked = checked
        return rig


@dataclass(frozen=True)
class Flow:
    """`run` does it and says how it ended; `good` is how it must end in the end."""

    name: str
    service: Callable[[Rig], EndpointService]
    run: Callable[[Rig, DeploymentPlan], str]
    good: str
    between: tuple[str, str] = ("", "")
    """Only the calls from the first of one operation to the last of another; empty: all."""


@dataclass
class Outcome:
    """What the cases of one flow came to."""

    calls: int = 0
    tried: Counter[str] = field(default_factory=Counter)
    ends: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0


def try_all(flow: Flow, moment: Moment, homes: Path, *, full: bool, writes: int = 1, reads: int = 1) -> Outcome:
    """Every call of the flow: in every way when `full`, else each call in one way, all ways in turn.

    Of the calls that change something one in `writes`, of those that only read one in `reads`.
    """
    found, start = Outcome(), time.monotonic()
    rig = moment.again(homes / "sound", checked=True)
    ended = flow.run(rig, moment.plan)
    assert ended == flow.good, ended
    tried = worth_trying(rig.seam.operations(), *flow.between)
    assert list(unaccounted(flow, rig, moment.plan)) == []
    found.calls = len(tried)
    changing = [at for at in tried if not _reads(rig.seam.sent[at])]
    taken = sorted({*changing[::writes], *(at for at in tried[::reads] if at not in changing)})
    for place, at in enumerate(taken):
        for kind in KINDS if full else (KINDS[(place + len(flow.name)) % len(KINDS)],):
            home = homes / f"{KINDS.index(kind)}-{at}"
            found.tried[kind] += 1
            _case(flow, moment, home, Fault(at, kind), found)
            shutil.rmtree(home)
    found.seconds = time.monotonic() - start
    return found


def _reads(sent: Sent) -> bool:
    return sent.operation.startswith(("Describe", "List", "Get"))


def worth_trying(operations: list[str], first: str = "", last: str = "") -> list[int]:
    """All calls but the inner ones of a wait: of what comes more than four times, the first and last two."""
    places: dict[str, list[int]] = {}
    start = operations.index(first) if first else 0
    end = len(operations) - operations[::-1].index(last) if last else len(operations)
    for at, operation in enumerate(operations[start:end], start):
        places.setdefault(operation, []).append(at)
    kept = [at for found in places.values() for at in (found if len(found) <= 4 else found[:2] + found[-2:])]
    return sorted(kept)


def _case(flow: Flow, moment: Moment, home: Path, fault: Fault, found: Outcome) -> None:
    rig = moment.again(home)
    rig.seam.fault = fault
    first = _ended(flow, rig, moment.plan)
    struck = f"{rig.seam.sent[fault.at]} {fault.kind}" if len(rig.seam.sent) > fault.at else f"call {fault.at}"
    rig.seam.fault, rig.seam.down = None, ""
    found.wrong += [f"{struck}: after the first run: {word}" for word in unaccounted(flow, rig, moment.plan)]
    rig.book.close()
    after = replace(rig, book=Book(home, clock=rig.account.now))  # the next process opens the ledger anew
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


def unaccounted(flow: Flow, rig: Rig, plan: DeploymentPlan) -> Iterator[str]:
    """What exists without our tag or without a row of the ledger, and what bills without being listed."""
    rows = {
        name
        for step in rig.book.steps(plan.deployment)
        if step.state in {"intent", "done"}
        for name in _names(step.call.operation, step.call.parameters)
    }
    for region in rig.account.regions.values():
        for word, name, tags in _existing(rig.account, region.name):
            if tags.get(OURS) != plan.deployment:
                yield f"{word} {name} in {region.name} has no tag of ours"
            if (word, name) not in rows:
                yield f"{word} {name} in {region.name} is in no row of the ledger"
    yield from rig.account.misuse
    billing = [bill for bill in rig.account.bills if bill.end is None]
    listed = flow.service(rig).list(scope=Scope()).found if billing else ()
    shown = {(one.ref.split(":")[2], one.billing) for one in listed if one.deployment == plan.deployment}
    for bill in billing:
        if not {(bill.region, True), (bill.region, None)} & shown:
            yield f"{bill.what} in {bill.region} bills and is not listed as billing"
    if len(billing) > 1:
        yield f"{len(billing)} things bill at once: {[bill.what for bill in billing]}"


def _names(operation: str, params: object) -> Iterator[tuple[str, str]]:
    assert isinstance(params, dict)
    for made, word, key in (
        ("CreateModel", "model", "ModelName"),
        ("CreateEndpointConfig", "config", "EndpointConfigName"),
        ("CreateEndpoint", "endpoint", "EndpointName"),
        ("CreateSchedule", "schedule", "Name"),
        ("CreateSecurityGroup", "group", "GroupName"),
    ):
        if operation == made:
            yield word, str(params[key])
    if operation == "RunInstances":
        yield "instance", "of the deployment"


def _existing(account: Account, name: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    region = account[name]
    for word, resource, held in (
        ("model", "model", region.models),
        ("config", "endpoint-config", region.configs),
        ("endpoint", "endpoint", region.endpoints),
    ):
        for one in held:
            yield word, one, account.tags.get(account.arn("sagemaker", name, f"{resource}/{one}"), {})
    for one, row in region.schedules.items():
        yield "schedule", one, dict(pair.split("=", 1) for pair in row["Description"].split())
    for one, row in region.groups.items():
        yield "group", row["GroupName"], account.tags.get(one, {})
    for one, row in region.instances.items():
        if row["state"] != "terminated":
            yield "instance", "of the deployment", account.tags.get(one, {})
