"""A worker that dies and is started again asks only what is missing, in the same file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tools.measure.scripted import Said, speaking
from tests.tools.measure.walked import walked, wish_of
from tools.context import Target
from tools.ledger import Book
from tools.measure import store
from tools.measure.walk import Measured
from tools.progress import CallProgress


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with Book(tmp_path / "home") as book:
        yield book


class Heard(CallProgress):
    """Keeps what was reported: words, and how far of how much."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[str, float | None, float | None]] = []

    def report(self, message: str, done: float | None = None, total: float | None = None) -> None:
        self.told.append((message, done, total))


def _measure(
    url: str, book: Book, folder: Path, operation: str, *measurements: str, progress: Heard | None = None
) -> Measured:
    book.journal.operation = operation
    wish = wish_of(book, folder, measurements, ("ladder.limit=12", "ladder.repeat=2"))
    return walked(Target(url), wish, book, progress)


def _killed(path: Path, answered: int) -> None:
    """The file as a worker leaves it that is killed in the middle of the ladder."""
    data = json.loads(path.read_text())
    for key in ("ended", "seconds", "host", "warnings", "run_usd", "costs"):
        data.pop(key, None)
    ladder = next(part for part in data["parts"] if part["name"] == "ladder")
    ladder["complete"], ladder["items"] = False, ladder["items"][:answered]
    ladder["items"][2]["outcome"] = "http_5xx"
    data["state"], data["missing"] = "incomplete", ["ladder"]
    path.write_text(json.dumps(data))


def test_a_ladder_goes_on_where_its_worker_died(tmp_path: Path, book: Book) -> None:
    heard = Heard()
    with speaking(lambda body: Said("Answer: 4 " + "word " * 15, tokens=body["max_tokens"])) as server:
        first = _measure(server.url, book, tmp_path, "op-1", "answers", "ladder")
        _killed(first.path, 7)
        whole, server.bodies[:] = len(server.bodies), []
        second = _measure(server.url, book, tmp_path, "op-1", "answers", "ladder", progress=heard)
    assert (whole, len(server.bodies)) == (40 + 12 + 2, 6 + 2), "six not answered, and two asked twice"
    assert (second.path, second.run.state) == (first.path, "complete")
    run = store.read(second.path)
    ladder = run.part("ladder")
    assert ladder is not None
    assert len(ladder.items) == 14
    assert {item.id for item in ladder.items} == {item.id for item in ladder.items if item.outcome == "ok"}
    assert [part.name for part in run.parts] == ["answers", "ladder"]
    assert "resumed_at" in run.settings
    steps = [each for each in heard.told if each[1] is not None][1:]
    assert steps[0][0].startswith("ladder begins"), "what was whole is counted as done, and the count goes on"
    assert steps[0][1] == (steps[0][2] or 0) - len(steps[1:]) > 0
    assert all(words.endswith(", done") for words, _, _ in steps[1:]), "what is told has ended, and says so"


def test_a_run_that_was_whole_is_not_made_again(tmp_path: Path, book: Book) -> None:
    with speaking(lambda _: Said("Answer: 4")) as server:
        first = _measure(server.url, book, tmp_path, "op-1", "ladder")
        server.bodies.clear()
        second = _measure(server.url, book, tmp_path, "op-1", "ladder")
    assert (second.path, second.run.state, server.bodies) == (first.path, "complete", [])


@pytest.mark.parametrize("operation", ["op-2", ""])
def test_another_call_makes_a_run_of_its_own(tmp_path: Path, book: Book, operation: str) -> None:
    with speaking(lambda _: Said("Answer: 4")) as server:
        first = _measure(server.url, book, tmp_path, "op-1", "ladder")
        _killed(first.path, 7)
        server.bodies.clear()
        second = _measure(server.url, book, tmp_path, operation, "ladder")
    assert second.path != first.path
    assert len(server.bodies) == 14


def test_a_file_that_was_claimed_and_never_written_stops_nobody(tmp_path: Path, book: Book) -> None:
    runs: Any = book.home / "runs"
    store.claim(runs, "empty")
    with speaking(lambda _: Said("Answer: 4")) as server:
        assert _measure(server.url, book, tmp_path, "op-1", "ladder").run.state == "complete"
