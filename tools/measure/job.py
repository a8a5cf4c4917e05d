"""What one run needs to know before it begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from clouds.models import EngineFacts, Hardware, Wire
from tools.measure.client import Limits
from tools.measure.cost import PriceUsed
from tools.measure.measurement import Ask, Measurement
from tools.measure.record import PlanCited, Run, Subject

LOOPBACK = {"127.0.0.1", "localhost", "::1"}


@dataclass(frozen=True)
class Job:
    """Everything that one run needs. `done_before` and `total` place its steps in a walk of several runs."""

    wire: Wire
    subject: Subject
    ask: Ask
    measurements: tuple[Measurement, ...]
    path: Path
    name: str
    engine: EngineFacts | None = None
    hardware: Hardware | None = None
    price: PriceUsed | None = None
    limits: Limits = field(default_factory=Limits)
    spent: Callable[[], tuple[float, float] | None] = lambda: None
    operation: str = ""
    """The operation in the ledger that makes this run, so that a later worker of it finds the file."""
    earlier: Run | None = None
    """What an earlier worker left of this run."""
    planned: Callable[[Job], PlanCited] | None = None
    """Cites the plan that the run follows, as it is about to begin."""
    done_before: int = 0
    total: int = 0

    @property
    def here(self) -> bool:
        """True when the endpoint runs on this machine, so that its accelerators are the ones seen here."""
        return urlsplit(self.wire.url).hostname in LOOPBACK

    @property
    def steps(self) -> int:
        """How many reports the run makes."""
        return sum(each.plan(self.ask).steps for each in self.measurements)
