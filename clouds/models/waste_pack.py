"""What one cloud gives to a waste scan: its checks, its bill, and its names of places, permissions and commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from clouds.models.basic import Call, Scope
from clouds.models.waste import Charge, Listing, Row, WasteCheck


@dataclass(frozen=True)
class Bill:
    """How one cloud's bill is asked, what the asking costs, and which of its services the checks cover."""

    ask: Callable[[datetime, Scope], Call]
    """(now, where the bill is asked) -> the request."""
    charge: Charge
    lines: Callable[[Any], Mapping[str, float]]
    """An answer as US dollars by service, as the bill names it."""
    days: int
    covered: Mapping[str, tuple[str, ...]]
    """The bill's service -> the words with which ids of checks begin that look at it."""
    permission: str
    each_place: bool = False
    """Whether every place that a scan looked at has a bill of its own; else one answer is that of the whole account."""


@dataclass(frozen=True)
class Inventory:
    """One paged read that says for all places at once which sorts of resources are where.

    Where it answers for a place, readings of sorts that it does not name there are not sent: there is nothing. Places
    that it does not answer for are read as if there were no inventory.
    """

    roots: Listing
    """What the inventories stand on (organizations); one of them that cannot be read is left out."""
    ask: Callable[[Row, Sequence[str]], Call]
    """(root, sorts) -> the request."""
    rows: str
    answers_for: Callable[[Row], str]
    """The place, as `number` names it, that a row says was looked at; "" for a row that says nothing of the kind."""
    asset: Callable[[Row], tuple[str, str, str]]
    """A row as (the place as `number` names it, the sort, the location)."""
    number: Callable[[Row], str]
    """How the inventory names a place, from the row of `places`."""
    operation: str
    """`service.Operation` of what `ask` makes."""


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
    scope: Callable[[str, str], Scope] = Scope
    """(place, the account that is signed in to) -> where calls of that place are sent; for places that are accounts
    themselves (projects, subscriptions) the place is the scope's account."""
    inventory: Inventory | None = None
    lost: Callable[[Any], Sequence[str]] = lambda _answer: ()
    """What an answer itself says it could not read (zones that did not answer), in words."""
    without_rate: Callable[[str], str] = lambda _key: ""
    """A price key that has no rate -> why, and what would give it one, in words; "" where nothing is known of it."""
    keep_hint: str = ""
    """How the tag or label `modelrig-keep` is written in this cloud."""

    @property
    def by_account(self) -> bool:
        """Whether each place is an account of its own (a project, a subscription)."""
        return self.scope("a place", "an account").account == "a place"

    def place_of(self, location: str, account: str) -> str:
        """The place that a resource was found from."""
        return account if self.by_account else location

    @property
    def reads(self) -> frozenset[str]:
        """`service.Operation` of everything that any check reads."""
        places = {f"{self.places.service}.{self.places.operation}"}
        if self.inventory is not None:
            roots = self.inventory.roots
            places |= {f"{roots.service}.{roots.operation}", self.inventory.operation}
        return frozenset(places.union(*(check.operations for check in self.checks)))
