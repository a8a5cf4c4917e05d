"""The article of 2026-10-27 as runs: what each setting gains, what a guess costs, where it begins to cost."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.tools.measure.made import made, part, rate
from tools.measure.comparing.compare import compare
from tools.measure.comparing.report import headline, notes
from tools.measure.drafters.sweep import sweep
from tools.measure.measurement import figure_of
from tools.measure.record import Figure, Run

L4 = {0: 133.4, 1: 185.5, 2: 211.0, 3: 217.6, 4: 196.6}
"""E2B on the L4: drafted tokens, tokens/s."""
PRINTED = {1: 1.391, 2: 1.582, 3: 1.631, 4: 1.474}
STEPS = {0: (1.0, 1.0), 1: (1.60, 1.15), 2: (1.98, 1.26), 3: (2.20, 1.36)}
"""Drafted tokens: tokens a step, and the step's time over a plain one, as printed."""


def number(key: str, value: float | None, unit: str = "tokens") -> Figure:
    return figure_of(f"drafters.{key}", key, unit, value, (), formula="f", why="x")


def drafting(name: str, drafted: float, speed: float, at: Mapping[int, float] = {}, **more: float) -> Run:
    figures = [
        rate("drafters.tokens_per_second", "drafters, tokens/s", speed, (speed,)),
        number("drafted_per_step", drafted),
        *(number(key, value) for key, value in more.items()),
        *(rate(f"drafters.at_{level}.tokens_per_second", f"{level}", each, (each,)) for level, each in at.items()),
    ]
    return made(name, parts=(part("drafters", figures, settings={"tokens": 256}),))


def test_ratios_to_no_drafter_are_as_printed() -> None:
    runs = [drafting(f"d{n}", n, speed) for n, speed in L4.items()]
    found = sweep(runs, {})
    assert found is not None
    assert {round(row.drafted or 0): round(row.times_plain or 0, 3) for row in found.rows[1:]} == {
        **PRINTED,
        2: pytest.approx(1.582, abs=0.0011),  # printed from speeds with more digits than 211.0 and 133.4
        4: pytest.approx(1.474, abs=0.0011),
    }
    assert any(note.startswith("d3 is the fastest for one at a time, 1.63 x none") for note in found.notes)


@pytest.mark.parametrize(("drafted", "beyond"), [(1, 0.0), (2, 0.0), (3, 0.003)])
def test_the_speed_up_is_tokens_a_step_over_the_step_s_time(drafted: int, beyond: float) -> None:
    """Within rounding for one and two: 1.98 / 1.26 may be anything from 1.5614 to 1.5817, printed as 1.582.

    For three, 1.631 is 0.2 % above the most that the printed 2.20 and 1.36 allow: the speed-up is a mean over prompts,
    the steps are sums.
    """
    tokens, step = STEPS[drafted]
    low, high = (tokens - 0.005) / (step + 0.005), (tokens + 0.005) / (step - 0.005)
    assert low - 0.0005 <= PRINTED[drafted] <= high * (1 + beyond) + 0.0005
    assert not beyond or PRINTED[drafted] > high + 0.0005


def test_the_kinds_that_gain_most_and_least_are_named() -> None:
    """Printed for three tokens: code gains most (2.39 x), stories least (1.31 x)."""

    def with_kinds(run: Run, code: float, story: float) -> Run:
        kinds = {"code": code, "story": story}
        rates = [rate(f"drafters.{kind}.tokens_per_second", kind, each, (each,)) for kind, each in kinds.items()]
        (only,) = run.parts
        return run.model_copy(update={"parts": (only.model_copy(update={"figures": (*only.figures, *rates)}),)})

    runs = [
        with_kinds(drafting("none", 0, 133.4), 130, 134.1),
        with_kinds(drafting("three", 3, 217.6), 2.39 * 130, 1.31 * 134.1),
    ]
    found = sweep(runs, {})
    assert found is not None
    assert found.notes[1].endswith("1.63 x none; code gains most (2.39 x), story least (1.31 x)")
    kinds = found.rows[1].kinds
    assert kinds is not None
    assert kinds.ratio == pytest.approx((2.39 * 1.31) ** 0.5)


def test_a_guess_costs_what_the_article_says() -> None:
    """Its added time is 33 % of an E2B step at three guesses, 0.75 to 1.18 ms each."""
    plain = 1e3 / L4[0]
    runs = [
        drafting("none", 0, L4[0], step_ms=plain, tokens_per_step=1.0),
        drafting("three", 3, L4[3], step_ms=1.36 * plain, tokens_per_step=2.20),
    ]
    found = sweep(runs, {})
    assert found is not None
    row = found.rows[1]
    assert row.step_ratio == pytest.approx(1.36)
    assert 0.75 <= (row.ms_per_guess or 0) <= 1.18
    assert "ms a guess" in found.notes[0]


def test_where_a_drafter_begins_to_cost_is_said() -> None:
    """Printed for two tokens: 1.06 to 1.19 x up to 16 at once, 0.87 x at 64."""
    runs = [
        drafting("none", 0, 133.4, {8: 505.2, 16: 700.0, 64: 918.9}),
        drafting("two", 2, 211.0, {8: 601.2, 16: 742.0, 64: 0.87 * 918.9}),
    ]
    found = sweep(runs, {})
    assert found is not None
    assert found.notes[-1] == (
        "two helps up to 16 at once and costs output from 64 on (1.58 x at 1, 1.19 x at 8, 1.06 x at 16, 0.87 x at 64)"
    )


def test_the_base_again_shows_how_far_it_moved() -> None:
    """Printed: a no-drafter arm run last lands 0.7 % under the first."""
    runs = [drafting("none", 0, 133.4), drafting("two", 2, 211.0), drafting("none-again", 0, 132.5)]
    found = sweep(runs, {})
    assert found is not None
    assert found.notes[-1] == "none-again, without a drafter again, is -0.7 % away from the first"


def test_a_drafter_that_found_nothing_to_guess_is_no_base() -> None:
    def variant(run: Run, name: str) -> Run:
        return run.model_copy(update={"subject": run.subject.model_copy(update={"variant": name})})

    runs = [
        variant(drafting("a", 0, 100.0), "base"),
        variant(drafting("b", 0, 98.0), "flags=--spec-type ngram-simple"),
        variant(drafting("c", 0, 99.0), "base again"),
    ]
    found = sweep(runs, {})
    assert found is not None
    assert found.notes == (
        "b drafted nothing in these replies and is -2.0 % away from the first",
        "c, without a drafter again, is -1.0 % away from the first",
    )


def test_a_gain_no_larger_than_the_drift_is_named() -> None:
    runs = [drafting("none", 0, 100.0), drafting("one", 1, 103.0), drafting("none-again", 0, 95.0)]
    found = sweep(runs, {})
    assert found is not None
    assert found.notes[-1].endswith("is -5.0 % away from the first: no more was moved by one")


def test_a_gain_behind_many_tokens_stands_beside_it() -> None:
    def with_depth(run: Run, speed: float) -> Run:
        deep = rate("longcontext.decode_at.120000", "deep", speed, (speed,))
        return run.model_copy(update={"parts": (*run.parts, part("longcontext", [deep]))})

    runs = [with_depth(drafting("none", 0, 134.1), 66.7), with_depth(drafting("two", 2, 228.0), 66.7 * 1.49)]
    found = sweep(runs, {})
    assert found is not None
    assert found.rows[1].behind == {120_000: pytest.approx(1.49)}


def test_a_drafter_that_only_slows_down_is_called_so() -> None:
    found = sweep([drafting("none", 0, 41.4), drafting("three", 3, 28.1)], {})
    assert found is not None
    assert found.notes[1] == "no setting is faster than none for one at a time; the best, three, is 0.68 x none"


def test_runs_with_and_without_a_drafter_are_no_repeats_though_nothing_else_tells_them_apart() -> None:
    found = compare([drafting("none", 0, 133.4), drafting("two", 2, 211.0), drafting("none-again", 0, 132.5)])
    assert [each.name for each in found.versus] == ["two"]
    assert [each.run for each in found.repeats] == ["none-again"]
    assert [(each.what, each.values) for each in found.differs] == [("engine guesses a step", ("0", "2", "0"))]


def test_a_drafter_that_hardly_guesses_has_no_cost_of_a_guess() -> None:
    """Measured with n-grams on SmolLM2: 0.132 guesses a step, and a step that was faster by chance."""
    found = sweep([drafting("none", 0, 30.1, step_ms=33.5), drafting("ngram", 0.132, 41.5, step_ms=24.8)], {})
    assert found is not None
    assert found.rows[1].ms_per_guess is None
    again = compare([drafting("none", 0, 30.1), drafting("ngram", 0.132, 41.5)])
    assert [each.values for each in again.differs] == [("0", "less than 1")]
    assert headline(again).startswith("ngram generates 1.38 × as fast as none (")


def test_runs_of_other_prompts_are_no_part_of_a_sweep() -> None:
    other = drafting("long", 2, 300.0)
    other = other.model_copy(update={"parts": (part("drafters", other.parts[0].figures, settings={"tokens": 512}),)})
    found = sweep([drafting("none", 0, 133.4), other], {})
    assert found is not None
    assert ([row.name for row in found.rows], found.notes[-1][:22]) == (["none"], "1 runs measured other ")


def test_without_a_run_that_drafted_nothing_there_is_no_sweep() -> None:
    assert sweep([drafting("one", 1, 185.5), drafting("two", 2, 211.0)], {}) is None
    assert sweep([made("a"), made("b")], {}) is None


def test_a_comparison_says_it_in_its_notes() -> None:
    runs = [drafting("none", 0, 133.4), drafting("two", 2, 211.0)]
    said = [note for note in notes(compare(runs), runs) if note.startswith("Drafters: ")]
    assert said[0] == "Drafters: two: 2 guesses a step, 211 tokens/s, 1.58 x none."
