"""What a model's id says before anything is paid for: its shape, what an engine cannot load, about how large it is."""

from __future__ import annotations

import re
from collections.abc import Mapping

from clouds.errors import InvalidInput

HUB_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,95}/[A-Za-z0-9][A-Za-z0-9_.-]{0,95}")
S3_PREFIX = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/[A-Za-z0-9!_.*'()/-]{0,900}")
TOOL_PARSERS: Mapping[str, str] = {
    "gemma-4": "gemma4",
    "gemma4": "gemma4",
    "llama-3": "llama3_json",
    "llama-4": "llama4_pythonic",
    "qwen3-coder": "qwen3_coder",
    "qwen": "hermes",
    "hermes": "hermes",
    "mistral": "mistral",
    "gpt-oss": "openai",
}
"""vLLM's `--tool-call-parser` by a word in the model's id (vLLM documentation; gemma4: article of 2026-09-28)."""
GIB_OF = {"e2b": 9.75, "e4b": 15.0}
"""Gemma's "effective" sizes leave out the per-layer embeddings: E2B at bf16 is 9.75 GiB (article of 2026-09-26);
E4B is our estimate."""


def check_hub_id(model: str) -> None:
    """Raises InvalidInput for what is no Hugging Face id."""
    if not model:
        raise InvalidInput(
            "model",
            "no model was named and none is set",
            fix="Give model, e.g. google/gemma-4-E2B-it, or set it in modelrig.toml.",
        )
    if not HUB_ID.fullmatch(model) or ".." in model or "--" in model:
        raise InvalidInput(
            "model",
            f"{model[:80]!r} is not a Hugging Face model id",
            fix="Give owner/name, e.g. google/gemma-4-E2B-it.",
        )


def check_for_vllm(model: str) -> tuple[str, ...]:
    """Warnings about a checkpoint for vLLM. Raises InvalidInput for a format that only another engine loads.

    Which of Google's QAT exports load in vLLM: article of 2026-09-26.
    """
    word = model.lower()
    if word.startswith("s3://"):
        if not S3_PREFIX.fullmatch(model):
            raise InvalidInput(
                "model", f"{model[:80]!r} is not s3://bucket/prefix/", fix="Name the folder of the weights."
            )
        return ()
    check_hub_id(model)
    if "gguf" in word:
        raise InvalidInput(
            "model", f"{model} holds GGUF files, which vLLM here does not load",
            fix='Use service="ec2" with engine_settings={"engine": "llama.cpp"}, or a safetensors checkpoint.',
        )  # fmt: skip
    if "-qat-mobile" in word:
        raise InvalidInput(
            "model", f"{model} is an on-device format", fix="Use the -qat-w4a16-ct checkpoint of the same model."
        )
    if "-qat-q4_0-unquantized" in word:
        return (f"{model} is stored at 16 bits: no memory is saved; the -qat-w4a16-ct checkpoint is the 4-bit one.",)
    return ()


def tool_parser(model: str) -> str:
    """The tool-call parser of vLLM for the model's family. Raises InvalidInput where none is known."""
    if parser := known_parser(model):
        return parser
    raise InvalidInput(
        "tool_calls", f"no tool-call parser is known for {model}",
        fix="Leave tool_calls out and set vLLM's tool-call-parser yourself.",
    )  # fmt: skip


def known_parser(model: str) -> str:
    """The same, or "" where none is known."""
    word = model.lower()
    return next((parser for family, parser in TOOL_PARSERS.items() if family in word), "")


def weights_gib(model: str) -> float | None:
    """About how much memory the weights take, from the id alone; None when it names no size."""
    word = model.lower().rsplit("/", 1)[-1]
    found = re.search(r"(?<![a-z0-9.])(e?)(\d+(?:\.\d+)?)b(?![a-z0-9])", word)
    if not found:
        return None
    at_16_bits = GIB_OF.get(f"{found[1]}{found[2]}b", float(found[2]) * 2e9 / 1024**3)
    if re.search(r"w4a16|int4|awq|gptq|nvfp4|q4|4bit", word) and "unquantized" not in word:
        # embeddings stay at 16 bits: the E2B export measures 8.01 of 9.75 GiB (2026-09-26), larger models less
        return round(at_16_bits * (0.82 if found[1] else 0.35), 1)
    if re.search(r"fp8|int8|w8a|8bit", word):
        return round(at_16_bits * 0.55, 1)
    return round(at_16_bits, 1)
