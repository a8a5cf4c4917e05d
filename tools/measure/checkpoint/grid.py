"""Recover the grid that quantization-aware training left in 16-bit weights: a step per group, and a level per weight.

A group is on a grid when one step exists such that every stored value is the rounding of step x level, with levels
from -8 to 7. The textbook rule takes the largest magnitude for level 8. Where a group's largest level is smaller, that
step is wrong and every weight is rounded again, although every shape still fits. So the peak is tried at every level
from 1 to 8, and the step is refined by least squares inside the interval in which all values round as stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tools.measure.checkpoint.halves import reach, widen

LEVELS = 8
NEAR = 0.07
"""How far value / step may lie from a whole level before the exact test: 8 levels x two roundings of 2**-8."""
SLACK = 2.0**-10
"""Some exporters round the product to a 16-bit float first: half a unit of that, on both ends of the interval."""


@dataclass(frozen=True)
class Grid:
    """What was recovered from groups (rows) of weights. Where `on` is false, step and levels mean nothing."""

    on: Any
    """bool, one a group."""
    step: Any
    """float64, one a group; negative where the peak is +8 levels, which four bits hold only as -8 x -step."""
    levels: Any
    """int8, groups x size."""


def recover(bits: Any, dtype: str) -> Grid:
    """`bits` are the raw values, groups x size. A group of zeros is on every grid and gets the step 1."""
    import numpy as np

    size = np.abs(widen(bits, dtype))
    negative = bits >> (bits.dtype.itemsize * 8 - 1) == 1
    peak = size.max(axis=1)
    step, levels = np.ones(len(bits)), np.zeros(bits.shape, dtype=np.int8)
    on = peak == 0
    todo = np.flatnonzero(~on & np.isfinite(peak))
    for level in range(1, LEVELS + 1):
        rows = _near(size, peak, level, todo)
        magnitude, low, high = reach(bits[rows], dtype)
        whole = np.rint(magnitude * (level / peak[rows].astype(np.float64))[:, None])
        lower, upper = interval(whole, magnitude, low, high)
        top = whole == LEVELS
        flip = (top & ~negative[rows]).any(axis=1)
        fits = (lower <= upper * (1 + SLACK)) & ~(flip & (top & negative[rows]).any(axis=1))
        rows, whole, magnitude = rows[fits], whole[fits], magnitude[fits]
        sign = np.where(flip[fits], -1.0, 1.0)
        best = (whole * magnitude).sum(axis=1) / (whole * whole).sum(axis=1)
        step[rows] = _inside(best, lower[fits], upper[fits]) * sign
        levels[rows] = np.where(negative[rows], -whole, whole) * sign[:, None]
        on[rows] = True
        todo = todo[~on[todo]]
    return Grid(on, step, levels)


def _near(size: Any, peak: Any, level: int, rows: Any) -> Any:
    """The rows whose values all lie near a whole level when the peak is at `level`; a quarter is looked at first."""
    import numpy as np

    for columns in (max(1, size.shape[1] // 4), size.shape[1]):
        ratio = size[rows, :columns] * (np.float32(level) / peak[rows])[:, None]
        rows = rows[(np.abs(ratio - np.rint(ratio)) < NEAR).all(axis=1)]
    return rows


def interval(levels: Any, magnitude: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """Smallest and largest step per group with which every level rounds to its value; empty when they cross.

    `levels` are magnitudes. A level of zero must stand for a zero and every other level for something else.
    """
    import numpy as np

    some = levels > 0
    divisor = np.where(some, levels, 1)
    lower = np.where(some, low / divisor, 0).max(axis=1)
    upper = np.where(some, high / divisor, np.inf).min(axis=1)
    wrong = (some != (magnitude > 0)).any(axis=1)
    return np.where(wrong, np.inf, lower), np.where(wrong, 0, upper)


def _inside(step: Any, lower: Any, upper: Any) -> Any:
    """The step moved into its interval, and off its ends, where a value would round to its neighbour."""
    import numpy as np

    margin = np.maximum(upper - lower, 0) / 16
    return np.clip(step, lower + margin, np.maximum(upper - margin, lower + margin))


def textbook(bits: Any, dtype: str) -> Grid:
    """The negative control: step = max / 8, which is wrong wherever a group's peak is not at level 8."""
    import numpy as np

    magnitude, _, _ = reach(bits, dtype)
    negative = bits >> (bits.dtype.itemsize * 8 - 1) == 1
    peak = magnitude.max(axis=1)
    step = np.where(peak > 0, peak / LEVELS, 1.0)
    signed = np.where(negative, -magnitude, magnitude)
    levels = np.clip(np.rint(signed / step[:, None]), -LEVELS, LEVELS - 1).astype(np.int8)
    return Grid(np.ones(len(bits), dtype=bool), step, levels)
