"""llama.cpp's server: inside the xllamacpp package, or as `llama-server` on the PATH. Both take one command line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clouds.local.engines.base import SIZES, Ask, Engine
from clouds.local.flags import Flag, values
from clouds.local.launch import Launch

CACHE_TYPES = ("f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl")
"""Formats of the KV cache (llama.cpp's server manual, read 2026-11-29)."""

SPECULATION = ("none", "ngram-simple", "draft-mtp")
"""Drafters that need no file of their own: the context itself, and heads inside the model (same manual)."""

FLAGS = {
    "--batch-size": Flag("int", low=1, high=65_536),
    "--ubatch-size": Flag("int", low=1, high=65_536),
    "--threads-batch": Flag("int", low=1, high=512),
    "--cache-type-k": Flag("choice", CACHE_TYPES),
    "--cache-type-v": Flag("choice", CACHE_TYPES),
    "--cache-ram": Flag("int", low=0, high=1_048_576),
    "--cache-reuse": Flag("int", low=0),
    "--flash-attn": Flag("choice", ("on", "off", "auto")),
    "--load-mode": Flag("choice", ("auto", "none", "mmap", "mlock", "mmap+mlock", "dio")),
    "--n-gpu-layers": Flag("int", low=0, high=10_000),
    "--poll": Flag("int", low=0, high=100),
    "--reasoning-format": Flag("choice", ("auto", "none", "deepseek")),
    "--rope-freq-base": Flag("float", low=0, high=1e9),
    "--rope-freq-scale": Flag("float", low=0, high=1e3),
    "--seed": Flag("int", low=0, high=2**32 - 2),
    "--spec-type": Flag("choice", SPECULATION),
    "--spec-draft-n-max": Flag("int", low=1, high=64),
    "--spec-ngram-simple-size-n": Flag("int", low=1, high=64),
    "--spec-ngram-simple-size-m": Flag("int", low=1, high=64),
    "--kv-unified": Flag("nothing"),
    "--no-cont-batching": Flag("nothing"),
    "--no-warmup": Flag("nothing"),
    "--swa-full": Flag("nothing"),
}
"""Flags of llama-server that `settings.flags` takes; xllamacpp takes the same ones."""

ACCEPTS = ("cache_prompt", "ignore_eos", "top_k", "min_p", "seed", "logprobs", "timings_per_token", "grammar")

_KV = re.compile(
    r"llama_kv_cache\w*: size = +([\d.]+) (\w+) \( *(\d+) cells, +(\d+) layers, +\d+/(\d+) seqs\), K \((\w+)\)"
)
_STAMP = re.compile(r"^(\d+)\.(\d\d)\.(\d{3})\.(\d{3}) ")
_SETTINGS = {
    "batch_size": re.compile(r"llama_context: n_batch += (\d+)"),
    "ubatch_size": re.compile(r"llama_context: n_ubatch += (\d+)"),
    "flash_attention": re.compile(r"(?:Flash Attention |flash_attn += )(enabled|disabled)"),
    "gpu_layers": re.compile(r"offloaded (\d+/\d+) layers to GPU"),
    "cpu_features": re.compile(r"system_info: .*?\| CPU : (.*?) \|? *$"),
}


def arguments(launch: Launch, port: int, key_file: Path) -> list[str]:
    """llama-server's arguments. The prompt cache in memory is off unless asked for: it may take 8 GiB (2026-11)."""
    chosen = values(launch.flags)
    given = {
        "--model": launch.model_path,
        "--alias": launch.model,
        "--host": "127.0.0.1",
        "--port": str(port),
        "--api-key-file": str(key_file),
        "--ctx-size": str(launch.context * launch.slots),
        "--parallel": str(launch.slots),
        "--threads": str(launch.threads),
        "--log-verbosity": "4",
        "--cache-ram": "0",
        **chosen,
    }
    words = ["--metrics", "--no-webui"]
    for name, value in given.items():
        words += [name, value] if value else [name]
    return words


def _own_command(launch: Launch, port: int, key_file: Path) -> list[str]:
    return [launch.program, "-P", "-m", "clouds.local.engines.serve_xllamacpp", *arguments(launch, port, key_file)]


def _program_command(launch: Launch, port: int, key_file: Path) -> list[str]:
    return [launch.program, *arguments(launch, port, key_file)]


def _no_variables(_launch: Launch, _key: str) -> Mapping[str, str]:
    return {}


def facts(launch: Launch, lines: Sequence[str], ask: Ask) -> dict[str, Any]:
    """What the server says in /v1/models and /props, and what only its log says (KV cache, threads, time to load)."""
    found: dict[str, Any] = {"settings": _settings(lines)}
    meta = (((ask("/v1/models") or {}).get("data") or [{}])[0].get("meta")) or {}
    found |= {ours: meta[its] for ours, its in (("parameters", "n_params"), ("weights_bytes", "size")) if its in meta}
    props = ask("/props") or {}
    found["quantization"] = str(props.get("model_ftype") or meta.get("ftype") or "")
    context = (props.get("default_generation_settings") or {}).get("n_ctx")
    if context:
        found |= {"context_tokens": context, "slots": props.get("total_slots")}
        found["max_concurrency"] = float(props["total_slots"]) if props.get("total_slots") else None
    if not launch.version:
        found["version"] = str(props.get("build_info") or "")
    return found | _cache(lines) | _load(lines)


def _settings(lines: Sequence[str]) -> dict[str, str | int]:
    found: dict[str, str | int] = {}
    for name, pattern in _SETTINGS.items():
        for line in lines:
            if match := pattern.search(line):
                found[name] = int(match[1]) if match[1].isdigit() else match[1].replace(" = 1", "")
    return found


def _cache(lines: Sequence[str]) -> dict[str, Any]:
    """The KV cache. A model with sliding windows has two; the larger says how many tokens fit. Bytes to 0.01 MiB."""
    caches = [match for line in lines if (match := _KV.search(line))]
    if not caches:
        return {}
    return {
        "kv_cache_bytes": sum(round(float(match[1]) * SIZES[match[2]]) for match in caches),
        "kv_cache_tokens": max(int(match[3]) * int(match[5]) for match in caches),
        "kv_cache_dtype": caches[0][6],
    }


def _load(lines: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    began = ended = None
    for line in lines:
        if match := re.search(r"threadpool init, n_threads = (\d+)", line):
            found["threads"] = int(match[1])
        if re.search(r"srv +\S+ loading model\s*$", line):
            began = _seconds(line)
        if re.search(r"srv +\S+ model loaded\s*$", line):
            ended = _seconds(line)
    if began is not None and ended is not None:
        found["load_seconds"] = round(ended - began, 6)
    return found


def _seconds(line: str) -> float | None:
    """The log's own stamp, minutes.seconds.milliseconds.microseconds since the start."""
    match = _STAMP.match(line)
    return int(match[1]) * 60 + int(match[2]) + int(match[3]) / 1e3 + int(match[4]) / 1e6 if match else None


def reason(lines: Sequence[str]) -> str:
    """The first error it printed: the later ones only say that there was one."""
    errors = [
        line
        for line in lines
        if re.match(r"^[\d.]+ E ", line) or re.match(r"^(error|terminate|fatal)\b", line, re.IGNORECASE)
    ]
    errors = [re.sub(r"^[\d.]+ E +", "", line) for line in errors] or [line for line in lines if "Error: " in line]
    return errors[0].strip() if errors else ""


XLLAMACPP = Engine("xllamacpp", FLAGS, _own_command, _no_variables, facts, reason, ACCEPTS, fresh_connection=True)
LLAMA_SERVER = Engine(
    "llama-server", FLAGS, _program_command, _no_variables, facts, reason, ACCEPTS, fresh_connection=True
)
