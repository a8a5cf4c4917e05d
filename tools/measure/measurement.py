"""What a measurement is: a pure plan, a run against a `ModelClient`, and figures computed from what was taken.

A new one is a new file with one `Measurement` value, and one name in `MEASUREMENTS` of `catalogue.py`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tools.measure.client import Batch, ChatRequest, ModelClient
from tools.measure.cost import PriceUsed
from tools.measure.options import Options
from tools.measure.profiles import Profile
from tools.measure.record import Better, Figure, Item, Scalar


@dataclass(frozen=True)
class Objective:
    """What a reply has to keep to count as good: first token within, and seconds per token within. None: no limit."""

    ttft_ms: float | None = None
    tpot_ms: float | None = None

    def __bool__(self) -> bool:
        return self.ttft_ms is not None or self.tpot_ms is not None


@dataclass(frozen=True)
class Ask:
    """What the caller asked for, as far as any measurement needs it."""

    profile: Profile
    nonce: str
    levels: tuple[int, ...] = ()
    objective: Objective = field(default_factory=Objective)
    options: Options = field(default_factory=Options)
    """Options of single measurements, by full name."""
    context_tokens: int | None = None
    """The longest prompt and reply that the engine takes, where it says so."""
    price: PriceUsed | None = None
    done: Mapping[str, tuple[Item, ...]] = field(default_factory=dict)
    """By measurement, the questions that an earlier worker of the same run had answered."""

    @property
    def at(self) -> tuple[int, ...]:
        """The levels of the load test."""
        return self.levels or self.profile.levels


class Plan(Protocol):
    """A measurement's own frozen plan: everything that it will do is in it."""

    @property
    def settings(self) -> Mapping[str, Scalar]:
        """Its shape, as it stands in the record. Two parts of different shape are not compared."""

    @property
    def steps(self) -> int:
        """How many times it will report progress."""


@dataclass
class Taken:
    """What a measurement has taken so far; it is written to the run's file after every step."""

    batches: list[tuple[str, int, Batch]] = field(default_factory=list)
    """Label, how many at once, and the replies."""
    items: list[Item] = field(default_factory=list)
    stopped: str = ""
    """Why the measurement ended by itself before it had asked anything that counts."""

    def labelled(self, label: str) -> list[Batch]:
        """The batches of one label, oldest first."""
        return [batch for name, _, batch in self.batches if name == label]


@dataclass
class Bench:
    """The client, and where what comes back is put."""

    client: ModelClient
    taken: Taken
    stepped: Callable[[str], None]
    """Called after every step with a sentence; reports progress and writes the file. Nothing is being timed then."""

    async def together(self, label: str, requests: Sequence[ChatRequest], says: str) -> Batch:
        """All at once, kept, reported."""
        batch = await self.client.together(requests)
        self.keep(label, len(requests), batch, says)
        return batch

    def keep(self, label: str, at_once: int, batch: Batch, says: str) -> None:
        """Put a batch into what was taken, and report."""
        self.taken.batches.append((label, at_once, batch))
        self.stepped(says)


def figure_of(
    key: str,
    label: str,
    unit: str,
    value: float | None,
    samples: Sequence[float],
    *,
    formula: str,
    better: Better = "",
    main: bool = False,
    n: int | None = None,
    why: str = "",
) -> Figure:
    """A figure with the range of its samples; `why` is kept only where there is no value."""
    return Figure(
        key=key,
        label=label,
        unit=unit,
        value=value,
        low=min(samples, default=None),
        high=max(samples, default=None),
        samples=tuple(samples),
        n=len(samples) if n is None else n,
        better=better,
        main=main,
        formula=formula,
        why="" if value is not None else why,
    )


@dataclass(frozen=True)
class Measurement:
    """One way to measure an endpoint."""

    name: str
    title: str
    plan: Callable[[Ask], Plan]
    run: Callable[[Any, Bench], Awaitable[None]]
    figures: Callable[[Any, Taken], tuple[Figure, ...]]
    formulas: Mapping[str, str]
    """Every formula that its figures name."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Its own options without its name, and what each takes: type, unit, default."""
