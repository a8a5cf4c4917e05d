import pytest

from clouds.errors import InvalidInput
from tools.measure.checkpoint.fits import fits, formula
from tools.measure.checkpoint.kv_cache import kv_cache

GIB = 1024**3
CACHE = kv_cache({"num_hidden_layers": 10, "num_key_value_heads": 2, "head_dim": 256}, "safetensors")


def test_gemma_4_e2b_leaves_a_v5e_chip_what_the_log_says() -> None:
    # 8.97 GiB of weights on one v5e: 5.52 GiB were left (2026-10-25)
    row = fits(int(8.97 * GIB), CACHE, context=8192, accelerators=["v5e"])[0]
    assert row.fits
    assert row.free_bytes / GIB == pytest.approx(5.52, abs=0.005)


def test_the_26b_in_bf16_needs_four_chips() -> None:
    # 48.07 GiB do not fit one v6e chip (28.74 usable) and serve across four
    one, four = fits(int(48.07 * GIB), CACHE, context=2048, accelerators=["v6e", "4 x v6e"])
    assert (one.accelerator, one.fits, one.kv_tokens) == ("v6e", False, None)
    assert (four.accelerator, four.fits) == ("4 x v6e", True)
    assert four.memory_bytes == 4 * one.memory_bytes


def test_tokens_and_full_requests_follow_the_formula() -> None:
    row = fits(GIB, CACHE, context=1000, accelerators=["T4"])[0]
    assert row.kv_tokens == int((15 * GIB * 0.92 - GIB) / 20_480)
    assert row.full_contexts == row.kv_tokens / 1000
    assert CACHE is not None
    assert formula(GIB, CACHE).startswith("KV tokens = (memory x 0.92 - weights 1,073,741,824 bytes) / 20,480 bytes")


def test_without_a_known_cache_the_tokens_are_unknown_and_not_zero() -> None:
    row = fits(GIB, None, context=1000, accelerators=["T4"])[0]
    assert (row.fits, row.kv_tokens, row.full_contexts) == (True, None, None)


def test_all_known_accelerators_come_smallest_first() -> None:
    rows = fits(GIB, CACHE, context=1000)
    assert len(rows) == 17
    assert [row.memory_bytes for row in rows] == sorted(row.memory_bytes for row in rows)


@pytest.mark.parametrize("name", ["L40", "0 x v6e", "four x v6e", "", "x v6e"])
def test_an_unknown_accelerator_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(InvalidInput, match="is not known") as caught:
        fits(GIB, CACHE, context=1000, accelerators=[name])
    assert "v6e" in caught.value.allowed
