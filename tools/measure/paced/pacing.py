"""Open loop: requests are sent when they are due, whatever has come back, and every time counts from when it was due.

A closed loop asks less while the server is slow, so that one stall is one slow reply and not the hundreds that users
would have met ("coordinated omission"). Its figures stand beside, so that the difference is seen.
"""

from __future__ import annotations

from tools.measure.client import ChatRequest
from tools.measure.measurement import Bench, Measurement
from tools.measure.paced.arrivals import due
from tools.measure.paced.figures import FORMULAS, figures
from tools.measure.paced.plan import CLOSED, FEWEST, MOST_REQUESTS, ROUNDS, WARM, PacedPlan, plan
from tools.measure.shapes import TAKES, learnt


async def run(plan: PacedPlan, bench: Bench) -> None:
    """Warm up, see what a closed loop serves, then each rate from the lowest on."""
    each = await learnt(bench, plan.nonce, "paced: tokens a sentence") if plan.shape.prompt else 1.0

    def requests(mark: str, count: int) -> list[ChatRequest]:
        return [plan.shape.request(plan.nonce, mark, at, each) for at in range(count)]

    await bench.together(WARM, requests("warm", plan.streams), "paced: warm-up, in no figure")
    closed = await bench.client.in_flight(requests("closed", max(FEWEST, ROUNDS * plan.streams)), plan.streams)
    bench.keep(CLOSED, plan.streams, closed, f"paced: closed loop, {plan.streams} at once")
    served = len(closed.good) / closed.wall if closed.wall > 0 else 0.0
    for rate in sorted(plan.rates):
        per_second = served * rate / 100 if plan.shares else rate
        if per_second <= 0:
            continue
        offsets = due(per_second, plan.seconds, plan.arrivals)[:MOST_REQUESTS]
        batch = await bench.client.paced(requests(plan.name(rate), len(offsets)), offsets, plan.most)
        bench.keep(plan.name(rate), len(offsets), batch, f"paced: {per_second:.3g} requests/s for {plan.seconds:g} s")


PACED = Measurement(
    name="paced",
    title="requests at a given rate",
    plan=plan,
    run=run,
    figures=figures,
    formulas=FORMULAS,
    options={
        "rates": "requests a second, with commas; default 50, 80 and 95 % of a closed loop",
        "seconds": "of each rate; default 30, quick 6",
        "arrivals": "poisson or even; default poisson",
        "shape": TAKES,
        "most": "in flight; default 512",
    },
)
