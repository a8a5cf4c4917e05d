"""Calibration: a bin by hand, baselines, and a temperature against scipy's minimiser."""

from math import log

import numpy as np
import pytest

from clouds.errors import InvalidInput
from tools.measure.statistics.calibration import Bin, calibration, ece, fit_temperature, judge_temperature


def simulated(n: int, temperature: float, seed: int) -> tuple[list[list[float]], list[int]]:
    """Items whose true label is drawn at T = 1 and whose reported scores are `temperature` times those."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, 4)) * 1.2
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    truths = [int(rng.choice(4, p=row)) for row in chances]
    return (scores * temperature).tolist(), truths


def test_ece_is_the_mean_gap_between_sure_and_right_by_bin() -> None:
    # 4 reads at 0.95, 3 right: gap 0.2; 2 reads at 0.65, 1 right: gap 0.15; (4 x 0.2 + 2 x 0.15) / 6
    p, right = [0.95] * 4 + [0.65] * 2, [True, True, True, False, True, False]
    assert ece(p, right) == pytest.approx((0.8 + 0.3) / 6)
    assert calibration(p, right).bins == (
        Bin(low=0.6, high=0.7, n=2, mean_probability=0.65, right=0.5),
        Bin(low=0.9, high=1.0, n=4, mean_probability=0.95, right=0.75),
    )


def test_a_probability_of_exactly_one_and_zero_fall_into_the_outer_bins() -> None:
    assert ece([1.0, 0.0], [True, False]) == 0.0


def test_on_fifty_labels_a_perfect_model_shows_an_ece_of_about_thirteen_points() -> None:
    p = [max(0.25, value) for value in np.random.default_rng(1).uniform(0.25, 1, 50)]
    right = [bool(hit) for hit in np.random.default_rng(2).random(50) < np.array(p)]
    found = calibration(p, right)
    assert 0.09 < found.zero_median < 0.17
    assert found.zero_95 > found.zero_median
    assert not found.shows


def test_a_model_that_is_too_sure_shows_on_hundreds_of_labels() -> None:
    found = calibration([0.95] * 400, [index % 10 < 7 for index in range(400)])
    assert found.ece == pytest.approx(0.25)
    assert found.shows
    assert found.zero_95 < 0.05


def test_the_fitted_temperature_is_scipys() -> None:
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(60, 3)) * 3
    truths = rng.integers(0, 3, 60)
    truths = np.where(rng.random(60) < 0.6, scores.argmax(1), truths)
    # scipy.optimize.minimize_scalar(bounded) of the same likelihood: 2.7603503182824545
    assert fit_temperature(scores.tolist(), truths.tolist()) == pytest.approx(2.7603503182824545, rel=1e-4)


def test_a_temperature_fitted_on_fifty_labels_is_judged_on_the_others() -> None:
    found = judge_temperature(*simulated(600, 2.5, seed=3), labels=50, splits=10)
    assert (found.fitted_on, found.judged_on, found.splits) == (50, 550, 10)
    assert 1.7 < found.temperature < 4.1
    assert found.temperature_low <= found.temperature <= found.temperature_high
    assert found.ece_before > 0.12
    assert found.ece_after < 0.08
    assert found.zero_median < found.ece_after


def test_items_may_have_different_numbers_of_labels() -> None:
    assert fit_temperature([[log(0.7), log(0.3)], [0.0, -1.0, -2.0]] * 20, [0, 0] * 19 + [1, 2]) > 0


@pytest.mark.parametrize(
    ("logprobs", "truths"), [([[0.0, -1.0]], [2]), ([[0.0, -1.0], [0.0]], [0, 1]), ([], []), ([[0.0]], [0, 0])]
)
def test_a_truth_outside_its_labels_is_refused(logprobs: list[list[float]], truths: list[int]) -> None:
    with pytest.raises(InvalidInput):
        fit_temperature(logprobs, truths)


@pytest.mark.parametrize(("p", "right"), [([1.2], [True]), ([], []), ([0.5], [True, False])])
def test_what_is_no_probability_is_refused(p: list[float], right: list[bool]) -> None:
    with pytest.raises(InvalidInput):
        ece(p, right)


def test_fitting_on_everything_is_refused_because_nothing_would_judge() -> None:
    with pytest.raises(InvalidInput, match="50 of 50"):
        judge_temperature([[0.0, -1.0]] * 50, [0] * 50, labels=50)
