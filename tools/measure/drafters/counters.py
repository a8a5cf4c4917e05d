"""What an engine counts of its drafts: vLLM's and llama.cpp's metrics read before and after, or a reply's own timings.

Both use the same words after their prefix (vLLM 0.30, llama.cpp of 2026-10; read from a running server 2026-11-29).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from tools.measure.client import Batch, ModelClient, Reply

_LINE = re.compile(
    r"^(?:vllm|llamacpp):(spec_decode_num_(?:drafts|draft_tokens|accepted_tokens)_total|generation_tokens_total"
    r"|tokens_predicted_total)(?:\{[^}]*\})? ([0-9.eE+-]+)$",
    re.MULTILINE,
)
_NAMES = {
    "spec_decode_num_drafts_total": "drafts",
    "spec_decode_num_draft_tokens_total": "drafted",
    "spec_decode_num_accepted_tokens_total": "accepted",
    "generation_tokens_total": "generated",
    "tokens_predicted_total": "generated",
}
LARGEST = 4_000_000
"""Bytes of metrics that are looked at."""
OTHERS = 0.02
"""Tokens that the engine made beside ours, as a share, from which its counters are not ours."""


async def counters(client: ModelClient) -> Mapping[str, float] | None:
    """Sums over all label sets; None where the engine tells none. A wire that signs its requests is left alone."""
    if client.wire.sign is not None:
        return None
    status, body = await client.get("/metrics")
    return parse(body[:LARGEST].decode("utf-8", "replace")) if status == 200 else None


def parse(text: str) -> Mapping[str, float] | None:
    """The counters in a page of metrics; None when it has none of them."""
    found: dict[str, float] = {}
    for name, value in _LINE.findall(text):
        try:
            found[_NAMES[name]] = found.get(_NAMES[name], 0.0) + float(value)
        except ValueError:
            continue
    return found or None


def moved(before: Mapping[str, float] | None, after: Mapping[str, float] | None) -> Mapping[str, float]:
    """By how much each moved; empty when either is not known or one went back (the engine was started again)."""
    if before is None or after is None:
        return {}
    found = {name: after[name] - before.get(name, 0.0) for name in after}
    return found if min(found.values(), default=0.0) >= 0 else {}


async def counted(client: ModelClient, batch: Batch, before: Mapping[str, float] | None) -> Batch:
    """The batch with what the engine counted meanwhile, where it tells."""
    return replace(batch, counters=moved(before, await counters(client)))


def drafts_of(batch: Batch) -> tuple[float, float] | None:
    """Tokens drafted and tokens kept; None when the engine does not say, or when it also worked for somebody else.

    Replies that carry their own counts come first: they are of no other request.
    """
    own = [drafts for reply in batch.good if (drafts := _own(reply)) is not None]
    if own and len(own) == len(batch.good):
        return sum(drafted for drafted, _ in own), sum(kept for _, kept in own)
    said = batch.counters
    tokens = sum(reply.tokens for reply in batch.good)
    if "generated" in said and abs(said["generated"] - tokens) > max(2.0 * len(batch.good), OTHERS * tokens):
        return None
    if "generated" in said or "drafted" in said:  # an engine without a drafter need not have its counters at all
        return said.get("drafted", 0.0), said.get("accepted", 0.0)
    return None


def _own(reply: Reply) -> tuple[float, float] | None:
    """llama.cpp's timings: `draft_n` and `draft_n_accepted` where it drafted, and timings without them where not."""
    said = reply.engine
    if "predicted_n" not in said:
        return None
    drafted, kept = said.get("draft_n", 0), said.get("draft_n_accepted", 0)
    return (drafted, kept) if isinstance(drafted, int | float) and isinstance(kept, int | float) else None
