"""What vLLM's TPU backend adds: the chips' memory, what the KV cache really is, and where the memory went.

Lines of 2026-10-25 and 2026-09-26 (vLLM 0.30.0 and 0.29.1). The allocation line decides the dtype of the KV cache; an
announcement of another is kept beside it. Its shape is that of one layer, and a model may have wider ones: what that
leaves open shows as unexplained.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from clouds.enginelog import memory
from clouds.enginelog.lines import GIB, Found, last, pattern
from clouds.models import Setting

_CHIPS = r"hbm=\[((?:\([\d., ]{1,40}\)[, ]*)+)\]"
PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("before", pattern(r"Init worker \|.*" + _CHIPS)),
    ("loaded", pattern(r"Init model \|.*" + _CHIPS)),
    ("limit", pattern(r"total_hbm_limit_gb=<n>GiB")),
    ("cap", pattern(r"total_hbm_limit_cap_gb=<n>GiB")),
    ("used", pattern(r"total_hbm_used_gb=<n>GiB")),
    ("free", pattern(r"total_hbm_avail_gb=<n>GiB")),
    ("announced", pattern(r"Automatically using (\S+) for FP8 KV cache")),
    ("layers", pattern(r"Init kv-cache \|.*num_total_layers=<i>")),
    ("like", pattern(r"Init kv-cache \|.*regular_attn_layers=<i>")),
    ("blocks", pattern(r"Init kv-cache \|.*num_blocks=\[<i>")),
    ("shape", pattern(r"Init kv-cache \|.*regular_attn_shape=\(num_blocks, \(([\d, ]{1,60})\)\)")),
    ("dtype", pattern(r"Init kv-cache \|.*regular_attn_dtype=(\w+)")),
    ("after", pattern(r"Init kv-cache \|.*" + _CHIPS)),
)
_HBM = {"limit": "hbm_limit_gib", "cap": "hbm_cap_gib", "used": "hbm_used_gib", "free": "hbm_free_gib"}


def read(lines: Sequence[str]) -> Found:
    """What the backend said; empty on any other accelerator."""
    return last(PATTERNS, lines)


def joined(
    chips: Found, facts: dict[str, Any], settings: Mapping[str, Setting]
) -> tuple[dict[str, Any], dict[str, Setting]]:
    """VLLM's own facts with those of the chips: sums over all chips, in GiB."""
    made: dict[str, Setting] = {**settings, **{_HBM[key]: float(chips[key][0]) for key in _HBM if key in chips}}
    before, loaded, after = (_sum(chips.get(key)) for key in ("before", "loaded", "after"))
    if "loaded" in chips:
        made["chips"] = len(_pairs(chips["loaded"]))
    weights = loaded - (before or 0.0) if loaded is not None else _float(chips, "used")
    if weights is not None and "weights_bytes" not in facts:
        facts["weights_bytes"] = round(weights * GIB)
    start = loaded if loaded is not None else _float(chips, "used")
    taken = after - start if after is not None and start is not None else None
    if after is not None:
        made["hbm_used_with_kv_cache_gib"] = round(after, 2)
    if taken is not None:
        facts["kv_cache_bytes"] = round(taken * GIB)
    block = tuple(int(each) for each in chips["shape"][0].split(",") if each.strip()) if "shape" in chips else ()
    if block and "blocks" in chips and "kv_cache_tokens" not in facts:
        facts["kv_cache_tokens"] = int(chips["blocks"][0]) * block[0]
    dtype = chips.get("dtype", ("",))[0]
    every = int(chips.get("layers", ("0",))[0])
    layers = int(chips["like"][0]) if "like" in chips else every
    each = memory.per_token(layers, block, dtype)
    made |= memory.account(facts.get("kv_cache_tokens"), each, taken)
    if each:
        made[memory.RESTS_ON] = (
            f"{layers} of {max(layers, every)} layers, all like the logged one: "
            f"{' x '.join(map(str, block[1:]))} numbers of {dtype}"
        )
    return _dtype(chips, dtype, facts, made)


def _dtype(
    chips: Found, allocated: str, facts: dict[str, Any], made: dict[str, Setting]
) -> tuple[dict[str, Any], dict[str, Setting]]:
    """The allocation decides; what was announced differently stands beside it."""
    announced = chips.get("announced", (facts.get("kv_cache_dtype", ""),))[0]
    if allocated:
        facts["kv_cache_dtype"] = allocated
        if memory.contradicts(announced, allocated):
            made[memory.ANNOUNCED] = announced
    elif "announced" in chips:  # nothing was allocated yet, or the line is gone: an announcement is not a fact
        facts["kv_cache_dtype"] = ""
        made[memory.ANNOUNCED] = announced
    return facts, made


def _pairs(groups: tuple[str, ...]) -> list[tuple[str, str]]:
    return pattern(r"\(<n>, <n>\)").findall(groups[0])


def _sum(groups: tuple[str, ...] | None) -> float | None:
    return sum(float(used) for used, _ in _pairs(groups)) if groups else None


def _float(chips: Found, key: str) -> float | None:
    return float(chips[key][0]) if key in chips else None
