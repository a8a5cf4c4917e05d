"""Taking up a deployment: the end that was promised before, or a new one; and how each region ended so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from clouds.azure.endpoints import tags


@dataclass(frozen=True)
class Promise:
    """`going_on`: an earlier run stopped before it came to its end, and the end that it promised is still ahead.

    A deployment that Azure has been asked to delete as soon as it can (`doomed`) is not gone on with: it starts anew.
    """

    end: datetime
    going_on: bool
    attempts: tuple[Mapping[str, Any], ...] = ()


def taken_up(facts: Mapping[str, Any], now: datetime, ttl_hours: float) -> Promise:
    """What the ledger's facts of a deployment promise."""
    end = tags.moment(str(facts.get("expires", "")))
    over = end is None or end <= now or bool(facts.get("ended")) or bool(facts.get("doomed"))
    if end is None or over:
        return Promise(now + timedelta(hours=ttl_hours), going_on=False)
    return Promise(end, going_on=True, attempts=tuple(facts.get("attempts", ())))
