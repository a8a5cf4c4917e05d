"""The client's own share: how much of a core it used and how late its event loop was, so that it can say when the
figures are its own and not the endpoint's."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

TICK = 0.010
"""Seconds between two looks at the event loop."""
BUSY = 0.70
"""Above this share of one core, arrivals begin to wait for the client."""
LATE_SECONDS = 0.010
LATE_SHARE = 0.10
"""A 99th percentile of lag above 10 ms, or above a tenth of the TTFT that it is part of, is too much."""


@dataclass
class Share:
    """What the client used during one stretch. `lag` holds seconds of lateness, one per tick."""

    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    lag: list[float] = field(default_factory=list)

    @property
    def cpu(self) -> float:
        """CPU seconds per second."""
        return self.cpu_seconds / self.wall_seconds if self.wall_seconds else 0.0

    @property
    def lag_p99(self) -> float | None:
        """Seconds; None for a stretch too short to tell."""
        return sorted(self.lag)[int(0.99 * (len(self.lag) - 1))] if self.lag else None

    def __add__(self, other: Share) -> Share:
        return Share(
            self.cpu_seconds + other.cpu_seconds, self.wall_seconds + other.wall_seconds, [*self.lag, *other.lag]
        )


def was_the_limit(cpu: float, lag_p99: float | None, ttft_p50: float | None) -> bool:
    """True when timings taken at this share of the client are not the endpoint's alone. Seconds."""
    if cpu > BUSY:
        return True
    if lag_p99 is None:
        return False
    return lag_p99 > LATE_SECONDS or (ttft_p50 is not None and lag_p99 > max(0.003, LATE_SHARE * ttft_p50))


@asynccontextmanager
async def watched() -> AsyncIterator[Share]:
    """Measure the client during a stretch. The garbage collector rests meanwhile: its pauses would be read as the
    endpoint's."""
    share = Share()
    ticker = asyncio.create_task(_tick(share.lag))
    collecting = gc.isenabled()
    gc.disable()
    cpu, wall = time.thread_time(), time.perf_counter()
    try:
        yield share
    finally:
        share.cpu_seconds = time.thread_time() - cpu
        share.wall_seconds = time.perf_counter() - wall
        if collecting:
            gc.enable()
        ticker.cancel()
        await asyncio.gather(ticker, return_exceptions=True)


async def _tick(lag: list[float]) -> None:
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + TICK
        await asyncio.sleep(TICK)
        lag.append(max(0.0, loop.time() - due))
