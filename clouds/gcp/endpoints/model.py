"""What a model's id says before anything is paid for: where it is, what no engine loads, about how large it is."""

from __future__ import annotations

import re
from collections.abc import Mapping

from clouds.errors import InvalidInput

HUB_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,95}/[A-Za-z0-9][A-Za-z0-9_.-]{0,95}")
BUCKET_PREFIX = re.compile(r"gs://[a-z0-9][a-z0-9._-]{1,61}[a-z0-9](/[A-Za-z0-9!_.*'()=-]{1,200}){0,20}/?")
TOOL_PARSERS: Mapping[str, str] = {
    "gemma-4": "gemma4", "gemma4": "gemma4", "qwen3-coder": "qwen3_coder", "qwen": "hermes", "hermes": "hermes",
    "llama-4": "llama4_pythonic", "llama-3": "llama3_json", "mistral": "mistral", "gpt-oss": "openai",
}  # fmt: skip
"""vLLM's `--tool-call-parser` by a word in the model's id (vLLM's documentation; gemma4: article of 2026-10-25)."""
EFFECTIVE_GIB = {"e2b": 8.97, "e4b": 15.0}
"""Gemma's "effective" sizes leave out the per-layer embeddings. E2B in bf16 holds 8.97 GiB of HBM (2026-10-25); E4B is
our estimate."""
JAX_GEMMA = re.compile(r"gemma-?4-31b", re.IGNORECASE)


def bucket_of(place: str) -> str:
    """The bucket of `gs://bucket/prefix`; empty for anything else."""
    return place.removeprefix("gs://").split("/", 1)[0] if place.startswith("gs://") else ""


def check_bucket(field: str, place: str) -> None:
    """Raises InvalidInput for what is no `gs://bucket/prefix`."""
    if not BUCKET_PREFIX.fullmatch(place) or ".." in place:
        raise InvalidInput(field, f"{place[:80]!r} is not gs://bucket/prefix", fix="Name a bucket and a folder in it.")


def check(model: str) -> tuple[str, ...]:
    """Warnings about a checkpoint for vLLM. Raises InvalidInput for what is no model, or what vLLM does not load."""
    if not model:
        raise InvalidInput(
            "model",
            "no model was named and none is set",
            fix="Give model, e.g. google/gemma-4-E2B-it, or set it in modelrig.toml.",
        )
    if model.startswith("gs://"):
        check_bucket("model", model)
        return ()
    if not HUB_ID.fullmatch(model) or ".." in model or "--" in model:
        raise InvalidInput(
            "model", f"{model[:80]!r} is no Hugging Face id and no gs:// folder",
            fix="Give owner/name, e.g. google/gemma-4-E2B-it, or gs://bucket/folder.",
        )  # fmt: skip
    word = model.lower()
    if "gguf" in word:
        raise InvalidInput("model", f"{model} holds GGUF files, which vLLM here does not load", fix="Use safetensors.")
    if "-qat-mobile" in word:
        raise InvalidInput(
            "model", f"{model} is an on-device format", fix="Use the -qat-w4a16-ct checkpoint of the same model."
        )
    if "-qat-q4_0-unquantized" in word:
        return (f"{model} is stored at 16 bits: no memory is saved; the -qat-w4a16-ct checkpoint is the 4-bit one.",)
    return ()


def check_for_tpu(model: str) -> tuple[str, ...]:
    """Warnings about a checkpoint on vLLM's TPU backend (article of 2026-09-24: which Gemma 4 builds load there)."""
    word, warnings = model.lower(), list[str]()
    four_bit = re.search(r"w4a16|awq|int4|4bit|gptq", word)
    if four_bit and "gemma" in word:
        kind = "dense 31B" if JAX_GEMMA.search(word) else "this"
        warnings.append(
            f"4-bit Gemma 4 ({kind}) failed to load on the stock TPU image of 2026-09-24 (compressed-tensors scheme "
            "not supported in the JAX path, after 120 s); it needs tpu-inference changes #3653 and #3660"
        )
    if re.search(r"gemma-?4-12b", word):
        warnings.append(
            'Gemma 4 12B loads on the faster JAX path with {"--hf_overrides": '
            '"{\\"architectures\\": [\\"Gemma4ForCausalLM\\"]}"}: 22.18 against 24.56 GiB (2026-09-26)'
        )
    return tuple(warnings)


def tool_parser(model: str) -> str:
    """The tool-call parser of vLLM for the model's family. Raises InvalidInput where none is known."""
    word = model.lower()
    for family, parser in TOOL_PARSERS.items():
        if family in word:
            return parser
    raise InvalidInput(
        "tool_calls", f"no tool-call parser is known for {model[:80]}",
        fix="Leave tool_calls out and set --tool-call-parser yourself.",
    )  # fmt: skip


def weights_gib(model: str) -> float | None:
    """About how much memory the weights take, from the id alone; None when it names no size."""
    word = model.lower().rstrip("/").rsplit("/", 1)[-1]
    found = re.search(r"(?<![a-z0-9.])(e?)(\d+(?:\.\d+)?)b(?![a-z0-9])", word)
    if not found:
        return None
    at_16_bits = EFFECTIVE_GIB.get(f"{found[1]}{found[2]}b", float(found[2]) * 2e9 / 1024**3)
    if re.search(r"w4a16|int4|awq|gptq|nvfp4|q4|4bit", word) and "unquantized" not in word:
        return round(at_16_bits * (0.82 if found[1] else 0.35), 1)
    if re.search(r"fp8|int8|w8a|8bit", word):
        return round(at_16_bits * 0.55, 1)
    return round(at_16_bits, 1)
