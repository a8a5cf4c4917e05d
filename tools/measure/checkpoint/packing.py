"""Four-bit levels in 32-bit words as compressed-tensors stores them: level + 8, eight a word, the first lowest."""

from __future__ import annotations

from typing import Any

PER_WORD = 8
OFFSET = 8


def pack(levels: Any) -> Any:
    """int8 levels (rows x columns, columns a multiple of 8) as int32 words (rows x columns / 8)."""
    import numpy as np

    nibbles = (levels + np.int8(OFFSET)).astype(np.uint8)
    pairs = nibbles[:, 0::2] | (nibbles[:, 1::2] << 4)
    return np.ascontiguousarray(pairs).view("<i4")


def unpack(words: Any) -> Any:
    """int32 words (rows x words) as int8 levels (rows x 8 words)."""
    import numpy as np

    pairs = np.ascontiguousarray(words).view(np.uint8)
    levels = np.empty((pairs.shape[0], pairs.shape[1] * 2), dtype=np.int8)
    levels[:, 0::2] = pairs & 15
    levels[:, 1::2] = pairs >> 4
    levels -= OFFSET
    return levels
