from collections.abc import Callable

import pytest

from tools.measure.ladder.frontier import Step, frontier
from tools.measure.ladder.records import Ladder, Rung, ladder


def test_the_article_s_three_rungs_are_the_ones_that_nothing_beats_on_right_and_speed(t4: Ladder) -> None:
    found = frontier(t4)
    assert found.on_right_and_speed == ("Q5_K_M", "Q4_K_M", "Q4_0")
    beaten = {each.rung: each.beaten_on_both for each in found.standings}
    assert "Q5_K_M" in beaten["Q8_0"]
    assert "Q5_K_M" in beaten["Q6_K"]
    assert "Q4_0" in beaten["Q3_K_M"]


def test_with_bytes_counted_the_smallest_files_are_beaten_by_nothing(t4: Ladder) -> None:
    assert frontier(t4).on_right_speed_and_bytes == ("Q5_K_M", "Q4_K_M", "Q4_0", "Q3_K_M", "Q2_K")


def test_each_step_to_a_faster_rung_says_what_it_costs(t4: Ladder) -> None:
    steps = frontier(t4).steps
    assert [(each.slower, each.faster, each.gained - each.lost) for each in steps] == [
        ("Q5_K_M", "Q4_K_M", -7),
        ("Q4_K_M", "Q4_0", -2),
    ]
    assert steps[0].times_speed == pytest.approx(84.1 / 78.7)
    assert isinstance(steps[0], Step)
    assert all(0 < each.p_value <= 1 for each in steps)


def test_a_rung_without_a_speed_or_partly_beside_the_accelerator_is_not_ranked(make_rung: Callable[..., Rung]) -> None:
    made = ladder(
        "1650",
        (
            make_rung("BF16", "ab", "ab", tokens_per_second=900.0, layers=36, layers_on_accelerator=14),
            make_rung("Q8", "ab", "ab", tokens_per_second=45.9, layers=36, layers_on_accelerator=36),
            make_rung("Q4", "a", "ab"),
        ),
    )
    found = frontier(made)
    assert (found.on_right_and_speed, found.not_ranked) == (("Q8",), ("BF16", "Q4"))


def test_unknown_bytes_beat_nothing_and_cannot_be_beaten(make_rung: Callable[..., Rung]) -> None:
    made = ladder(
        "here",
        (
            make_rung("F16", "ab", "ab", tokens_per_second=10.0, bytes=100),
            make_rung("Q4", "a", "ab", tokens_per_second=5.0),
        ),
    )
    assert frontier(made).on_right_speed_and_bytes == ("F16", "Q4")
    assert frontier(made).on_right_and_speed == ("F16",)


def test_two_equal_rungs_beat_neither(make_rung: Callable[..., Rung]) -> None:
    made = ladder(
        "here", tuple(make_rung(name, "a", "ab", tokens_per_second=10.0, bytes=9) for name in ("F16", "BF16"))
    )
    assert frontier(made).on_right_and_speed == ("F16", "BF16")
