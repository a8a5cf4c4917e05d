"""The memory of what we created, in one SQLite file: what was intended is written before it is sent.

    book.deployments    what we created           book.operations   long work and its workers
    book.spend          what it has cost          book.plans        plans that wait for a confirmation
    book.phases         how long start-ups took   book.journal      what happened, when, who did it
    book.holds          what only one may do at a time

Any number of threads and processes may use one file at once. Everything raises CloudError with the file's name when
the file cannot be used; such a file is never overwritten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tools.ledger.deployments import Deployment, Deployments
from tools.ledger.events import Event, Journal
from tools.ledger.holds import Holder, Holds
from tools.ledger.operations import Operation, Operations
from tools.ledger.phases import Estimate, Phases
from tools.ledger.plans import Plans, StoredPlan
from tools.ledger.specs import differences
from tools.ledger.spend import Day, Range, Spend, Totals
from tools.ledger.steps import Steps
from tools.ledger.store import BUSY_SECONDS, Store
from tools.ledger.values import Clock, now

if TYPE_CHECKING:
    from clouds.base import Step
    from clouds.models import Call, EndpointRef

__all__ = [
    "Book",
    "Day",
    "Deployment",
    "Estimate",
    "Event",
    "Holder",
    "Operation",
    "Range",
    "StoredPlan",
    "Totals",
    "differences",
]

FILE = "ledger.sqlite3"


class Book:
    """The whole ledger; implements `clouds.base.Ledger` for the clouds."""

    def __init__(
        self, home: Path, *, who: str = "modelrig", clock: Clock = now, busy_seconds: float = BUSY_SECONDS
    ) -> None:
        """Open the ledger in the data directory `home`, making it when it is not there. `who` signs the journal."""
        self._home = home
        self._store = Store(home / FILE, busy_seconds=busy_seconds)
        self.clock = clock
        self.journal = Journal(self._store, clock, who)
        self.operations = Operations(self._store, self.journal)
        self.deployments = Deployments(self._store, self.journal, self.operations)
        self.holds = Holds(self._store, self.journal, self.operations)
        self.plans = Plans(self._store, self.journal, clock)
        self.spend = Spend(self._store, self.journal, clock)
        self.phases = Phases(self._store, self.journal)
        self._steps = Steps(self._store, self.journal)

    @property
    def home(self) -> Path:
        """The data directory."""
        return self._home

    @property
    def store(self) -> Store:
        """The file, for transactions that span several tables."""
        return self._store

    def intent(self, deployment: str, call: Call) -> int:
        """Commit that this call is about to be sent; returns the step's id."""
        return self._steps.intent(deployment, call)

    def done(self, step: int, result: Mapping[str, Any] | None = None) -> None:
        """Commit that the call succeeded, with what is needed to find its resource again."""
        self._steps.done(step, result)

    def failed(self, step: int, error: str) -> None:
        """Commit that the call was refused and nothing was made."""
        self._steps.failed(step, error)

    def undone(self, step: int) -> None:
        """Commit that what this step made is gone again."""
        self._steps.undone(step)

    def steps(self, deployment: str) -> Sequence[Step]:
        """All steps of a deployment, oldest first."""
        return self._steps.of(deployment)

    def unresolved(self, deployment: str = "") -> Sequence[Step]:
        """Intents without a result, of one deployment or of all: unknown until the cloud is read."""
        return self._steps.unresolved(deployment)

    def remember(self, deployment: str, facts: Mapping[str, Any]) -> None:
        """Merge facts of a deployment."""
        self.deployments.remember(deployment, facts)

    def facts(self, deployment: str) -> Mapping[str, Any]:
        """What was remembered; empty for an unknown deployment."""
        return self.deployments.facts(deployment)

    def refs(self) -> tuple[EndpointRef, ...]:
        """The refs of every deployment that may exist in a cloud, oldest first."""
        from clouds.models import EndpointRef

        return tuple(EndpointRef.parse(each.ref) for each in self.deployments.live())

    def close(self) -> None:
        """Close the file; using the book again opens it again."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
