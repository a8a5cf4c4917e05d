"""vLLM on the PATH. What it says of itself is in its log (read from vLLM 0.32's lines, 2026-11-29)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clouds.local.engines.base import SIZES, Ask, Engine, number
from clouds.local.flags import Flag
from clouds.local.launch import Launch

FLAGS = {
    "--dtype": Flag("choice", ("auto", "half", "float16", "bfloat16", "float", "float32")),
    "--kv-cache-dtype": Flag("choice", ("auto", "fp8", "fp8_e4m3", "fp8_e5m2", "bfloat16", "float16")),
    "--quantization": Flag("choice", ("awq", "gptq", "fp8", "bitsandbytes", "compressed-tensors", "gguf", "modelopt")),
    "--gpu-memory-utilization": Flag("float", low=0.01, high=1),
    "--tensor-parallel-size": Flag("int", low=1, high=64),
    "--max-num-batched-tokens": Flag("int", low=1),
    "--seed": Flag("int", low=0, high=2**32 - 1),
    "--enforce-eager": Flag("nothing"),
    "--enable-prefix-caching": Flag("nothing"),
    "--no-enable-prefix-caching": Flag("nothing"),
}

ACCEPTS = ("ignore_eos", "top_k", "min_p", "seed", "logprobs", "min_tokens", "stop_token_ids", "structured_outputs")

_LINES: Mapping[str, re.Pattern[str]] = {
    "kv_cache_tokens": re.compile(r"KV cache size: ([\d,]+) tokens"),
    "max_concurrency": re.compile(r"Maximum concurrency for [\d,]+ tokens per request: ([\d.,]+)x"),
    "load_seconds": re.compile(r"[Ll]oading weights took ([\d.]+) seconds"),
    "weights_bytes": re.compile(r"[Mm]odel loading took ([\d.]+) (GiB|MiB)"),
    "kv_cache_bytes": re.compile(r"Available KV cache memory: ([\d.]+) (GiB|MiB)"),
    "kv_cache_dtype": re.compile(r"kv_cache_dtype=([\w.]+)"),
    "quantization": re.compile(r"quantization=([\w.-]+)"),
    "version": re.compile(r"LLM engine \(v([\w.+-]+)\)"),
}


def _command(launch: Launch, port: int, _key_file: Path) -> list[str]:
    limits = ["--max-model-len", str(launch.context), "--max-num-seqs", str(launch.slots)]
    where = ["--host", "127.0.0.1", "--port", str(port), "--served-model-name", launch.model]
    return [launch.program, "serve", launch.model_path, *where, *limits, *launch.flags]


def _environment(launch: Launch, key: str) -> Mapping[str, str]:
    """The key goes in a variable, since a command line can be read by everybody on the machine."""
    return {"VLLM_API_KEY": key, "OMP_NUM_THREADS": str(launch.threads), "VLLM_NO_USAGE_STATS": "1"}


def facts(launch: Launch, lines: Sequence[str], ask: Ask) -> dict[str, Any]:
    """Weights, KV cache and version as its log prints them; the context from /v1/models."""
    found: dict[str, Any] = {"slots": launch.slots, "threads": launch.threads}
    for name, pattern in _LINES.items():
        for line in lines:
            if match := pattern.search(line):
                found[name] = _value(name, match)
    if found.get("quantization") == "None":
        found["quantization"] = ""
    served = ((ask("/v1/models") or {}).get("data") or [{}])[0]
    if served.get("max_model_len"):
        found["context_tokens"] = served["max_model_len"]
    if said := (ask("/version") or {}).get("version"):
        found["version"] = str(said)
    return found


def _value(name: str, match: re.Match[str]) -> str | int | float:
    if name.endswith("_bytes"):
        return round(float(match[1]) * SIZES[match[2]])
    if name.endswith("_tokens"):
        return number(match[1])
    if name in {"max_concurrency", "load_seconds"}:
        return float(match[1].replace(",", ""))
    return match[1]


def reason(lines: Sequence[str]) -> str:
    """The last exception in its log that is not the server's own word for "my engine process failed"."""
    errors = [line for line in lines if re.search(r"\b\w*(Error|Exception): |\berror: ", line)]
    errors = [line for line in errors if "initialization failed" not in line] or errors
    return errors[-1].strip() if errors else ""


VLLM = Engine("vllm", FLAGS, _command, _environment, facts, reason, ACCEPTS, fresh_connection=False)
