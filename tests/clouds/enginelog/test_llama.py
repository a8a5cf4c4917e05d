"""llama.cpp's log, as its builds of 2026-10 and 2026-11 print it."""

from __future__ import annotations

from clouds import enginelog
from clouds.models import EngineFacts

MIB = 1024**2
SMOL = (
    "0.00.002.401 I srv          init: build_info: b0-unknown",
    "0.00.004.858 I srv    load_model: loading model '/models/SmolLM2-135M-Instruct.Q4_1.gguf'",
    (
        "0.00.264.151 I llama_model_loader: loaded meta data with 33 key-value pairs and 272 tensors from "
        "/models/SmolLM2-135M-Instruct.Q4_1.gguf (version GGUF V3 (latest))"
    ),
    "0.00.289.501 I print_info: file type   = Q4_1",
    "0.00.577.403 I load_tensors:   CPU_Mapped model buffer size =    92.10 MiB",
    "0.00.581.996 I llama_context: n_ctx                 = 4096",
    "0.00.582.540 I llama_kv_cache:        CPU KV buffer size =    90.00 MiB",
    (
        "0.00.660.483 I llama_kv_cache: size =   90.00 MiB (  2048 cells,  30 layers,  2/2 seqs), K (f16):  "
        " 45.00 MiB, "
        "V (f16):   45.00 MiB"
    ),
    "0.00.713.392 I srv    load_model: initializing, n_slots = 2, n_ctx_slot = 2048, kv_unified = 'false'",
    "0.00.716.278 I srv          init: listening on http://127.0.0.1:38223",
)
DRAFTER = (
    (
        "0.01.000.000 I llama_model_loader: loaded meta data with 30 key-value pairs and 90 tensors from "
        "/models/d.gguf (version GGUF V3 (latest))"
    ),
    "0.01.000.001 I print_info: file type   = Q8_0",
    "0.01.000.002 I load_tensors:        CUDA0 model buffer size =   204.80 MiB",
    "0.01.000.003 I llama_context: n_ctx                 = 1024",
    (
        "0.01.000.004 I llama_kv_cache: size =    8.00 MiB (  1024 cells,  4 layers,  1/1 seqs), K (f16): "
        "4.00 MiB, V (f16): 4.00 MiB"
    ),
)


def _read(*lines: str) -> EngineFacts:
    facts = enginelog.read(lines)
    assert facts is not None
    return facts


def test_a_start_says_weights_cache_and_what_a_token_costs() -> None:
    assert _read(*SMOL) == EngineFacts(
        engine="llama.cpp",
        model="/models/SmolLM2-135M-Instruct.Q4_1.gguf",
        weights_bytes=round(92.10 * MIB),
        quantization="Q4_1",
        kv_cache_bytes=90 * MIB,
        kv_cache_tokens=4096,
        kv_cache_dtype="f16",
        context_tokens=2048,
        slots=2,
        settings={
            "kv_cache_bytes_per_token": 23_040.0,
            "kv_cache_taken_gib": 0.09,
            "kv_cache_explained_gib": 0.09,
            "kv_cache_unexplained_gib": 0.0,
        },
    )
    assert 30 * 3 * (64 + 64) * 2 == 23_040, "layers, KV heads, keys and values, bytes: the model's own numbers"


def test_a_drafter_s_lines_say_nothing_of_the_model() -> None:
    with_drafter, alone = _read(*SMOL[:8], *DRAFTER, *SMOL[8:]), _read(*SMOL)
    assert (with_drafter.settings["drafter"], with_drafter.settings["drafter_gib"]) == ("/models/d.gguf", 0.2)
    same = ("model", "weights_bytes", "quantization", "kv_cache_bytes", "kv_cache_tokens", "slots")
    assert [getattr(with_drafter, name) for name in same] == [getattr(alone, name) for name in same]


def test_caches_of_two_kinds_are_added_and_the_larger_says_what_fits() -> None:
    window = (
        SMOL[7].replace("90.00 MiB (  2048 cells,  30", "10.00 MiB (  256 cells,  12").replace("V (f16)", "V (q8_0)")
    )
    small = "llama_kv_cache_iswa:        CPU KV buffer size =    10.00 MiB"
    facts = _read(*SMOL[:8], small, window)
    assert (facts.kv_cache_bytes, facts.kv_cache_tokens, facts.kv_cache_dtype) == (100 * MIB, 4096, "f16/q8_0")
    assert "kv_cache_bytes_per_token" not in facts.settings


def test_of_two_starts_in_one_log_only_the_last_is_counted() -> None:
    first = [line.replace("90.00 MiB", "45.00 MiB").replace("CPU_Mapped", "CUDA0") for line in SMOL]
    assert _read(*first, *SMOL) == _read(*SMOL)
