"""Whether a model fits: what it needs by the numbers in its header, against what is free. The formula is shown."""

from __future__ import annotations

from dataclasses import dataclass

from clouds.local.flags import values
from clouds.local.gguf_header import Header
from clouds.local.launch import Launch

MARGIN = 64 * 2**20
"""Bytes for the program, its graph and its connections: 43 MB seen with the tiny model (xllamacpp, 2026-11-29)."""
CACHE_BYTES = {
    "f32": 4.0, "f16": 2.0, "bf16": 2.0, "q8_0": 34 / 32, "q5_1": 24 / 32, "q5_0": 22 / 32, "q4_1": 20 / 32,
    "q4_0": 18 / 32, "iq4_nl": 18 / 32,
}  # fmt: skip
"""Bytes of one number in the KV cache (ggml's block sizes)."""


@dataclass(frozen=True)
class Need:
    """Bytes. `cache` None: the header does not say."""

    weights: int
    cache: int | None
    work: int

    @property
    def total(self) -> int:
        """All of it, the unknown left out."""
        return self.weights + (self.cache or 0) + self.work


def need(header: Header, launch: Launch) -> Need:
    """Weights, KV cache for all slots, and working memory (one batch of scores over the vocabulary)."""
    flags = values(launch.flags)
    tokens = launch.context * launch.slots
    cache = None
    if header.keys_per_token is not None and header.values_per_token is not None:
        keys = header.keys_per_token * CACHE_BYTES[flags.get("--cache-type-k", "f16")]
        cache = round(tokens * (keys + header.values_per_token * CACHE_BYTES[flags.get("--cache-type-v", "f16")]))
    batch = int(flags.get("--ubatch-size", "512"))
    prompts = int(flags.get("--cache-ram", "0")) * 2**20
    return Need(header.bytes, cache, MARGIN + batch * (header.vocabulary or 0) * 4 + prompts)


def formula(header: Header, launch: Launch) -> str:
    """The sum in words, with its numbers."""
    flags = values(launch.flags)
    needs = need(header, launch)
    kinds = sorted({flags.get("--cache-type-k", "f16"), flags.get("--cache-type-v", "f16")})
    cache = (
        f"KV cache {size(needs.cache)} ({launch.context:,} tokens x {launch.slots} slots x "
        f"{(header.keys_per_token or 0) + (header.values_per_token or 0):,} numbers in {'/'.join(kinds)})"
        if needs.cache is not None
        else "a KV cache that its header does not describe"
    )
    return f"weights {size(needs.weights)} + {cache} + working memory {size(needs.work)} = {size(needs.total)}"


def size(count: float) -> str:
    """Bytes for a person."""
    return f"{count / 2**30:.2f} GiB" if count >= 2**30 else f"{count / 2**20:.1f} MiB"
