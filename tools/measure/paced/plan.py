"""What an open loop sends: rates, for how long, how requests arrive, and of which shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tools.measure.measurement import Ask, Objective
from tools.measure.record import Scalar
from tools.measure.shapes import Shape, shape

SHARES = (50, 80, 95)
"""Per cent of what the closed loop served, where no rates are given."""
ROUNDS, FEWEST = 3, 8
"""Requests a stream of the closed loop that finds out how much is served, and how many in all at least."""
MOST_REQUESTS = 5_000
WARM, CLOSED = "warm-up", "closed loop"


@dataclass(frozen=True)
class PacedPlan:
    """Rates in requests a second, or in per cent of the closed loop's where `shares` is set."""

    rates: tuple[float, ...]
    shares: bool
    seconds: float
    arrivals: str
    shape: Shape
    streams: int
    most: int
    objective: Objective
    nonce: str

    @property
    def settings(self) -> Mapping[str, Scalar]:
        """The shape of the part."""
        return {
            **self.shape.settings,
            "seconds": self.seconds,
            "arrivals": self.arrivals,
            "rates_from": f"closed loop at {self.streams}" if self.shares else "given",
            "most_in_flight": self.most,
            "objective_ttft_ms": self.objective.ttft_ms,
            "objective_tpot_ms": self.objective.tpot_ms,
        }

    @property
    def steps(self) -> int:
        """Warm-up, closed loop, one a rate, and the sample of a long prompt."""
        return 2 + len(self.rates) + (1 if self.shape.prompt else 0)

    def name(self, rate: float) -> str:
        """The rate as it stands in the figures' keys: the same in runs that are compared."""
        return f"{rate:g}_percent" if self.shares else f"{rate:g}_per_second".replace(".", "_")


def plan(ask: Ask) -> PacedPlan:
    """Pure: what will be sent."""
    options = ask.options
    given = options.numbers("paced.rates", (), 0.001, 10_000)
    quick = ask.profile.caveat != ""
    return PacedPlan(
        rates=given or tuple(float(each) for each in SHARES),
        shares=not given,
        seconds=options.numbers("paced.seconds", (6.0 if quick else 30.0,), 0.1, 3_600, most=1)[0],
        arrivals=options.text("paced.arrivals", "poisson", ("poisson", "even")),
        shape=shape(options, "paced.shape", ask.profile.load_tokens),
        streams=max(ask.at),
        most=options.whole("paced.most", 512, 1, 4_096),
        objective=ask.objective,
        nonce=ask.nonce,
    )
