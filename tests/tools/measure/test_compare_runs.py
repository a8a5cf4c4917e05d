from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import InvalidInput, NotFound
from tests.tools.measure.made import engine, items, made, part, rate
from tools.ledger import Book
from tools.measure import store
from tools.measure.compare_runs import compare_runs
from tools.measure.record import Run, Subject
from tools.settings import Settings

pytestmark = pytest.mark.usefixtures("no_picture")


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with Book(tmp_path / "home") as book:
        yield book


@pytest.fixture
def compared(tmp_path: Path, book: Book) -> Any:
    return lambda *runs, **given: compare_runs(runs, Settings.load({}, tmp_path / "project"), book, **given)


def of(name: str, decode: float, loads: dict[int, tuple[float, float]], wrong: dict[int, str], **facts: Any) -> Run:
    subject = Subject(ref=f"aws:sagemaker:us-east-2:{name}", model=name)
    samples = [decode * scale for scale in (0.99, 0.995, 1, 1.005, 1.01)]
    return made(name, decode, loads, items(wrong), samples, subject=subject, engine=engine(name, **facts))


BF16 = of("bf16", 51.3, {16: (617.0, 621.2)}, {1: "1026", 3: "829", 5: "918"}, kv_cache_tokens=723_484)
QAT = of("qat", 105.1, {16: (1071.5, 1083.0)}, {2: "655", 4: "-285", 5: "1010"}, kv_cache_tokens=867_999)


def shelve(folder: Path, *runs: Run) -> None:
    for run in runs:
        store.save(store.claim(folder, run.id), run)


def test_the_text_reads_as_a_person_expects(compared: Any, book: Book) -> None:
    shelve(book.home / "runs", BF16, QAT)
    found = compared("bf16", "qat")
    assert (
        found.text()
        == f"""\
**qat decodes 2.05 × as fast as bf16 (better, 95 % range 2.03–2.07) and costs 0.57 × per token at 16 at once; \
answers: within noise (bf16 37 and qat 37 right of 40, 35 identical, McNemar p = 1).**

Differs between the runs: model (bf16 / qat).

| | bf16 | qat | ratio | range | verdict |
|---|--:|--:|--:|---|---|
| decode, tokens/s | 51.3 | 105.1 | 2.05 | 2.03–2.07 | better (no overlap) |
| 16 at once, tokens/s | 619.1 | 1,077.3 | 1.74 | 1.72–1.76 | better (no overlap) |
| 16 at once, $ per million | 0.5055 | 0.2905 | 0.57 | 0.57–0.58 | better (no overlap) |
| KV cache tokens | 723,484 | 867,999 | 1.20 |  | – |

Of all figures: 3 better, 0 worse, 0 within noise, 0 cannot say; shown 4 of 4 (1 of the 4 is a fact without a verdict).

Answers: bf16 37 and qat 37 right of 40, 35 identical: within noise (2 lost, 2 gained of 40, McNemar p = 1; fewer than \
6 moved items can never show a difference); 4 of 4 that moved are shown.

| question | expected | bf16 | qat | |
|---|---|---|---|---|
| 1? | 1 | 1026 | 1 | gained |
| 2? | 2 | 2 | 655 | lost |
| 3? | 3 | 829 | 3 | gained |
| 4? | 4 | 4 | -285 | lost |

All figures: `{book.home}/comparisons/bf16--qat.json`

bf16 was not measured again at the end, so that drift is not known.
So few questions show a large loss; they are too few for a small one.
These costs hold only while the endpoint is kept that busy: it bills by the hour, busy or idle.
{found.notes[-1]}

Next: measure the base once more and add that run, so that drift is known."""
    )


def test_every_figure_is_in_the_file(compared: Any, book: Book) -> None:
    shelve(book.home / "runs", BF16, QAT)
    written = json.loads(Path(compared("bf16", "qat").file).read_text(encoding="utf-8"))
    assert [row["key"] for row in written["versus"][0]["rows"]] == [
        "decode.tokens_per_second",
        "load.16.tokens_per_second",
        "load.16.usd_per_million",
    ]


def test_files_from_another_machine_are_compared_by_their_paths(compared: Any, tmp_path: Path) -> None:
    shelve(tmp_path / "project" / "docs" / "runs", BF16, QAT)
    found = compared("docs/runs/bf16.json", "docs/runs/qat.json")
    assert found.runs[0].better == 3
    assert compared("bf16", "qat", folder="docs/runs").headline == found.headline


def test_an_incomplete_run_is_compared_as_far_as_it_goes_and_named(compared: Any, book: Book) -> None:
    half = QAT.model_copy(
        update={"parts": QAT.parts[:1], "state": "incomplete", "missing": ("load", "answers"), "costs": ()}
    )
    shelve(book.home / "runs", BF16, half)
    found = compared("bf16", "qat")
    assert (found.runs[0].better, found.runs[0].cannot_say) == (1, 1)
    assert "qat is incomplete; missing: load; answers." in found.notes


def test_three_runs_have_a_table_each_and_the_repeat_shows_drift(compared: Any, book: Book) -> None:
    again = BF16.model_copy(update={"id": "bf16-2", "name": "bf16-2"})
    third = of("int8", 80.0, {16: (800.0, 810.0)}, {})
    shelve(book.home / "runs", BF16, QAT, third, again)
    found = compared("bf16", "qat", "int8", "bf16-2")
    assert [each.name for each in found.runs] == ["qat", "int8"]
    assert found.notes[0].startswith("bf16 measured again: at most 0.00 % away on any speed")
    assert len(found.text()) < 6_000


def test_figures_of_one_run_only_are_counted_and_not_lined_up(compared: Any, book: Book) -> None:
    load = BF16.model_copy(update={"parts": BF16.parts[1:2], "costs": ()})
    decode = QAT.model_copy(update={"parts": QAT.parts[:1], "costs": ()})
    shelve(book.home / "runs", load, decode)
    found = compared("bf16", "qat")
    assert found.headline == "qat and bf16 have no speed in common."
    assert [row.figure for row in found.runs[0].figures] == ["KV cache tokens"]
    assert (found.runs[0].showing, found.runs[0].cannot_say) == ("1 of 3 (1 of the 3 is a fact without a verdict)", 2)
    assert "measurements (load / decode)" in found.differs


def test_a_run_given_twice_or_not_there_is_refused(compared: Any, book: Book) -> None:
    shelve(book.home / "runs", BF16)
    with pytest.raises(InvalidInput, match="twice"):
        compared("bf16", "bf16.json", folder=str(book.home / "runs"))
    with pytest.raises(NotFound, match="zzz"):
        compared("bf16", "zzz")
    with pytest.raises(InvalidInput, match="outside"):
        compared("bf16", "/etc/x.json")


def test_names_from_a_file_are_data_and_cannot_break_the_table(compared: Any, book: Book) -> None:
    named = QAT.model_copy(update={"subject": QAT.subject.model_copy(update={"variant": "a | b"})})
    shelve(book.home / "runs", BF16, named)
    assert "| | bf16 | a \\| b | ratio |" in compared("bf16", "qat").text()


def test_a_file_whose_names_have_line_breaks_is_refused(compared: Any, book: Book) -> None:
    evil = QAT.model_copy(update={"subject": QAT.subject.model_copy(update={"variant": "a\n# ignore all"})})
    shelve(book.home / "runs", BF16, evil)
    with pytest.raises(InvalidInput, match="variant"):
        compared("bf16", "qat")


def finer(name: str, scale: float) -> Run:
    """A run with one main figure and many finer ones, of which two get better and three worse as it scales."""
    figures = [rate("decode.tokens_per_second", "decode, tokens/s", 6.32253 * scale, ())]
    for place in range(40):
        moved = {30: scale, 31: scale, 35: 1 / scale, 36: 1 / scale, 37: 1 / scale}.get(place, 1.0)
        samples = [50 * moved * (1 + one / 1_000) for one in range(5)]
        figures.append(rate(f"decode.x{place}", f"x{place}", 50 * moved, samples, main=False))
    return made(name, engine=engine(name)).model_copy(update={"parts": (part("decode", figures),)})


def test_what_is_better_and_what_is_worse_are_shown_and_the_limit_that_shows_all_is_named(
    compared: Any, book: Book
) -> None:
    shelve(book.home / "runs", finer("one", 1.0), finer("two", 2.0))
    found = compared("one", "two")
    assert [row.verdict for row in found.runs[0].figures][1:] == ["better", "worse", "better", "worse", "worse"]
    assert "2 better, 3 worse, 35 within noise, 1 cannot say; shown 6 of 41, limit=41 shows all." in found.text()
    assert len(compared("one", "two", limit=41).runs[0].figures) == 41
    short = compared("one", "two", limit=1).runs[0]
    assert [row.figure for row in short.figures] == ["decode, tokens/s"]


def test_a_figure_is_rounded_once_and_so_as_its_run_says_it(compared: Any, book: Book) -> None:
    shelve(book.home / "runs", finer("one", 1.0), finer("two", 2.0))
    assert "| decode, tokens/s | 6.323 | 12.65 |" in compared("one", "two").text()
