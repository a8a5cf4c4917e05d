"""What a waste check is made of: frozen declarations over recorded answers. No network, no clock and no cloud in here.

Listing   one read a scope, made once however many checks need it
Detail    a read for each row of another one (or for a batch of rows)
Metric    usage over a window for each row; says what an absent series means
Kind      a sort of resource: whose rows it is, its full id, age, tags, who manages it
WasteCheck   a pure judgement over one row of a kind, and what would remove it
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Literal, Protocol

from clouds.models.basic import Call, Reversal, Scope
from clouds.models.removal import CleanupStep, Doomed

Row = Any
"""One item of an answer, as parsed JSON."""
Bound = Literal["exact", "at most", "at least"]


class Unseen(Exception):
    """A read that a judgement needs has failed: the resource is unread. The argument says which, and why."""


class Young(Exception):
    """A resource is younger than the window that it would be judged by, as something else than its row says."""


class Unresolved(Exception):
    """A judgement cannot be made from what was read, e.g. a metric without a series. The argument says why."""


@dataclass(frozen=True)
class Charge:
    """What the reading itself costs, with its date and source."""

    usd: float
    unit: str
    as_of: str
    source: str


@dataclass(frozen=True, eq=False)
class Listing:
    """One read a scope. `rows` is where the items stand: "Volumes", "Reservations[].Instances[]", "items.*.disks[]".

    `once`: the service is global; it is read at the pack's home place only. `nothing_on`: error codes that mean "none".
    `ask` makes the parameters where the account or the place is part of them ("projects/p/locations/-").
    `assets`: what an inventory of the whole organization calls these rows, where the pack has such an inventory.
    """

    service: str
    operation: str
    rows: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    once: bool = False
    nothing_on: tuple[str, ...] = ()
    ask: Callable[[Scope], Mapping[str, Any]] | None = None
    assets: tuple[str, ...] = ()

    @property
    def call(self) -> Call:
        """The request where no place is part of it."""
        return Call(self.service, self.operation, self.parameters)

    def at(self, scope: Scope) -> Call:
        """The request in one place."""
        return self.call if self.ask is None else Call(self.service, self.operation, self.ask(scope))


@dataclass(frozen=True, eq=False)
class Detail:
    """A read for the rows of `of` that `when` picks: `ask(rows, scope)` makes the parameters of one request.

    With `batch` above 1 one request serves many rows; `pair` = (key of a row of `of`, key of a row of the answer)
    matches them. `late` is read only for rows that were judged waste. `where` sends it to another place. `each` is a
    description: every row of `of` has one, so that an answer without it is unread, and not "nothing".
    `assets` as for a listing, at the location that `spot` reads from a row of `of`.
    `needed` leaves rows out that are decided without it by what is read `after`: it may look at those reads only, and
    where it cannot tell the row is asked for.
    """

    of: Listing | Detail
    service: str
    operation: str
    ask: Callable[[Sequence[Row], Scope], Mapping[str, Any]]
    rows: str = ""
    when: Callable[[Row], bool] | None = None
    batch: int = 1
    pair: tuple[Callable[[Row], Any], Callable[[Row], Any]] | None = None
    nothing_on: tuple[str, ...] = ()
    late: bool = False
    where: Callable[[Row, Scope], Scope] | None = None
    assets: tuple[str, ...] = ()
    spot: Callable[[Row], str] | None = None
    each: bool = False
    after: tuple[Reading, ...] = ()
    needed: Callable[[Row, Seen], bool] | None = None


@dataclass(frozen=True)
class Question:
    """One request for metrics: its parameters, and for each series asked the position of its row."""

    parameters: Mapping[str, Any]
    owners: tuple[int, ...]
    where: Scope | None = None


@dataclass(frozen=True, eq=False)
class Metric:
    """Usage of each row of `of` over the last `days`, folded to one number a row.

    `ask(rows, scope, start, end)` makes the questions; `points(answer, question)` gives one entry a series: its values,
    None for no series, or a text for a series that could not be read. `absent` is what no series means.
    """

    name: str
    of: Listing | Detail
    days: float
    absent: Literal["zero", "unresolved"]
    service: str
    operation: str
    ask: Callable[[Sequence[Row], Scope, datetime, datetime], Iterable[Question]]
    points: Callable[[Any, Question], Sequence[Sequence[float] | str | None]]
    fold: Literal["sum", "max"] = "sum"
    unit: str = ""
    when: Callable[[Row], bool] | None = None
    charge: Charge | None = None
    source: str = ""
    """Where its definition was confirmed."""


Source = Listing | Detail
Reading = Listing | Detail | Metric


@dataclass(frozen=True)
class Meter:
    """One line of a price: the row of the price table, its unit, how much of it, and where when not at the resource."""

    key: str
    unit: str
    quantity: float = 1.0
    location: str = ""


@dataclass(frozen=True)
class Waste:
    """The judgement of one resource: why, what it is priced with, and what else that price already holds.

    `free` means that it costs nothing by nature (a leftover that blocks a name). `saving` means that it is in use and
    would cost less as something else. `holds` are full ids of resources whose price is part of this one. `until` is
    when it ends by itself: no more than what is left of its time is priced.
    """

    reason: str
    meters: tuple[Meter, ...] = ()
    free: bool = False
    prepaid: bool = False
    saving: bool = False
    bound: Bound = "exact"
    holds: tuple[str, ...] = ()
    until: datetime | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    blocked: str = ""
    """Why this one cannot be removed although its check can (a commitment, a protection)."""


class Seen(Protocol):
    """What a judgement may look at: everything that its check declared, in the scope of the resource."""

    @property
    def now(self) -> datetime:
        """The moment of the scan, in UTC."""

    @property
    def at(self) -> Scope:
        """Where the resource is."""

    def rows(self, read: Source) -> Sequence[Row]:
        """All rows of a read in this scope. Raises Unseen where any of it could not be read."""

    def index(self, read: Source, by: Callable[[Row], Iterable[Any]]) -> Mapping[Any, Sequence[Row]]:
        """Rows by every key that `by` gives; made once a scope. Raises Unseen where any of it could not be read."""

    def of(self, read: Detail, row: Row) -> Sequence[Row]:
        """The rows that a detail gave for one row; empty where it was not asked. Raises Unseen."""

    def one(self, read: Detail, row: Row) -> Row | None:
        """The first row that a detail gave for one row. Raises Unseen."""

    def metric(self, metric: Metric, row: Row) -> float:
        """Usage of one row in the window. Raises Unseen, or Unresolved where no series was declared to mean that."""

    def id(self, kind: Kind, row: Row) -> str:
        """The full id of a row of another kind in this scope."""


@dataclass(frozen=True, eq=False)
class Kind:
    """A sort of resource. `created` None: the cloud does not say when it was made, so no age can be checked."""

    name: str
    of: Source
    id: Callable[[Row, Scope], str]
    label: Callable[[Row], str]
    created: Callable[[Row], Any] | None = None
    tags: Callable[[Row], Mapping[str, str]] | None = None
    tags_read: Detail | None = None
    tags_of: Callable[[Row], Mapping[str, str]] | None = None
    """How a row of `tags_read` holds them."""
    managed: Callable[[Row], str] | None = None
    """Who manages it ("" for nobody): such a resource is counted and never touched."""
    place: Callable[[Row, Scope], str] | None = None
    """Its location where that is not the scope's."""
    moving: tuple[str, ...] = ()
    """Fields that change by themselves (a size, a time of last use): a change of them is no change of the resource."""

    @property
    def once(self) -> bool:
        """Whether its rows come from a global service."""
        read = self.of
        while isinstance(read, Detail):
            read = read.of
        return read.once


@dataclass(frozen=True, eq=False)
class WasteCheck:
    """A check is a value: whose rows it judges, what else it reads, a pure judgement, and what would remove the waste.

    `remove` makes the steps, or is the reason why there are none. `order` is the place of its steps among those of
    other checks: what holds others goes first. `min_age` is extended to the longest metric window.
    """

    id: str
    title: str
    kind: Kind
    judge: Callable[[Row, Seen], Waste | None]
    why: str
    remove: Callable[[Doomed], tuple[CleanupStep, ...]] | str
    recovery: str
    reversal: Reversal
    reads: tuple[Reading, ...] = ()
    category: Literal["ai", "classic", "own"] = "classic"
    min_age: timedelta = timedelta(days=1)
    spares: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    meter: str = ""
    order: int = 50
    steps: tuple[str, ...] = ()
    """`service.Operation` of every call that `remove` may make, for the cleaner's permissions and its allow-list."""

    @cached_property
    def all_reads(self) -> tuple[Reading, ...]:
        """Everything it reads, parents before children, each once."""
        found: dict[Reading, None] = {}
        tags = (self.kind.tags_read,) if self.kind.tags_read is not None else ()
        for read in (self.kind.of, *self.reads, *tags):
            found.update(dict.fromkeys(_chain(read)))
        return tuple(found)

    @cached_property
    def age(self) -> timedelta:
        """How old a resource has to be before it is judged."""
        days = max((read.days for read in self.reads if isinstance(read, Metric)), default=0.0)
        return max(self.min_age, timedelta(days=days))

    @cached_property
    def operations(self) -> frozenset[str]:
        """`service.Operation` of everything it reads: what the read-only allow-list is made of."""
        return frozenset(f"{read.service}.{read.operation}" for read in self.all_reads)


def before(read: Reading) -> tuple[Reading, ...]:
    """What has to be read before a reading can be asked for."""
    if isinstance(read, Listing):
        return ()
    return (read.of, *read.after) if isinstance(read, Detail) else (read.of,)


def _chain(read: Reading) -> Iterator[Reading]:
    for each in before(read):
        yield from _chain(each)
    yield read


def outlived(deployment: str, end: datetime | None, now: datetime) -> str:
    """Why a deployment of our own should be gone, for an hour at least: its end is over, or it has none; else ""."""
    if end is None:
        return f"deployed by modelrig ({deployment}) without an end"
    if now - end > timedelta(hours=1):
        return f"deployed by modelrig; it should have ended {int((now - end).total_seconds() // 3600)} hours ago"
    return ""
