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

from clouds.errors import CloudError
from clouds.gcp import methods
from clouds.gcp.endpoints import labels
from clouds.gcp.endpoints.parts import KINDS as PARTS
from clouds.models import DeploymentPlan, Scope
from tests.clouds.gcp import rig as rigs
from tests.clouds.gcp.rig import Rig
from tests.clouds.gcp.simulator import Fault, Killed, Project, around
from tests.clouds.gcp.simulator.faults import KINDS
from tools.ledger import Book


@dataclass(frozen=True)
class Moment:
    """Where a flow begins: the project, the ledger's file, the plan."""

    project: Project
    ledger: Path
    plan: DeploymentPlan
    engine_port: int

    @classmethod
    def of(cls, rig: Rig, plan: DeploymentPlan, keep: Path) -> Moment:
        rig.book.close()
        keep.mkdir()
        shutil.copy(rig.book.home / "ledger.sqlite3", keep)
        return cls(rig.project.copy(), keep / "ledger.sqlite3", plan, rig.engine_port)

    def again(self, home: Path, *, checked: bool = False) -> Rig:
        home.mkdir()
        shutil.copy(self.ledger, home)
        project = self.project.copy()
        around.rearmed(project)
        rig = rigs.rig(home, project, engine_port=self.engine_port)
        rig.seam.checked = checked
        return rig


@dataclass(frozen=True)
class Flow:
    """`run` does it and says how it ended; `good` is how it must end in the end."""

    name: str
    service: str
    run: Callable[[Rig, DeploymentPlan], str]
    good: str


@dataclass
class Outcome:
    """What the cases of one flow came to."""

    calls: int = 0
    tried: Counter[str] = field(default_factory=Counter)
    ends: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0


def try_all(flow: Flow, moment: Moment, homes: Path, *, full: bool, each: bool) -> Outcome:
    """Every call of the flow: in every way when `full`, in one way when `each`; else every second one, if it changes
    something.

    What changes something is struck where it hurts most, its answer lost or the process killed after it, in turn.
    """
    found, start = Outcome(), time.monotonic()
    rig = moment.again(homes / "sound", checked=True)
    ended = flow.run(rig, moment.plan)
    assert ended == flow.good, ended
    names = rig.seam.operations()
    tried = worth_trying(names)
    assert list(unaccounted(flow, rig, moment.plan)) == []
    found.calls = len(tried)
    for place, at in enumerate(tried):
        for kind in _ways(names[at], place + len(flow.name), full=full, each=each):
            home = homes / f"{KINDS.index(kind)}-{at}"
            found.tried[kind] += 1
            _case(flow, moment, home, Fault(at, kind), found)
            shutil.rmtree(home)
    found.seconds = time.monotonic() - start
    return found


WORST = ("acted, answer lost", "killed after", "acted, half an answer")


def _ways(name: str, turn: int, *, full: bool, each: bool) -> tuple[str, ...]:
    if full:
        return KINDS
    if each:
        return (KINDS[turn % len(KINDS)],)
    service, _, operation = name.partition(".")
    if methods.table(service)[operation].reads:
        return ()
    return (WORST[turn // 2 % len(WORST)],) if turn % 2 else ()


def worth_trying(operations: list[str]) -> list[int]:
    """All calls but the inner ones of a wait: of what comes more than four times, the first and last two."""
    places: dict[str, list[int]] = {}
    for at, operation in enumerate(operations):
        places.setdefault(operation, []).append(at)
    kept = [at for found in places.values() for at in (found if len(found) <= 4 else found[:2] + found[-2:])]
    return sorted(kept)


def _case(flow: Flow, moment: Moment, home: Path, fault: Fault, found: Outcome) -> None:
    rig = moment.again(home)
    rig.seam.fault = fault
    first = _ended(flow, rig, moment.plan)
    struck = f"{rig.seam.sent[fault.at]} {fault.kind}" if len(rig.seam.sent) > fault.at else f"call {fault.at}"
    rig.seam.fault, rig.seam.down = None, ""
    rig.project.clock.sleep(120)  # what Google was asked goes on although nobody looks
    found.wrong += [f"{struck}: after the first run: {word}" for word in unaccounted(flow, rig, moment.plan)]
    rig.book.close()
    after = replace(rig, book=Book(home, clock=rig.project.now))  # the next process opens the ledger anew
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
    """What exists without our label or without a row of the ledger, and what bills without being listed."""
    rows = {
        (PARTS[str(step.call)].word, PARTS[str(step.call)].name(step.call.parameters))
        for step in rig.book.steps(plan.deployment)
        if step.state in {"intent", "done"} and str(step.call) in PARTS
    }
    for word, name, mine in existing(rig.project):
        if mine.get(labels.DEPLOYMENT) != plan.deployment:
            yield f"{word} {name} has no label of ours"
        if (word, name) not in rows and not (word == "TPU node" and ("queued resource", name) in rows):
            yield f"{word} {name} is in no row of the ledger"
    yield from rig.project.misuse
    billing = [bill for bill in rig.project.bills if bill.end is None]
    listed = rig.service(flow.service).list(scope=Scope()).found if billing else ()
    shown = {(one.ref.split(":")[2], one.billing) for one in listed if one.deployment == plan.deployment}
    for bill in billing:
        if not {(bill.zone, True), (bill.zone, None)} & shown:
            yield f"{bill.what} in {bill.zone} bills and is not listed as billing"
    if len(billing) > 1:
        yield f"{len(billing)} things bill at once: {rig.project.billing()}"


def existing(project: Project) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Everything that was made, with its labels."""
    for key, row in project.instances.items():
        yield "instance", key.split("/")[1], row.get("labels", {})
    for name, row in project.nodes.items():
        yield "TPU node", name.rsplit("/", 1)[-1], row.get("labels", {})
    for name, row in project.queued.items():
        yield "queued resource", name.rsplit("/", 1)[-1], row["tpu"]["nodeSpec"][0]["node"].get("labels", {})
    for name, row in project.services.items():
        yield "service", name.rsplit("/", 1)[-1], row.get("labels", {})
    for name, row in project.firewalls.items():
        yield "firewall rule", name, labels.of_description(row["description"])
    for name, row in project.jobs.items():
        yield "scheduler job", name.rsplit("/", 1)[-1], labels.of_description(row["description"])
