"""Decode: how fast one reply is written when nothing else is asked, with everything that a call costs once taken out.

Short and long replies of fixed length alternate, so that a slow minute meets both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from tools.measure.client import ChatRequest, Reply
from tools.measure.measurement import Ask, Bench, Measurement, Taken, figure_of
from tools.measure.prompts import timing_prompt
from tools.measure.record import Figure, Scalar
from tools.measure.timings import FORMULAS, latency_figures

FEWEST = 2
"""Pairs of a short and a long reply below which no rate is computed."""


@dataclass(frozen=True)
class DecodePlan:
    """Replies of two lengths, so many of each."""

    short: int
    long: int
    pairs: int
    nonce: str

    @property
    def settings(self) -> Mapping[str, Scalar]:
        """The shape of the part."""
        return {"short_tokens": self.short, "long_tokens": self.long, "pairs": self.pairs, "at_once": 1}

    @property
    def steps(self) -> int:
        """One a reply."""
        return 2 * self.pairs

    def request(self, kind: str, pair: int) -> ChatRequest:
        """The request of one reply; its prompt is like no other from the first line on."""
        tokens = self.short if kind == "short" else self.long
        prompt = timing_prompt(self.nonce, kind[0], pair)
        return ChatRequest(prompt, tokens, label=f"{kind} {pair + 1}", fixed_length=True)


def plan(ask: Ask) -> DecodePlan:
    """Pure: what will be sent."""
    profile = ask.profile
    return DecodePlan(profile.short_tokens, profile.long_tokens, profile.pairs, ask.nonce)


async def run(plan: DecodePlan, bench: Bench) -> None:
    """One reply at a time, short and long in turn."""
    for pair in range(plan.pairs):
        for kind in ("short", "long"):
            says = f"decode: reply {pair + 1} of {plan.pairs} with {kind} length"
            await bench.together(kind, [plan.request(kind, pair)], says)


def figures(plan: DecodePlan, taken: Taken) -> tuple[Figure, ...]:
    """The decode rate in both ways, the fixed cost of a call, and the latencies."""
    short, long = (tuple(batch.replies[0] for batch in taken.labelled(kind)) for kind in ("short", "long"))
    good_short, good_long = [reply for reply in short if reply.ok], [reply for reply in long if reply.ok]
    pairs = [
        (a.seconds, b.seconds) for a, b in zip(short, long, strict=False) if a.ok and b.ok and b.seconds > a.seconds
    ]
    extra = plan.long - plan.short
    rates = tuple(extra / (slow - fast) for fast, slow in pairs)
    rate, why = None, ""
    if len(pairs) < FEWEST:
        why = f"{len(pairs)} good pairs, at least {FEWEST} are needed"
    elif median(slow for _, slow in pairs) > median(fast for fast, _ in pairs):
        rate = extra / (median(reply.seconds for reply in good_long) - median(reply.seconds for reply in good_short))
    tpots = tuple(reply.tpot for reply in good_long if reply.tpot)
    costs = tuple(fast - plan.short / rate for fast, _ in pairs) if rate else ()
    return (
        figure_of(
            "decode.tokens_per_second",
            "decode, tokens/s",
            "tokens/s",
            rate,
            rates,
            formula="decode_rate",
            better="higher",
            main=True,
            why=why or "the long replies were not slower than the short ones",
        ),
        figure_of(
            "decode.itl_tokens_per_second",
            "decode by time per token, tokens/s",
            "tokens/s",
            1 / median(tpots) if tpots else None,
            tuple(1 / each for each in tpots),
            formula="decode_rate_itl",
            better="higher",
            why="no good long reply",
        ),
        figure_of(
            "decode.fixed_cost_seconds",
            "cost of a call, s",
            "s",
            median(costs) if costs else None,
            costs,
            formula="fixed_cost",
            better="lower",
            why=why or "there is no decode rate",
        ),
        _seconds("short", plan.short, good_short),
        _seconds("long", plan.long, good_long),
        *latency_figures("decode", "decode", [[reply] for reply in (*good_short, *good_long)]),
    )


def _seconds(kind: str, tokens: int, good: list[Reply]) -> Figure:
    seconds = tuple(reply.seconds for reply in good)
    value = median(seconds) if seconds else None
    key, label = f"decode.{kind}_seconds", f"reply of {tokens} tokens, s"
    return figure_of(key, label, "s", value, seconds, formula="reply_seconds", better="lower", why="no good reply")


DECODE = Measurement(
    name="decode",
    title="one reply at a time",
    plan=plan,
    run=run,
    figures=figures,
    formulas={
        "decode_rate": "(long - short tokens) / (median seconds of long - median seconds of short replies); "
        "samples are the same of each pair",
        "decode_rate_itl": "1 / median TPOT of the long replies",
        "fixed_cost": "median over pairs of (seconds of the short reply - short tokens / decode rate)",
        "reply_seconds": "median of (last delta - request handed to the socket)",
        **FORMULAS,
    },
)
