"""A TPU's start in its log: the figures of the articles come out, and what they leave open is shown."""

from __future__ import annotations

import pytest

from clouds import enginelog
from clouds.enginelog import memory
from clouds.models import EngineFacts

GIB = 1024**3
V5E = (
    "Init worker | rank=0 | hbm=[(0.0, 15.75)]GiB",
    "Init model | hbm=[(8.97, 15.75)]GiB",
    (
        "Memory statistics | total_hbm_limit_gb=15.75GiB | total_hbm_limit_cap_gb=14.49GiB | total_hbm_used_gb=8.97GiB"
        " | total_hbm_avail_gb=5.52GiB"
    ),
    "TPU KV cache size: 321,280 tokens, Maximum concurrency for 8,192 tokens per request: 39.22x",
    (
        "Init kv-cache | num_total_layers=15 | num_blocks=[1255, 1255, 1255] | regular_attn_shape=(num_blocks, "
        "(256, 1, 2, 256)) | regular_attn_dtype=bfloat16 | hbm=[(14.51, 15.75)]Gb"
    ),
)
V6E = (
    "Automatically using fp8_e5m2 for FP8 KV cache on TPU v6e.",
    (
        "Memory statistics | total_hbm_limit_gb=31.24GiB | total_hbm_limit_cap_gb=28.74GiB | total_hbm_used_gb=17.43GiB"
        " | total_hbm_avail_gb=11.32GiB"
    ),
    "GPU KV cache size: 53,888 tokens, Maximum concurrency for 2,048 tokens per request: 26.31x",
)


def _read(*lines: str) -> EngineFacts:
    facts = enginelog.read(lines)
    assert facts is not None
    return facts


def test_the_log_of_one_v5e_chip_gives_the_article_s_figures_and_its_unexplained_gib() -> None:
    assert _read(*V5E) == EngineFacts(
        engine="vllm",
        weights_bytes=round(8.97 * GIB),
        kv_cache_bytes=round(5.54 * GIB),
        kv_cache_tokens=321_280,
        kv_cache_dtype="bfloat16",
        context_tokens=8_192,
        max_concurrency=39.22,
        settings={
            "hbm_limit_gib": 15.75,
            "hbm_cap_gib": 14.49,
            "hbm_used_gib": 8.97,
            "hbm_free_gib": 5.52,
            "chips": 1,
            "hbm_used_with_kv_cache_gib": 14.51,
            "kv_cache_bytes_per_token": 15_360.0,
            "kv_cache_taken_gib": 5.54,
            "kv_cache_explained_gib": 4.6,
            "kv_cache_unexplained_gib": 0.94,
            "kv_cache_bytes_from": "15 of 15 layers, all like the logged one: 1 x 2 x 256 numbers of bfloat16",
        },
    )


def test_a_cost_per_token_from_the_checkpoint_explains_what_the_logged_layer_does_not() -> None:
    """Three of E2B's fifteen cached layers are twice as wide as the one that the log shows."""
    taken = float(_read(*V5E).settings[memory.TAKEN])
    found = memory.account(321_280, 12 * 1_024 + 3 * 2_048, taken)
    assert (found[memory.EXPLAINED], found[memory.UNEXPLAINED]) == (5.52, 0.02)


def test_a_full_length_request_and_the_longer_context_cost_what_the_article_says() -> None:
    longer = "TPU KV cache size: 321,280 tokens, Maximum concurrency for 131,072 tokens per request: 2.45x"
    facts = _read(*V5E[:3], longer, V5E[4])
    assert (facts.kv_cache_tokens, facts.context_tokens, facts.max_concurrency) == (321_280, 131_072, 2.45)
    assert 131_072 * float(facts.settings[memory.COST_EACH]) / GIB == 1.875
    assert round(321_280 / 131_072, 2) == 2.45


def test_seconds_of_compiling_are_those_of_the_engine_s_own_account() -> None:
    line = "init engine (profile, create kv cache, warmup model) took 503.54 s (compilation: 413.41 s)"
    facts = _read(*V5E, line)
    assert (facts.settings["start_seconds"], facts.settings["compile_seconds"]) == (503.54, 413.41)
    assert "compile_seconds" not in _read(*V5E).settings


def test_an_announced_dtype_is_no_fact_until_something_is_allocated() -> None:
    facts = _read(*V6E)
    assert (facts.kv_cache_dtype, facts.settings[memory.ANNOUNCED]) == ("", "fp8_e5m2")
    assert (facts.weights_bytes, facts.kv_cache_tokens) == (round(17.43 * GIB), 53_888)
    assert (facts.settings["hbm_cap_gib"], facts.settings["hbm_free_gib"]) == (28.74, 11.32)


def test_the_free_memory_of_a_v6e_is_explained_by_its_checkpoint() -> None:
    found = memory.account(_read(*V6E).kv_cache_tokens, 225_280, float(_read(*V6E).settings["hbm_free_gib"]))
    assert (found[memory.EXPLAINED], found[memory.UNEXPLAINED]) == (11.31, 0.01)


@pytest.mark.parametrize(
    ("announced", "allocated", "shown"),
    [
        ("fp8_e5m2", "bfloat16", "fp8_e5m2"),
        ("fp8_e5m2", "float8_e4m3fn", "fp8_e5m2"),
        ("fp8_e5m2", "float8_e5m2", None),
        ("fp8", "float8_e4m3fn", None),
        ("bfloat16", "bfloat16", None),
    ],
)
def test_an_announcement_that_differs_from_the_allocation_is_shown(
    announced: str, allocated: str, shown: str | None
) -> None:
    line = f"Automatically using {announced} for FP8 KV cache on TPU v6e."
    facts = _read(line, *V5E[:4], V5E[4].replace("bfloat16", allocated))
    assert (facts.kv_cache_dtype, facts.settings.get(memory.ANNOUNCED)) == (allocated, shown)


def test_a_flag_in_the_engine_s_own_dump_is_an_announcement_too() -> None:
    dump = "Initializing a V1 LLM engine (v0.30.0) with config: model='x/y', max_seq_len=8192, kv_cache_dtype=fp8, "
    facts = _read(dump, *V5E)
    assert (facts.kv_cache_dtype, facts.settings[memory.ANNOUNCED]) == ("bfloat16", "fp8")
    assert memory.ANNOUNCED not in _read(dump.replace("fp8", "auto"), *V5E).settings


def test_eight_bit_numbers_that_are_padded_to_as_many_bytes_cost_as_many() -> None:
    """fp8 on a v5e doubles the third dimension as the numbers halve: nothing is saved."""
    padded = V5E[4].replace("(256, 1, 2, 256)", "(256, 1, 4, 256)").replace("bfloat16", "float8_e4m3fn")
    assert _read(*V5E[:4], padded).settings[memory.COST_EACH] == 15_360


def test_four_chips_are_summed() -> None:
    lines = (
        "Init worker | hbm=[(0.1, 31.24), (0.1, 31.24), (0.1, 31.24), (0.1, 31.24)]GiB",
        "Init model | hbm=[(5.5, 31.24), (5.5, 31.24), (5.4, 31.24), (5.4, 31.24)]GiB",
        "TPU KV cache size: 407,168 tokens, Maximum concurrency for 2,048 tokens per request: 198.81x",
        (
            "Init kv-cache | num_total_layers=30 | num_blocks=[3181] | regular_attn_shape=(num_blocks, "
            "(128, 8, 2, 256))"
            " | regular_attn_dtype=bfloat16 | hbm=[(28.0, 31.24), (28.0, 31.24), (28.0, 31.24), (28.0, 31.24)]Gb"
        ),
    )
    facts = _read(*lines)
    assert facts.weights_bytes == round(21.4 * GIB)
    assert (facts.settings["chips"], facts.settings[memory.TAKEN]) == (4, 90.2)


def test_layers_without_a_row_per_token_are_not_counted_as_if_they_had_one() -> None:
    lines = [line.replace("num_total_layers=15", "num_total_layers=60") for line in V5E]
    lines[4] = lines[4].replace("| regular_attn_shape", "| regular_attn_layers=15 | regular_attn_shape")
    facts = _read(*lines)
    assert facts.settings[memory.COST_EACH] == 15_360
    assert str(facts.settings[memory.RESTS_ON]).startswith("15 of 60 layers")


def test_an_allocation_that_cannot_be_read_explains_nothing() -> None:
    for broken in ("regular_attn_dtype=float3", "regular_attn_shape=(num_blocks, ())", "nothing at all"):
        line = V5E[4].replace("regular_attn_dtype=bfloat16", broken) if "dtype" in broken else broken
        assert memory.EXPLAINED not in _read(*V5E[:4], line).settings


def test_tokens_come_from_the_blocks_where_no_line_says_them() -> None:
    assert _read(*V5E[:3], V5E[4]).kv_cache_tokens == 1_255 * 256
