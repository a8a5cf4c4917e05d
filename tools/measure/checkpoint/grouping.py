"""The group size of a grid is found, not assumed: the largest size whose sampled groups all lie on one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clouds.errors import InvalidInput
from clouds.models import Record
from tools.measure.checkpoint.grid import recover, textbook
from tools.measure.checkpoint.halves import matrix, to_bf16, widen
from tools.measure.checkpoint.tensors import Tensor

SIZES = (256, 128, 64, 32, 16)
ROWS = 8
"""Rows sampled of every tensor, evenly spread."""
AGREE = 0.9
"""Share of the tensors that lie on any grid which the chosen size must hold; the others are kept as they are."""


class SizeTried(Record):
    """One group size: how many sampled groups lie on a grid, and how many tensors have no group off it."""

    size: int
    tensors: int
    tensors_on: int
    groups: int
    groups_on: int
    percent: float


def sample(tensor: Tensor) -> Any:
    """Evenly spread rows of a tensor (all leading dimensions are rows) as raw bits, rows x columns."""
    import numpy as np

    flat = matrix(tensor).reshape(-1, tensor.shape[-1])
    return np.array(flat[np.unique(np.linspace(0, len(flat) - 1, ROWS).astype(int))])


def try_sizes(tensors: Sequence[Tensor], sizes: Sequence[int] = SIZES) -> tuple[SizeTried, ...]:
    """Every size over the same sampled rows; a size that does not divide a tensor's columns does not count for it."""
    counts = {size: [0, 0, 0, 0] for size in sizes}
    for tensor in tensors:
        rows = sample(tensor)
        for size in sizes:
            if rows.shape[1] % size:
                continue
            on = recover(rows.reshape(-1, size), tensor.dtype).on
            for index, value in enumerate((1, int(on.all()), len(on), int(on.sum()))):
                counts[size][index] += value
    return tuple(
        SizeTried(
            size=size, tensors=all_, tensors_on=on, groups=groups, groups_on=lie, percent=100 * lie / max(groups, 1)
        )
        for size, (all_, on, groups, lie) in counts.items()
    )


def choose(tried: Sequence[SizeTried]) -> int:
    """Raises InvalidInput when no sampled tensor lies on a grid of any size."""
    most = max((each.tensors_on for each in tried), default=0)
    if not most:
        best = max((each.percent for each in tried), default=0.0)
        raise InvalidInput(
            "source",
            f"no tensor lies on a 4-bit grid (at best {best:.1f} % of sampled groups)",
            fix="Only a 16-bit export of weights trained for Q4_0 can be repacked without loss.",
        )
    return max(each.size for each in tried if each.tensors_on >= AGREE * most)


def textbook_error(tensors: Sequence[Tensor], size: int) -> float | None:
    """Median over sampled groups of the mean relative error that step = max / 8 would make; None without groups."""
    import numpy as np

    errors = []
    for tensor in tensors:
        rows = sample(tensor)
        if rows.shape[1] % size:
            continue
        bits = rows.reshape(-1, size)
        made = textbook(bits, tensor.dtype)
        stored = widen(to_bf16(made.step), "BF16")
        true = widen(bits, tensor.dtype)
        wrong = np.abs(made.levels * stored[:, None] - true)
        errors.append(wrong.sum(axis=1) / np.maximum(np.abs(true).sum(axis=1), np.finfo(np.float32).tiny))
    return float(np.median(np.concatenate(errors))) if errors else None
