"""vLLM on a GPU: memory before and after, what compiling took, and the dtype of the cache."""

from __future__ import annotations

import pytest

from clouds import enginelog
from clouds.models import EngineFacts

GIB = 1024**3
START = (
    "INFO [gpu_model_runner.py:5515] Model loading took 10.24 GiB memory and 2.623740 seconds",
    "INFO [monitor.py:34] torch.compile takes 29.31 s in total",
    "INFO [gpu_worker.py:578] Available KV cache memory: 3.01 GiB",
    (
        "INFO [kv_cache_utils.py:1883] GPU KV cache size: 172,032 tokens, Maximum concurrency for 172,032 tokens per "
        "request: 1.00x"
    ),
    "INFO [gpu_model_runner.py:6000] Graph capturing finished in 4 secs, took 0.04 GiB",
    (
        "INFO [gpu_worker.py:804] Free memory on device (15.28/15.51 GiB) on startup. Desired GPU memory "
        "utilization is "
        "(0.92, 14.27 GiB). Actual usage is 10.47 GiB for consumed memory (weights + non-torch), 0.79 GiB for peak "
        "activation, and 0.04 GiB for CUDAGraph memory. Current kv cache memory in use is 3.01 GiB."
    ),
    "INFO [core.py:200] init engine (profile, create kv cache, warmup model) took 61.20 s",
)


def test_where_the_memory_of_a_gpu_went_is_read_from_its_lines() -> None:
    assert enginelog.read(START) == EngineFacts(
        engine="vllm",
        weights_bytes=round(10.24 * GIB),
        load_seconds=2.62374,
        kv_cache_bytes=round(3.01 * GIB),
        kv_cache_tokens=172_032,
        context_tokens=172_032,
        max_concurrency=1.0,
        settings={
            "start_seconds": 61.2,
            "compile_seconds": 29.31,
            "graph_seconds": 4.0,
            "gpu_memory_free_gib": 15.28,
            "gpu_memory_total_gib": 15.51,
            "gpu_memory_utilization": 0.92,
            "gpu_memory_budget_gib": 14.27,
            "gpu_memory_used_gib": 10.47,
            "activation_gib": 0.79,
            "graph_memory_gib": 0.04,
            "kv_cache_taken_gib": 3.01,
        },
    )


def test_the_l4_of_the_article_is_read_from_one_line_that_holds_two() -> None:
    line = (
        "[jev-gpu 2026-09-26T14:11:08Z] memory: Model loading took 14.8 GiB memory and 55.495697 seconds "
        "GPU KV cache size: 17,990 tokens, Maximum concurrency for 2,048 tokens per request: 8.78x"
    )
    facts = enginelog.read([line])
    assert facts is not None
    assert (facts.weights_bytes, facts.load_seconds) == (round(14.8 * GIB), 55.495697)
    assert (facts.kv_cache_tokens, facts.max_concurrency) == (17_990, 8.78)
    assert round(17_990 / 2_048, 2) == 8.78


def test_the_shares_of_several_workers_are_added() -> None:
    def start(pid: int, share: float) -> list[str]:
        lines = ["INFO [api_server.py:1] vLLM API server version 0.30.0"]
        for rank in range(4):
            worker = f"(Worker_TP{rank} pid={pid + rank}) INFO [x.py:1]"
            lines.append(f"{worker} Model loading took {share} GiB memory and 58.2 seconds")
            lines.append(f"{worker} Available KV cache memory: 4.87 GiB")
        return [*lines, "(EngineCore pid=3) INFO GPU KV cache size: 651,081 tokens"]

    facts = enginelog.read([*start(100, 1.0), *start(500, 19.07)])
    assert facts is not None
    assert (facts.weights_bytes, facts.kv_cache_bytes) == (round(4 * 19.07 * GIB), round(4 * 4.87 * GIB))
    assert (facts.settings["gpus"], facts.settings["kv_cache_taken_gib"]) == (4, 19.48)
    assert facts.kv_cache_tokens == 651_081


def test_a_dtype_that_the_engine_says_it_stores_stands_where_its_flag_says_auto() -> None:
    dump = "V1 LLM engine (v0.30.0) with config: model='x/y', kv_cache_dtype=auto, seed=0"
    facts = enginelog.read([dump, "Using fp8_e4m3 data type to store kv cache. It reduces the memory footprint"])
    assert facts is not None
    assert facts.kv_cache_dtype == "fp8_e4m3"


@pytest.mark.parametrize("number", ["9" * 400, "1.2.3", "1..2", ".", "-5", "1e309", "NaN"])
def test_a_number_that_is_none_stops_no_reader(number: str) -> None:
    shape = f"regular_attn_shape=(num_blocks, ({number}, 1, 2, 256))"
    cache = f"Init kv-cache | num_total_layers={number} | num_blocks=[{number}] | {shape}"
    lines = [
        START[0],
        f"Available KV cache memory: {number} GiB",
        f"GPU KV cache size: {number} tokens, Maximum concurrency for {number} tokens per request: {number}x",
        f"Init model | hbm=[({number}, 15.75)]GiB",
        f"{cache} | regular_attn_dtype=bfloat16 | hbm=[({number}, 15.75)]Gb",
    ]
    facts = enginelog.read(lines)
    assert facts is not None
    assert facts.weights_bytes == round(10.24 * GIB)
    enginelog.read([f"CPU model buffer size = {number} MiB", f"n_ctx = {number}", f"n_slots = {number}"])


def test_a_log_that_only_repeats_its_words_is_no_engine() -> None:
    assert (
        enginelog.read(["Free memory on device (1/2 GiB)", "init engine took 3 s", "Loading weights took 1 s"]) is None
    )
