"""What a model's id says before anything is paid for: whether an engine loads it, and about how large it is."""

from __future__ import annotations

import re
from collections.abc import Mapping

from clouds.errors import InvalidInput

GIB = 1024**3
_OWNER_AND_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_PARSERS: Mapping[str, str] = {
    "gemma-4": "gemma4",
    "llama-3": "llama3_json",
    "llama-4": "llama4_pythonic",
    "qwen3-coder": "qwen3_coder",
    "qwen": "hermes",
    "hermes": "hermes",
    "mistral": "mistral",
    "gpt-oss": "openai",
}
"""vLLM's `--tool-call-parser` for a family (vLLM documentation; gemma4: article of 2026-09-28)."""
_EFFECTIVE = {2.0: 9.75, 4.0: 15.0}
"""GiB of Gemma's E2B (article of 2026-09-26) and E4B (our estimate): the names leave out per-layer embeddings."""


def check(model: str, engine: str) -> tuple[str, ...]:
    """Warnings about a checkpoint. Raises InvalidInput for what is no Hugging Face id, or not this engine's format."""
    if not model:
        raise InvalidInput(
            "model",
            "no model was named and none is set",
            fix="Give model, e.g. google/gemma-4-E2B-it, or set it in modelrig.toml.",
        )
    if not _OWNER_AND_NAME.fullmatch(model) or ".." in model or "--" in model:
        raise InvalidInput(
            "model", f"{model[:80]!r} is not owner/name on Hugging Face", fix="Give one like google/gemma-4-E2B-it."
        )
    word, is_gguf = model.lower(), "gguf" in model.lower()
    if is_gguf != (engine == "llama.cpp"):
        held = "holds GGUF files, which vLLM does not load" if is_gguf else "names no GGUF files, as llama.cpp needs"
        other = "llama.cpp" if is_gguf else "vllm"
        raise InvalidInput("model", f"{model} {held}", fix=f'Use engine_settings={{"engine": "{other}"}}.')
    if "-qat-mobile" in word:
        raise InvalidInput("model", f"{model} is an on-device format", fix="Use its -qat-w4a16-ct checkpoint.")
    if "-qat-q4_0-unquantized" in word:
        return (f"{model} is stored at 16 bits and saves no memory; its 4-bit checkpoint is -qat-w4a16-ct",)
    return ()


def tool_parser(model: str) -> str:
    """VLLM's tool-call parser for the model's family. Raises InvalidInput where none is known."""
    found = next((parser for family, parser in _PARSERS.items() if family in model.lower()), "")
    if found:
        return found
    raise InvalidInput(
        "tool_calls", f"no tool-call parser is known for {model}", fix="Leave it out and give --tool-call-parser."
    )


def weights_gib(model: str) -> float | None:
    """About how much the weights weigh, from the name alone; None when it names no size."""
    name = model.lower().rsplit("/", 1)[-1]
    size = re.search(r"(?<![\w.])(e?)(\d+(?:\.\d+)?)b(?![a-z0-9])", name)
    if size is None:
        return None
    billions, effective = float(size[2]), bool(size[1])
    full = _EFFECTIVE.get(billions, billions * 2e9 / GIB) if effective else billions * 2e9 / GIB
    small = re.search(r"w4a16|int4|awq|gptq|nvfp4|q4|4bit|gguf", name) and "unquantized" not in name
    if small:  # embeddings stay at 16 bits: the E2B export measures 8.01 of 9.75 GiB (2026-09-26)
        return round(full * (0.82 if effective else 0.35), 1)
    return round(full * 0.5 if re.search(r"fp8|int8|w8a8", name) else full, 1)


def fits(model: str, accelerator: str, memory_gib: float) -> str:
    """A warning where the weights alone are larger than the memory; empty where they fit or nothing is known."""
    size = weights_gib(model)
    if size is None or size < memory_gib * 0.95:
        return ""
    return (
        f"{model} takes about {size:g} GiB by its name and {accelerator} has {memory_gib:g} GiB: "
        "it will probably fail after the accelerator was paid for"
    )


def on_old_card(engine: str, accelerator: str) -> str:
    """A warning for vLLM on a card without bfloat16; empty otherwise.

    T4 has compute capability 7.5; vLLM then takes float16, and float32 for model types that it holds to be unstable
    in float16, Gemma 2 and 3 among them (vllm/config/model.py, as known in 2026; not run here).
    """
    if engine != "vllm" or accelerator != "T4":
        return ""
    return (
        "a T4 has no bfloat16: vLLM computes in float16 there, and where it refuses that for a model (earlier Gemmas) "
        "in float32, which takes twice the memory; A100-80GB or llama.cpp avoid it"
    )
