"""Taking up a deployment: the end that was promised before, or a new one; and how each place ended so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from clouds.gcp.endpoints import labels as tags


@dataclass(frozen=True)
class Promise:
    """`going_on`: an earlier run was killed before it came to its end, and that end is still ahead."""

    end: datetime
    going_on: bool
    attempts: tuple[Mapping[str, Any], ...] = ()


def taken_up(facts: Mapping[str, Any], now: datetime, hours: float) -> Promise:
    """What the ledger's facts of a deployment promise; `hours` from now at most, waiting for capacity included."""
    end = tags.time_of(facts.get("expires", ""))
    if end is None or end <= now or facts.get("ended"):
        return Promise(now + timedelta(hours=hours), going_on=False)
    return Promise(end, going_on=True, attempts=tuple(facts.get("attempts", ())))
