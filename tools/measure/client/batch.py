"""Replies that belong together, and how long a client waits for one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tools.measure.client.share import Share
from tools.measure.client.stalls import marked

if TYPE_CHECKING:
    from tools.measure.client.reply import Reply


@dataclass(frozen=True)
class Limits:
    """How long is too long, in seconds: to connect, until the first byte, between two, and for a whole reply."""

    connect: float = 10.0
    first: float = 300.0
    gap: float = 60.0
    whole: float = 1_800.0


@dataclass(frozen=True)
class Batch:
    """Replies to requests that were in flight together. `wall` is from the first request to the last good token."""

    replies: tuple[Reply, ...]
    started: float
    wall: float
    share: Share = field(repr=False)
    counters: Mapping[str, float] = field(default_factory=dict, repr=False)
    """By how much the engine's own counters moved meanwhile, where a measurement read them."""

    @property
    def good(self) -> tuple[Reply, ...]:
        """The replies that may enter a timing."""
        return tuple(reply for reply in self.replies if reply.ok)


def batch_of(read: Sequence[Reply], share: Share) -> Batch:
    """The batch of these replies, stalls among them named."""
    replies = marked(read)
    started = min(reply.sent for reply in replies)
    ends = [reply.last for reply in replies if reply.ok]
    return Batch(replies, started, max(ends) - started if ends else 0.0, share)
