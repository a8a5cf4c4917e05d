"""Figures of a set of decisions: what fails stays in the denominator, and every figure has its measure beside it."""

from math import log

import numpy as np
import pytest

from tools.measure.decisions.items import Item
from tools.measure.decisions.reading import LabelRead, from_exact, from_top
from tools.measure.decisions.smoke import Smoke, smoke, smoke_items
from tools.measure.decisions.summary import Decision, majority, summarize


def item(
    number: int, truth: int = 0, task: str = "t", options: tuple[str, ...] = ("yes", "no"), group: str = ""
) -> Item:
    return Item(f"{task}-{number}", task, "?", options, truth, group)


def read(p: float) -> LabelRead:
    """A read of two labels that gives the first the probability p."""
    return from_exact("AB", {"A": log(p), "B": log(1 - p)})


def test_a_task_is_summed_up_whole() -> None:
    decisions = [
        Decision(item(1, 0), read(0.9), seconds=0.010),
        Decision(item(2, 0), read(0.8), seconds=0.020),
        Decision(item(3, 1), read(0.7), seconds=0.030),
        Decision(item(4, 0), from_top("AB", [("A", log(0.3)), ("x", log(0.2))]), seconds=0.040),
        Decision(item(5, 0), from_top("AB", [("x", log(0.9))]), seconds=0.050),
        Decision(item(6, 1), None, error="HTTP 500"),
    ]
    (found,) = summarize(decisions)
    assert (found.task, found.n, found.right, found.failed, found.unreadable) == ("t", 6, 3, 1, 1)
    assert (found.accuracy, found.majority) == (0.5, pytest.approx(4 / 6))
    assert found.labels_returned == pytest.approx((2 + 2 + 2 + 1 + 0) / 10)
    assert found.fallback_share == pytest.approx(2 / 5)
    assert found.top_is_label == 4
    assert found.label_mass == pytest.approx(1.0)
    assert (found.p50_ms, found.p90_ms) == (pytest.approx(30), pytest.approx(46))
    assert found.changed_at_bound == 0
    assert found.calibration is not None
    assert found.calibration.n == 4
    assert found.ece_at_bound is not None
    assert found.ece_at_bound != found.calibration.ece
    assert found.temperature is None  # far too few to judge one


def test_several_tasks_have_a_row_each_and_one_over_all() -> None:
    rows = summarize([Decision(item(1, task=task), read(0.9)) for task in ("sst2", "irony", "news")])
    assert [(row.task, row.n) for row in rows] == [("sst2", 1), ("irony", 1), ("news", 1), ("all", 3)]


def test_the_majority_is_of_the_answers_and_not_of_the_letters_where_options_are_the_same() -> None:
    assert majority([item(1, 0), item(2, 0), item(3, 1)]) == pytest.approx(2 / 3)
    mixed = [item(1, 0, options=("1", "2")), item(2, 0, options=("3", "4")), item(3, 1, options=("5", "6"))]
    assert majority(mixed) == pytest.approx(2 / 3)


def test_a_temperature_is_judged_on_labels_that_it_was_not_fitted_on() -> None:
    rng = np.random.default_rng(1)
    decisions = []
    for number in range(400):
        score = float(rng.normal()) * 1.5
        truth = int(rng.random() >= 1 / (1 + np.exp(-score)))
        sharp = float(1 / (1 + np.exp(-3 * score)))
        decisions.append(Decision(item(number, truth), read(min(max(sharp, 1e-9), 1 - 1e-9))))
    (found,) = summarize(decisions)
    assert found.temperature is not None
    assert (found.temperature.fitted_on, found.temperature.judged_on) == (50, 350)
    assert 2 < found.temperature.temperature < 4.5
    assert found.temperature.ece_after < found.temperature.ece_before
    assert found.calibration is not None
    assert found.calibration.shows


def test_nothing_readable_has_no_calibration_and_no_division_by_zero() -> None:
    (found,) = summarize([Decision(item(1), None, error="HTTP 500")])
    assert (found.accuracy, found.failed, found.calibration, found.ece_at_bound) == (0.0, 1, None, None)


def test_the_smoke_takes_five_items_over_all_tasks() -> None:
    items = [item(number, task=task) for task in ("a", "b") for number in range(9)]
    assert [each.id for each in smoke_items(items)] == ["a-0", "b-0", "a-1", "b-1", "a-2"]
    assert len(smoke_items(items[:3])) == 3


def test_the_smoke_stops_before_anything_is_paid_for() -> None:
    good = Decision(item(1), read(0.9))
    blind = Decision(item(2), from_top("AB", [("x", log(0.9))]))
    failed = Decision(item(3), None, error="HTTP 400: top_logprobs is not supported")
    assert smoke([good, blind]) == Smoke(ok=True, labels_returned=(2, 0))
    assert smoke([good, failed]).problem == "HTTP 400: top_logprobs is not supported"
    assert not smoke([blind, blind]).ok
    assert "no label came back" in smoke([blind, blind]).problem
    assert not smoke([]).ok


def test_labels_that_hold_almost_nothing_do_not_stop_a_run() -> None:
    faint = Decision(item(1), from_top("AB", [("The", log(0.95)), ("A", log(0.003)), ("B", log(0.002))]))
    assert smoke([faint]).ok
