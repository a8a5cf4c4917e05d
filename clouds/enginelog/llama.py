"""llama.cpp's log: where the layers are, what the KV cache is, and a drafter beside the model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from clouds.enginelog import memory
from clouds.enginelog.lines import GIB, LONGEST, MIB, last, pattern
from clouds.models import EngineFacts, Setting

_START = pattern(r"\bbuild(?:_info)?: ")
_LOADED = pattern(r"loaded meta data .* from (\S{1,300})")
_BUFFER = pattern(r"([\w-]+) model buffer size = +<n> MiB")
_DEVICE = pattern(r"([\w-]+) KV buffer size = +<n> MiB")
_SELF = pattern(r"KV self size += +<n> MiB")
_CACHE = pattern(
    r"llama_kv_cache\w*: size = +<n> MiB \( *<i> cells, +<i> layers, +\d+/<i> seqs\), "
    r"K \((\w+)\): +[\d.]+ MiB, V \((\w+)\)"
)
PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("version", pattern(r"build: (\d+ \([0-9a-f]+\))")),
    ("quantization", pattern(r"file type += (.{1,60}?)\s*$")),
    ("layers", pattern(r"offloaded <i>/<i> layers to GPU")),
    ("context", pattern(r"n_ctx(?:_slot)?\s*= <i>")),
    ("slots", pattern(r"n_slots = <i>")),
    ("flash", pattern(r"(?:Flash Attention |flash_attn += )(enabled|disabled)")),
)


def read(lines: Sequence[str]) -> EngineFacts | None:
    """The facts of the last start; None when llama.cpp has not spoken."""
    bounded = [line[:LONGEST] for line in lines]
    begun = max((at for at, line in enumerate(bounded) if _START.search(line)), default=0)
    of_start = bounded[begun:]
    loads = [at for at, line in enumerate(of_start) if _LOADED.search(line)]
    main = of_start[: loads[1]] if len(loads) > 1 else of_start
    found = last(PATTERNS, main)
    # What a server says after its models are there, a drafter's own start must not say for the model.
    found |= {key: value for key, value in last(PATTERNS, of_start).items() if key == "slots"}
    buffers = _buffers(main)
    if not buffers and "layers" not in found and "version" not in found:
        return None
    facts: dict[str, Any] = {"engine": "llama.cpp", "version": found.get("version", ("",))[0]}
    settings: dict[str, Setting] = {}
    if loads and (named := _LOADED.search(of_start[loads[0]])):
        facts["model"] = named[1]
    if buffers:
        facts["weights_bytes"] = round(sum(buffers.values()) * MIB)
    if "quantization" in found:
        facts["quantization"] = found["quantization"][0]
    if "context" in found:
        facts["context_tokens"] = int(found["context"][0])
    if "slots" in found:
        facts["slots"] = int(found["slots"][0])
    if "layers" in found:
        settings |= {"layers_on_accelerator": int(found["layers"][0]), "layers": int(found["layers"][1])}
    if "flash" in found:
        settings["flash_attention"] = found["flash"][0]
    if len(loads) > 1:
        settings |= _drafter(of_start[loads[1] :])
    return EngineFacts(**facts, **_kv_cache(main, settings), settings=settings)


def _buffers(lines: Sequence[str]) -> dict[str, float]:
    """MiB of weights by device; a device that says it again says the same."""
    return {match[1]: float(match[2]) for line in lines for match in _BUFFER.finditer(line)}


def _kv_cache(lines: Sequence[str], settings: dict[str, Setting]) -> dict[str, Any]:
    """Bytes, tokens and dtype. A model with sliding windows has two caches: the larger says how many tokens fit."""
    caches = [match for line in lines if (match := _CACHE.search(line))]
    devices = [float(match[2]) for line in lines if (match := _DEVICE.search(line))]
    old = [float(match[1]) for line in lines if (match := _SELF.search(line))]
    if not caches:
        taken = sum(devices) or sum(old[-1:])
        return {"kv_cache_bytes": round(taken * MIB)} if taken else {}
    made = sum(float(match[1]) for match in caches)
    tokens = max(int(match[2]) * int(match[4]) for match in caches)
    kinds = dict.fromkeys(kind for match in caches for kind in (match[5], match[6]))
    each = made * MIB / tokens if len(caches) == 1 else None
    taken = sum(devices) or made
    settings |= memory.account(tokens, each, taken * MIB / GIB)
    return {"kv_cache_bytes": round(taken * MIB), "kv_cache_tokens": tokens, "kv_cache_dtype": "/".join(kinds)}


def _drafter(lines: Sequence[str]) -> dict[str, Setting]:
    named = _LOADED.search(lines[0])
    mib = sum(_buffers(lines).values())
    found: dict[str, Setting] = {"drafter": named[1] if named else ""}
    return found | ({"drafter_gib": round(mib * MIB / GIB, 2)} if mib else {})
