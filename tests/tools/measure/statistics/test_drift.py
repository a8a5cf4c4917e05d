import pytest

from tools.measure.statistics.drift import drift


def test_the_base_that_ran_again_shows_how_far_the_machine_moved() -> None:
    # the two small GPUs article: no drafter 133.4 tok/s, drafter 217.6, no drafter again 0.7 % under the first
    found = drift([133.4], [217.6], [133.4 * 0.993])
    assert found.drift == pytest.approx(-0.007)
    assert found.change == pytest.approx(0.631, abs=0.0005)
    assert found.beyond


def test_a_change_smaller_than_the_drift_is_not_beyond_it() -> None:
    assert not drift([100.0, 100.0], [101.0, 101.0], [98.0, 98.0]).beyond


def test_both_base_runs_together_are_the_base_of_the_ratio() -> None:
    found = drift([100.0, 102.0], [110.0, 112.0], [104.0, 106.0])
    assert found.ratio.ratio == pytest.approx(111 / 103)
    assert found.ratio.n_base == 4
