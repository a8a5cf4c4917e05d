"""What an engine says of itself in its log: weights, KV cache, quantization, and how long each part of its start took.

The last match counts, since a reused endpoint name shares one log group (article of 2026-09-26). Lines are data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from clouds.models import EngineFacts, Phase

GIB = 1024**3
Line = tuple[datetime, str]

_VLLM: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("version", re.compile(r"(?:API server version|V1 LLM engine \(v)\s*([0-9][\w.+-]*)")),
    ("weights", re.compile(r"Model loading took ([\d.]+) ?GiB(?: memory)? and ([\d.]+) seconds")),
    ("kv_bytes", re.compile(r"Available KV cache memory: ([\d.]+) GiB")),
    ("kv_tokens", re.compile(r"KV cache size: ([\d,]+) tokens")),
    ("concurrency", re.compile(r"Maximum concurrency for ([\d,]+) tokens per request: ([\d.]+)x")),
    ("quantization", re.compile(r"\bquantization=([\w-]+)")),
    ("kv_dtype", re.compile(r"\bkv_cache_dtype=([\w-]+)")),
    ("context", re.compile(r"\bmax_seq_len=(\d+)")),
    ("parallel", re.compile(r"\btensor_parallel_size=(\d+)")),
    ("model", re.compile(r"LLM engine .*?\bmodel='([^']{1,200})'")),
    ("compile", re.compile(r"torch\.compile takes ([\d.]+) s")),
    ("graphs", re.compile(r"Graph capturing finished in ([\d.]+) sec")),
    ("warmup", re.compile(r"init engine .*took ([\d.]+) s")),
)
_LLAMA: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("version", re.compile(r"build: (\d+ \([0-9a-f]+\))")),
    ("buffer", re.compile(r"(\w+) model buffer size = +([\d.]+) MiB")),
    ("layers", re.compile(r"offloaded (\d+)/(\d+) layers to GPU")),
    ("kv_bytes", re.compile(r"KV (?:self size|buffer size)\s*= +([\d.]+) MiB")),
    ("context", re.compile(r"n_ctx(?:_slot)?\s*= (\d+)")),
    ("slots", re.compile(r"n_slots = (\d+)")),
    ("model", re.compile(r"loaded meta data .* from (\S{1,200})")),
)
MARKS = (
    "modelrig phase: ",
    "Model loading took",
    "KV cache size:",
    "Application startup complete",
    "server is listening",
)
"""Lines that say how far a start is."""


def read(lines: Iterable[str]) -> EngineFacts | None:
    """The facts in a log; None when no engine has spoken yet. Which engine it is shows in its own lines."""
    text = list(lines)
    vllm = _last(_VLLM, text)
    if vllm.keys() & {"version", "weights", "kv_tokens", "model"}:
        return _of_vllm(vllm)
    llama = _last(_LLAMA, text)
    if llama.keys() & {"version", "buffer", "layers"}:
        return _of_llama(llama, text)
    return None


def _last(patterns: Sequence[tuple[str, re.Pattern[str]]], lines: Sequence[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in lines:
        for name, pattern in patterns:
            if match := pattern.search(line[:4000]):
                found[name] = match.groups()
    return found


def _of_vllm(found: dict[str, tuple[str, ...]]) -> EngineFacts:
    facts: dict[str, Any] = {
        "engine": "vllm",
        "version": found.get("version", ("",))[0],
        "model": found.get("model", ("",))[0],
    }
    if "weights" in found:
        facts["weights_bytes"] = round(float(found["weights"][0]) * GIB)
        facts["load_seconds"] = float(found["weights"][1])
    if "kv_bytes" in found:
        facts["kv_cache_bytes"] = round(float(found["kv_bytes"][0]) * GIB)
    if "kv_tokens" in found:
        facts["kv_cache_tokens"] = int(found["kv_tokens"][0].replace(",", ""))
    if "concurrency" in found:
        facts["context_tokens"] = int(found["concurrency"][0].replace(",", ""))
        facts["max_concurrency"] = float(found["concurrency"][1])
    elif "context" in found:
        facts["context_tokens"] = int(found["context"][0])
    if "quantization" in found:
        facts["quantization"] = "" if found["quantization"][0] == "None" else found["quantization"][0]
    if "kv_dtype" in found:
        facts["kv_cache_dtype"] = found["kv_dtype"][0]
    if "parallel" in found:
        facts["settings"] = {"tensor_parallel_size": int(found["parallel"][0])}
    return EngineFacts(**facts)


def _of_llama(found: dict[str, tuple[str, ...]], lines: Sequence[str]) -> EngineFacts:
    facts: dict[str, Any] = {"engine": "llama.cpp", "version": found.get("version", ("",))[0]}
    buffers = {match[1]: float(match[2]) for line in lines for match in _LLAMA[1][1].finditer(line[:4000])}
    if buffers:
        facts["weights_bytes"] = round(sum(buffers.values()) * 1024**2)
    if "kv_bytes" in found:
        facts["kv_cache_bytes"] = round(float(found["kv_bytes"][0]) * 1024**2)
    if "context" in found:
        facts["context_tokens"] = int(found["context"][0])
    if "slots" in found:
        facts["slots"] = int(found["slots"][0])
    if "model" in found:
        facts["model"] = found["model"][0]
    if "layers" in found:
        facts["settings"] = {"layers_on_accelerator": int(found["layers"][0]), "layers": int(found["layers"][1])}
    return EngineFacts(**facts)


def phases(created: datetime, lines: Sequence[Line], ready: datetime | None = None) -> tuple[Phase, ...]:
    """The stretches of a start-up, one after the other, from the times of its log lines."""
    names = (
        ("Model loading took", "loading weights"),
        ("KV cache size:", "sizing the KV cache"),
        ("Application startup complete", "warming up"),
    )
    found: list[Phase] = []
    before = created
    if lines:
        first = min(at for at, _ in lines)
        found.append(Phase(name="waiting for an instance and its image", seconds=_between(before, first)))
        before = first
    for mark, name in names:
        at = next((at for at, line in reversed(lines) if mark in line), None)
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
