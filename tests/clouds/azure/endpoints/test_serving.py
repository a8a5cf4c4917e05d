"""The engine's arguments, and the same as environment variables."""

from __future__ import annotations

import pytest

from clouds.azure.endpoints import model as models
from clouds.azure.endpoints import serving
from clouds.azure.endpoints.serving import Engine
from clouds.errors import InvalidInput

GGUF = "ggml-org/gemma-4-E2B-it-GGUF"


def test_vllm_reads_its_arguments_from_one_variable_that_its_image_passes_on() -> None:
    engine = Engine(accelerators=2, tool_calls=True, flags={"--enable-log": True, "--x": "a b", "--off": False})
    words = serving.arguments(engine, "google/gemma-4-E2B-it")
    assert " ".join(words[-6:]) == "--enable-auto-tool-choice --tool-call-parser gemma4 --enable-log --x a b"
    assert "--tensor-parallel-size" in words
    variables = serving.environment(engine, "google/gemma-4-E2B-it")
    assert serving.model_in(variables) == "google/gemma-4-E2B-it"
    assert variables["VLLM_ARGS"].endswith("--x 'a b'")
    assert "$VLLM_ARGS" in serving.dockerfile()


def test_llama_takes_arguments_or_variables_of_the_same_meaning() -> None:
    engine = Engine("llama.cpp", max_model_len=4096, parallel=2, file="a.gguf", flags={"--cache-reuse": 256})
    assert "-c 8192 --parallel 2" in " ".join(serving.arguments(engine, GGUF))
    variables = serving.environment(engine, GGUF)
    assert (variables["LLAMA_ARG_CTX_SIZE"], variables["LLAMA_ARG_CACHE_REUSE"]) == ("8192", "256")
    assert serving.model_in(variables) == GGUF == serving.served(serving.arguments(engine, GGUF))
    assert serving.engine_of(serving.arguments(engine, GGUF)) == "llama.cpp"


def test_only_what_was_given_changes() -> None:
    words = serving.arguments(Engine(flags={"--max-num-seqs": 4, "--bare": True}), "a/b-1B")
    changed = serving.rearranged(words, Engine(max_model_len=2048), "c/d-1B", {"max_model_len": 2048})
    assert " ".join(changed) == (
        "--model c/d-1B --served-model-name c/d-1B --host 0.0.0.0 --port 8000 --gpu-memory-utilization 0.9 "
        "--max-num-seqs 4 --bare --max-model-len 2048"
    )


@pytest.mark.parametrize(
    ("name", "gib"),
    [("google/gemma-4-E2B-it", 9.8), ("a/b-7b", 13.0), ("a/b-27b-w4a16", 17.6), ("a/b-8b-fp8", 7.5), ("a/b", None)],
)
def test_weights_by_name(name: str, gib: float | None) -> None:
    assert models.weights_gib(name) == gib


def test_what_an_engine_cannot_load_is_refused() -> None:
    for model, engine in ((GGUF, "vllm"), ("a/b-1B", "llama.cpp"), ("a/b-qat-mobile", "vllm"), ("ab", "vllm")):
        with pytest.raises(InvalidInput):
            models.check(model, engine)
    assert models.check("a/b-qat-q4_0-unquantized", "vllm")[0].endswith("its 4-bit checkpoint is -qat-w4a16-ct")


def test_what_does_not_fit_and_what_a_t4_lacks_is_said() -> None:
    assert "takes about 50.3 GiB" in models.fits("google/gemma-3-27b-it", "T4", 16)
    assert models.fits("google/gemma-4-E2B-it", "T4", 16) == ""
    assert "no bfloat16" in models.on_old_card("vllm", "T4")
    assert models.on_old_card("llama.cpp", "T4") == models.on_old_card("vllm", "A100-80GB") == ""
