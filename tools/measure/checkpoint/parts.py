"""Which part of a model a tensor belongs to, by its name in the Hugging Face or the GGUF spelling."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from clouds.models import Record
from tools.measure.checkpoint.tensors import Tensor

Part = Literal[
    "attention",
    "dense MLP",
    "experts",
    "router",
    "norms",
    "per-layer projection",
    "token embedding",
    "per-layer embedding",
    "output head",
    "vision",
    "audio",
    "other",
]
BODY: tuple[Part, ...] = ("attention", "dense MLP", "experts", "router", "norms", "per-layer projection")
"""The transformer itself: what every generated token passes through (of the experts only those that are chosen)."""
RULES: tuple[tuple[Part, str], ...] = (
    ("audio", r"audio|(^|\.)a\.|sound_"),
    ("vision", r"vision|visual|image_|multi_modal_projector|multimodal|(^|\.)v\.|(^|\.)mm\.|patch_embed"),
    ("per-layer embedding", r"embed_tokens_per_layer|per_layer_token_embd"),
    ("per-layer projection", r"per_layer_(model_proj|projection(?!_norm)|input_gate)|inp_gate|blk\.\d+\.proj\."),
    ("token embedding", r"embed_tokens|token_embd|word_embeddings|(^|\.)wte\.|tok_embeddings"),
    ("output head", r"(^|\.)lm_head\.|^output\.weight"),
    ("router", r"router|ffn_gate_inp|(mlp|moe|block_sparse_moe|feed_forward)\.gate\."),
    ("norms", r"norm|layer_scalar|layer_output_scale|ln_[12f]\b|layernorm"),
    ("experts", r"expert|_exps|_shexp"),
    ("attention", r"attn|attention"),
    ("dense MLP", r"mlp|ffn|feed_forward"),
)
LAYER = re.compile(r"(?:^|\.)(?:layers|h|blk|blocks)\.(\d+)\.")


class PartSize(Record):
    """One part: weights and bytes, its share of all bytes, and the dtypes its tensors are stored in."""

    part: str
    tensors: int
    parameters: int
    bytes: int
    percent: float
    dtypes: str


def part_of(name: str) -> Part:
    """The first rule that fits; "other" is shown as such and never hidden in another part."""
    return next((part for part, rule in RULES if re.search(rule, name)), "other")


def layer_of(name: str) -> int | None:
    """The decoder layer that a tensor belongs to; None outside of the decoder (embeddings, vision, audio)."""
    found = LAYER.search(name)
    return int(found[1]) if found and part_of(name) not in {"vision", "audio"} else None


def sizes(tensors: Iterable[Tensor]) -> tuple[PartSize, ...]:
    """Largest part first. Bytes of all parts add up to the bytes of all tensors."""
    held: dict[Part, list[Tensor]] = {}
    for tensor in tensors:
        held.setdefault(part_of(tensor.name), []).append(tensor)
    total = sum(each.size for group in held.values() for each in group) or 1
    rows = []
    for part, group in held.items():
        bytes_by_dtype: dict[str, int] = {}
        for each in group:
            bytes_by_dtype[each.dtype] = bytes_by_dtype.get(each.dtype, 0) + each.size
        size = sum(bytes_by_dtype.values())
        rows.append(
            PartSize(
                part=part,
                tensors=len(group),
                parameters=sum(each.parameters for each in group),
                bytes=size,
                percent=100 * size / total,
                dtypes=", ".join(sorted(bytes_by_dtype, key=lambda dtype: -bytes_by_dtype[dtype])),
            )
        )
    return tuple(sorted(rows, key=lambda row: -row.bytes))
