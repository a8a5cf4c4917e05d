"""vLLM's log on a GPU, and the lines that it prints on every accelerator."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from clouds.enginelog import memory, vllm_tpu
from clouds.enginelog.lines import GIB, LONGEST, Found, last, pattern, whole
from clouds.models import EngineFacts, Setting

PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("version", pattern(r"(?:API server version|V1 LLM engine \(v)\s*([0-9][\w.+-]*)")),
    (
        "weights",
        pattern(r"Model loading took <n> ?GiB(?: memory)? and <n> seconds"),
    ),
    ("read", pattern(r"Loading weights took <n> seconds")),
    ("kv_bytes", pattern(r"Available KV cache memory: <n> GiB")),
    ("kv_tokens", pattern(r"KV cache size: <c> tokens")),
    (
        "concurrency",
        pattern(r"Maximum concurrency for <c> tokens per request: <n>x"),
    ),
    ("quantization", pattern(r"\bquantization=([\w-]+)")),
    ("kv_dtype", pattern(r"\bkv_cache_dtype=([\w-]+)")),
    ("kv_stores", pattern(r"Using ([\w-]+) data type to store kv cache")),
    ("context", pattern(r"\bmax_seq_len=<i>")),
    ("parallel", pattern(r"\btensor_parallel_size=<i>")),
    ("model", pattern(r"LLM engine .*?\bmodel='([^']{1,200})'")),
    ("compile", pattern(r"torch\.compile (?:takes|took) <n> s")),
    ("graphs", pattern(r"Graph capturing finished in <n> sec")),
    ("start", pattern(r"init engine .*took <n> s")),
    ("compilation", pattern(r"init engine .*\(compilation: <n> s\)")),
    ("free", pattern(r"Free memory on device \(<n>/<n> GiB\)")),
    (
        "budget",
        pattern(r"Desired GPU memory utilization is \(<n>, <n> GiB\)"),
    ),
    ("used", pattern(r"Actual usage is <n> GiB for (?:weight|consumed memory)")),
    ("activation", pattern(r"<n> GiB for peak activation")),
    ("graph_memory", pattern(r"<n> GiB for CUDAGraph memory")),
)
_WORKER = re.compile(r"\((?:Vllm)?Worker([\w =]{0,40})\)")
SEEN = {"version", "weights", "kv_tokens", "model"}
"""One of these is enough to know that it is vLLM that speaks."""
_NUMBERS = {
    "start_seconds": ("start", 0),
    "compile_seconds": ("compile", 0),
    "graph_seconds": ("graphs", 0),
    "gpu_memory_free_gib": ("free", 0),
    "gpu_memory_total_gib": ("free", 1),
    "gpu_memory_utilization": ("budget", 0),
    "gpu_memory_budget_gib": ("budget", 1),
    "gpu_memory_used_gib": ("used", 0),
    "activation_gib": ("activation", 0),
    "graph_memory_gib": ("graph_memory", 0),
}
"""What has no field of its own: its name in `settings`, the pattern, the group."""


def read(lines: Sequence[str]) -> EngineFacts | None:
    """The facts; None when vLLM has not spoken."""
    found, chips = last(PATTERNS, lines), vllm_tpu.read(lines)
    if not found.keys() & SEEN and not chips:
        return None
    facts: dict[str, Any] = {
        "engine": "vllm",
        "version": found.get("version", ("",))[0],
        "model": found.get("model", ("",))[0],
    }
    settings: dict[str, Setting] = {}
    if "parallel" in found:
        settings["tensor_parallel_size"] = int(found["parallel"][0])
    settings |= {name: float(found[key][at]) for name, (key, at) in _NUMBERS.items() if key in found}
    if "compilation" in found:  # what the engine counts in all, where it says so
        settings["compile_seconds"] = float(found["compilation"][0])
    facts |= _weights(found) | _cache(found)
    for name, key in (("weights_bytes", "weights"), ("kv_cache_bytes", "kv_bytes")):
        ranks = _ranks(lines, key)
        if len(ranks) > 1:  # each worker says its own share
            facts[name], settings["gpus"] = round(sum(ranks.values()) * GIB), len(ranks)
    if "quantization" in found:
        facts["quantization"] = "" if found["quantization"][0] == "None" else found["quantization"][0]
    if chips:
        facts, settings = vllm_tpu.joined(chips, facts, settings)
    elif facts.get("kv_cache_bytes") is not None:
        settings |= memory.account(None, None, facts["kv_cache_bytes"] / GIB)
    return EngineFacts(**facts, settings=settings)


def _ranks(lines: Sequence[str], key: str) -> dict[str, float]:
    """GiB by worker of the last start, where several workers each log their own."""
    by_key, found = dict(PATTERNS), dict[str, float]()
    for line in (each[:LONGEST] for each in lines):
        if by_key["version"].search(line):
            found.clear()
        worker, said = _WORKER.search(line), by_key[key].search(line)
        if worker and said:
            found[worker[1]] = float(said[1])
    return found


def _weights(found: Found) -> dict[str, Any]:
    if "weights" in found:
        return {
            "weights_bytes": round(float(found["weights"][0]) * GIB),
            "load_seconds": float(found["weights"][1]),
        }
    return {"load_seconds": float(found["read"][0])} if "read" in found else {}


def _cache(found: Found) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    if "kv_bytes" in found:
        facts["kv_cache_bytes"] = round(float(found["kv_bytes"][0]) * GIB)
    if "kv_tokens" in found:
        facts["kv_cache_tokens"] = whole(found["kv_tokens"][0])
    if "concurrency" in found:
        facts["context_tokens"] = whole(found["concurrency"][0])
        facts["max_concurrency"] = float(found["concurrency"][1])
    elif "context" in found:
        facts["context_tokens"] = int(found["context"][0])
    if "kv_dtype" in found:
        facts["kv_cache_dtype"] = found["kv_dtype"][0]
    if "kv_stores" in found and facts.get("kv_cache_dtype", "auto") == "auto":
        facts["kv_cache_dtype"] = found["kv_stores"][0]
    return facts
