"""One tensor into four bits: recovered group by group, in pieces that fit in memory, or refused whole."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from tools.measure.checkpoint.grid import recover
from tools.measure.checkpoint.halves import matrix, to_bf16
from tools.measure.checkpoint.layout import Module, modules
from tools.measure.checkpoint.packing import PER_WORD, pack
from tools.measure.checkpoint.tensors import Tensor
from tools.measure.checkpoint.writer import Entry

VALUES_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Converted:
    """The entries to write; empty with a `reason` when the tensor must stay as it is."""

    entries: tuple[Entry, ...]
    groups: int = 0
    off: int = 0
    negative: int = 0
    reason: str = ""


def convert(tensor: Tensor, size: int, pool: ThreadPoolExecutor) -> Converted:
    """Every group of the tensor is looked at, also after one was found off the grid, so that the count is whole."""
    import numpy as np

    columns = tensor.shape[-1]
    if columns % size or columns % PER_WORD:
        return Converted((), reason=f"{columns} columns are no multiple of {size}")
    bits = matrix(tensor)
    entries: list[Entry] = []
    groups = off = negative = 0
    for module in modules(tensor):
        whole = bits if module.expert is None else bits[module.expert]
        rows = whole[module.first : module.last]
        pieces = list(pool.map(_piece(rows, tensor.dtype, size), _steps(len(rows), columns)))
        groups += len(rows) * columns // size
        off += sum(piece[2] for piece in pieces)
        negative += sum(piece[3] for piece in pieces)
        if not off:
            words, scales = (np.concatenate([piece[index] for piece in pieces]) for index in (0, 1))
            entries += _entries(module, len(rows), words, scales)
    if off:
        return Converted((), groups, off, reason=f"{off:,} of {groups:,} groups of {size} are off the grid")
    return Converted(tuple(entries), groups, 0, negative)


def _steps(rows: int, columns: int) -> list[slice]:
    step = max(1, VALUES_AT_ONCE // columns)
    return [slice(start, min(rows, start + step)) for start in range(0, rows, step)]


def _piece(rows: Any, dtype: str, size: int) -> Callable[[slice], tuple[Any, Any, int, int]]:
    def work(part: slice) -> tuple[Any, Any, int, int]:
        import numpy as np

        piece = np.array(rows[part])
        grid = recover(piece.reshape(-1, size), dtype)
        words = pack(grid.levels.reshape(piece.shape))
        scales = to_bf16(grid.step).reshape(len(piece), -1)
        return words, scales, int((~grid.on).sum()), int((grid.step < 0).sum())

    return work


def _entries(module: Module, rows: int, words: Any, scales: Any) -> list[Entry]:
    import numpy as np

    return [
        Entry(f"{module.name}.weight_packed", "I32", words.shape, held=words),
        Entry(f"{module.name}.weight_scale", "BF16", scales.shape, held=scales),
        Entry(f"{module.name}.weight_shape", "I64", (2,), held=np.array([rows, module.columns], dtype="<i8")),
    ]
