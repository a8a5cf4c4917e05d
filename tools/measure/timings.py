"""Latency figures of a set of replies: TTFT, gaps between chunks, time per token. Milliseconds; good replies only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from tools.measure.client import Reply
from tools.measure.measurement import figure_of
from tools.measure.record import Figure
from tools.measure.stats import percentile

FORMULAS: Mapping[str, str] = {
    "ttft": "TTFT = first delta of any kind (content, reasoning, tool call) - request handed to the socket; the "
    "connection is open before",
    "ttfa": "time to first answer = first delta of content - request handed to the socket",
    "itl": "ITL = gap between two chunks, as they arrived; a chunk may hold several tokens (tokens_per_chunk)",
    "tpot": "TPOT = (last - first) / (N - 1), N = output tokens of the reply; where chunks hold several tokens, "
    "(last - first) / (N - N / chunks), since the first stamp has its chunk's tokens behind it",
    "tokens_per_chunk": "output tokens / chunks that held anything",
}
QUANTILES = (("p50", 0.50), ("p90", 0.90), ("p99", 0.99))
Values = Callable[[Reply], Iterable[float]]


def _ttft(reply: Reply) -> Iterable[float]:
    return (1e3 * reply.ttft,)


def _ttfa(reply: Reply) -> Iterable[float]:
    return () if reply.ttfa is None else (1e3 * reply.ttfa,)


def _itl(reply: Reply) -> Iterable[float]:
    return (1e3 * gap for gap in reply.gaps)


def _tpot(reply: Reply) -> Iterable[float]:
    return () if reply.tpot is None else (1e3 * reply.tpot,)


def latency_figures(key: str, label: str, repeats: Sequence[Sequence[Reply]]) -> tuple[Figure, ...]:
    """All latency figures under `key`. `repeats` are the good replies of each repeat: its samples."""
    found = []
    for name, words, values, quantiles in (
        ("ttft", "TTFT", _ttft, QUANTILES),
        ("ttfa", "time to first answer", _ttfa, QUANTILES[:1]),
        ("itl", "gap between chunks", _itl, QUANTILES),
        ("tpot", "time per token", _tpot, QUANTILES),
    ):
        for quantile, q in quantiles:
            found.append(
                _figure(f"{key}.{name}_{quantile}_ms", f"{label}, {words} {quantile}", name, repeats, values, q)
            )
    per_chunk = [reply.tokens_per_chunk for replies in repeats for reply in replies if reply.chunks]
    value = median(per_chunk) if per_chunk else None
    samples = tuple(
        sum(reply.tokens for reply in replies) / sum(reply.chunks for reply in replies)
        for replies in repeats
        if replies
    )
    found.append(
        figure_of(
            f"{key}.tokens_per_chunk",
            f"{label}, tokens per chunk",
            "tokens",
            value,
            samples,
            formula="tokens_per_chunk",
            n=len(per_chunk),
            why="no good reply",
        )
    )
    return tuple(found)


def _figure(key: str, label: str, formula: str, repeats: Sequence[Sequence[Reply]], values: Values, q: float) -> Figure:
    each = [[value for reply in replies for value in values(reply)] for replies in repeats]
    pooled = [value for some in each for value in some]
    samples = tuple(percentile(some, q) for some in each if some)
    value = percentile(pooled, q) if pooled else None
    return figure_of(
        key,
        label,
        "ms",
        value,
        samples,
        formula=formula,
        better="lower",
        main=key.endswith(".ttft_p50_ms"),
        n=len(pooled),
        why="no good reply had it",
    )
