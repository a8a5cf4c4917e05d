"""A run beside quoted figures: what is not known of them is not called the same, and nothing useless is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools.measure.made import engine, made
from tools.ledger import Book
from tools.measure import store
from tools.measure.compare_runs import Compared, compare_runs
from tools.measure.comparing.compare import compare
from tools.measure.comparing.report import difference_line
from tools.measure.record import Run, Subject
from tools.settings import Settings

pytestmark = pytest.mark.usefixtures("no_picture")
PRINTED = {
    "quoted": {"source": "a table", "date": "2026-10-27", "method": "vLLM bench"},
    "figures": {"decode.tokens_per_second": 133.4},
}


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with Book(tmp_path / "home") as book:
        yield book


def compared(book: Book, *runs: Run) -> Compared:
    for run in runs:
        store.save(store.claim(book.home / "runs", run.id), run)
    (book.home / "runs" / "printed.json").write_text(json.dumps(PRINTED))
    names = tuple(run.id for run in runs) if len(runs) > 1 else (runs[0].id, "printed")
    return compare_runs(names, Settings.load({}, book.home), book)


def test_what_differs_from_quoted_figures_is_not_known_and_a_repeat_is_not_asked_for(book: Book) -> None:
    found = compared(book, made("ours", 100.0))
    assert found.differs == "Differs between the runs: not known, since only one of them was measured here."
    assert found.next == ""


def test_of_two_measured_runs_a_repeat_is_still_asked_for(book: Book) -> None:
    found = compared(book, made("a", 100.0), made("b", 50.0, engine=engine("b", quantization="int4")))
    assert found.next.startswith("measure the base once more")


def test_a_quoted_base_leaves_the_figures_their_words(tmp_path: Path) -> None:
    path = tmp_path / "printed.json"
    path.write_text(json.dumps(PRINTED))
    (row,) = compare([store.read(path), made("ours", 100.0)]).versus[0].rows
    assert (row.key, row.figure, row.unit) == ("decode.tokens_per_second", "decode, tokens/s", "tokens/s")


def test_the_base_of_a_walk_is_as_it_was_and_not_unrecorded() -> None:
    walk = [
        made(name, 50.0, subject=Subject(ref="r", model="m", variant=variant))
        for name, variant in (("a", "base"), ("b", "threads=2"))
    ]
    assert "engine variant (as it was / threads=2)" in difference_line(compare(walk).differs, 2)
