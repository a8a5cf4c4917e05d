"""Numbers on a page are those of the record: all of them, in tables, cards and drawings."""

from __future__ import annotations

from functools import cache

import pytest

from tests.tools.measure.report import samples
from tests.tools.measure.report.reading import Numbers, Reader, from_place, of_run, reads_as
from tools.measure.comparing.compare import Comparison, compare
from tools.measure.ladder.counts import grid
from tools.measure.ladder.from_runs import ladders_of
from tools.measure.record import Run
from tools.measure.report import html
from tools.measure.report.comparison_page import comparison_page
from tools.measure.report.run_page import run_page


@cache
def runs_compared() -> tuple[Run, ...]:
    base = samples.full("bf16", 0.5)
    again = samples.renamed(base, "bf16-again", [52.4, 52.8, 52.6, 52.9, 52.5])
    return base, samples.full("qat"), again


@cache
def compared() -> tuple[Comparison, Reader]:
    found = compare(runs_compared())
    return found, Reader(html.render(comparison_page(found, runs_compared())))


def of_comparison(found: Comparison) -> Numbers:
    numbers: Numbers = {}
    for versus in found.versus:
        for row in versus.rows:
            numbers |= {
                f"{versus.run}|{row.key}|{name}": getattr(row, name)
                for name in ("base", "other", "ratio", "low", "high")
            }
        for fact in versus.facts:
            numbers |= {
                f"{versus.run}|fact.{fact.fact}|{name}": getattr(fact, name) for name in ("base", "other", "ratio")
            }
        for part, pairs in {"answers": versus.answers, **versus.items}.items():
            assert pairs is not None
            both = pairs.base_right - pairs.lost
            numbers |= {
                f"{versus.run}|pairs.{part}|{name}": float(getattr(pairs, name))
                for name in ("asked", "base_right", "other_right", "lost", "gained", "identical", "p_value")
            }
            numbers[f"{versus.run}|pairs.{part}|both_right"] = both
            numbers[f"{versus.run}|pairs.{part}|both_wrong"] = pairs.asked - both - pairs.lost - pairs.gained
    for each in found.repeats:
        for drift in each.rows:
            key = f"{each.run}|{drift.key}"
            numbers |= {f"{key}|first": drift.first, f"{key}|again": drift.again, f"{key}|drift": drift.drift_percent}
    return numbers


RUNS = (
    samples.full("qat"),
    samples.full("free", price=None),
    samples.long_context(),
    samples.paced(),
    samples.knee(),
    samples.rung("Q4_0", 3, 40),
)


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.id)
def test_every_number_of_a_run_is_on_its_page_and_no_other(run: Run) -> None:
    page = Reader(html.render(run_page(run)))
    assert page.values() == of_run(run)
    assert [text for _, value, text in page.numbers if value is not None and not reads_as(text, value)] == []
    assert [text for _, value, text in page.numbers if value is None and text != "–"] == []


def test_every_number_of_a_comparison_is_on_its_page_and_no_other() -> None:
    found, page = compared()
    assert page.values() == of_comparison(found)
    assert [text for _, value, text in page.numbers if value is not None and not reads_as(text, value)] == []


def test_a_number_that_was_changed_on_the_page_is_noticed() -> None:
    text = html.render(run_page(samples.full("qat")))
    assert '<data data-k="qat|load.16.tokens_per_second|value" value="1077.3">1,077.3</data>' in text
    page = Reader(text.replace(">1,077.3</data>", ">1,177.3</data>"))
    assert [text for _, value, text in page.numbers if value is not None and not reads_as(text, value)] != []


@pytest.mark.parametrize("name", ["qat", "long"])
def test_points_of_a_run_are_drawn_where_their_values_are(name: str) -> None:
    run = samples.long_context() if name == "long" else samples.full(name)
    page, known = Reader(html.render(run_page(run))), of_run(run)
    points = [(chart, point) for chart in page.charts for point in chart.points]
    assert len({key for _, (key, *_) in points}) == {"qat": 4 * 2 + 4 * 6, "long": 3}[name]
    for chart, (key, value, _, y) in points:
        assert known[key] == value, chart.label
        assert from_place(chart.y_ticks, y) == pytest.approx(value, rel=0.01), (chart.label, key)


def test_ratios_and_drift_are_drawn_where_their_values_are() -> None:
    found, page = compared()
    known = of_comparison(found)
    drawn = {key for chart in page.charts for key, *_ in chart.points}
    assert {f"qat|{row.key}|ratio" for row in found.versus[0].rows if row.main} <= drawn
    assert "bf16-again|decode.tokens_per_second|drift" in drawn
    for chart in page.charts:
        for key, value, x, _ in chart.points if chart.x_ticks else ():
            expected = 100 * ((found.versus[0].row(key.split("|")[1]) or found.versus[0].rows[0]).ratio or 0) - 100
            assert value == pytest.approx(expected if key.endswith("|change") else known[key])
            assert from_place(chart.x_ticks, x) == pytest.approx(value, rel=0.01, abs=0.5), (chart.label, key)


def test_a_sweep_of_drafters_has_the_numbers_of_the_comparison() -> None:
    runs = samples.drafters()
    found = compare(runs)
    values = Reader(html.render(comparison_page(found, runs))).values()
    assert found.drafters is not None
    for row in found.drafters.rows:
        for name in ("drafted", "tokens_per_second", "times_plain", "kept_percent", "ms_per_guess"):
            assert values[f"sweep|{row.name}|{name}"] == getattr(row, name)


def test_a_ladder_has_a_cell_for_every_answer_in_the_order_of_the_questions() -> None:
    runs = samples.ladder(count=100)
    page = Reader(html.render(comparison_page(compare(runs), runs)))
    (ladder,), _ = ladders_of(runs)
    chart = next(each for each in page.charts if each.rows)
    assert chart.rows == grid(ladder)
    letters = "".join(chart.rows.values())
    legend = dict.fromkeys("rwe", 1)
    rights = sum(shape.split(" ", 1)[1].count("M") for shape in chart.shapes if shape.startswith("right "))
    assert rights == letters.count("r")
    assert sum(shape.startswith("wrong") for shape in chart.shapes) == letters.count("w") + legend["w"]
    assert sum(shape.startswith("error") for shape in chart.shapes) == letters.count("e") + legend["e"] == 2


def test_counts_of_a_ladder_are_those_of_the_comparison_and_add_up() -> None:
    runs = samples.ladder(count=100)
    found = compare(runs)
    values = Reader(html.render(comparison_page(found, runs))).values()
    assert found.ladder is not None
    for row in found.ladder.counted[0].rungs:
        key = f"L4|{row.rung}|"
        assert [values[f"{key}{name}"] for name in ("right", "lost", "gained", "first_lost")] == [
            row.right, row.lost, row.gained, row.first_lost,
        ]  # fmt: skip
        base = values["L4|BF16|right"]
        assert values[f"{key}right"] == (base or 0) - (values[f"{key}lost"] or 0) + (values[f"{key}gained"] or 0)
