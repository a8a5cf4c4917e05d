"""Failed requests in a comparison: what was answered by a part of the requests only is the speed of another load."""

from __future__ import annotations

from collections.abc import Sequence

from tools.measure.cautions import level_of
from tools.measure.record import BatchRecord, Part, Run

SPARED = 0.05
"""The share of failed requests up to which a figure is compared all the same; they are in the headline."""
BY_DESIGN = {"paced", "knee"}
"""Measurements that go on until requests fail: only at a level of their own do failures spoil a figure."""


def failures(runs: Sequence[Run], part: str, key: str) -> tuple[str, ...]:
    """Which of these runs lost too many of the requests that this figure rests on. Figures of the replies that kept
    an objective count failed ones, and are left alone."""
    if ".kept" in key:
        return ()
    return tuple(
        f"{failed} of {asked} requests of {run.id} failed"
        for run in runs
        if (found := run.part(part)) is not None
        for failed, asked in (_counted(found, key),)
        if failed > SPARED * asked
    )


def troubles(run: Run) -> str:
    """For a headline: that a run is not whole, or how many of its requests failed; empty where neither is so."""
    failed, asked = sum(sum(part.errors.values()) for part in run.parts), sum(part.requests for part in run.parts)
    words = [] if run.state == "complete" or run.quoted else [f"is {run.state}"]
    words += [f"had {failed} of {asked} requests fail"] if failed and asked else []
    return " and ".join(words)


def _counted(part: Part, key: str) -> tuple[int, int]:
    """Failed requests and all, at the figure's level where it has one, else in the whole part."""
    level = key.split(".")[1] if key.count(".") > 1 else ""
    batches = [batch for batch in part.counted if level and level_of(batch.label) == level]
    if not batches:
        return (0, 0) if part.name in BY_DESIGN else _of(part.counted)
    return _of(batches)


def _of(batches: Sequence[BatchRecord]) -> tuple[int, int]:
    requests = [each for batch in batches for each in batch.requests]
    return sum(each.kind != "ok" for each in requests), len(requests)
