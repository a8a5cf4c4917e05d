"""Long context: a passphrase in filler, found or not; what a prompt past the limit meets; decode rate far into it.

Every prompt begins with a line that no other has, so that a prefix cache has nothing to reuse. The filler and the
passphrases are the same in every run, so that runs are compared place by place.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from tools.measure.client import Batch, ChatRequest, Reply
from tools.measure.haystack import QUESTION, buried, filler, passphrase
from tools.measure.measurement import Ask, Bench, Measurement, Taken, figure_of
from tools.measure.record import Figure, Item, Scalar
from tools.measure.shapes import learnt

UNKNOWN = (2_000, 8_000)
"""Tokens of the prompts where nobody says how long the context is."""
SHARES = (0.25, 0.9)
"""Of a known context."""
ROOM = 96
"""Tokens that a prompt leaves for its question and its answer."""
ANSWER = 24
REPEATS = 2
POLL = 0.25
PAST = "past the limit"
TASKS = (
    "Write a story that begins where the text above ends.",
    "Write a Python function that counts how often each place is named in the text above.",
    "Summarize the text above in a few paragraphs.",
)
"""Story, code and summary: decode rate is asked with each in turn."""
_TOO_LONG = re.compile(r"context|length|too (?:long|large|many)|maximum|exceed", re.IGNORECASE)
_USAGE = re.compile(
    r"^(?:vllm:(?:gpu|kv)_cache_usage_perc|llamacpp:kv_cache_usage_ratio)(?:\{[^}]*\})? ([0-9.e+-]+)$", re.MULTILINE
)


@dataclass(frozen=True)
class LongContextPlan:
    """Lengths in tokens, depths in per cent, and the lengths behind which decoding is timed."""

    nonce: str
    lengths: tuple[int, ...]
    depths: tuple[int, ...]
    decode_at: tuple[int, ...]
    decode_tokens: int
    context_tokens: int | None
    max_tokens: int = ANSWER

    @property
    def settings(self) -> Mapping[str, Scalar]:
        """The shape of the part."""
        return {
            "lengths": ", ".join(map(str, self.lengths)),
            "depths_percent": ", ".join(map(str, self.depths)),
            "decode_at": ", ".join(map(str, self.decode_at)),
            "decode_tokens": self.decode_tokens,
            "max_tokens": self.max_tokens,
            "at_once": 1,
        }

    @property
    def steps(self) -> int:
        """One a prompt."""
        return 2 + len(self.lengths) * len(self.depths) + REPEATS * len(self.decode_at)


def plan(ask: Ask) -> LongContextPlan:
    """Pure: what will be sent. Lengths follow the context where it is known."""
    options, context = ask.options, ask.context_tokens
    room = (context - ROOM) if context else None
    default = tuple(int(share * room) for share in SHARES) if room and room > 0 else UNKNOWN
    lengths = options.wholes("longcontext.lengths", default, 1, 10_000_000)
    decode_tokens = options.whole("longcontext.decode_tokens", 64, 8, 4096)
    furthest = max(lengths) if room is None else min(max(lengths), max(0, room - decode_tokens))
    return LongContextPlan(
        nonce=ask.nonce,
        lengths=lengths,
        depths=options.wholes("longcontext.depths", (10, 50, 90), 0, 100),
        decode_at=options.wholes("longcontext.decode_at", (0, furthest), 0, 10_000_000),
        decode_tokens=decode_tokens,
        context_tokens=context,
        max_tokens=options.whole("longcontext.tokens", ANSWER, 1, 32_768),
    )


async def run(plan: LongContextPlan, bench: Bench) -> None:
    """Learn how many tokens a sentence has, then look for every passphrase, then decode behind every length."""
    per_sentence = await learnt(bench, plan.nonce, "longcontext: tokens a sentence")
    for length in plan.lengths:
        for depth in plan.depths:
            await _needle(plan, bench, length, depth, per_sentence)
    for tokens in plan.decode_at:
        for repeat in range(REPEATS):
            label, ahead = f"decode behind {tokens}", filler(round(tokens / per_sentence))
            prompt = f"{plan.nonce} d{tokens}.{repeat}\n{ahead}\n{TASKS[repeat % len(TASKS)]}"
            request = ChatRequest(prompt, plan.decode_tokens, label=label, fixed_length=True)
            await bench.together(label, [request], f"longcontext: decode behind {tokens:,} tokens")
    if plan.context_tokens:
        too_long = round(1.1 * plan.context_tokens / per_sentence) + 2
        request = ChatRequest(f"{plan.nonce} past\n{filler(too_long)}\n{QUESTION}", ANSWER, label=PAST)
        bench.taken.items.append(past_item((await bench.client.together([request])).replies[0]))
        bench.stepped("longcontext: a prompt past the limit")


async def _needle(plan: LongContextPlan, bench: Bench, length: int, depth: int, per_sentence: float) -> None:
    secret = passphrase(length, depth)
    prompt = buried(plan.nonce, round(length / per_sentence), depth, secret, f"{length}.{depth}")
    request = ChatRequest(prompt, plan.max_tokens, label=f"{length} at {depth} %")
    shares: list[float] = []
    poll = asyncio.create_task(_watch(bench, shares))
    batch = await bench.client.together([request])
    poll.cancel()
    await asyncio.gather(poll, return_exceptions=True)
    bench.taken.items.append(item(length, depth, secret, batch.replies[0], max(shares, default=None)))
    bench.keep(f"needle {length}", 1, batch, f"longcontext: {length:,} tokens, passphrase at {depth} %")


async def _watch(bench: Bench, shares: list[float]) -> None:
    """The share of the KV cache in use, where the engine tells it. A wire that signs its requests is left alone."""
    while bench.client.wire.sign is None:
        status, body = await bench.client.get("/metrics")
        found = _USAGE.search(body[:1_000_000].decode("utf-8", "replace")) if status == 200 else None
        if found is None:
            return
        shares.append(float(found[1]))
        await asyncio.sleep(POLL)


def item(length: int, depth: int, secret: str, reply: Reply, share: float | None) -> Item:
    """Found when the passphrase is in the answer, character for character but for its case."""
    refused = refused_by_engine(reply)
    rate = reply.prompt_tokens / reply.ttft if reply.ok and reply.prompt_tokens and reply.ttft > 0 else None
    return Item(
        id=f"{length}-{depth}",
        kind="passphrase",
        question=f"the passphrase at {depth} % of about {length:,} tokens",
        expected=secret,
        reply=reply.text,
        said=secret if secret in reply.text.casefold() else "",
        right=reply.ok and secret in reply.text.casefold(),
        outcome="refused by the engine" if refused else reply.kind,
        cut_off=reply.finish == "length" and secret not in reply.text.casefold(),
        tokens=reply.tokens,
        seconds=reply.seconds if reply.ok else None,
        facts={
            "depth_percent": depth,
            "prompt_tokens": reply.prompt_tokens,
            "prompt_tokens_per_second": rate,
            "kv_cache_share": share,
            "answered": reply.detail[:200],
        },
    )


def refused_by_engine(reply: Reply) -> bool:
    """A prompt that is too long is refused by status, through a cloud that wraps the engine's (SageMaker: 424), or in
    words with status 200."""
    if reply.status in {400, 413, 422}:
        return True
    return (reply.kind == "told" or reply.status == 424) and _TOO_LONG.search(reply.detail) is not None


def past_item(reply: Reply) -> Item:
    """A refusal is what is right here, and no failed request of the run."""
    refused = refused_by_engine(reply)
    return Item(
        id=PAST,
        kind=PAST,
        question="a prompt a tenth longer than the context",
        expected="refused",
        reply=reply.text[:200],
        said="refused" if refused else "taken" if reply.ok else "",
        right=refused,
        outcome="ok" if refused or reply.ok else reply.kind,
        facts={"answered": reply.detail[:200], "prompt_tokens": reply.prompt_tokens},
    )


def figures(plan: LongContextPlan, taken: Taken) -> tuple[Figure, ...]:
    """Passphrases found, seconds and prompt rate by length, decode rates, and the prompt past the limit."""
    items = [each for each in taken.items if each.kind != PAST]
    found = figure_of(
        "longcontext.found",
        f"passphrases found of {len(plan.lengths) * len(plan.depths)}",
        "answers",
        float(sum(each.right for each in items)) if items else None,
        (),
        formula="found",
        better="higher",
        main=True,
        n=len(items),
        why="not asked",
    )
    rows = [found]
    for length in plan.lengths:
        good = [each.good[0] for each in taken.labelled(f"needle {length}") if each.good]
        rates = tuple(reply.prompt_tokens / reply.ttft for reply in good if reply.prompt_tokens and reply.ttft > 0)
        rows += [
            figure_of(
                f"longcontext.{length}.prompt_tokens_per_second",
                f"{length:,} tokens, prompt tokens/s",
                "tokens/s",
                median(rates) if rates else None,
                rates,
                formula="prompt_rate",
                better="higher",
                why="no prompt of this length was answered",
            ),
            figure_of(
                f"longcontext.{length}.seconds",
                f"{length:,} tokens, s",
                "s",
                median(reply.seconds for reply in good) if good else None,
                tuple(reply.seconds for reply in good),
                formula="long_seconds",
                better="lower",
                why="no prompt of this length was answered",
            ),
        ]
    rows += [_decode(tokens, taken.labelled(f"decode behind {tokens}")) for tokens in plan.decode_at]
    return (*rows, *_past(plan, taken))


def _decode(tokens: int, batches: list[Batch]) -> Figure:
    rates = tuple(1 / each.good[0].tpot for each in batches if each.good and each.good[0].tpot)
    return figure_of(
        f"longcontext.decode_at.{tokens}",
        f"decode behind {tokens:,} tokens, tokens/s",
        "tokens/s",
        median(rates) if rates else None,
        rates,
        formula="decode_behind",
        better="higher",
        why="no reply behind so many tokens",
    )


def _past(plan: LongContextPlan, taken: Taken) -> tuple[Figure, ...]:
    """1 when the engine refused a prompt past its limit, 0 when it took one: it then forgot a part without a word."""
    if not plan.context_tokens:
        return ()
    said = next((each.said for each in taken.items if each.kind == PAST), "")
    value = float(said == "refused") if said else None
    key, label = "longcontext.past_limit_refused", "a prompt past the limit is refused"
    return (figure_of(key, label, "yes", value, (), formula="past_limit", n=1, why="not asked, or no answer"),)


LONGCONTEXT = Measurement(
    name="longcontext",
    title="passphrases in long prompts",
    plan=plan,
    run=run,
    figures=figures,
    formulas={
        "found": "replies that hold the passphrase; a refused or failed request counts as not found",
        "prompt_rate": "median over depths of prompt tokens / TTFT, as seen by the client",
        "long_seconds": "median over depths of (last delta - request handed to the socket)",
        "decode_behind": "median of 1 / TPOT of fixed-length replies behind a prompt of so many tokens",
        "past_limit": "1 when a prompt 10 % past the context was answered with a 4xx, 0 when it was answered",
    },
    options={
        "lengths": "prompt tokens, with commas; default a quarter and nine tenths of the context",
        "depths": "per cent, with commas; default 10,50,90",
        "tokens": "limit of an answer; default 24: more for a model that thinks first",
        "decode_at": "tokens ahead, with commas; default 0 and the longest",
        "decode_tokens": "tokens of a timed reply; default 64",
    },
)
