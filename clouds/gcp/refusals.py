"""What creating was answered, remembered with its date: no API says whether a provisioning model is offered in a zone.

A refused create costs nothing and is the only answer there is. A stockout is remembered too, with the zones that
Google named in it as having some; it is shown for a day, because capacity moves within a minute.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Literal

from clouds.errors import CloudError, NoCapacity, NotOffered
from clouds.gcp.errors import elsewhere

Outcome = Literal["not offered", "stockout", "granted"]
_KEPT = 500
_FRESH = timedelta(days=1)
_lock = Lock()


@dataclass(frozen=True)
class Outcomes:
    """One answer to a create. `kind` is the type as it was asked for, `at` ISO 8601 in UTC."""

    kind: str
    zone: str
    market: str
    outcome: Outcome
    at: str
    words: str = ""
    elsewhere: tuple[str, ...] = ()


_GD = "gemma4-dev"
KNOWN: tuple[Outcomes, ...] = (
    Outcomes("v5litepod-1", "us-west4-a", "flex-start", "granted", "2026-08", f"{_GD}: the only one of 44 zones tried"),
    Outcomes("v6e-1", "us-east5-a", "flex-start", "granted", "2026-08", _GD),
    Outcomes("v6e-1", "us-east5-b", "flex-start", "granted", "2026-08", _GD),
    Outcomes("v6e-1", "europe-west4-a", "flex-start", "granted", "2026-08", _GD),
    Outcomes("v6e-1", "us-central1-b", "flex-start", "not offered", "2026-08", f"{_GD}: with quota and a price"),
    Outcomes("v6e-1", "us-south1-a", "flex-start", "not offered", "2026-08", _GD),
    Outcomes("v6e-1", "asia-east1-c", "flex-start", "not offered", "2026-08", _GD),
)
"""Answers that others got, with the month in which they did."""


class Memory:
    """The answers that this machine got, in a file of the data directory. Losing it loses hints and nothing else."""

    def __init__(self, home: Path, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """Nothing is read before it is asked."""
        self._path, self._now = home / "gcp" / "outcomes.json", now

    def refused(self, kind: str, zone: str, market: str, error: CloudError) -> None:
        """Remember what a create was refused with; other errors than "not offered" and "no capacity" say nothing."""
        if isinstance(error, NotOffered | NoCapacity):
            outcome: Outcome = "not offered" if isinstance(error, NotOffered) else "stockout"
            self.said(kind, zone, market, outcome, error.answered, elsewhere(error))

    def said(
        self, kind: str, zone: str, market: str, outcome: Outcome, words: str, elsewhere: tuple[str, ...] = ()
    ) -> None:
        """Remember what a place said, and which others it named."""
        self._add(Outcomes(kind, zone, market, outcome, self._stamp(), words[:200], elsewhere))

    def granted(self, kind: str, zone: str, market: str) -> None:
        """Remember that a create was granted."""
        self._add(Outcomes(kind, zone, market, "granted", self._stamp()))

    def about(self, kind: str, zone: str) -> tuple[Outcomes, ...]:
        """Own answers before those of others; stockouts of the last day only."""
        since = f"{self._now() - _FRESH:%Y-%m-%dT%H:%M:%SZ}"
        own = [each for each in self._read() if (each.kind, each.zone) == (kind, zone)]
        own = [each for each in own if each.outcome != "stockout" or each.at >= since]
        said = {each.market for each in own if each.outcome != "stockout"}
        others = [each for each in KNOWN if (each.kind, each.zone) == (kind, zone) and each.market not in said]
        return (*own, *others)

    def hints(self, kind: str) -> Iterator[tuple[str, Outcomes]]:
        """Zones that Google named in a stockout of the last day as having some, and the stockout."""
        since = f"{self._now() - _FRESH:%Y-%m-%dT%H:%M:%SZ}"
        for each in self._read():
            if each.kind == kind and each.outcome == "stockout" and each.at >= since:
                for zone in each.elsewhere:
                    yield zone, each

    def _stamp(self) -> str:
        return f"{self._now():%Y-%m-%dT%H:%M:%SZ}"

    def _read(self) -> tuple[Outcomes, ...]:
        try:
            rows = json.loads(self._path.read_text("utf-8"))
            return tuple(Outcomes(**{**row, "elsewhere": tuple(row.get("elsewhere", ()))}) for row in rows)
        except (OSError, ValueError, TypeError, AttributeError):
            return ()

    def _add(self, new: Outcomes) -> None:
        with _lock, suppress(OSError):
            same = (new.kind, new.zone, new.market)
            forgets = {"not offered", "granted"} if new.outcome != "stockout" else {"stockout"}
            kept = [e for e in self._read() if (e.kind, e.zone, e.market) != same or e.outcome not in forgets]
            rows = [asdict(each) for each in [*kept, new][-_KEPT:]]
            self._path.parent.mkdir(parents=True, exist_ok=True)
            half = self._path.with_suffix(f".{os.getpid()}.part")
            half.write_text(json.dumps(rows, indent=1), "utf-8")
            half.replace(self._path)


def said(each: Outcomes) -> str:
    """One sentence of a remembered answer."""
    told = f" ({each.words})" if each.words and each.outcome != "granted" else ""
    when = f"{'in' if len(each.at) == 7 else 'at'} {each.at}"
    who = f" by {each.words}" if each.words and each.outcome == "granted" else ""
    match each.outcome:
        case "not offered":
            return f"{each.market} of {each.kind} was refused here {when}{told}"
        case "stockout":
            zones = f"; Google then named {', '.join(each.elsewhere)}" if each.elsewhere else ""
            return f"{each.market} of {each.kind} met a stockout here {when}{zones}"
    return f"{each.market} of {each.kind} was granted here {when}{who}"
