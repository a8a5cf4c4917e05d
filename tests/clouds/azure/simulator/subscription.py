"""One subscription: its resources, quotas, capacity, operations and bills, on a clock."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.clouds.aws.simulator.clock import Clock

ID = "11111111-1111-1111-1111-111111111111"
TENANT = "22222222-2222-2222-2222-222222222222"
SPELT = {"swedencentral": "Sweden Central", "westus3": "West US 3"}
LISTS_LATE = 20.0
"""Seconds for which the list of a group's contents still shows what is gone."""


@dataclass(frozen=True)
class Boot:
    """How a start goes, in seconds from when a replica or machine was placed; `failure` is said instead of serving."""

    pulled: float = 30.0
    ready: float = 120.0
    failure: str = ""
    lines: tuple[tuple[float, str], ...] = (
        (31.0, "INFO 11-29 15:00:31 [api_server.py:1] vLLM API server version 0.30.0"),
        (90.0, "INFO 11-29 15:01:30 [gpu_model_runner.py:1] Model loading took 9.75 GiB memory and 41.2 seconds"),
        (110.0, "INFO 11-29 15:01:50 [kv_cache_utils.py:1] GPU KV cache size: 321,280 tokens"),
        (119.0, "INFO:     Application startup complete."),
    )


@dataclass
class Bill:
    """One thing that cost money: from when to when (None: it still does)."""

    what: str
    type: str
    region: str
    start: datetime
    end: datetime | None = None


@dataclass
class Resource:
    """One resource: what was sent, what Azure adds, and its state."""

    id: str
    type: str
    location: str
    tags: dict[str, str]
    properties: dict[str, Any]
    created: datetime
    state: str = "Succeeded"
    more: dict[str, Any] = field(default_factory=dict)
    held: dict[str, Any] = field(default_factory=dict)
    """What no answer shows: replicas, secrets, the bill, the quota that is taken."""

    @property
    def name(self) -> str:
        return self.id.rsplit("/", 1)[-1]

    def shown(self) -> dict[str, Any]:
        properties = {**self.properties, "provisioningState": self.state}
        stamp = self.created.strftime("%Y-%m-%dT%H:%M:%S.1234567Z")
        # Azure's answers spell a region as a person does, whatever was sent
        place = SPELT.get(self.location, self.location) if self.type.startswith("Microsoft.App/") else self.location
        found = {"id": self.id, "name": self.name, "type": self.type, "location": place, "tags": self.tags}
        return {**found, "properties": properties, "systemData": {"createdAt": stamp}, **self.more}


@dataclass
class Operation:
    """A long-running operation; `error` is what a failed one says with HTTP 200."""

    status: str = "InProgress"
    error: dict[str, Any] | None = None


class Subscription:
    """One subscription with a clock. Tests set its tables, then talk to it through httpx."""

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = clock or Clock()
        self.resources: dict[str, Resource] = {}
        self.operations: dict[str, Operation] = {}
        self.bills: list[Bill] = []
        self.misuse: list[str] = []
        """What Azure accepts and its documentation warns of."""
        self.providers: dict[str, str] = dict.fromkeys(
            ("Microsoft.App", "Microsoft.MachineLearningServices", "Microsoft.Logic", "Microsoft.Resources"),
            "Registered",
        )
        self.offered: dict[str, tuple[str, ...]] = {}
        """Profile types of Container Apps by region."""
        self.gpu_quota: dict[tuple[str, str], int] = {}
        """Serverless GPUs of an environment by region and accelerator."""
        self.capacity: dict[tuple[str, str], int] = {}
        """Free accelerators or machines by region and accelerator or size."""
        self.ml_quota: dict[tuple[str, str], tuple[int, int]] = {}
        """vCPUs of Azure ML: limit and what others use, by region and family."""
        self.sizes: dict[str, tuple[str, int, int, float]] = {}
        """Sizes of Azure ML: family, vCPUs, GPUs, $ an hour."""
        self.rates: dict[tuple[str, str], float] = {}
        """Meters of the price list, $ per second or hour, by region and meter."""
        self.rights: list[dict[str, Any]] = [{"actions": ["*"], "notActions": []}]
        """What whoever asks may do, as the list of permissions says it."""
        self.more_subscriptions: tuple[str, ...] = ()
        """Further ones of the tenant, in which there is nothing."""
        self.boot = Boot()
        self.late: list[tuple[datetime, dict[str, Any]]] = []
        self.fails_next = False
        self.words = "ok"
        self.environment_takes, self.app_takes, self.endpoint_takes, self.gone_after = 60.0, 20.0, 30.0, 15.0
        self._number = 0

    def copy(self) -> Subscription:
        """The same at the same moment, without what was to happen later by itself."""
        made = Subscription(Clock(self.clock.time))
        vars(made).update(deepcopy({name: value for name, value in vars(self).items() if name != "clock"}))
        return made

    def now(self) -> datetime:
        return self.clock.now()

    def time(self) -> float:
        """Seconds since 1970."""
        return self.clock.now().timestamp()

    def number(self) -> int:
        self._number += 1
        return self._number

    def find(self, place: str) -> Resource | None:
        return self.resources.get(place.lower())

    def of(self, kind: str) -> list[Resource]:
        return [one for one in self.resources.values() if one.type.lower() == kind.lower()]

    def alive(self, resource: Resource) -> bool:
        return self.resources.get(resource.id.lower()) is resource

    def bill(self, what: str, kind: str, region: str) -> Bill:
        row = Bill(what, kind, region, self.now())
        self.bills.append(row)
        return row

    def billing(self) -> list[str]:
        """What costs money now."""
        return [f"{row.what} ({row.type}, {row.region})" for row in self.bills if row.end is None]

    def stop_bill(self, resource: Resource) -> None:
        row = resource.held.pop("bill", None)
        if row is not None and row.end is None:
            row.end = self.now()
            self.capacity[row.region, row.type] = self.capacity.get((row.region, row.type), 0) + 1

    def drop(self, resource: Resource) -> None:
        """It is gone, with what it holds; a list shows it a little longer."""
        self.stop_bill(resource)
        if self.alive(resource):
            del self.resources[resource.id.lower()]
            self.late.append((self.now(), resource.shown()))

    def begin(self) -> str:
        """A new operation: its name."""
        name = f"op-{self.number():06d}"
        self.operations[name] = Operation()
        return name

    def end(self, name: str, error: dict[str, Any] | None = None) -> None:
        self.operations[name] = Operation("Failed" if error else "Succeeded", error)
