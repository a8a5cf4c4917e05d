"""A place with disks that can be backed up and deleted, that remembers what was done to it, and can be made to fail."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clouds.base import Cloud
from clouds.errors import CloudError
from clouds.models import Call, Scope
from tests.tools.waste import toy
from tools.cleanup import planning
from tools.cleanup.applying import Outcome, Run
from tools.cleanup.journal import Journal
from tools.cleanup.records import CleanupPlan
from tools.cleanup.waiting import Clock
from tools.ledger import Book
from tools.waste.records import Scan


@dataclass
class World:
    """Implements the network of the toy cloud over state; `fails` maps an operation to the error that it raises."""

    disks: dict[str, dict[str, Any]]
    backups: dict[str, int] = field(default_factory=dict)
    needs: int = 2
    """How often a backup is looked at before it is complete."""
    fails: dict[str, CloudError] = field(default_factory=dict)
    lost_answers: set[str] = field(default_factory=set)
    """Operations that are carried out, and whose answer is lost."""
    tags: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    backup_state: str = ""
    log: list[str] = field(default_factory=list)
    before: dict[str, Any] = field(default_factory=dict)
    """What happens in the world just before an operation is answered: a function, once."""

    def send(self, call: Call, *, scope: Scope) -> Any:
        del scope
        operation, asked = call.operation, call.parameters
        name = str(asked.get("disk") or asked.get("id") or "")
        self.log.append(f"{operation} {name}".strip())
        if (happens := self.before.pop(operation, None)) is not None:
            happens()
        if operation in self.fails:
            raise self.fails[operation]
        answer = self._answer(operation, name)
        if operation in self.lost_answers:
            self.lost_answers.discard(operation)
            raise ConnectionError("the answer is lost")
        return answer

    def _answer(self, operation: str, name: str) -> Any:  # noqa: C901 - one case for each operation
        match operation:
            case "ListPlaces":
                return {"places": ["north"]}
            case "ListDisks":
                return {"disks": [dict(each) for each in self.disks.values()]}
            case "ListTags":
                return {"tags": self.tags.get(name, [])}
            case "CreateBackup":
                self.backups[f"b-{name}"] = 0
                return {"backup": {"id": f"b-{name}"}}
            case "GetBackup":
                self.backups[name] += 1
                if self.backup_state:
                    return {"state": self.backup_state}
                return {"state": "complete" if self.backups[name] >= self.needs else "pending"}
            case "DeleteDisk":
                if name not in self.disks:
                    raise toy.missing()
                del self.disks[name]
                return {}
            case "GetDisk":
                if name not in self.disks:
                    raise toy.missing()
                return self.disks[name]
        return {}

    @property
    def writes(self) -> list[str]:
        return [line for line in self.log if line.startswith(("CreateBackup", "DeleteDisk"))]


class Ticking:
    """Progress whose waits pass at once, and a clock that moves with them."""

    def __init__(self) -> None:
        self.at = 0.0
        self.said: list[str] = []

    def report(self, message: str, done: float | None = None, total: float | None = None) -> None:
        self.said.append(message)

    def check(self) -> None:
        """Nobody asks to stop."""

    def sleep(self, seconds: float) -> None:
        self.at += seconds


def connect(world: World) -> Any:
    cloud: Cloud = toy.cloud(world)
    return lambda name: cloud


def scanned(world: World) -> Scan:
    return toy.look({}, network=world)  # type: ignore[arg-type]


def planned(world: World, scan: Scan | None = None) -> CleanupPlan:
    scan = scan or scanned(world)
    return planning.make(scan.id, scan.findings, connect(world), (), toy.NOW, Ticking())


def apply(world: World, plan: CleanupPlan, home: Path, ticking: Ticking | None = None) -> tuple[Outcome, ...]:
    ticking = ticking or Ticking()
    with Book(home) as book:
        run = Run(plan, connect(world), Journal(book, plan.id), ticking, lambda: toy.NOW, Clock(lambda: ticking.at))
        return run.run()


def disks(*names: str, **more: Any) -> dict[str, dict[str, Any]]:
    return {name: toy.disk(name, **more) for name in names}
