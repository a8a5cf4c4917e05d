"""How an endpoint can be read: by the labels' own token ids, or by how many most likely tokens it returns.

The shapes are tried once, before anything else is asked, and what came back is kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tools.measure.client import ChatRequest, ModelClient, Reply
from tools.measure.decisions.reading import LabelRead, from_exact, from_top
from tools.result import quoted

TOP_TRIED = (500, 32, 20, 5)
"""llama.cpp takes hundreds, vLLM and hosted services up to 20 unless they are started otherwise."""


SHOWN = 5
"""Tokens of an answer that are kept of each shape that was tried."""


@dataclass(frozen=True)
class Shape:
    """What is added to a request, and how its answer is read. `tried` says what each shape met."""

    read: str
    """"exact" or "top 20"; empty when the endpoint returns no log-probabilities."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    ids: Mapping[str, int] = field(default_factory=dict)
    tried: tuple[str, ...] = ()

    def request(self, prompt: str, label: str) -> ChatRequest:
        """One token at the place where the answer begins."""
        return ChatRequest(prompt, 1, label, extra=self.extra)


async def probe(client: ModelClient, prompt: str, labels: Sequence[str], extra: Mapping[str, Any]) -> Shape:
    """Exact ids first, then ever fewer of the most likely tokens."""
    tried = []
    ids = await token_ids(client, labels)
    if ids:
        shape = Shape("exact", {**extra, **_exact(list(ids.values()))}, ids)
        reply = await client.one(shape.request(prompt, "probe exact"))
        tried.append(f"label token ids: {_met(reply)}")
        if reply.ok and read_labels(reply, labels, shape) is not None:
            return Shape(shape.read, shape.extra, ids, tuple(tried))
    else:
        tried.append("label token ids: no tokenizer at this address")
    for top in TOP_TRIED:
        wanted = {**extra, "logprobs": True, "top_logprobs": top}
        reply = await client.one(ChatRequest(prompt, 1, f"probe top {top}", extra=wanted))
        tried.append(f"top {top}: {_met(reply)}")
        if reply.ok and top_tokens(reply):
            return Shape(f"top {top}", wanted, {}, tuple(tried))
    return Shape("", tried=tuple(tried))


async def token_ids(client: ModelClient, labels: Sequence[str]) -> dict[str, int]:
    """Each label's one token id by the endpoint's tokenizer (vLLM and llama.cpp have one); empty when it has none."""
    found = {}
    for label in labels:
        body = {"model": client.model, "prompt": label, "content": label, "add_special_tokens": False}
        status, answer = await client.post("/tokenize", body)
        try:
            tokens = json.loads(answer)["tokens"] if status == 200 else []
        except (ValueError, KeyError, TypeError):
            tokens = []
        if not (isinstance(tokens, list) and len(tokens) == 1 and isinstance(tokens[0], int)):
            return {}
        found[label] = tokens[0]
    return found


def read_labels(reply: Reply, labels: Sequence[str], shape: Shape) -> LabelRead | None:
    """The read of one reply by this shape; None when its log-probabilities are not there."""
    top = top_tokens(reply)
    if not top:
        return None
    if shape.read != "exact":
        return from_top(labels, top)
    by_token = dict(top)
    found = {label: by_token.get(f"token_id:{id_}") for label, id_ in shape.ids.items()}
    if any(value is None for value in found.values()):
        return None
    best = max(top, key=lambda pair: pair[1])[0]
    mine = {f"token_id:{id_}" for id_ in shape.ids.values()}
    return from_exact(labels, {k: v for k, v in found.items() if v is not None}, top_is_label=best in mine)


def top_tokens(reply: Reply) -> list[tuple[str, float]]:
    """Tokens and log-probabilities at the first position that has some, as chat or as text completions send them."""
    for sent in reply.logprobs:
        content = sent.get("content") if isinstance(sent, Mapping) else None
        if isinstance(content, list) and content and isinstance(content[0], Mapping):
            entries = [*(content[0].get("top_logprobs") or ()), content[0]]
            found = {
                str(each["token"]): float(each["logprob"])
                for each in reversed(entries)
                if isinstance(each, Mapping) and "token" in each and isinstance(each.get("logprob"), int | float)
            }
            if found:
                return list(found.items())
        tops = sent.get("top_logprobs") if isinstance(sent, Mapping) else None
        if isinstance(tops, list) and tops and isinstance(tops[0], Mapping):
            return [(str(token), float(value)) for token, value in tops[0].items()]
    return []


def _exact(ids: list[int]) -> dict[str, Any]:
    """How vLLM is asked for chosen tokens (2026-09-24); its TPU backend answers 500 to it."""
    return {"logprobs": True, "top_logprobs": 1, "logprob_token_ids": ids, "return_tokens_as_token_ids": True}


def _met(reply: Reply) -> str:
    if not reply.ok:
        return reply.detail[:160] or reply.kind
    top = sorted(top_tokens(reply), key=lambda pair: -pair[1])
    first = ", ".join(f"{quoted(token, 20)} {value:.3f}" for token, value in top[:SHOWN])
    return f"{len(top)} log-probabilities" + (f" ({first}{', ...' if len(top) > SHOWN else ''})" if top else "")
