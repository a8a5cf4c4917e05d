"""From raw stamped bytes to a `Reply`, after the reply has ended: reading never delays a stamp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tools.measure.client.connection import Exchange
from tools.measure.client.frames import Framer
from tools.measure.client.payload import chunk_of
from tools.measure.client.reply import Reply
from tools.measure.client.request import ChatRequest
from tools.result import quoted


@dataclass(slots=True)
class _Seen:
    """What the chunks of one reply said."""

    stamps: list[float] = field(default_factory=list)
    mute: list[float] = field(default_factory=list)
    """Stamps of empty deltas after the first one with something in it: tokens without text, if `usage` counts them."""
    first_answer: float = 0.0
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    tool_calls: list[Any] = field(default_factory=list)
    finish: str = ""
    done: bool = False
    usage: dict[str, Any] = field(default_factory=dict)
    timings: dict[str, Any] = field(default_factory=dict)
    logprobs: list[Any] = field(default_factory=list)
    failure: tuple[str, str] | None = None

    @property
    def any(self) -> bool:
        """Whether there was one event of the protocol, right or wrong."""
        return bool(self.stamps or self.finish or self.done or self.usage or self.failure)

    @property
    def counted(self) -> int | None:
        """Output tokens by `usage`; None where it says none, or none of a reply that there is."""
        found = _count(self.usage.get("completion_tokens"))
        return None if found == 0 and self.stamps else found


def read_reply(exchange: Exchange, request: ChatRequest, framer: Callable[[], Framer]) -> Reply:
    """Read one exchange. What failed on the way has its kind, and the more basic failure wins."""
    seen = _Seen()
    if exchange.status == 200:
        _read_events(exchange, framer(), seen)
        if exchange.failure is None and not seen.any:
            _read_whole(exchange, seen)
    kind, detail = _outcome(exchange, request, seen)
    tokens, tokens_from = _tokens(request, seen)
    stamps, usage = _stamps(seen, tokens), seen.usage
    return Reply(
        label=request.label,
        kind=kind,
        detail=detail,
        status=exchange.status,
        retry_after=_seconds(exchange.headers.get("retry-after", "")),
        asked_tokens=request.max_tokens,
        fixed_length=request.fixed_length,
        sent=exchange.sent,
        first=stamps[0] if stamps else 0.0,
        first_answer=seen.first_answer,
        last=stamps[-1] if stamps else exchange.ended if kind == "ok" else 0.0,
        ended=exchange.ended,
        gaps=_gaps(stamps),
        chunks=len(stamps),
        tokens=tokens,
        tokens_from=tokens_from,
        prompt_tokens=_count(usage.get("prompt_tokens")),
        cached_tokens=_cached(usage, seen.timings),
        finish=seen.finish,
        text="".join(seen.text),
        reasoning="".join(seen.reasoning),
        tool_calls=tuple(seen.tool_calls),
        engine=seen.timings,
        logprobs=tuple(seen.logprobs),
    )


def _read_events(exchange: Exchange, framer: Framer, seen: _Seen) -> None:
    try:
        for at, payload in framer.events(exchange.pieces):
            if payload == b"[DONE]":
                seen.done = True
                continue
            chunk = chunk_of(payload)
            if chunk is None:
                seen.failure = seen.failure or (
                    "malformed",
                    f"not JSON: {quoted(payload.decode('utf-8', 'replace'), 80)}",
                )
                continue
            _read_chunk(at, chunk, seen)
    except ValueError as error:
        seen.failure = ("malformed", quoted(str(error), 80))


def _read_whole(exchange: Exchange, seen: _Seen) -> None:
    """A body without a single event: a whole message, a refusal in words with status 200, or something else."""
    body = b"".join(piece for _, piece in exchange.pieces).strip()
    chunk = chunk_of(body)
    if chunk is not None:
        _read_chunk(exchange.pieces[-1][0], chunk, seen)
    elif body:
        seen.failure = ("malformed", f"no event: {quoted(body[:400].decode('utf-8', 'replace'), 80)}")


def _tokens(request: ChatRequest, seen: _Seen) -> tuple[int, str]:
    """Output tokens, and whence: `usage`; the limit, where a reply of fixed length ended at it; else its chunks."""
    if seen.counted is not None:
        return seen.counted, "usage"
    if request.fixed_length and seen.finish == "length" and seen.stamps:
        return request.max_tokens, "limit"
    return len(seen.stamps), "chunks"


def _stamps(seen: _Seen, tokens: int) -> list[float]:
    """When tokens came. Past its own end (`ignore_eos`) a model writes tokens that have no text: they took their time.

    The delta that ends a reply may be empty because it is no token; the count tells.
    """
    for mute in (seen.mute, seen.mute[:-1]):
        if mute and tokens >= len(seen.stamps) + len(mute):
            return sorted([*seen.stamps, *mute])
    return seen.stamps


def _read_chunk(at: float, chunk: dict[str, Any], seen: _Seen) -> None:
    choices = chunk.get("choices")
    if choices:
        choice = choices[0] if isinstance(choices, list) and isinstance(choices[0], dict) else {}
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            # A text completion, or a whole message sent at once by an endpoint that does not stream.
            delta = {"content": choice.get("text")} if "text" in choice else choice.get("message") or {}
        _read_delta(at, delta, seen, last=choice.get("finish_reason"))
        if choice.get("logprobs"):
            seen.logprobs.append(choice["logprobs"])
        if choice.get("finish_reason"):
            seen.finish = str(choice["finish_reason"])[:40]
    if isinstance(chunk.get("usage"), dict):
        seen.usage = chunk["usage"]
    if isinstance(chunk.get("timings"), dict):
        seen.timings = {str(name)[:40]: value for name, value in list(chunk["timings"].items())[:40]}
    error = chunk if chunk.get("object") == "error" else chunk.get("error")
    if error:
        words = error.get("message", error) if isinstance(error, dict) else error
        seen.failure = seen.failure or ("told", quoted(str(words)))


def _read_delta(at: float, delta: dict[str, Any], seen: _Seen, last: Any) -> None:
    content = delta.get("content") or delta.get("refusal") or delta.get("content")
    if content:
        seen.stamps.append(at)
        seen.text.append(_text(content))
        if not seen.first_answer:
            seen.first_answer = at
    thought = delta.get("reasoning_content") or delta.get("reasoning")
    calls = delta.get("tool_calls") or delta.get("function_call")
    if thought:
        seen.reasoning.append(str(thought))
    if calls:
        seen.tool_calls.append(calls)
    if (thought or calls) and not content:
        seen.stamps.append(at)
    elif content == "" and seen.stamps and last in {None, "", "length"}:
        seen.mute.append(at)


def _text(content: Any) -> str:
    """A text, or the texts of a list of parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") if isinstance(part, dict) else str(part) for part in content)
    return content if isinstance(content, str) else str(content)


def _outcome(exchange: Exchange, request: ChatRequest, seen: _Seen) -> tuple[str, str]:
    """("ok", "") or the kind and the words of what went wrong."""
    if exchange.status and exchange.status != 200:
        body = b"".join(piece for _, piece in exchange.pieces)[:2_000].decode("utf-8", "replace")
        return status_kind(exchange.status), f"HTTP {exchange.status} {quoted(body, 500)}"
    if seen.failure and seen.failure[0] == "told":
        return seen.failure
    whole = seen.done and exchange.failure is not None and exchange.failure[0] == "cut"
    if exchange.failure and not whole:
        return exchange.failure
    if seen.failure:
        return seen.failure
    if not seen.done and not seen.finish:
        return "cut", "the stream ended without finish_reason or [DONE]"
    if request.fixed_length:
        return _length(request, seen)
    return "ok", ""


def _length(request: ChatRequest, seen: _Seen) -> tuple[str, str]:
    counted, asked, chunks = seen.counted, request.max_tokens, len(seen.stamps)
    got = chunks if counted is None else counted
    said = f"{got} of {asked} tokens in {chunks} chunks, finish_reason {quoted(seen.finish, 20)}"
    missing = counted < asked if counted is not None else seen.finish == "stop"
    if missing or not chunks:
        return "short", said
    # One more is an end token that some engines count; beyond that neither the limit nor the count can be relied on.
    return ("long", said) if counted is not None and counted > asked + 1 else ("ok", "")


def status_kind(status: int) -> str:
    """The kind of a status that is not 200."""
    if status == 429:
        return "http_429"
    if 400 <= status < 500:
        return "http_4xx"
    return "http_5xx" if 500 <= status < 600 else "http_other"


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _gaps(stamps: Sequence[float]) -> tuple[float, ...]:
    return tuple(after - before for before, after in pairwise(stamps))


def _cached(usage: dict[str, Any], timings: dict[str, Any]) -> int | None:
    details = usage.get("prompt_tokens_details")
    found = _count(details.get("cached_tokens")) if isinstance(details, dict) else None
    return _count(timings.get("cache_n")) if found is None else found


def _seconds(text: str) -> float | None:
    try:
        return max(0.0, float(text))
    except ValueError:
        return None
