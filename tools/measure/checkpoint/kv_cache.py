"""Bytes of KV cache per token, derived layer by layer from a model's configuration, with the formula in words.

Checked against two logs (2026-09-26 and 2026-10-25): Gemma 4 26B-A4B in bf16, 225,280 bytes a token, 11.32 GiB free
hold 53,955 by this formula and 53,888 by the engine; Gemma 4 E2B, 18,432 bytes, 5.52 GiB hold 321,562 and 321,280.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clouds.models import Record

BYTES = {"bf16": 2.0, "f16": 2.0, "fp8": 1.0, "q8_0": 34 / 32, "q4_0": 18 / 32, "f32": 4.0}
"""Bytes of one cached number by the dtype of the cache."""
WITHOUT = ("linear", "mamba", "ssm", "recurrent", "conv")
"""Words in a layer's type that mean a fixed state instead of a row per token."""


class KvCache(Record):
    """What a token costs in the KV cache, and what that rests on."""

    bytes_per_token: float
    dtype: str
    formula: str
    cached_layers: int
    shared_layers: int
    """Layers that reuse another layer's keys and values."""
    window_layers: int
    """Cached layers that look back only `window` tokens; an engine that drops what lies behind holds more tokens."""
    window: int | None = None
    context_tokens: int | None = None
    """The longest context that the configuration allows."""


@dataclass(frozen=True)
class _Layer:
    """One layer's cache: numbers per token (keys and values together)."""

    numbers: int
    words: str
    window: bool


def kv_cache(config: Mapping[str, Any], form: str, dtype: str = "bf16") -> KvCache | None:
    """None when the configuration does not say enough; a guess would be wrong several times over."""
    made = _gguf_layers(config) if form == "gguf" else _layers(config)
    if made is None:
        return None
    layers, shared, window, context = made
    kinds = Counter((layer.words, layer.numbers) for layer in layers)
    width = BYTES[dtype]
    parts = [f"{count} layers x {words}" for (words, _), count in sorted(kinds.items(), key=lambda item: -item[1])]
    total = sum(layer.numbers for layer in layers) * width
    formula = f"({' + '.join(parts)}) x {width:g} bytes = {total:,.0f} bytes a token"
    return KvCache(
        bytes_per_token=total,
        dtype=dtype,
        formula=formula + (f"; {shared} more layers share another's" if shared else ""),
        cached_layers=len(layers),
        shared_layers=shared,
        window_layers=sum(layer.window for layer in layers),
        window=window,
        context_tokens=context,
    )


_Made = tuple[list[_Layer], int, int | None, int | None]


def _layers(config: Mapping[str, Any]) -> _Made | None:
    text = config.get("text_config") or config
    count, heads = text.get("num_hidden_layers"), text.get("num_key_value_heads") or text.get("num_attention_heads")
    if not count:
        return None
    shared = int(text.get("num_kv_shared_layers") or 0)
    window, context = text.get("sliding_window"), text.get("max_position_embeddings")
    if text.get("kv_lora_rank"):  # multi-head latent attention caches one compressed row per token
        numbers = int(text["kv_lora_rank"]) + int(text.get("qk_rope_head_dim") or 0)
        return [_Layer(numbers, f"{numbers} (latent row)", window=False)] * (int(count) - shared), shared, None, context
    width = text.get("head_dim")
    if not width and text.get("hidden_size") and text.get("num_attention_heads"):
        width = int(text["hidden_size"]) // int(text["num_attention_heads"])
    if not heads or not width:
        return None
    layers = []
    for kind in _kinds(text, int(count))[: int(count) - shared]:
        if any(word in kind for word in WITHOUT):
            continue
        sliding = "sliding" in kind or "local" in kind
        own_heads, own_width = int(heads), int(width)
        if kind == "full_attention":
            own_heads = int(text.get("num_global_key_value_heads") or heads)
            own_width = int(text.get("global_head_dim") or width)
        layers.append(_layer(own_heads, own_width, own_width, window=sliding))
    return layers, shared, int(window) if window and any(each.window for each in layers) else None, context


def _kinds(text: Mapping[str, Any], count: int) -> list[str]:
    """The type of every layer; an empty word where the configuration has one kind only."""
    kinds = text.get("layer_types")
    if isinstance(kinds, list) and len(kinds) >= count:
        return [str(kind) for kind in kinds]
    every = text.get("full_attention_interval")
    if every:
        return ["full_attention" if (index + 1) % int(every) == 0 else "linear_attention" for index in range(count)]
    return [""] * count


def _gguf_layers(config: Mapping[str, Any]) -> _Made | None:
    name = str(config.get("general.architecture") or "")

    def of(key: str) -> Any:
        return config.get(f"{name}.{key}")

    count, heads = of("block_count"), of("attention.head_count_kv") or of("attention.head_count")
    if not count or not heads:
        return None
    shared, every = int(of("attention.shared_kv_layers") or 0), of("full_attention_interval")
    width = of("attention.key_length")
    if not width:
        queries = of("attention.head_count")
        queries = max(queries) if isinstance(queries, list) else queries
        if not queries or not of("embedding_length"):
            return None
        width = int(of("embedding_length")) // int(queries)
    values = int(of("attention.value_length") or width)
    pattern, window = of("attention.sliding_window_pattern"), of("attention.sliding_window")
    layers = []
    for index in range(int(count) - shared):
        if every and (index + 1) % int(every):
            continue
        sliding = _sliding(pattern, index) if window else False
        own = int(heads[index]) if isinstance(heads, list) else int(heads)
        keys = int((of("attention.key_length_swa") if sliding else None) or width)
        width_v = int((of("attention.value_length_swa") if sliding else None) or values)
        if own:
            layers.append(_layer(own, keys, width_v, window=sliding))
    return layers, shared, int(window) if window and any(each.window for each in layers) else None, of("context_length")


def _sliding(pattern: Any, index: int) -> bool:
    if isinstance(pattern, list):
        return bool(pattern[index]) if index < len(pattern) else False
    return bool(pattern) and (index + 1) % int(pattern) != 0


def _layer(heads: int, keys: int, values: int, *, window: bool) -> _Layer:
    numbers = heads * (keys + values)
    words = f"{heads} KV heads x (2 x {keys})" if keys == values else f"{heads} KV heads x ({keys} + {values})"
    return _Layer(numbers, words + (" (window)" if window else ""), window)
