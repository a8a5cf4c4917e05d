from __future__ import annotations

import pytest

from tools.measure.report.scale import apart, around_one, by_factor, from_zero, spanning
from tools.measure.report.svg import marker, shortened, tag, text, width_of


def test_an_axis_from_zero_ends_at_a_round_number_above_the_largest_value() -> None:
    scale, ticks = from_zero([3.0, 1911.0], 300, 0)
    assert ticks == (0, 500, 1000, 1500, 2000)
    assert (scale.at(0), scale.at(1000), scale.at(2000)) == (300, 150, 0)


@pytest.mark.parametrize("values", [[0.0], [5.0], [0.00001], [1e12], [1, 1]])
def test_an_axis_exists_for_any_value(values: list[float]) -> None:
    scale, ticks = from_zero(values, 0, 100)
    assert scale.low < scale.high
    assert all(0 <= scale.at(value) <= 100 for value in values)
    assert len(ticks) > 1


def test_an_axis_of_factors_has_equal_steps_for_equal_factors() -> None:
    scale, ticks = by_factor([55.0, 5000.0], 0, 100)
    assert (ticks[0], ticks[-1]) == (50, 5000)
    assert scale.at(500) - scale.at(100) == pytest.approx(scale.at(5000) - scale.at(1000))


def test_an_axis_of_factors_holds_a_single_value_and_a_large_span() -> None:
    assert by_factor([3.0], 0, 1)[1] == (2, 5)
    assert by_factor([1e-4, 1e4], 0, 1)[1] == (1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000, 1e4)


def test_ratios_always_have_one_on_their_axis() -> None:
    for values in ([2.0, 2.1], [0.4], [0.999, 1.001], [1e-5, 1e5]):
        scale, ticks = around_one(values, 0, 460)
        assert 1 in ticks
        assert all(0 <= scale.at(value) <= 460 for value in values)


def test_changes_have_zero_between_losses_and_gains() -> None:
    _, ticks = spanning([-3.0, 0.0, 104.0], 0, 100)
    assert ticks == (-25, 0, 25, 50, 75, 100, 125)


def test_labels_that_would_stand_on_each_other_are_left_out_but_the_first_is_kept() -> None:
    scale, _ = from_zero([100.0], 0, 100)
    assert apart([0, 5, 50, 100], scale, 20) == (0, 50, 100)
    assert apart([0, 5, 50, 100], scale, 20, first=5) == (5, 50, 100)


def test_text_in_a_drawing_is_escaped_and_cut_to_its_place() -> None:
    assert text(1, 2.50, "<b> & \u202e") == '<text x="1" y="2.5">&lt;b&gt; &amp; \\u202e</text>'
    assert tag("g", title_='a"b') == '<g title="a&quot;b"/>'
    assert shortened("a" * 100, 60).endswith("…")
    assert width_of(shortened("a" * 100, 60)) <= 60
    assert shortened("short", 60) == "short"


def test_every_series_has_a_shape_of_its_own() -> None:
    shapes = {marker(n, 5, 5, "m0") for n in range(5)}
    assert len(shapes) == 5
