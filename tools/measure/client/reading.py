"""From raw stamped bytes to a `Reply`, after the reply has ended: reading never delays a stamp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tools.measure.client.connection import Exchange
from tools.measure.client.frames import Framer
from tools.measure.client.reply import Reply
from tools.measure.client.request import ChatRequest
from tools.result import quoted


@dataclass(slots=True)
class _Seen:
    """What the chunks of one reply said."""

    stamps: list[float] = field(default_factory=list)
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


def read_reply(exchange: Exchange, request: ChatRequest, framer: Callable[[], Framer]) -> Reply:
    """Read one exchange. What failed on the way has its kind, and the more basic failure wins."""
    seen = _Seen()
    if exchange.status == 200:
        _read_events(exchange, framer(), seen)
    kind, detail = _outcome(exchange, request, seen)
    stamps, usage = seen.stamps, seen.usage
    counted = _count(usage.get("completion_tokens"))
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
        last=stamps[-1] if stamps else 0.0,
        ended=exchange.ended,
        gaps=_gaps(stamps),
        chunks=len(stamps),
        tokens=len(stamps) if counted is None else counted,
        tokens_from="chunks" if counted is None else "usage",
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
    from pydantic_core import from_json

    try:
        for at, payload in framer.events(exchange.pieces):
            if payload == b"[DONE]":
                seen.done = True
                continue
            try:
                chunk = from_json(payload)
            except ValueError:
                chunk = None
            if not isinstance(chunk, dict):
                seen.failure = seen.failure or (
                    "malformed",
                    f"not JSON: {quoted(payload.decode('utf-8', 'replace'), 80)}",
                )
                continue
            _read_chunk(at, chunk, seen)
    except ValueError as error:
        seen.failure = ("malformed", quoted(str(error), 80))


def _read_chunk(at: float, chunk: dict[str, Any], seen: _Seen) -> None:
    choices = chunk.get("choices")
    if choices:
        choice = choices[0] if isinstance(choices, list) and isinstance(choices[0], dict) else {}
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            # A text completion, or a whole message sent at once by an endpoint that does not stream.
            delta = {"content": choice.get("text")} if "text" in choice else choice.get("message") or {}
        _read_delta(at, delta, seen)
        if choice.get("logprobs"):
            seen.logprobs.append(choice["logprobs"])
        if choice.get("finish_reason"):
            seen.finish = str(choice["finish_reason"])[:40]
    if isinstance(chunk.get("usage"), dict):
        seen.usage = chunk["usage"]
    if isinstance(chunk.get("timings"), dict):
        seen.timings = {str(name)[:40]: value for name, value in list(chunk["timings"].items())[:40]}
    if chunk.get("error"):
        error = chunk["error"]
        words = error.get("message", error) if isinstance(error, dict) else error
        seen.failure = seen.failure or ("told", quoted(str(words)))


def _read_delta(at: float, delta: dict[str, Any], seen: _Seen) -> None:
    content = delta.get("content") or delta.get("refusal")
    if content:
        seen.stamps.append(at)
        seen.text.append(content if isinstance(content, str) else str(content))
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
    counted = _count(seen.usage.get("completion_tokens"))
    missing = counted < request.max_tokens if counted is not None else seen.finish == "stop" or not seen.stamps
    if missing or not seen.stamps:
        got = len(seen.stamps) if counted is None else counted
        return "short", f"{got} of {request.max_tokens} tokens, finish_reason {quoted(seen.finish, 20)}"
    return "ok", ""


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
