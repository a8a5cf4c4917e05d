"""Plans that wait for a confirmation: stored steps, what they were read from, and the digest of a token."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from tools import secrecy
from tools.ledger.events import Journal
from tools.ledger.store import Store
from tools.ledger.values import Clock, decode, encode, fresh, stamp

KEPT_DAYS = 7
"""So long a plan is remembered, so that a late token is told apart from a wrong one."""


@dataclass(frozen=True)
class StoredPlan:
    """One plan. `used` is when it was carried out, empty before; `misses` counts wrong tokens."""

    id: str
    tool: str
    arguments: Any
    steps: Any
    read_from: Any
    created: str
    expires: str
    used: str
    misses: int


class Plans:
    """The table of plans. The token itself is never stored."""

    def __init__(self, store: Store, journal: Journal, clock: Clock) -> None:
        self._store, self._journal, self._clock = store, journal, clock

    def add(self, tool: str, arguments: Any, steps: Any, read_from: Any, valid: timedelta) -> tuple[str, str]:
        """Store a plan; returns its token (like `7f3a-9c41`, the plan's id in front) and when it expires."""
        import secrets  # here, as what _digest and matches need: few processes ask for a confirmation

        texts = [encode(each) for each in (arguments, steps, read_from)]
        for text, name in zip(texts, ("arguments", "steps", "state"), strict=True):
            secrecy.refuse(decode(text), name)
        salt, now = secrets.token_bytes(16), self._clock()
        expires = stamp(now + valid)
        with self._store.write() as database:
            database.execute("DELETE FROM plans WHERE expires < ?", (stamp(now - timedelta(days=KEPT_DAYS)),))
            found = fresh(lambda text: _row(database, text) is not None)
            token = f"{found}-{secrets.token_hex(2)}"
            database.execute(
                "INSERT INTO plans (id, salt, digest, tool, arguments, steps, read_from, created, expires) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (found, salt, _digest(salt, token), tool, *texts, stamp(now), expires),
            )
            self._journal.note(database, "confirmation asked", detail=f"{tool}, plan {found}")
        return token, expires

    def get(self, plan: str) -> StoredPlan | None:
        """A plan by its id, the first half of its token."""
        with self._store.read() as database:
            row = _row(database, plan)
        return None if row is None else _plan(row)

    def matches(self, database: sqlite3.Connection, plan: str, token: str) -> bool:
        """Whether `token` is the one of that plan, compared in constant time; a miss is counted."""
        from hmac import compare_digest

        row = _row(database, plan)
        if row is None:
            return False
        right = compare_digest(row["digest"], _digest(row["salt"], token))
        if not right:
            database.execute("UPDATE plans SET misses = misses + 1 WHERE id = ?", (plan,))
        return right

    def use(self, database: sqlite3.Connection, plan: StoredPlan) -> None:
        """Mark it as carried out, in the transaction in which the caller read it."""
        database.execute("UPDATE plans SET used = ? WHERE id = ?", (self._journal.now(), plan.id))
        self._journal.note(database, "confirmed", detail=f"{plan.tool}, plan {plan.id}")


def _digest(salt: bytes, token: str) -> bytes:
    import hashlib

    return hashlib.sha256(salt + token.encode("utf-8", "replace")).digest()


def _row(database: sqlite3.Connection, plan: str) -> sqlite3.Row | None:
    row: sqlite3.Row | None = database.execute("SELECT * FROM plans WHERE id = ?", (plan,)).fetchone()
    return row


def _plan(row: sqlite3.Row) -> StoredPlan:
    return StoredPlan(
        row["id"], row["tool"], decode(row["arguments"]), decode(row["steps"]), decode(row["read_from"]),
        row["created"], row["expires"], row["used"], row["misses"],
    )  # fmt: skip
