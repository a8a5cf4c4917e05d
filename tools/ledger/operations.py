"""Long work as rows: what was asked, who works on it, how far it is, how it ended."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal

from clouds.errors import InvalidInput, NotFound
from tools import secrecy
from tools.ledger.alive import alive, process_created
from tools.ledger.events import Journal
from tools.ledger.store import Store
from tools.ledger.values import clip, decode, encode, fresh

OperationState = Literal["queued", "running", "done", "failed", "cancelled"]
ARGUMENTS_LIMIT = 256_000
"""Characters of JSON that the arguments of a long call may have."""
RESULT_LIMIT = 1_000_000
"""Characters of JSON that are kept of a result; a tool's result has some thousand."""


@dataclass(frozen=True)
class Operation:
    """One long call. `attempt` counts the workers that were started for it; times are ISO 8601 in UTC."""

    id: str
    tool: str
    arguments: Mapping[str, Any]
    state: OperationState
    created: str
    message: str = ""
    done: float | None = None
    total: float | None = None
    attempt: int = 0
    started: str = ""
    ended: str = ""
    heartbeat: str = ""
    cancel_requested: bool = False
    result: Mapping[str, Any] = field(default_factory=dict)
    error: Mapping[str, Any] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    cwd: str = ""
    pid: int | None = None
    process_created: float | None = None

    @property
    def over(self) -> bool:
        """True when nothing will change any more."""
        return self.state in {"done", "failed", "cancelled"}


class Operations:
    """The table of operations. Who may run one is decided here, in transactions; processes are started elsewhere."""

    def __init__(self, store: Store, journal: Journal) -> None:
        self._store, self._journal = store, journal

    def add(
        self, tool: str, arguments: Mapping[str, Any], *, flags: tuple[str, ...], cwd: str, worker: int | None = None
    ) -> Operation:
        """Queue a call; its id is like `op-7f3a`. Raises InvalidInput for a secret or for too much.

        `worker`: the process that will work on it, and no other one: such a call has no `cwd` to be resumed in.
        """
        text, now = encode(arguments), self._journal.now()
        if len(text) > ARGUMENTS_LIMIT:
            raise InvalidInput(
                "arguments",
                f"{len(text):,} characters",
                fix=f"At most {ARGUMENTS_LIMIT:,} are taken; give a file instead.",
            )
        secrecy.refuse(decode(text), "arguments")
        secrecy.refuse(flags, "flags")
        with self._store.write() as database:
            found = fresh(lambda text: _row(database, text) is not None, "op-")
            database.execute(
                "INSERT INTO operations (id, tool, arguments, flags, cwd, state, heartbeat, created) "
                "VALUES (?, ?, ?, ?, ?, 'queued', ?, ?)",
                (found, tool, text, encode(flags), "" if worker else cwd, now, now),
            )
            self._journal.note(database, "operation queued", operation=found, detail=tool)
            if worker is not None:
                self.employ(database, found, worker, process_created(worker))
        return self.get(found)

    def get(self, operation: str) -> Operation:
        """One operation. Raises NotFound."""
        with self._store.read() as database:
            return self.read(database, operation)

    def unfinished(self) -> tuple[Operation, ...]:
        """All that are queued or running, oldest first."""
        with self._store.read() as database:
            rows = database.execute(
                "SELECT * FROM operations WHERE state IN ('queued', 'running') ORDER BY created, rowid"
            ).fetchall()
        return tuple(_operation(row) for row in rows)

    def recent(self, limit: int = 20) -> tuple[Operation, ...]:
        """The newest, newest last; at most 1,000."""
        with self._store.read() as database:
            rows = database.execute(
                "SELECT * FROM operations ORDER BY created DESC, rowid DESC LIMIT ?", (max(0, min(limit, 1000)),)
            ).fetchall()
        return tuple(_operation(row) for row in reversed(rows))

    def alone(self) -> AbstractContextManager[sqlite3.Connection]:
        """A transaction in which nobody else can decide about any operation: as short as starting a process."""
        return self._store.write()

    def read(self, database: sqlite3.Connection, operation: str) -> Operation:
        """One operation as it is in a transaction. Raises NotFound."""
        row = _row(database, operation)
        if row is None:
            raise _not_found(operation)
        return _operation(row)

    def employ(self, database: sqlite3.Connection, operation: str, pid: int, process_created: float | None) -> None:
        """In `alone`: write down the worker that was just started."""
        now = self._journal.now()
        database.execute(
            "UPDATE operations SET pid = ?, process_created = ?, attempt = attempt + 1, heartbeat = ? WHERE id = ?",
            (pid, process_created, now, operation),
        )
        self._journal.note(database, "worker started", operation=operation, detail=f"pid {pid}")

    def works(self, database: sqlite3.Connection, operation: str) -> bool:
        """Whether somebody works on it: it is not over, and its worker lives."""
        row = _row(database, operation)
        return row is not None and not _operation(row).over and alive(_operation(row))

    def claim(self, operation: str, pid: int) -> Operation | None:
        """Become the one worker of an operation; None when it is over, is not there, or another worker lives."""
        with self._store.write() as database:
            row = _row(database, operation)
            if row is None:
                return None
            found = _operation(row)
            if found.over:
                return None
            if found.pid != pid:
                if alive(found):
                    return None
                self.employ(database, operation, pid, process_created(pid))
            now = self._journal.now()
            database.execute(
                "UPDATE operations SET state = 'running', heartbeat = ?, "
                "started = CASE started WHEN '' THEN ? ELSE started END WHERE id = ?",
                (now, now, operation),
            )
        return self.get(operation)

    def pulse(self, operation: str, pid: int, report: tuple[str, float | None, float | None] | None) -> None:
        """A sign of life of the worker, with where it is when that is new."""
        with self._store.write(durable=False) as database:
            database.execute(
                "UPDATE operations SET heartbeat = ? WHERE id = ? AND pid = ?", (self._journal.now(), operation, pid)
            )
            if report is not None:
                message, done, total = report
                database.execute(
                    "UPDATE operations SET message = ?, done = ?, total = ? "
                    "WHERE id = ? AND pid = ? AND state = 'running'",
                    (clip(secrecy.clean(message)), done, total, operation, pid),
                )

    def should_stop(self, operation: str, pid: int) -> bool:
        """True when a cancel was requested, or when the operation is not this worker's any more."""
        with self._store.read() as database:
            row = database.execute("SELECT cancel_requested, pid FROM operations WHERE id = ?", (operation,)).fetchone()
        return row is None or bool(row["cancel_requested"]) or row["pid"] != pid

    def request_cancel(self, operation: str) -> Operation:
        """Ask the worker to stop; one that was never started is cancelled at once. Raises NotFound."""
        with self._store.write() as database:
            found = self.read(database, operation)
            if not found.over and not found.cancel_requested:
                now = self._journal.now()
                database.execute("UPDATE operations SET cancel_requested = ? WHERE id = ?", (now, operation))
                self._journal.note(database, "cancel requested", operation=operation, detail=found.tool)
        return self.get(operation)

    def finish(
        self,
        operation: str,
        pid: int,
        state: Literal["done", "failed", "cancelled"],
        *,
        result: Mapping[str, Any] | None = None,
        error: Mapping[str, Any] | None = None,
    ) -> bool:
        """The worker's last word; False (and nothing is written) when another worker took over in between."""
        with self._store.write() as database:
            row = _row(database, operation)
            if row is None or row["pid"] != pid or row["state"] != "running":
                return False
            self.close(database, _operation(row), state, result=result, error=error)
        return True

    def close(
        self,
        database: sqlite3.Connection,
        operation: Operation,
        state: OperationState,
        *,
        result: Mapping[str, Any] | None = None,
        error: Mapping[str, Any] | None = None,
    ) -> None:
        """In a transaction: how it ended. A result that is too long to keep becomes a failure that says so."""
        kept = encode(result) if result else ""
        if len(kept) > RESULT_LIMIT:
            state, kept, error = "failed", "", _too_long(operation, len(kept))
        kept = encode(secrecy.withhold(decode(kept))) if kept else ""
        wrong = encode(secrecy.withhold(decode(encode(error)))) if error else ""
        database.execute(
            "UPDATE operations SET state = ?, result = ?, error = ?, ended = ? WHERE id = ?",
            (state, kept, wrong, self._journal.now(), operation.id),
        )
        self._journal.note(database, f"operation {state}", operation=operation.id, detail=operation.tool)


def _too_long(operation: Operation, length: int) -> dict[str, Any]:
    what = f"{operation.tool} ended well, but its result of {length:,} characters was too long to keep"
    return {
        "kind": "bug",
        "what": f"{what} (at most {RESULT_LIMIT:,})",
        "next": "What it did is done: list_endpoints and list_runs show it.",
        "sent": True,
    }


def _row(database: sqlite3.Connection, operation: str) -> sqlite3.Row | None:
    row: sqlite3.Row | None = database.execute("SELECT * FROM operations WHERE id = ?", (operation,)).fetchone()
    return row


def _operation(row: sqlite3.Row) -> Operation:
    values = dict(row)
    for name in ("result", "error"):
        values[name] = decode(values[name]) if values[name] else {}
    values["arguments"] = decode(values["arguments"])
    values["flags"] = tuple(decode(values["flags"]))
    values["cancel_requested"] = bool(values["cancel_requested"])
    return Operation(**values)


def _not_found(operation: str) -> NotFound:
    return NotFound(
        f"Looking for the operation {clip(operation, 40)!r}",
        answered="the ledger has none of that id",
        fix="Use the id that the call returned, like op-7f3a.",
        sent=False,
    )
