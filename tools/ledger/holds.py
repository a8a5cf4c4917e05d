"""Work of which there may be one at a time in all processes: who does it, and for what."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from tools.ledger.events import Journal
from tools.ledger.operations import Operations
from tools.ledger.store import Store


@dataclass(frozen=True)
class Holder:
    """The operation that holds something, and what it is at work on."""

    operation: str
    detail: str


class Holds:
    """The table of holds. One lasts as long as its operation is worked on: a dead worker holds nothing."""

    def __init__(self, store: Store, journal: Journal, operations: Operations) -> None:
        self._store, self._journal, self._operations = store, journal, operations

    def holder(self, what: str) -> Holder | None:
        """Who else holds it now; None where nobody does, or we do."""
        with self._store.write() as database:  # a transaction, since `works` is answered for one
            return self._other(database, what)

    def take(self, what: str, detail: str) -> Holder | None:
        """Hold it from now on, until our operation is over. Where somebody else does: who, and it stays theirs."""
        with self._store.write() as database:
            if (other := self._other(database, what)) is not None:
                return other
            database.execute(
                "INSERT INTO holds (what, operation, detail, since) VALUES (?, ?, ?, ?) ON CONFLICT (what) "
                "DO UPDATE SET operation = excluded.operation, detail = excluded.detail, since = excluded.since",
                (what, self._journal.operation, detail, self._journal.now()),
            )
        return None

    def _other(self, database: sqlite3.Connection, what: str) -> Holder | None:
        row = database.execute("SELECT operation, detail FROM holds WHERE what = ?", (what,)).fetchone()
        if row is None or row["operation"] in {"", self._journal.operation}:
            return None
        works = self._operations.works(database, row["operation"])
        return Holder(row["operation"], row["detail"]) if works else None
