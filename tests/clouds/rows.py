"""Which rows of a matrix run by default: what repeats a behaviour that other rows show runs with MODELRIG_ALL=1."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

ALL = bool({"MODELRIG_ALL", "UPDATE_DOCS"} & os.environ.keys())
Row = TypeVar("Row")


def some(rows: Sequence[Row], step: int, start: int = 0) -> Sequence[Row]:
    """Every `step`th row, from the one at `start` on; all with MODELRIG_ALL=1."""
    return rows if ALL else rows[start::step]
