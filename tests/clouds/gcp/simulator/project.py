"""The state of one simulated project: what exists where, what is allowed, and what bills."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.clouds.aws.simulator.clock import Clock

NAME, NUMBER = "demo-project", "123456789012"
Answer = Any
Operation = Callable[["Project", Mapping[str, Any]], Answer]


class Refused(Exception):
    """An error answer of Google's: its status and its whole body."""

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        super().__init__(f"{status} {body}")
        self.status, self.body = status, body


def refused(code: int, status: str, message: str, **more: Any) -> Refused:
    """A google.rpc.Status over HTTP."""
    return Refused(code, {"error": {"code": code, "status": status, "message": message, **more}})


def missing(what: str) -> Refused:
    """404, as Compute Engine and the others say it."""
    return refused(404, "NOT_FOUND", f"The resource '{what}' was not found")


@dataclass
class Bill:
    """One thing that cost money: from when to when (None: it still does)."""

    what: str
    zone: str
    start: datetime
    end: datetime | None = None
    taken: str = ""
    """The capacity's key that is free again when it ends."""


@dataclass
class Boot:
    """The lines that a machine writes, by seconds since it runs; `done` is when its engine answers."""

    lines: tuple[tuple[float, str], ...]
    done: float


@dataclass
class Project:
    """One project with a clock. Tests set its tables, then talk to it through the real api."""

    clock: Clock = field(default_factory=Clock)
    capacity: dict[str, int] = field(default_factory=dict)
    """Free machines by `type@zone`, `spot:type@zone` or `flex:type@zone`; without a key there is no such type."""
    limits: dict[str, float] = field(default_factory=dict)
    """Quota by id and place: `TPUV6EPerProjectPerRegionForTPUAPI@us-east5`. No key: as much as is asked."""
    instances: dict[str, dict[str, Any]] = field(default_factory=dict)
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    queued: dict[str, dict[str, Any]] = field(default_factory=dict)
    services: dict[str, dict[str, Any]] = field(default_factory=dict)
    firewalls: dict[str, dict[str, Any]] = field(default_factory=dict)
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    operations: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: dict[str, str] = field(default_factory=dict)
    buckets: dict[str, str] = field(default_factory=lambda: {"demo-bucket": "US-WEST4"})
    objects: dict[str, Any] = field(default_factory=dict)
    started: dict[str, datetime] = field(default_factory=dict)
    """When each machine began to run, and its engine's revision last began."""
    attributes: dict[str, dict[str, str]] = field(default_factory=dict)
    bills: list[Bill] = field(default_factory=list)
    misuse: list[str] = field(default_factory=list)
    flex_refused: set[str] = field(default_factory=set)
    """Zones that have the hardware and do not offer flex-start."""
    hints: str = ""
    boot: Boot | None = None
    uri: str = "http://127.0.0.1:9"
    run_fails: str = ""
    number: int = 0

    def copy(self) -> Project:
        """The same project at the same moment, without what was to happen later by itself."""
        made = Project(Clock(self.clock.time))
        vars(made).update(deepcopy({name: value for name, value in vars(self).items() if name != "clock"}))
        return made

    def now(self) -> datetime:
        return self.clock.now()

    def stamp(self) -> str:
        return self.now().strftime("%Y-%m-%dT%H:%M:%S.000-00:00").replace("-00:00", "Z")

    def later(self, seconds: float, run: Callable[[], None]) -> None:
        self.clock.later(seconds, run)

    def id(self) -> int:
        self.number += 1
        return self.number

    def bill(self, what: str, zone: str, taken: str = "") -> None:
        self.bills.append(Bill(what, zone, self.now(), taken=taken))

    def unbill(self, what: str, zone: str, *, free: bool = True) -> None:
        for row in self.bills:
            if (row.what, row.zone, row.end) == (what, zone, None):
                row.end = self.now()
                if row.taken and free:
                    self.capacity[row.taken] += 1

    def billing(self) -> list[str]:
        """What costs money now."""
        return [f"{row.what} in {row.zone}" for row in self.bills if row.end is None]

    def takes(self, key: str) -> bool:
        """Take one machine of what is free."""
        if self.capacity.get(key, 0) < 1:
            return False
        self.capacity[key] -= 1
        return True

    def limited(self, ids: tuple[str, ...], chips: int) -> str:
        """The first quota that is too small; empty when all do."""
        return next((one for one in ids if self.limits.get(one, 1e9) < chips), "")


def market_key(market: str, kind: str, zone: str) -> str:
    """The capacity's key."""
    prefix = {"STANDARD": "", "SPOT": "spot:", "FLEX_START": "flex:"}[market]
    return f"{prefix}{kind}@{zone}"
