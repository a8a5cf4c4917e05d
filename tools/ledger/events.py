"""The journal: what happened, when, and who did it. Append-only; the file itself refuses changes."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from tools.ledger.store import Store
from tools.ledger.values import Clock, clip, stamp
from tools.secrecy import clean


@dataclass(frozen=True)
class Event:
    """One line of the journal."""

    at: str
    who: str
    what: str
    deployment: str = ""
    operation: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Page:
    """The newest events, newest last, and how many there are in all."""

    events: tuple[Event, ...]
    total: int


class Journal:
    """Writes events inside the transaction of what they report, so that neither is there without the other."""

    def __init__(self, store: Store, clock: Clock, who: str) -> None:
        """`who` names this process in the journal: "server", "shell", "worker op-7f3a"."""
        self._store, self._clock, self.who = store, clock, who
        self.operation = ""
        """The operation that this process works on, empty in a server or a shell; every event carries it."""

    def now(self) -> str:
        """The present moment as it is written into rows."""
        return stamp(self._clock())

    def note(
        self, database: sqlite3.Connection, what: str, *, deployment: str = "", operation: str = "", detail: str = ""
    ) -> None:
        """Write one event in a transaction that is open already."""
        database.execute(
            "INSERT INTO events (at, who, what, deployment, operation, detail) VALUES (?, ?, ?, ?, ?, ?)",
            (self.now(), self.who, what, deployment, operation or self.operation, clip(clean(detail))),
        )

    def add(self, what: str, *, deployment: str = "", operation: str = "", detail: str = "") -> None:
        """Write one event of its own."""
        with self._store.write() as database:
            self.note(database, what, deployment=deployment, operation=operation, detail=detail)

    def recent(self, limit: int = 20, *, deployment: str = "") -> Page:
        """The newest events, of one deployment when it is named; at most 1,000."""
        where, values = ("WHERE deployment = ?", (deployment,)) if deployment else ("", ())
        with self._store.read() as database:
            total = database.execute(f"SELECT count(*) FROM events {where}", values).fetchone()[0]  # noqa: S608 - constant text
            rows = database.execute(
                f"SELECT at, who, what, deployment, operation, detail FROM events {where} ORDER BY id DESC LIMIT ?",  # noqa: S608 - constant text
                (*values, max(0, min(limit, 1000))),
            ).fetchall()
        return Page(tuple(Event(*row) for row in reversed(rows)), total)
