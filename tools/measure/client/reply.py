"""One reply as it was stamped and read: what the timings are computed from. Times are seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

KINDS: Mapping[str, str] = {
    "http_429": "refused with 429, too many requests",
    "http_4xx": "refused with another 4xx",
    "http_5xx": "failed with a 5xx",
    "http_other": "answered with neither success nor an error status",
    "cut": "the connection closed in the middle of the reply",
    "stalled": "nothing arrived for longer than the limit in the middle of the reply",
    "malformed": "a line of the stream was not what the protocol says",
    "told": "the engine reported an error inside the stream",
    "refused": "no connection could be made",
    "timeout": "nothing at all arrived in time",
    "short": "fewer tokens than were asked for, although the length was fixed",
    "long": "more tokens than the limit, by the endpoint's own count",
}
"""Every way in which a request fails; none of them enters a timing."""
NO_USAGE = "no_usage"
"""A warning kind: the reply was whole, but the endpoint did not say how many tokens it had."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One request's outcome. Stamps are of one clock; a stamp of 0 means that the thing never came."""

    label: str
    kind: str = "ok"
    detail: str = ""
    status: int = 0
    retry_after: float | None = None
    asked_tokens: int = 0
    fixed_length: bool = False
    due: float = 0.0
    """When a paced request should have been sent; 0 for any other."""
    sent: float = 0.0
    first: float = 0.0
    first_answer: float = 0.0
    last: float = 0.0
    ended: float = 0.0
    gaps: tuple[float, ...] = ()
    chunks: int = 0
    tokens: int = 0
    tokens_from: str = "usage"
    """Or "limit": a reply of fixed length that ended at it; or "chunks", which were counted."""
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    finish: str = ""
    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[Any, ...] = ()
    engine: Mapping[str, Any] = field(default_factory=dict)
    logprobs: tuple[Any, ...] = ()
    """Of each chunk that had some, as the endpoint sent them."""

    @property
    def ok(self) -> bool:
        """True when it may enter a timing."""
        return self.kind == "ok"

    @property
    def ttft(self) -> float:
        """From handing the request to the socket to the first delta that holds anything."""
        return self.first - self.sent

    @property
    def ttfa(self) -> float | None:
        """From the same moment to the first delta of the answer itself; None when none came."""
        return self.first_answer - self.sent if self.first_answer else None

    @property
    def seconds(self) -> float:
        """From the same moment to the last delta."""
        return self.last - self.sent

    @property
    def tokens_between(self) -> float:
        """Tokens between the first and the last stamp: N - 1 when each chunk is one token.

        Where chunks carry several (drafters), the first chunk had its average share of them, N / chunks. An end
        token has no text and no chunk, so a reply that stopped by itself may count one token more than it showed.
        """
        shown = self.tokens - 1 if self.finish == "stop" and self.tokens == self.chunks + 1 else self.tokens
        return max(0.0, shown - shown / self.chunks) if self.chunks else 0.0

    @property
    def tpot(self) -> float | None:
        """Seconds per output token: (last - first) / (N - 1); None for a reply of one token."""
        return (self.last - self.first) / self.tokens_between if self.tokens_between >= 1 else None

    @property
    def tokens_per_chunk(self) -> float:
        """Above 1 when the engine sends several tokens in one chunk."""
        return self.tokens / self.chunks if self.chunks else 0.0
