"""What a cleanup has sent, in the ledger: written before each call and after it, so that a second run goes on.

A step is `intent` before it is sent, `sent` once the cloud took it, `done` when what it waits for has come true, and
`failed` when it was refused or never came true.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tools import secrecy
from tools.ledger import Book
from tools.ledger.values import clip, decode, encode


@dataclass(frozen=True)
class Entry:
    """One step as it was left, and when: a moment of the ledger, "" where this run has left it."""

    state: str
    answer: Mapping[str, Any]
    error: str
    changed: str


class Journal:
    """The steps of one plan."""

    def __init__(self, book: Book, plan: str) -> None:
        self._book, self._plan = book, plan

    def read(self) -> dict[tuple[str, str], Entry]:
        """Every step that was begun, by finding and step."""
        with self._book.store.read() as database:
            rows = database.execute(
                "SELECT finding, step, state, answer, error, changed FROM cleanup_steps WHERE plan = ?", (self._plan,)
            ).fetchall()
        return {
            (row["finding"], row["step"]): Entry(row["state"], decode(row["answer"]), row["error"], row["changed"])
            for row in rows
        }

    def intent(self, finding: str, step: str, call: str) -> None:
        """About to be sent."""
        now = self._book.journal.now()
        with self._book.store.write() as database:
            database.execute(
                "INSERT INTO cleanup_steps (plan, finding, step, call, state, at, changed) "
                "VALUES (?, ?, ?, ?, 'intent', ?, ?) ON CONFLICT (plan, finding, step) "
                "DO UPDATE SET state = 'intent', changed = excluded.changed, error = ''",
                (self._plan, finding, step, call, now, now),
            )
            self._book.journal.note(database, "cleanup step begun", detail=f"{self._plan} {finding} {step}: {call}")

    def sent(self, finding: str, step: str, answer: Mapping[str, Any]) -> None:
        """The cloud took it; `answer` is what later steps need of it."""
        self._move(finding, step, "sent", answer=secrecy.withhold(decode(encode(dict(answer)))))

    def done(self, finding: str, step: str) -> None:
        """What it waits for has come true."""
        self._move(finding, step, "done")

    def failed(self, finding: str, step: str, error: str) -> None:
        """Refused, or what it waits for did not come true."""
        self._move(finding, step, "failed", error=clip(secrecy.clean(error), 1_000))

    def _move(
        self, finding: str, step: str, state: str, *, answer: Mapping[str, Any] | None = None, error: str = ""
    ) -> None:
        with self._book.store.write() as database:
            if answer is not None:
                database.execute(
                    "UPDATE cleanup_steps SET answer = ? WHERE plan = ? AND finding = ? AND step = ?",
                    (encode(answer), self._plan, finding, step),
                )
            database.execute(
                "UPDATE cleanup_steps SET state = ?, changed = ?, error = ? "
                "WHERE plan = ? AND finding = ? AND step = ?",
                (state, self._book.journal.now(), error, self._plan, finding, step),
            )
            if state in ("done", "failed"):
                detail = f"{self._plan} {finding} {step}{f': {error}' if error else ''}"
                self._book.journal.note(database, f"cleanup step {state}", detail=detail)
