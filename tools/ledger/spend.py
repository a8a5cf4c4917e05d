"""What deployments have cost so far, as a range: a cloud rarely says to the second when billing began or ended.

Amounts are list price x time, in US dollars. What has no price (this machine) is absent, never $0.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from clouds.errors import NotFound
from tools.ledger.events import Journal
from tools.ledger.store import Store
from tools.ledger.values import Clock, clip, moment, stamp

if TYPE_CHECKING:
    from clouds.models import DeploymentPlan


class Range(NamedTuple):
    """At least `low` and at most `high` US dollars."""

    low: float
    high: float


@dataclass(frozen=True)
class Day:
    """What one day (UTC) cost."""

    day: str
    low: float
    high: float


@dataclass(frozen=True)
class Totals:
    """Over all deployments that have a price. `unpriced` ran at a rate that nobody knows and are in no figure."""

    low: float
    high: float
    deployments: int
    days: tuple[Day, ...]
    """The newest last; days without spending are left out."""
    unpriced: tuple[str, ...] = ()


@dataclass(frozen=True)
class Interval:
    """One stretch of billing: it began and ended somewhere between two moments each. None: not seen (yet).

    While it is open, `to_earliest` is when it was last seen to bill: what came after may have ended by itself.
    """

    deployment: str
    usd_per_hour: float | None
    from_earliest: datetime
    from_latest: datetime | None
    to_earliest: datetime | None
    to_latest: datetime | None

    def within(self, start: datetime, end: datetime) -> Range:
        """What it cost between two moments; `end` is also where an open interval is cut."""
        rate = self.usd_per_hour or 0.0
        low = _hours(self.from_latest, self.to_earliest, start, end) if self.from_latest and self.to_earliest else 0.0
        return Range(rate * low, rate * _hours(self.from_earliest, self.to_latest or end, start, end))


class Spend:
    """The table of billing intervals; at most one of a deployment is open."""

    def __init__(self, store: Store, journal: Journal, clock: Clock) -> None:
        self._store, self._journal, self._clock = store, journal, clock

    def opened(
        self, deployment: str, usd_per_hour: float | None, *, instance_type: str = "", as_of: str = "", source: str = ""
    ) -> None:
        """Something that bills was asked for; not seen to bill yet. `begin` does this for a plan that has a price.

        None for a rate that is not known. An interval that is open already is left as it is.
        """
        with self._store.write() as database:
            _known(database, deployment)
            _insert(database, deployment, usd_per_hour, instance_type, as_of, source, self._journal.now())

    def waiting(self, deployment: str) -> None:
        """Seen not to bill: it begins later than now, or has ended since it was last seen to bill."""
        with self._store.write() as database:
            now = self._journal.now()
            database.execute(
                "UPDATE spend SET from_earliest = max(from_earliest, ?) "
                "WHERE deployment = ? AND to_latest IS NULL AND from_latest IS NULL",
                (now, deployment),
            )
            if _is_placed(database, deployment):
                close_interval(database, deployment, now)

    def placed(
        self,
        deployment: str,
        *,
        earliest: datetime | None = None,
        usd_per_hour: float | None = None,
        instance_type: str = "",
    ) -> None:
        """Seen to bill now; it began at `earliest` or later. Rate and type are for what only now is known.

        Does nothing for what never was opened (it has no price). After a stop, a new stretch begins.
        """
        with self._store.write() as database:
            now = self._journal.now()
            _reopen(database, deployment, now)
            database.execute(
                "UPDATE spend SET from_latest = min(coalesce(from_latest, ?), ?), to_earliest = ?, "
                "usd_per_hour = coalesce(?, usd_per_hour), instance_type = coalesce(nullif(?, ''), instance_type) "
                "WHERE deployment = ? AND to_latest IS NULL",
                (now, now, now, usd_per_hour, instance_type, deployment),
            )
            if earliest is not None:
                database.execute(
                    "UPDATE spend SET from_earliest = min(max(from_earliest, ?), from_latest) "
                    "WHERE deployment = ? AND to_latest IS NULL",
                    (stamp(earliest), deployment),
                )

    def closed(self, deployment: str, *, earliest: datetime | None = None) -> None:
        """Seen not to bill any more; it ended at `earliest` or later (default: when it was last seen to bill).

        `ended` and `failed` of a deployment do this by themselves.
        """
        with self._store.write() as database:
            close_interval(database, deployment, self._journal.now(), None if earliest is None else stamp(earliest))

    def never_billed(self, deployment: str) -> None:
        """What was asked for never began to bill (no capacity, refused)."""
        with self._store.write() as database:
            database.execute(
                "UPDATE spend SET from_latest = from_earliest, to_earliest = from_earliest, to_latest = from_earliest "
                "WHERE deployment = ? AND to_latest IS NULL",
                (deployment,),
            )

    def spent(self, deployment: str) -> Range | None:
        """What a deployment has cost so far. None when it has no price, or none that is known."""
        return self.between(deployment, datetime.min.replace(tzinfo=UTC), self._clock())

    def between(self, deployment: str, start: datetime, end: datetime) -> Range | None:
        """What a deployment cost between two moments (one measurement, one day)."""
        priced = [each for each in self._intervals(deployment) if each.usd_per_hour is not None]
        return _sum(each.within(start, min(end, self._clock())) for each in priced) if priced else None

    def totals(self, days: int = 31) -> Totals | None:
        """Everything, and the last days one by one (at most 366). None when nothing here has a price."""
        now, intervals = self._clock().astimezone(UTC), self._intervals()
        if not intervals:
            return None
        priced = [each for each in intervals if each.usd_per_hour is not None]
        total = _sum(each.within(datetime.min.replace(tzinfo=UTC), now) for each in priced)
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        found = []
        for back in reversed(range(max(1, min(days, 366)))):
            start = midnight - timedelta(days=back)
            low, high = _sum(each.within(start, min(start + timedelta(days=1), now)) for each in priced)
            if high:
                found.append(Day(start.date().isoformat(), low, high))
        unpriced = tuple(dict.fromkeys(each.deployment for each in intervals if each.usd_per_hour is None))
        return Totals(total.low, total.high, len({each.deployment for each in priced}), tuple(found), unpriced)

    def _intervals(self, deployment: str = "") -> list[Interval]:
        with self._store.read() as database:
            rows = database.execute(
                "SELECT deployment, usd_per_hour, from_earliest, from_latest, to_earliest, to_latest FROM spend "
                "WHERE ? IN ('', deployment) ORDER BY id",
                (deployment,),
            ).fetchall()
        return [
            Interval(row[0], row[1], moment(row[2]), *(moment(each) if each else None for each in row[3:]))
            for row in rows
        ]


def open_interval(database: sqlite3.Connection, deployment: str, plan: DeploymentPlan, now: str) -> None:
    """Open the interval of a plan whose price is by the hour, inside the transaction that writes the deployment."""
    price, kind = plan.price, plan.hardware.instance_type if plan.hardware else ""
    if price is not None and "hour" in price.unit:
        _insert(database, deployment, price.amount, kind, price.as_of, price.source, now)


def close_interval(database: sqlite3.Connection, deployment: str, now: str, earliest: str | None = None) -> None:
    """Close what is open, in the caller's transaction: at `earliest` or later, else when it was last seen to bill."""
    database.execute(
        "UPDATE spend SET to_latest = ?, to_earliest = coalesce(?, to_earliest, from_earliest) "
        "WHERE deployment = ? AND to_latest IS NULL",
        (now, earliest, deployment),
    )


def _is_placed(database: sqlite3.Connection, deployment: str) -> bool:
    row = database.execute(
        "SELECT 1 FROM spend WHERE deployment = ? AND to_latest IS NULL AND from_latest IS NOT NULL", (deployment,)
    ).fetchone()
    return row is not None


def _reopen(database: sqlite3.Connection, deployment: str, now: str) -> None:
    """A new stretch like the last one, begun since that one's end; nothing when one is open or there was none."""
    last = database.execute(
        "SELECT usd_per_hour, instance_type, as_of, source, to_latest FROM spend WHERE deployment = ? "
        "ORDER BY to_latest IS NULL DESC, id DESC LIMIT 1",
        (deployment,),
    ).fetchone()
    if last is not None and last["to_latest"] is not None:
        _insert(database, deployment, *last[:4], min(last["to_latest"], now))


def _insert(database: sqlite3.Connection, *row: str | float | None) -> None:
    """Open an interval, unless one is open: deployment, rate, type, date and source of the rate, now."""
    database.execute(
        "INSERT INTO spend (deployment, usd_per_hour, instance_type, as_of, source, from_earliest) "
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        row,
    )


def _known(database: sqlite3.Connection, deployment: str) -> None:
    if database.execute("SELECT 1 FROM deployments WHERE id = ?", (deployment,)).fetchone() is None:
        raise NotFound(
            f"Writing down what {clip(deployment, 60)!r} costs", answered="the ledger has no such deployment",
            fix="Begin the deployment first.", sent=False,
        )  # fmt: skip


def _hours(begin: datetime, stop: datetime, start: datetime, end: datetime) -> float:
    return max(0.0, (min(stop, end) - max(begin, start)).total_seconds() / 3600)


def _sum(ranges: Iterable[Range]) -> Range:
    low = high = 0.0
    for each in ranges:
        low, high = low + each.low, high + each.high
    return Range(low, high)
