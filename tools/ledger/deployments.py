"""What we created or set out to create, and how far it is. The cloud's tags are the truth; this is the memory."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from clouds.errors import Conflict, InvalidInput, NotFound
from tools import secrecy
from tools.ledger import spend
from tools.ledger.events import Journal
from tools.ledger.operations import Operations
from tools.ledger.specs import differences, read_plan, read_spec
from tools.ledger.store import Store
from tools.ledger.values import clip, decode, encode, fresh, moment, stamp

if TYPE_CHECKING:
    from clouds.models import DeploymentPlan, DeploymentSpec, EndpointRef

DeploymentState = Literal["creating", "active", "deleting", "ended", "failed"]

FACTS_LIMIT = 256_000
"""Characters of JSON that a deployment's facts may have."""

_LIVE = """(state IN ('creating', 'active', 'deleting') OR (state = 'failed' AND EXISTS (
    SELECT 1 FROM steps WHERE steps.deployment = deployments.id AND steps.state IN ('intent', 'done'))))"""
_COLUMNS = "id, ref, state, account, operation, reason, spec, facts, created, ended"


@dataclass(frozen=True)
class Deployment:
    """One deployment. `operation` is the long call that creates it; `ref` may move when it is placed elsewhere.

    States: creating (written down), active (created), deleting, ended (read back as gone), failed (see `reason`).
    """

    id: str
    ref: str
    state: DeploymentState
    spec: DeploymentSpec
    created: str
    ended: str = ""
    account: str = ""
    operation: str = ""
    reason: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name that was asked for."""
        return self.spec.name

    @property
    def expires(self) -> str:
        """When it is to end: what was remembered as `expires`, else its time to live counted from when it was begun."""
        told = self.facts.get("expires")
        return str(told) if told else stamp(moment(self.created) + timedelta(hours=self.spec.ttl_hours))


class Deployments:
    """The table of deployments. `live` ones are those that may exist in a cloud: also a failed one with parts left."""

    def __init__(self, store: Store, journal: Journal, operations: Operations) -> None:
        self._store, self._journal, self._operations = store, journal, operations

    def begin(self, spec: DeploymentSpec, plan: DeploymentPlan, *, account: str = "") -> str:
        """Write a deployment down before anything is created; returns its id, like `d-20261129-7f3a`.

        Raises Conflict when one of that cloud, service and name is live: its id and every difference are in the words.
        """
        for value, name in ((dataclasses.asdict(spec), "spec"), (encode(plan), "plan")):
            secrecy.refuse(decode(value) if isinstance(value, str) else value, name)
        now = self._journal.now()
        with self._store.write() as database:
            there = database.execute(
                f"SELECT {_COLUMNS} FROM deployments WHERE cloud = ? AND service = ? AND name = ? AND {_LIVE}",  # noqa: S608 - constant text
                (spec.cloud, spec.service, spec.name),
            ).fetchone()
            if there is not None:
                raise _taken(_deployment(there), spec)
            found = fresh(lambda text: _exists(database, text), f"d-{now[:10].replace('-', '')}-")
            database.execute(
                "INSERT INTO deployments (id, ref, cloud, service, name, model, account, operation, state, spec, plan, "
                "created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'creating', ?, ?, ?)",
                (found, str(plan.ref), spec.cloud, spec.service, spec.name, spec.model, account,
                 self._journal.operation, encode(spec), encode(plan), now),
            )  # fmt: skip
            if plan.price is not None:
                spend.open_interval(database, found, plan, now)
            self._journal.note(database, "deployment begun", deployment=found, detail=str(plan.ref))
        return found

    def get(self, deployment: str) -> Deployment:
        """One deployment by its id. Raises NotFound."""
        rows = self._select("id = ?", deployment)
        if not rows:
            raise _not_found(deployment)
        return rows[0]

    def find(self, text: str, *, ended: bool = False) -> tuple[Deployment, ...]:
        """All live deployments whose id, ref or name is `text`, oldest first; more than one is ambiguous.

        With `ended=True` also those that are over.
        """
        return self._select(f"? IN (id, ref, name) AND ({int(ended)} OR {_LIVE})", text)

    def live(self) -> tuple[Deployment, ...]:
        """All that may exist in a cloud, oldest first."""
        return self._select(_LIVE)

    def same_name(self, spec: DeploymentSpec) -> Deployment | None:
        """The live deployment of that cloud, service and name, with which a new one would collide."""
        found = self._select(f"cloud = ? AND service = ? AND name = ? AND {_LIVE}", spec.cloud, spec.service, spec.name)
        return found[0] if found else None

    def recent(self, limit: int = 100) -> tuple[Deployment, ...]:
        """The newest of all, live or over, newest last."""
        with self._store.read() as database:
            rows = database.execute(
                f"SELECT {_COLUMNS} FROM deployments ORDER BY created DESC, rowid DESC LIMIT ?",  # noqa: S608 - constant text
                (max(0, min(limit, 10_000)),),
            ).fetchall()
        return tuple(_deployment(row) for row in reversed(rows))

    def plan(self, deployment: str) -> DeploymentPlan:
        """The plan that was written down, carrying the deployment's id. Raises NotFound."""
        with self._store.read() as database:
            row = database.execute("SELECT plan FROM deployments WHERE id = ?", (deployment,)).fetchone()
        if row is None:
            raise _not_found(deployment)
        return dataclasses.replace(read_plan(row["plan"]), deployment=deployment)

    def placed(self, deployment: str, ref: EndpointRef) -> None:
        """It was created under another ref than planned (another region)."""
        with self._store.write() as database:
            _changed(
                database.execute("UPDATE deployments SET ref = ? WHERE id = ?", (str(ref), deployment)), deployment
            )
            self._journal.note(database, "deployment placed", deployment=deployment, detail=str(ref))

    def changed(self, deployment: str, spec: DeploymentSpec) -> None:
        """What is held now serves another spec (an update in place). Raises NotFound."""
        secrecy.refuse(dataclasses.asdict(spec), "spec")
        with self._store.write() as database:
            row = database.execute("SELECT spec FROM deployments WHERE id = ?", (deployment,)).fetchone()
            if row is None:
                raise _not_found(deployment)
            database.execute(
                "UPDATE deployments SET spec = ?, model = ? WHERE id = ?", (encode(spec), spec.model, deployment)
            )
            words = "; ".join(differences(read_spec(row["spec"]), spec))
            self._journal.note(database, "deployment updated", deployment=deployment, detail=words)

    def take(self, deployment: str) -> None:
        """Before creating or changing it: make sure that nobody else does. Raises Conflict naming who does.

        What one worker took, another takes over when the first is over or dead.
        """
        mine = self._journal.operation
        with self._store.write() as database:
            row = database.execute("SELECT operation, ref FROM deployments WHERE id = ?", (deployment,)).fetchone()
            if row is None:
                raise _not_found(deployment)
            holder = row["operation"]
            if holder not in {"", mine} and self._operations.works(database, holder):
                raise Conflict(
                    f"Working on `{row['ref']}`", answered=f"{holder} is working on it", sent=False,
                    fix=f'get_operation("{holder}") says how far it is; cancel=true stops it.',
                )  # fmt: skip
            database.execute("UPDATE deployments SET operation = ? WHERE id = ?", (mine, deployment))

    def active(self, deployment: str) -> None:
        """Creation ended well."""
        self._move(deployment, "active")

    def deleting(self, deployment: str) -> None:
        """A deletion has begun."""
        self._move(deployment, "deleting")

    def ended(self, deployment: str, reason: str = "") -> None:
        """Deleted and read back as gone. Closes its spending."""
        self._move(deployment, "ended", reason)

    def failed(self, deployment: str, reason: str) -> None:
        """Creation ended badly. It stays live while a step is left that is not undone; else its spending is closed."""
        self._move(deployment, "failed", reason)

    def remember(self, deployment: str, facts: Mapping[str, Any]) -> None:
        """Merge facts, key by key. Raises NotFound, and InvalidInput for a secret or for too much."""
        added = encode(facts)
        if len(added) <= FACTS_LIMIT:
            secrecy.refuse(decode(added), "facts")
        with self._store.write() as database:
            row = database.execute("SELECT facts FROM deployments WHERE id = ?", (deployment,)).fetchone()
            if row is None:
                raise _not_found(deployment)
            text = encode({**decode(row["facts"]), **decode(added)})
            if len(text) > FACTS_LIMIT:
                raise InvalidInput(
                    "facts",
                    f"{len(text):,} characters of facts for {deployment}",
                    fix=f"At most {FACTS_LIMIT:,} are kept.",
                )
            database.execute("UPDATE deployments SET facts = ? WHERE id = ?", (text, deployment))

    def facts(self, deployment: str) -> Mapping[str, Any]:
        """What was remembered; empty for a deployment that is not known."""
        with self._store.read() as database:
            row = database.execute("SELECT facts FROM deployments WHERE id = ?", (deployment,)).fetchone()
        return dict(decode(row["facts"])) if row else {}

    def _move(self, deployment: str, state: DeploymentState, reason: str = "") -> None:
        now = self._journal.now()
        with self._store.write() as database:
            row = database.execute("SELECT state FROM deployments WHERE id = ?", (deployment,)).fetchone()
            if row is None:
                raise _not_found(deployment)
            if row["state"] == state:
                return
            if row["state"] == "ended":
                raise Conflict(
                    f"Marking {deployment} as {state}",
                    answered="it has ended",
                    sent=False,
                    fix="Begin a new deployment.",
                )
            database.execute(
                "UPDATE deployments SET state = ?, reason = ?, ended = ? WHERE id = ?",
                (state, clip(secrecy.clean(reason), 2_000), now if state in {"ended", "failed"} else "", deployment),
            )
            live = database.execute(f"SELECT 1 FROM deployments WHERE id = ? AND {_LIVE}", (deployment,))  # noqa: S608 - constant text
            if live.fetchone() is None:
                spend.close_interval(database, deployment, now)
            self._journal.note(database, f"deployment {state}", deployment=deployment, detail=reason)

    def _select(self, where: str, *values: str) -> tuple[Deployment, ...]:
        with self._store.read() as database:
            rows = database.execute(
                f"SELECT {_COLUMNS} FROM deployments WHERE {where} ORDER BY created, rowid",  # noqa: S608 - `where` is constant text of this file
                values,
            ).fetchall()
        return tuple(_deployment(row) for row in rows)


def _deployment(row: sqlite3.Row) -> Deployment:
    return Deployment(**{**dict(row), "spec": read_spec(row["spec"]), "facts": decode(row["facts"])})


def _exists(database: sqlite3.Connection, deployment: str) -> bool:
    return database.execute("SELECT 1 FROM deployments WHERE id = ?", (deployment,)).fetchone() is not None


def _changed(cursor: sqlite3.Cursor, deployment: str) -> None:
    if cursor.rowcount == 0:
        raise _not_found(deployment)


def _not_found(deployment: str) -> NotFound:
    return NotFound(
        f"Looking for the deployment {clip(deployment, 60)!r}",
        answered="the ledger has none of that id",
        fix="list_endpoints shows what there is.",
        sent=False,
    )


def _taken(there: Deployment, spec: DeploymentSpec) -> Conflict:
    words = "; ".join(differences(there.spec, spec)) or "the same was asked for"
    left = f", and left parts behind ({there.reason})" if there.state == "failed" else ""
    return Conflict(
        f"Deploying {clip(spec.name, 60)!r} on {spec.cloud}",
        answered=f"{there.ref} has that name ({there.id}, {there.state}{left}): {words}",
        fix="Give another name, or delete_endpoint the one that is there.",
        sent=False,
    )
