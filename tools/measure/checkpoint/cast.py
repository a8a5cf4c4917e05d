"""What a cast to F16 would do to every tensor: F16 has more mantissa than BF16 and far less exponent range."""

from __future__ import annotations

from collections.abc import Iterable

from clouds.base import Progress
from clouds.models import Record
from tools.measure.checkpoint.halves import FLOATS, values
from tools.measure.checkpoint.tensors import Tensor

SMALLEST_NORMAL = 2.0**-14


class CastCounts(Record):
    """Weights of one tensor that an F16 cast changes in kind. `subnormal` keeps a value with fewer bits."""

    tensor: str
    n: int
    overflow: int
    """Finite and becoming infinite (65,520 and more)."""
    underflow: int
    """Not zero and becoming zero (2**-25 and less)."""
    subnormal: int
    absmax: float


class Cast(Record):
    """All tensors: the total, those that lose weights (most first), and what could not be looked at."""

    total: CastCounts
    tensors: int
    losing_tensors: int
    losing: tuple[CastCounts, ...]
    skipped: int
    """Tensors that are quantized, integers or F16 already."""


def f16_cast(tensors: Iterable[Tensor], progress: Progress | None = None) -> Cast:
    """Streams every float tensor once; memory stays at a few chunks."""
    rows, skipped = [], 0
    listed = list(tensors)
    for index, tensor in enumerate(listed):
        if tensor.dtype not in FLOATS or tensor.dtype == "F16":
            skipped += 1
            continue
        if progress is not None:
            progress.report(f"casting {tensor.name}", index, len(listed))
        rows.append(_count(tensor))
    total = CastCounts(
        tensor="all",
        n=sum(row.n for row in rows),
        overflow=sum(row.overflow for row in rows),
        underflow=sum(row.underflow for row in rows),
        subnormal=sum(row.subnormal for row in rows),
        absmax=max((row.absmax for row in rows), default=0.0),
    )
    losing = sorted((row for row in rows if row.overflow or row.underflow), key=lambda r: -(r.overflow + r.underflow))
    return Cast(total=total, tensors=len(rows), losing_tensors=len(losing), losing=tuple(losing), skipped=skipped)


def _count(tensor: Tensor) -> CastCounts:
    import numpy as np

    overflow = underflow = subnormal = n = 0
    absmax = 0.0
    for piece in values(tensor):
        size = np.abs(piece[np.isfinite(piece)])
        with np.errstate(over="ignore", under="ignore"):
            cast = size.astype(np.float16)
        n += piece.size
        overflow += int(np.isinf(cast).sum())
        underflow += int(((cast == 0) & (size > 0)).sum())
        subnormal += int(((cast > 0) & (cast < SMALLEST_NORMAL)).sum())
        absmax = max(absmax, float(size.max(initial=0)))
    return CastCounts(
        tensor=tensor.name, n=n, overflow=overflow, underflow=underflow, subnormal=subnormal, absmax=absmax
    )
