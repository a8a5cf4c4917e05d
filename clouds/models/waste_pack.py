"""What one cloud gives to a waste scan: its checks, its bill, and its names of places, permissions and commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from clouds.models.basic import Call, Scope
from clouds.models.waste import Charge, Listing, Row, WasteCheck


@dataclass(frozen=True)
class Bill:
    """How one cloud's bill is asked, what the asking costs, and which of its services the checks cover."""

    ask: Callable[[datetime], Call]
    charge: Charge
    lines: Callable[[Any], Mapping[str, float]]
    """An answer as US dollars by service, as the bill names it."""
    days: int
    covered: Mapping[str, tuple[str, ...]]
    """The bill's service -> the words with which ids of checks begin that look at it."""
    permission: str


@dataclass(frozen=True)
class WastePack:
    """The checks of one cloud, and how that cloud names places, permissions, owners and commands."""

    checks: tuple[WasteCheck, ...]
    places: Listing
    place: Callable[[Row], str]
    home: str
    """The location that global services are asked at."""
    permissions: Callable[[str, str], tuple[str, ...]]
    """(service, operation) -> the names of the permissions it needs."""
    command: Callable[[Call, Scope], tuple[Any, ...]]
    """A call as the words of the cloud's own CLI; a `From` stays where an earlier step's answer goes."""
    query: Callable[[str], tuple[str, ...]]
    """What makes that CLI print the one value at a path of the answer."""
    account_line: Callable[[str], str]
    """A line of shell that stops a script in any other account."""
    owner: Callable[[Mapping[str, str]], str]
    """Which infrastructure as code a resource's tags name; "" for none."""
    excludes: tuple[str, ...]
    """What list prices leave out."""
    offered: Callable[[str, str], bool] = lambda _service, _location: True
    """(service, location) -> False where the cloud's own tables say that the service is not there."""
    in_flight: int = 8
    """Requests to one service in one place at a time."""
    bill: Bill | None = None
    policy: Callable[[], str] = lambda: ""
    """The least that an identity needs for a scan, in the form that this cloud takes."""
    scope_word: str = "region"
    keep_hint: str = ""
    """How the tag or label `modelrig-keep` is written in this cloud."""

    @property
    def reads(self) -> frozenset[str]:
        """`service.Operation` of everything that any check reads."""
        places = {f"{self.places.service}.{self.places.operation}"}
        return frozenset(places.union(*(check.operations for check in self.checks)))
