"""What engines are told, and what they say of themselves in their logs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clouds.local.engines import ENGINES, llamacpp, serve_xllamacpp, vllm
from clouds.local.launch import Launch

LAUNCH = Launch("vllm", "/bin/vllm", "m", "/m", context=1024, slots=4, threads=1)


def nothing(_path: str) -> Any:
    return None


def test_xllamacpp_takes_every_flag_and_value_of_the_list(tmp_path: Path) -> None:
    import xllamacpp

    key = tmp_path / "key"
    key.write_text("secret\n")
    launch = Launch("xllamacpp", "python", "m", "/m.gguf", context=128, slots=2, threads=1)
    parser = serve_xllamacpp.parser()
    for name, flag in llamacpp.FLAGS.items():
        for value in flag.choices or (() if flag.takes == "nothing" else (str(int(flag.low)),)) or ("",):
            words = [*llamacpp.arguments(launch, 8080, key), name, *([value] if value else [])]
            made = serve_xllamacpp.params(xllamacpp, parser.parse_args(words))
            assert (made.n_ctx, made.n_parallel, made.api_keys, made.hostnames) == (256, 2, ["secret"], ["127.0.0.1"])
    assert set(serve_xllamacpp.SETTERS) == set(llamacpp.FLAGS)


def test_a_drafter_is_switched_on_in_the_package_too(tmp_path: Path) -> None:
    import xllamacpp

    key = tmp_path / "key"
    key.write_text("secret\n")
    launch = Launch("xllamacpp", "python", "m", "/m.gguf", context=128, slots=2, threads=1)
    flags = ["--spec-type", "ngram-simple", "--spec-ngram-simple-size-m", "5", "--spec-draft-n-max", "3"]
    words = [*llamacpp.arguments(launch, 8080, key), *flags]
    made = serve_xllamacpp.params(xllamacpp, serve_xllamacpp.parser().parse_args(words)).speculative
    assert [each.name for each in made.types] == ["COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE"]
    assert (made.ngram_simple.size_m, made.draft.n_max) == (5, 3)


def test_a_model_with_sliding_windows_has_two_caches_that_are_added() -> None:
    lines = [
        "0.1 I llama_kv_cache: size =   96.00 MiB (  4096 cells,   4 layers,  2/2 seqs), K (f16):   48.00 MiB, V ...",
        "0.1 I llama_kv_cache_iswa: size =   1.50 GiB (  512 cells,  22 layers,  2/2 seqs), K (f16):   ...",
    ]
    found = llamacpp.facts(LAUNCH, lines, nothing)
    assert (found["kv_cache_bytes"], found["kv_cache_tokens"]) == (96 * 2**20 + 3 * 2**29, 8192)


def test_the_first_error_of_llamacpp_is_the_reason() -> None:
    lines = [
        "0.00.004 I srv load_model: loading model",
        "0.00.004.940 E llama_model_load: error loading model: unknown architecture 'x'",
        "0.00.005.812 E srv          init: exiting due to model loading error",
    ]
    assert llamacpp.reason(lines) == "llama_model_load: error loading model: unknown architecture 'x'"
    assert llamacpp.reason(["error: invalid argument: --fit"]) == "error: invalid argument: --fit"
    assert llamacpp.reason(["all good"]) == ""


def test_vllms_log_says_weights_cache_and_concurrency() -> None:
    lines = [
        "Initializing a V1 LLM engine (v0.32.0) with config: model='m', quantization=None, kv_cache_dtype=fp8, ...",
        "Model loading took 9.7500 GiB and 83.244811 seconds",
        "Loading weights took 82.15 seconds",
        "Available KV cache memory: 9.39 GiB",
        "GPU KV cache size: 723,484 tokens",
        "Maximum concurrency for 1,024 tokens per request: 1,706.52x",
    ]
    assert vllm.facts(LAUNCH, lines, nothing) == {
        "slots": 4,
        "threads": 1,
        "version": "0.32.0",
        "quantization": "",
        "kv_cache_dtype": "fp8",
        "weights_bytes": round(9.75 * 2**30),
        "load_seconds": 82.15,
        "kv_cache_bytes": round(9.39 * 2**30),
        "kv_cache_tokens": 723_484,
        "max_concurrency": 1706.52,
    }


def test_vllms_reason_is_the_cause_and_not_that_there_was_one() -> None:
    lines = [
        "(EngineCore) ValueError: No available memory for the cache blocks.",
        "RuntimeError: Engine core initialization failed. See root cause above.",
    ]
    assert vllm.reason(lines) == "(EngineCore) ValueError: No available memory for the cache blocks."


@pytest.mark.parametrize("engine", list(ENGINES))
def test_no_engine_has_its_key_on_its_command_line(engine: str, tmp_path: Path) -> None:
    words = ENGINES[engine].command(LAUNCH, 8080, tmp_path / "key")
    assert "127.0.0.1" in words
    assert not {"--api-key", "--hf-token"} & set(words)
