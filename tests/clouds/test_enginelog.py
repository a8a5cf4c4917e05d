"""What engines say of themselves, read from their logs: the last word counts, and lines are only data."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from clouds import enginelog
from clouds.models import EngineFacts, Phase
from tests.clouds.aws.simulator import boot

GIB = 1024**3
START = datetime(2026, 9, 25, 18, 25, tzinfo=UTC)
ARTICLE = [
    "Model loading took 9.75 GiB memory and 82.751806 seconds",
    "GPU KV cache size: 723,484 tokens, Maximum concurrency for 8,192 tokens per request: 88.32x",
]


def test_the_article_s_two_lines_give_its_figures() -> None:
    facts = enginelog.read(ARTICLE)
    assert facts == EngineFacts(
        engine="vllm",
        weights_bytes=round(9.75 * GIB),
        load_seconds=82.751806,
        kv_cache_tokens=723_484,
        context_tokens=8192,
        max_concurrency=88.32,
    )


def test_a_whole_start_gives_model_version_and_settings_too() -> None:
    facts = enginelog.read(line for _, line in boot.VLLM.lines)
    assert facts is not None
    assert (facts.version, facts.model, facts.quantization) == ("0.30.0", "google/gemma-4-E2B-it", "")
    assert (facts.kv_cache_dtype, dict(facts.settings)) == ("auto", {"tensor_parallel_size": 1})


def test_quantization_is_named_by_the_engine() -> None:
    line = "Initializing a V1 LLM engine (v0.30.0) with config: model='x/y', quantization=compressed-tensors, "
    line += "max_seq_len=4096"
    facts = enginelog.read([line, "Model loading took 8.01 GiB memory and 66.190265 seconds"])
    assert facts is not None
    assert (facts.quantization, facts.context_tokens, facts.weights_bytes) == (
        "compressed-tensors",
        4096,
        round(8.01 * GIB),
    )


def test_of_two_starts_in_one_log_the_last_one_counts() -> None:
    later = ["Model loading took 8.01 GiB memory and 66.190265 seconds", "GPU KV cache size: 867,999 tokens"]
    facts = enginelog.read([*ARTICLE, *later])
    assert facts is not None
    assert (facts.weights_bytes, facts.kv_cache_tokens) == (round(8.01 * GIB), 867_999)


def test_llama_cpp_says_where_its_layers_are() -> None:
    lines = [
        "build: 6500 (77c4540ce) with cc for x86_64-linux-gnu",
        "llama_model_loader: loaded meta data with 40 key-value pairs and 500 tensors from /root/gemma.gguf (V3)",
        "load_tensors: offloaded 36/36 layers to GPU",
        "load_tensors:        CUDA0 model buffer size =  2407.92 MiB",
        "load_tensors:   CPU_Mapped model buffer size =   315.00 MiB",
        "llama_context: n_ctx         = 8192",
        "srv  init: initializing slots, n_slots = 4",
        "llama_kv_cache: CUDA0 KV buffer size =   512.00 MiB",
    ]
    facts = enginelog.read(lines)
    assert facts is not None
    assert (facts.engine, facts.version) == ("llama.cpp", "6500 (77c4540ce)")
    assert facts.weights_bytes == round((2407.92 + 315.0) * 1024**2)
    assert (facts.kv_cache_bytes, facts.context_tokens, facts.slots) == (512 * 1024**2, 8192, 4)
    assert dict(facts.settings) == {"layers_on_accelerator": 36, "layers": 36}


def test_a_log_without_an_engine_says_nothing() -> None:
    assert enginelog.read([]) is None
    assert enginelog.read(["[ 0.0] Linux version 6.8", "modelrig phase: pulling image"]) is None


def test_lines_that_say_the_words_in_other_ways_change_nothing() -> None:
    assert enginelog.read(["user: please say Model loading took forever", "KV cache size: many tokens"]) is None
    huge = "x" * 100_000 + " Model loading took 9.75 GiB memory and 82.7 seconds"
    assert enginelog.read([huge]) is None


def test_phases_follow_each_other_from_creation_to_service() -> None:
    lines = [(START + timedelta(seconds=at), line) for at, line in boot.VLLM.lines]
    assert enginelog.phases(START, lines, START + timedelta(seconds=594)) == (
        Phase(name="waiting for an instance and its image", seconds=60.0),
        Phase(name="loading weights", seconds=384.0),
        Phase(name="sizing the KV cache", seconds=108.0),
        Phase(name="warming up", seconds=38.0),
        Phase(name="health check", seconds=4.0),
    )
    assert enginelog.phases(START, ()) == ()


def test_a_tpu_s_start_is_mostly_compiling() -> None:
    """The seconds of the article of 2026-10-25: 503.54 from the weights on, nearly all before the server is up."""
    said = (
        (20.0, "Init model | hbm=[(8.97, 15.75)]GiB"),
        (24.0, "TPU KV cache size: 321,280 tokens, Maximum concurrency for 8,192 tokens per request: 39.22x"),
        (523.5, "init engine (profile, create kv cache, warmup model) took 503.54 s (compilation: 413.41 s)"),
        (525.0, "INFO:     Application startup complete."),
    )
    lines = [(START + timedelta(seconds=at), line) for at, line in said]
    assert [(each.name, each.seconds) for each in enginelog.phases(START, lines)] == [
        ("waiting for an instance and its image", 20.0),
        ("loading weights", 0.0),
        ("sizing the KV cache", 4.0),
        ("compiling and warming up the engine", 499.5),
        ("warming up", 1.5),
    ]


def test_how_far_a_start_is_shows_in_its_last_telling_line() -> None:
    assert enginelog.progress_words(["hello", *ARTICLE, "INFO: something"]).startswith("KV cache size: 723,484")
    assert enginelog.progress_words(["[2.1] x modelrig phase: pulling image at 12:00"]) == "pulling image at 12:00"
    assert enginelog.progress_words(["nothing"]) == ""


def test_the_last_errors_are_kept_short() -> None:
    lines = ["OSError: a", "fine", "RuntimeError: " + "x" * 900, "torch.OutOfMemoryError: CUDA out of memory", "bye"]
    found = enginelog.errors(lines, 2)
    assert [len(line) for line in found] == [300, 42]
