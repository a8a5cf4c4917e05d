"""Steps: a row is committed before every call that creates, and after it. An intent without a result is unresolved."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from clouds.errors import Conflict, InvalidInput, NotFound
from tools import secrecy
from tools.ledger.events import Journal
from tools.ledger.store import Store
from tools.ledger.values import clip, decode, encode

if TYPE_CHECKING:
    from clouds.base import Step
    from clouds.models import Call

ALLOWED: Mapping[str, frozenset[str]] = {
    "intent": frozenset({"done", "failed", "undone"}),
    "done": frozenset({"undone"}),
    # What was read as not there may come to be after all, when the answer of its call was late.
    "undone": frozenset({"done", "failed"}),
    "failed": frozenset(),
}
"""From each state, where it may go; saying the same again changes nothing."""
PARAMETERS_LIMIT = 1_000_000
RESULT_LIMIT = 64_000


class Steps:
    """The table of steps."""

    def __init__(self, store: Store, journal: Journal) -> None:
        self._store, self._journal = store, journal

    def intent(self, deployment: str, call: Call) -> int:
        """Commit that `call` is about to be sent; returns the step's id.

        Raises NotFound for an unknown deployment, InvalidInput for a secret in the call's parameters.
        """
        text = encode(call.parameters)
        if len(text) > PARAMETERS_LIMIT:
            raise InvalidInput(
                str(call), f"{len(text):,} characters of parameters", fix=f"At most {PARAMETERS_LIMIT:,} are taken."
            )
        secrecy.refuse(decode(text), f"{call}")
        now = self._journal.now()
        with self._store.write() as database:
            if database.execute("SELECT 1 FROM deployments WHERE id = ?", (deployment,)).fetchone() is None:
                raise NotFound(
                    f"Writing down {call} for the deployment {clip(deployment, 60)!r}",
                    answered="the ledger has no such deployment",
                    fix="Begin the deployment before its first step.",
                    sent=False,
                )
            cursor = database.execute(
                "INSERT INTO steps (deployment, service, operation, parameters, state, at, changed) "
                "VALUES (?, ?, ?, ?, 'intent', ?, ?)",
                (deployment, call.service, call.operation, text, now, now),
            )
            return int(cursor.lastrowid or 0)

    def done(self, step: int, result: Mapping[str, Any] | None = None) -> None:
        """Commit that the call succeeded. A secret in `result` is withheld; the call was made, so the row is kept."""
        given = secrecy.withhold(decode(encode(result or {})))
        self._move(step, "done", result=given)

    def failed(self, step: int, error: str) -> None:
        """Commit that the call was refused and nothing was made."""
        self._move(step, "failed", error=clip(secrecy.clean(error), 2_000))

    def undone(self, step: int) -> None:
        """Commit that what this step made is gone again, or was never made."""
        self._move(step, "undone")

    def of(self, deployment: str) -> tuple[Step, ...]:
        """All steps of a deployment, oldest first."""
        return self._select("deployment = ?", deployment)

    def unresolved(self, deployment: str = "") -> tuple[Step, ...]:
        """Intents without a result, of one deployment or of all: unknown until the cloud is read."""
        if deployment:
            return self._select("state = 'intent' AND deployment = ?", deployment)
        return self._select("state = 'intent'")

    def _move(self, step: int, state: str, *, result: Mapping[str, Any] | None = None, error: str = "") -> None:
        with self._store.write() as database:
            row = database.execute("SELECT state, result FROM steps WHERE id = ?", (step,)).fetchone()
            if row is None:
                raise NotFound(
                    f"Marking step {step} as {state}", answered="the ledger has no such step", sent=False,
                    fix="Write the intent first.",
                )  # fmt: skip
            if row["state"] != state and state not in ALLOWED[row["state"]]:
                raise Conflict(
                    f"Marking step {step} as {state}", answered=f"it is {row['state']}", sent=False,
                    fix="Write a new intent for a new call.",
                )  # fmt: skip
            kept = _kept({**decode(row["result"]), **(result or {})})
            database.execute(
                "UPDATE steps SET state = ?, changed = ?, result = ?, error = ? WHERE id = ?",
                (state, self._journal.now(), kept, error, step),
            )

    def _select(self, where: str, *values: str) -> tuple[Step, ...]:
        with self._store.read() as database:
            rows = database.execute(
                f"SELECT * FROM steps WHERE {where} ORDER BY id",  # noqa: S608 - constant text
                values,
            ).fetchall()
        return tuple(_step(row) for row in rows)


def _kept(result: Mapping[str, Any]) -> str:
    """The result as JSON; long strings in it are cut only when the whole would be too long."""
    text = encode(result)
    if len(text) <= RESULT_LIMIT:
        return text
    text = encode({key: clip(each, 2_000) if isinstance(each, str) else each for key, each in result.items()})
    if len(text) <= RESULT_LIMIT:
        return text
    return encode({"withheld": f"{len(text):,} characters of JSON, more than the {RESULT_LIMIT:,} that are kept"})


def _step(row: sqlite3.Row) -> Step:
    from clouds.base import Step
    from clouds.models import Call

    return Step(
        id=row["id"],
        deployment=row["deployment"],
        call=Call(row["service"], row["operation"], decode(row["parameters"])),
        state=row["state"],
        at=row["at"],
        result=decode(row["result"]),
        error=row["error"],
    )
