from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tools.measure.made import items, made, part, rate
from tools import faults
from tools.ledger import Book
from tools.measure import store
from tools.measure.list_runs import RunRow, list_runs
from tools.measure.measurement import figure_of
from tools.measure.record import Figure, Run
from tools.settings import Settings


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with Book(tmp_path / "home") as book:
        yield book


@pytest.fixture
def listed(tmp_path: Path, book: Book) -> Any:
    return lambda **given: list_runs(Settings.load({}, tmp_path), book, **given)


def shelve(book: Book, *runs: Run) -> None:
    for run in runs:
        store.save(store.claim(book.home / "runs", run.id), run)


def test_nothing_measured_is_said_with_what_to_do(listed: Any) -> None:
    found = listed()
    assert (found.headline, found.count, found.next) == ("0 runs.", 0, "`measure_model` makes a run.")


def test_runs_are_listed_newest_first_with_figures_and_what_is_missing(listed: Any, book: Book) -> None:
    right = made("a", 105.1, {4: (328.0, 329.4), 16: (1071.0, 1083.0)}, started="2026-09-25T18:00:00+00:00")
    half = made("b", state="incomplete", missing=("load", "answers"), started="2026-09-25T19:00:00+00:00")
    shelve(book, right, half)
    found = listed()
    assert found.headline == "2 runs: 1 complete, 1 incomplete."
    assert found.rows == (
        RunRow(
            run="b",
            state="incomplete",
            endpoint="aws:sagemaker:us-east-2:b",
            profile="standard",
            started="2026-09-25T19:00:00+00:00",
            missing="load; answers",
        ),
        RunRow(
            run="a",
            state="complete",
            endpoint="aws:sagemaker:us-east-2:a",
            profile="standard",
            started="2026-09-25T18:00:00+00:00",
            decode_tokens_per_second=105.1,
            best_tokens_per_second=1077.0,
            best_at_once=16,
        ),
    )


def test_an_endpoint_whose_newest_run_is_incomplete_is_pending(listed: Any, book: Book) -> None:
    subject = made("x").subject
    shelve(
        book,
        made("a", subject=subject, started="2026-01-01"),
        made("b", subject=subject, started="2026-01-02", state="incomplete", missing=("load",)),
        made("c", started="2026-01-03"),
    )
    assert listed().pending == (f"{subject.ref}: b is incomplete",)


def test_pending_keeps_to_the_runs_that_were_asked_for(listed: Any, book: Book) -> None:
    shelve(book, made("a", state="incomplete", missing=("load",)), made("b", state="incomplete", missing=("load",)))
    assert [each.split(": ")[1] for each in listed(contains="b").pending] == ["b is incomplete"]


def test_a_run_that_is_being_measured_is_running_and_not_incomplete(listed: Any, book: Book) -> None:
    operation = book.operations.add("measure_model", {}, flags=(), cwd="").id
    live = {"state": "incomplete", "missing": ("load",), "ended": "", "settings": {"operation": operation}}
    shelve(book, made("a", **live), made("b", **{**live, "settings": {"operation": "op-gone"}}))
    found = listed()
    assert {row.run: (row.state, row.missing) for row in found.rows} == {
        "a": (f"running, {operation}", ""),
        "b": ("incomplete", "load"),
    }
    assert found.headline == "2 runs: 1 running, 1 incomplete."
    assert found.incomplete == 2
    assert f"a is running, {operation}" in " ".join(found.pending)


def test_a_part_that_is_not_whole_has_no_figure_in_the_list(listed: Any, book: Book) -> None:
    run = made("a", 88.11, {4: (1.0, 2.0)}, state="incomplete", missing=("decode",))
    half = run.parts[0].model_copy(update={"complete": False})
    shelve(book, run.model_copy(update={"parts": (half, run.parts[1])}))
    (row,) = listed().rows
    assert (row.decode_tokens_per_second, row.best_tokens_per_second, row.missing) == (None, 1.5, "decode")


def test_filters_are_echoed_and_one_that_matches_nothing_is_named(listed: Any, book: Book) -> None:
    shelve(book, made("a"), made("b", state="failed", failure="no reply"))
    assert (listed(state="failed").count, listed(state="failed").filter) == (1, {"state": "failed"})
    assert listed(contains="zzz").filter == {"contains": "zzz", "no_such_run": "zzz"}
    assert listed(contains="zzz").headline == "0 runs (contains zzz)."
    assert listed().filter == {}
    assert "filter: none\n" in listed().text()


def test_rows_are_capped_and_counts_are_not(listed: Any, book: Book) -> None:
    shelve(book, *(made(f"r{n:02}", started=f"2026-01-{n + 1:02}") for n in range(12)))
    found = listed()
    assert (found.count, found.complete, len(found.rows), found.showing) == (12, 12, 10, "10 of 12")


def test_a_file_that_cannot_be_read_is_counted_with_its_reason(listed: Any, book: Book) -> None:
    shelve(book, made("a"))
    (book.home / "runs" / "junk.json").write_text("{", encoding="utf-8")
    found = listed()
    assert (found.count, found.unreadable) == (1, ("junk.json is not JSON",))
    assert found.headline == "1 run: 1 complete; 1 file could not be read."


def test_runs_of_other_measurements_are_told_too(listed: Any, book: Book) -> None:
    def counted(key: str, value: float, n: int) -> Figure:
        return figure_of(key, key, "answers", value, (), formula="f", main=True, n=n)

    ladder = part("ladder", [counted("ladder.right", 22, 24)])
    tools = part("toolcalls", [counted("toolcalls.count.right", 60, 68), counted("toolcalls.rows.right", 41, 68)])
    knee = part("knee", [rate(f"knee.{n}.tokens_per_second", "k", 100.0 * n, (), main=False) for n in (1, 2)])
    shelve(book, made("a").model_copy(update={"parts": (ladder, tools, knee)}))
    (row,) = listed().rows
    assert row.right == "22 of 24 (ladder); 60 of 68 (toolcalls count); 41 of 68 (toolcalls rows)"
    assert (row.best_tokens_per_second, row.best_at_once) == (200.0, 2)


def test_what_is_compared_next_measured_the_same(listed: Any, book: Book) -> None:
    runs = [
        made("a", 50.0, started="2026-01-01"),
        made("b", started="2026-01-02").model_copy(update={"parts": (part("ladder"),)}),
        made("c", 60.0, started="2026-01-03"),
    ]
    shelve(book, *runs[:2])
    assert listed().next == ""
    shelve(book, runs[2])
    assert listed().next == '`compare_runs(runs=["a", "c"])`.'


def test_the_base_of_a_walk_stands_first_in_what_is_compared_next(listed: Any, book: Book) -> None:
    def walk(id_: str, variant: str, day: int, **fields: Any) -> Run:
        run = made(id_, 50.0, started=f"2026-01-0{day}", **fields)
        return run.model_copy(update={"subject": run.subject.model_copy(update={"variant": variant})})

    shelve(book, walk("v", "slots=2", 2), walk("again", "base again", 3))
    assert listed().next == '`compare_runs(runs=["again", "v"])`.'
    one = {"settings": {"operation": "op-1"}}
    shelve(book, *(walk(f"w{n}", name, n, **one) for n, name in ((4, "base"), (5, "slots=2"), (6, "base again"))))
    assert listed().next == '`compare_runs(runs=["w4", "w5", "w6"])`.'


@pytest.mark.parametrize(
    "other",
    [
        made("b", 60.0, started="2026-01-02", profile="quick"),
        made("b", None, {8: (1.0, 2.0)}, started="2026-01-02"),
        made("b", 60.0, started="2026-01-02").model_copy(
            update={"parts": (part("decode", [rate("decode.tokens_per_second", "d", 1.0, ())], settings={"pairs": 3}),)}
        ),
    ],
    ids=["another profile", "other levels", "another shape"],
)
def test_two_runs_without_a_figure_in_common_are_not_said_to_be_compared(listed: Any, book: Book, other: Run) -> None:
    shelve(book, made("a", 50.0, {4: (1.0, 2.0)}, started="2026-01-01"), other)
    assert listed().next == ""


def test_answers_are_shown_of_how_many(listed: Any, book: Book) -> None:
    from tools.measure.answers import ANSWERS, plan
    from tools.measure.measurement import Ask, Taken
    from tools.measure.profiles import QUICK

    figures = ANSWERS.figures(plan(Ask(QUICK, "n")), Taken(items=list(items({1: "x", 2: "y"}))))
    shelve(book, made("a").model_copy(update={"parts": (part("answers", figures),)}))
    assert listed().rows[0].right == "38 of 40"


def test_the_command_that_makes_reports_works_in_any_folder(listed: Any, book: Book) -> None:
    shelve(book, made("a", 50.0))
    command = f"cd {faults.ROOT} && {sys.executable} -m tools.measure.report {book.home / 'runs'}"
    assert listed().notes == (f"0 of 1 have a report beside them; `{command}` makes them all.",)
