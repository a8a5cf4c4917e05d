"""Grids with known steps and levels, every peak from 1 to 8, and what must not pass for a grid."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tools.measure.checkpoint.grid import recover, textbook
from tools.measure.checkpoint.halves import to_bf16, widen

Bits = Callable[[Any], Any]


def groups(levels: Any, steps: Any, as_bf16: Bits) -> Any:
    return as_bf16(np.asarray(levels, dtype=float) * np.asarray(steps, dtype=float)[:, None])


@pytest.mark.parametrize("peak", range(1, 9))
def test_a_peak_at_any_level_is_recovered(peak: int, as_bf16: Bits) -> None:
    rng = np.random.default_rng(peak)
    levels = rng.integers(-peak, min(peak, 7) + 1, (500, 32))
    levels[:, 0], levels[:, 1] = -peak, 1  # a level of one leaves no common factor
    steps = rng.uniform(1e-4, 1e-2, 500).astype(np.float16)
    bits = groups(levels, steps, as_bf16)
    found = recover(bits, "BF16")
    assert found.on.all()
    assert (found.levels == levels).all()
    assert (as_bf16(found.levels * found.step[:, None]) == bits).all()
    assert np.abs(found.step / steps.astype(float) - 1).max() < 2**-8


def test_the_least_squares_step_is_closer_than_the_peak_alone(as_bf16: Bits) -> None:
    rng = np.random.default_rng(1)
    levels = rng.integers(-8, 8, (2000, 32))
    levels[:, 0] = -8
    steps = rng.uniform(1e-3, 1e-2, 2000)
    bits = groups(levels, steps, as_bf16)
    peak = np.abs(widen(bits, "BF16")).max(axis=1) / 8
    assert np.abs(recover(bits, "BF16").step / steps - 1).mean() < np.abs(peak / steps - 1).mean() / 2


def test_levels_with_a_common_factor_come_back_on_the_wider_grid_without_loss(as_bf16: Bits) -> None:
    levels = np.tile([6, -4, 2, 0], (1, 8))
    bits = groups(levels, [0.01], as_bf16)
    found = recover(bits, "BF16")
    assert found.levels.tolist() == np.tile([3, -2, 1, 0], (1, 8)).tolist()
    assert (as_bf16(found.levels * found.step[:, None]) == bits).all()


def test_a_peak_of_plus_eight_needs_a_negative_step(as_bf16: Bits) -> None:
    levels = np.tile([8, -3, 1, 0], (1, 8))
    found = recover(groups(levels, [0.01], as_bf16), "BF16")
    assert found.on.all()
    assert found.step[0] == pytest.approx(-0.01, rel=0.004)
    assert found.levels.tolist() == (-levels).tolist()


def test_seventeen_levels_are_no_four_bit_grid(as_bf16: Bits) -> None:
    assert not recover(groups(np.tile([8, -8, 1, 0], (1, 8)), [0.01], as_bf16), "BF16").on.any()


def test_a_group_of_zeros_is_on_every_grid(as_bf16: Bits) -> None:
    found = recover(groups(np.zeros((1, 32)), [1.0], as_bf16), "BF16")
    assert (found.on.all(), found.levels.any(), found.step.tolist()) == (True, False, [1.0])


def test_the_smallest_steps_of_bf16_are_recovered(as_bf16: Bits) -> None:
    levels = np.tile([-8, 5, 3, 1], (1, 8))
    assert recover(groups(levels, [1e-30], as_bf16), "BF16").levels.tolist() == levels.tolist()


@pytest.mark.parametrize("place", [0, 7, 31])
def test_one_value_moved_by_half_a_step_takes_the_group_off_the_grid(place: int, as_bf16: Bits) -> None:
    levels = np.tile([-7, 5, 3, 1], (1, 8)).astype(float)
    levels[0, place] += 0.5
    assert not recover(groups(levels, [0.01], as_bf16), "BF16").on.any()


def test_a_tiny_value_is_not_taken_for_level_zero(as_bf16: Bits) -> None:
    levels = np.tile([-7, 5, 3, 0], (1, 8)).astype(float)
    levels[0, 3] = 0.02
    assert not recover(groups(levels, [0.01], as_bf16), "BF16").on.any()


def test_ordinary_weights_lie_on_no_grid(as_bf16: Bits) -> None:
    bits = as_bf16(np.random.default_rng(3).normal(size=(5000, 32)) * 0.02)
    assert not recover(bits, "BF16").on.any()


@pytest.mark.parametrize("odd", [0x7F80, 0x7FC0, 0xFF80])
def test_infinity_and_nan_are_off_the_grid(odd: int, as_bf16: Bits) -> None:
    bits = groups(np.tile([-7, 5, 3, 1], (1, 8)), [0.01], as_bf16)
    bits[0, 4] = odd
    assert not recover(bits, "BF16").on.any()


def test_a_product_that_was_a_16_bit_float_first_is_still_on_its_grid(as_bf16: Bits) -> None:
    rng = np.random.default_rng(5)
    levels = rng.integers(-8, 8, (3000, 32))
    levels[:, 0], levels[:, 1] = -8, 1
    steps = rng.uniform(1e-3, 1e-1, 3000).astype(np.float16)
    bits = as_bf16((levels * steps[:, None]).astype(np.float16).astype(float))
    found = recover(bits, "BF16")
    assert found.on.all()
    assert (found.levels == levels).all()


def test_weights_stored_in_f16_are_recovered_too() -> None:
    rng = np.random.default_rng(6)
    levels = rng.integers(-5, 6, (500, 32))
    levels[:, 0], levels[:, 1] = 5, 1
    bits = (levels * rng.uniform(1e-3, 1e-1, 500)[:, None]).astype(np.float16).view("<u2")
    found = recover(bits, "F16")
    assert found.on.all()
    assert (found.levels == levels).all()


def test_the_textbook_rule_is_right_only_where_the_peak_is_at_level_eight(as_bf16: Bits) -> None:
    rng = np.random.default_rng(8)
    for peak, right in ((8, True), (5, False)):
        levels = rng.integers(-peak, min(peak, 7) + 1, (200, 32))
        levels[:, 0], levels[:, 1] = -peak, 1
        made = textbook(groups(levels, np.full(200, 0.003), as_bf16), "BF16")
        assert (made.levels == levels).all() == right


def test_rounding_to_bf16_is_to_the_nearest_and_to_even_between_two(as_bf16: Bits) -> None:
    values = np.concatenate([np.random.default_rng(9).normal(size=5000), [1.00390625, 1.01171875, 0.0, -2.0]])
    assert (to_bf16(values) == as_bf16(values.astype(np.float32).astype(float))).all()
