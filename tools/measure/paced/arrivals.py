"""When requests of an open loop are due: evenly, or as independent users send them. The same in every run."""

from __future__ import annotations

import random


def due(per_second: float, seconds: float, kind: str) -> tuple[float, ...]:
    """Offsets from the start, in seconds, all within `seconds`; at least one. `kind` is even or poisson."""
    if kind == "even":
        count = max(1, round(per_second * seconds))
        return tuple(position / per_second for position in range(count))
    rng = random.Random(f"arrivals {per_second:g}")  # noqa: S311  the same arrivals every time, nothing secret
    found, at = [0.0], 0.0
    while (at := at + rng.expovariate(per_second)) < seconds:
        found.append(at)
    return tuple(found)
