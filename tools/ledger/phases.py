"""How long start-ups took, phase by phase, so that the next estimate can say what it rests on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from clouds.errors import NotFound
from tools.ledger.events import Journal
from tools.ledger.store import Store
from tools.ledger.values import clip

if TYPE_CHECKING:
    from clouds.models import Phase

CONSIDERED = 20
"""The newest start-ups that an estimate rests on."""


class Estimate(NamedTuple):
    """A median over `n` earlier start-ups, in seconds."""

    seconds: float
    n: int


class Phases:
    """Start-ups by service, model and instance type."""

    def __init__(self, store: Store, journal: Journal) -> None:
        self._store, self._journal = store, journal

    def record(self, deployment: str, phases: Iterable[Phase], instance_type: str = "") -> None:
        """Keep the phases of a whole start-up, from asked to ready; saying it again replaces them. Raises NotFound."""
        now = self._journal.now()
        with self._store.write() as database:
            row = database.execute("SELECT service, model FROM deployments WHERE id = ?", (deployment,)).fetchone()
            if row is None:
                raise NotFound(
                    f"Keeping the phases of {clip(deployment, 60)!r}", answered="the ledger has no such deployment",
                    fix="Begin the deployment first.", sent=False,
                )  # fmt: skip
            database.execute("DELETE FROM phases WHERE deployment = ?", (deployment,))
            database.executemany(
                "INSERT OR REPLACE INTO phases VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        deployment,
                        position,
                        clip(each.name, 100),
                        each.seconds,
                        row["service"],
                        row["model"],
                        instance_type,
                        now,
                    )
                    for position, each in enumerate(phases)
                ],
            )

    def expected_seconds(self, service: str, model: str, instance_type: str = "") -> Estimate | None:
        """How long the whole start-up is expected to take; None when there was none like it."""
        import statistics  # here and below, since few processes need it and it takes each 5 ms

        runs = self._runs(service, model, instance_type)
        return Estimate(statistics.median(sum(run.values()) for run in runs), len(runs)) if runs else None

    def expected(self, service: str, model: str, instance_type: str = "") -> dict[str, Estimate]:
        """The same for each phase, in the order in which they come."""
        import statistics

        seen: dict[str, list[float]] = defaultdict(list)
        for run in self._runs(service, model, instance_type):
            for phase, seconds in run.items():
                seen[phase].append(seconds)
        return {phase: Estimate(statistics.median(each), len(each)) for phase, each in seen.items()}

    def _runs(self, service: str, model: str, instance_type: str) -> list[dict[str, float]]:
        """The newest start-ups first, each as phase -> seconds."""
        with self._store.read() as database:
            rows = database.execute(
                "SELECT deployment, phase, seconds FROM phases WHERE service = ? AND model = ? AND instance_type = ? "
                "ORDER BY at DESC, deployment, position LIMIT 1000",
                (service, model, instance_type),
            ).fetchall()
        runs: dict[str, dict[str, float]] = defaultdict(dict)
        for row in rows:
            runs[row["deployment"]][row["phase"]] = row["seconds"]
        return list(runs.values())[:CONSIDERED]
