"""The four ends of a comparison, and a figure with its range."""

from __future__ import annotations

from typing import Literal

from clouds.models import Record

Word = Literal["better", "worse", "within noise", "cannot say"]
LEVEL = 0.95
"""The share of repetitions that a range is meant to cover."""


class Interval(Record):
    """An estimate and its range; `method` names the formula, `n` how many items it rests on."""

    estimate: float
    low: float
    high: float
    method: str
    n: int
    groups: int | None = None
    """How many independent groups were resampled, where items came in groups."""


class Verdict(Record):
    """How a comparison ends, and what it rests on in one clause."""

    word: Word
    why: str
