"""Whether the memory that a KV cache took is what its tokens cost: explained and unexplained, in GiB.

Smaller than what was free would hold for nearly any figure, so both sides are shown. Names and units are those of
`EngineFacts.settings`, where engines put what has no field of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from clouds.enginelog.lines import GIB
from clouds.models import Setting

COST_EACH = "kv_cache_bytes_per_token"
TAKEN = "kv_cache_taken_gib"
EXPLAINED = "kv_cache_explained_gib"
UNEXPLAINED = "kv_cache_unexplained_gib"
RESTS_ON = "kv_cache_bytes_from"
ANNOUNCED = "kv_cache_dtype_announced"
"""What the log said the dtype would be, where the allocation is of another."""
WIDTH = {
    "float32": 4,
    "bfloat16": 2,
    "float16": 2,
    "float8_e4m3fn": 1,
    "float8_e4m3b11fnuz": 1,
    "float8_e5m2": 1,
    "int8": 1,
}
"""Bytes of one number by JAX's name of its type."""


def per_token(layers: int, block: tuple[int, ...], dtype: str) -> float | None:
    """Bytes of one token in `layers` layers that all look like `block`, whose first number is its tokens."""
    width = WIDTH.get(dtype)
    if width is None or not block or not block[0]:
        return None
    return layers * math.prod(block[1:]) * width


def account(tokens: int | None, bytes_per_token: float | None, taken_gib: float | None) -> Mapping[str, Setting]:
    """Tokens x bytes of each, against what was taken; only what is known. Unexplained below 0: more than was taken."""
    found: dict[str, Setting] = {}
    if bytes_per_token:
        found[COST_EACH] = round(bytes_per_token, 2)
    if taken_gib is not None:
        found[TAKEN] = round(taken_gib, 2)
    if tokens and bytes_per_token:
        explained = tokens * bytes_per_token / GIB
        found[EXPLAINED] = round(explained, 2)
        if taken_gib is not None:
            found[UNEXPLAINED] = round(taken_gib - explained, 2)
    return found


_FAMILIES = {
    "bf16": "bfloat16",
    "fp16": "float16",
    "half": "float16",
    "fp8_e4m3": "float8_e4m3",
    "fp8_e5m2": "float8_e5m2",
    "fp8": "float8",
    "auto": "",
}


def contradicts(announced: str, allocated: str) -> bool:
    """True when an announced dtype cannot be the allocated one. "auto" announces nothing, "fp8" any of that family."""
    family = _FAMILIES.get(announced, announced)
    return bool(family) and not allocated.startswith(family)
