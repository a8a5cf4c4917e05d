"""What an engine says of itself in its log: weights, KV cache, quantization, and how long each part of its start took.

The last match counts, since a reused endpoint name shares one log group (article of 2026-09-26). Lines are data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from clouds.enginelog import llama, vllm
from clouds.models import EngineFacts, Phase

Line = tuple[datetime, str]
MARKS = (
    "modelrig phase: ",
    "Model loading took",
    "Init model |",
    "KV cache size:",
    "Precompile all the subgraphs",
    "Application startup complete",
    "server is listening",
    "listening on http",
)
"""Lines that say how far a start is."""


def read(lines: Iterable[str]) -> EngineFacts | None:
    """The facts in a log; None when no engine has spoken yet. Which engine it is shows in its own lines.

    What has no field of its own is in `settings`, with its unit in its name: memory of the chips, seconds of compiling,
    and the arithmetic of the KV cache (see `memory`).
    """
    text = list(lines)
    return vllm.read(text) or llama.read(text)


def phases(created: datetime, lines: Sequence[Line], ready: datetime | None = None) -> tuple[Phase, ...]:
    """The stretches of a start-up, one after the other, from the times of its log lines."""
    names = (
        (("Model loading took", "Init model |"), "loading weights"),
        (("KV cache size:",), "sizing the KV cache"),
        (("init engine (",), "compiling and warming up the engine"),
        (("Application startup complete",), "warming up"),
    )
    found: list[Phase] = []
    before = created
    if lines:
        first = min(at for at, _ in lines)
        found.append(Phase(name="waiting for an instance and its image", seconds=_between(before, first)))
        before = first
    for marks, name in names:
        at = next((at for at, line in reversed(lines) if any(mark in line for mark in marks)), None)
        if at is not None and at >= before:
            found.append(Phase(name=name, seconds=_between(before, at)))
            before = at
    if ready is not None and lines and ready >= before:
        found.append(Phase(name="health check", seconds=_between(before, ready)))
    return tuple(found)


def _between(start: datetime, end: datetime) -> float:
    return round(max((end - start) / timedelta(seconds=1), 0.0), 1)


def progress_words(lines: Iterable[str]) -> str:
    """How far a start is, from its last telling line; empty when none tells."""
    last = ""
    for line in lines:
        mark = next((mark for mark in MARKS if mark in line), "")
        if mark:
            last = line[line.index(mark) :].removeprefix("modelrig phase: ")[:120]
    return last


def errors(lines: Sequence[str], limit: int = 3) -> tuple[str, ...]:
    """The last lines that look like an error, for the account of a start that failed. They are data."""
    telling = [
        line
        for line in lines
        if re.search(r"\b\w*Error\b|\bERROR\b|error:|Traceback|out of memory|No space left", line)
    ]
    return tuple(" ".join(line.split())[:300] for line in telling[-limit:])
