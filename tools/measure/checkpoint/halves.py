"""16-bit floats as numpy sees them: bf16 by its bits, and the reach of values that round to a stored one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clouds.errors import InvalidInput
from tools.measure.checkpoint.source import Local
from tools.measure.checkpoint.tensors import CHUNK, Tensor

FLOATS = {"BF16": "<u2", "F16": "<u2", "F32": "<u4"}
"""Dtypes whose values can be read, and the unsigned view of their bits."""


def widen(bits: Any, dtype: str) -> Any:
    """Bits of BF16, F16 or F32 as float32, exactly."""
    import numpy as np

    if dtype == "BF16":
        return (bits.astype(np.uint32) << 16).view(np.float32)
    return bits.view(np.float16).astype(np.float32) if dtype == "F16" else bits.view(np.float32)


def to_bf16(values: Any) -> Any:
    """Nearest bf16 (ties to even) as its bits. Values must be finite."""
    import numpy as np

    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def reach(bits: Any, dtype: str) -> tuple[Any, Any, Any]:
    """Magnitude of each stored value, and the smallest and largest magnitude that rounds to it (float64)."""
    import numpy as np

    top = {"BF16": 0x7FFF, "F16": 0x7FFF, "F32": 0x7FFFFFFF}[dtype]
    size = bits & bits.dtype.type(top)
    one = bits.dtype.type(1)
    with np.errstate(invalid="ignore"):  # a stored NaN stays one; the caller looks for it
        value = widen(size, dtype).astype(np.float64)
        below = widen(np.where(size > 0, size - one, size), dtype).astype(np.float64)
        above = widen(np.minimum(size, top - 1).astype(bits.dtype) + one, dtype).astype(np.float64)
    return value, (below + value) / 2, (value + above) / 2


def matrix(tensor: Tensor) -> Any:
    """A tensor's bits, mapped from its file and not read yet, in its own shape."""
    import numpy as np

    if not isinstance(tensor.source, Local):
        raise InvalidInput("checkpoint", "its bytes are behind a URL", fix="Download it and name its folder.")
    return np.memmap(tensor.source.path, dtype=FLOATS[tensor.dtype], mode="r", offset=tensor.offset, shape=tensor.shape)


def values(tensor: Tensor) -> Iterator[Any]:
    """A float tensor as float32 in pieces, from wherever it is."""
    import numpy as np

    for piece in tensor.chunks(CHUNK):
        yield widen(np.frombuffer(piece, dtype=FLOATS[tensor.dtype]), tensor.dtype)
