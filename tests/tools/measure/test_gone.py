"""An endpoint that is deleted while it is measured: what it did not answer is not known, and is no wrong answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tools.measure.rig import Rig, offered
from tests.tools.measure.truth import Truth
from tools.ledger import Book
from tools.measure import store
from tools.measure.measure_model import measure_model
from tools.measure.measured import MeasureResult
from tools.progress import CallProgress
from tools.settings import Settings


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with Book(tmp_path / "home") as book:
        yield book


def _measured(truth: Truth, book: Book, folder: Path, *measurements: str, **given: Any) -> MeasureResult:
    clouds, target = offered(Rig(truth), book.home)
    settings = Settings.load({}, folder)
    return measure_model(
        target, clouds, settings, book, CallProgress(), measurements=measurements, profile="quick", **given
    )


@pytest.mark.parametrize("status", ["404", pytest.param("503", marks=pytest.mark.more)])
def test_an_endpoint_that_goes_away_before_the_questions_has_not_0_of_40_right(
    serve: Any, book: Book, tmp_path: Path, status: str
) -> None:
    truth = serve(ttft=0.001, itl=0.0002, fault=lambda n, _body: status if n > 7 else "")
    result = _measured(truth, book, tmp_path, "decode", "answers", "ladder")
    assert (result.state, result.answers_right) == ("incomplete", "")
    assert "of 40" not in result.headline
    assert "INCOMPLETE" in result.headline
    run = store.read(Path(result.file))
    assert "the endpoint stopped answering" in run.failure
    figure = run.figure("answers.right")
    assert figure is not None
    assert (figure.value, figure.why[:31]) == (None, "the endpoint stopped answering ")
    assert [part.name for part in run.parts] == ["decode", "answers"], "nothing is asked of what is not there"
    assert {"answers", "ladder"} <= set(run.missing)
    assert run.part("decode").complete  # type: ignore[union-attr]


def test_one_that_goes_away_in_the_middle_has_no_count_either(serve: Any, book: Book, tmp_path: Path) -> None:
    truth = serve(ttft=0.001, itl=0.0002, fault=lambda n, _body: "404" if n > 21 else "")
    result = _measured(truth, book, tmp_path, "answers")
    assert (result.state, result.answers_right) == ("incomplete", "")
    run = store.read(Path(result.file))
    assert sum(item.outcome == "ok" for item in run.part("answers").items) == 20  # type: ignore[union-attr]


def test_an_endpoint_that_refuses_everything_and_is_there_is_not_scored(serve: Any, book: Book, tmp_path: Path) -> None:
    truth = serve(ttft=0.001, itl=0.0002, fault=lambda n, _body: "500" if n > 1 else "")
    result = _measured(truth, book, tmp_path, "answers")
    assert (result.state, result.answers_right) == ("incomplete", "")
    assert result.missing == ("answers right of 40: every request failed",)


def test_a_few_failed_requests_stay_wrong_answers_in_the_denominator(serve: Any, book: Book, tmp_path: Path) -> None:
    truth = serve(ttft=0.001, itl=0.0002, fault=lambda n, _body: "503" if n == 41 else "")
    result = _measured(truth, book, tmp_path, "answers")
    assert (result.state, result.answers_right, result.errors) == ("complete", "0 of 40", {"http_5xx": 1})
