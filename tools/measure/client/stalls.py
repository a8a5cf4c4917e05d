"""Which pauses in the middle of a reply are faults of that reply, and which the engine simply took.

An engine that reads a long prompt pauses every reply that it is writing. That is its speed and stays in the figures. A
reply that stands still while others go on, or far longer than anything else explains, has stalled.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from statistics import median

from tools.measure.client.reply import Reply

SECONDS = 1.0
ALONE = 20.0
"""A gap of more than a second and of 20 median gaps is a stall when other replies went on, or when there was none."""
TOGETHER = 100.0
"""When every reply in flight stood still, only a gap of 100 median gaps is."""
FEWEST = 4
"""Gaps below which a reply has no usual gap to compare with."""


def marked(replies: Sequence[Reply]) -> tuple[Reply, ...]:
    """The same replies; a good one of fixed length that stalled has that kind."""
    return tuple(_marked(reply, replies) for reply in replies)


def _marked(reply: Reply, replies: Sequence[Reply]) -> Reply:
    if not (reply.ok and reply.fixed_length) or len(reply.gaps) < FEWEST:
        return reply
    usual = median(reply.gaps)
    limit = max(SECONDS, ALONE * usual)
    if max(reply.gaps) <= limit:
        return reply
    for end, gap in zip(_stamps(reply)[1:], reply.gaps, strict=True):
        if gap > max(SECONDS, TOGETHER * usual) or (gap > limit and not _all_paused(reply, end - gap, end, replies)):
            return replace(reply, kind="stalled", detail=f"a gap of {gap:.2f} s; the usual one is {usual:.3f} s")
    return reply


def _all_paused(reply: Reply, start: float, end: float, replies: Sequence[Reply]) -> bool:
    """Whether others were in flight meanwhile and none of them got on: at most a chunk just at either end."""
    others = [each for each in replies if each is not reply and each.sent < end and each.ended > start]
    margin = (end - start) / 10
    return bool(others) and not any(_inside(each, start + margin, end - margin) for each in others)


def _inside(reply: Reply, start: float, end: float) -> bool:
    stamps = _stamps(reply)
    return bisect_right(stamps, end) > bisect_left(stamps, start)


def _stamps(reply: Reply) -> list[float]:
    return list(accumulate(reply.gaps, initial=reply.first)) if reply.chunks else []
