"""Bytes of KV cache per token by layer, against what two engines allocated and against other shapes of model."""

import pytest

from tools.measure.checkpoint.kv_cache import kv_cache

GIB = 1024**3
E2B = {
    "text_config": {
        "num_hidden_layers": 35,
        "num_kv_shared_layers": 20,
        "num_key_value_heads": 1,
        "num_attention_heads": 8,
        "head_dim": 256,
        "global_head_dim": 512,
        "sliding_window": 512,
        "max_position_embeddings": 131072,
        "layer_types": (["sliding_attention"] * 4 + ["full_attention"]) * 7,
    }
}
MOE_26B = {
    "text_config": {
        "num_hidden_layers": 30,
        "num_key_value_heads": 8,
        "num_global_key_value_heads": 2,
        "head_dim": 256,
        "global_head_dim": 512,
        "sliding_window": 1024,
        "layer_types": (["sliding_attention"] * 5 + ["full_attention"]) * 5,
    }
}


def test_gemma_4_e2b_holds_what_the_tpu_log_says() -> None:
    found = kv_cache(E2B, "safetensors")
    assert found is not None
    assert (found.bytes_per_token, found.cached_layers, found.shared_layers, found.window_layers) == (18432, 15, 20, 12)
    assert found.formula == (
        "(12 layers x 1 KV heads x (2 x 256) (window) + 3 layers x 1 KV heads x (2 x 512)) x 2 bytes = 18,432 bytes a "
        "token; 20 more layers share another's"
    )
    # 5.52 GiB were left and 321,280 tokens were allocated (2026-10-25), in blocks of 256
    assert 5.52 * GIB / found.bytes_per_token == pytest.approx(321_280, rel=0.001)


def test_gemma_4_26b_holds_what_the_tpu_log_says() -> None:
    found = kv_cache(MOE_26B, "safetensors")
    assert found is not None
    assert found.bytes_per_token == 225_280
    # 11.32 GiB were left and 53,888 tokens were allocated (2026-09-26)
    assert 11.32 * GIB / found.bytes_per_token == pytest.approx(53_888, rel=0.002)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "hidden_size": 4096}, 131_072),
        ({"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 64}, 2 * 4 * 2 * 16 * 2),
        ({"num_hidden_layers": 61, "kv_lora_rank": 512, "qk_rope_head_dim": 64}, 61 * 576 * 2),
        (
            {
                "num_hidden_layers": 48,
                "num_key_value_heads": 2,
                "head_dim": 256,
                "layer_types": (["linear_attention"] * 3 + ["full_attention"]) * 12,
            },
            12 * 2 * 2 * 256 * 2,
        ),
        (
            {"num_hidden_layers": 8, "num_key_value_heads": 2, "head_dim": 64, "full_attention_interval": 4},
            2 * 2 * 2 * 64 * 2,
        ),
    ],
    ids=["llama 8B", "no grouped heads", "latent attention", "three of four layers linear", "one of four full"],
)
def test_other_shapes_of_attention(config: dict, expected: int) -> None:
    found = kv_cache(config, "safetensors")
    assert found is not None
    assert found.bytes_per_token == expected


def test_a_smaller_dtype_halves_it() -> None:
    found = kv_cache(MOE_26B, "safetensors", "fp8")
    assert found is not None
    assert found.bytes_per_token == 112_640


def test_a_gguf_header_says_the_same_of_gemma_4_e2b() -> None:
    gguf = {
        "general.architecture": "gemma4",
        "gemma4.block_count": 35,
        "gemma4.attention.shared_kv_layers": 20,
        "gemma4.attention.head_count": 8,
        "gemma4.attention.head_count_kv": 1,
        "gemma4.attention.key_length": 512,
        "gemma4.attention.value_length": 512,
        "gemma4.attention.key_length_swa": 256,
        "gemma4.attention.value_length_swa": 256,
        "gemma4.attention.sliding_window": 512,
        "gemma4.attention.sliding_window_pattern": ([True] * 4 + [False]) * 7,
        "gemma4.context_length": 131072,
    }
    assert kv_cache(gguf, "gguf") == kv_cache(E2B, "safetensors")


def test_a_gguf_of_a_plain_llama() -> None:
    gguf = {
        "general.architecture": "llama",
        "llama.block_count": 30,
        "llama.embedding_length": 576,
        "llama.attention.head_count": 9,
        "llama.attention.head_count_kv": 3,
    }
    found = kv_cache(gguf, "gguf")
    assert found is not None
    assert found.bytes_per_token == 30 * 3 * 2 * 64 * 2


@pytest.mark.parametrize("config", [{}, {"num_hidden_layers": 12}, {"text_config": {"model_type": "x"}}])
def test_a_configuration_that_does_not_say_is_unknown_and_never_guessed(config: dict) -> None:
    assert kv_cache(config, "safetensors") is None
    assert kv_cache(config, "gguf") is None
