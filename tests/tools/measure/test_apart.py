"""Warm-up, and the request by which a sentence's tokens are learnt, are in no figure, no row and no price."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tools.measure.rig import Rig, offered
from tools.ledger import Book
from tools.measure import store
from tools.measure.cost import PriceUsed, cost_at, cost_of_run
from tools.measure.measure_model import measure_model
from tools.measure.measured import MeasureResult
from tools.progress import CallProgress
from tools.settings import Settings

pytestmark = pytest.mark.usefixtures("no_picture")
HOURLY = PriceUsed(usd_per_hour=1.0)


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with Book(tmp_path / "home") as book:
        yield book


@pytest.mark.parametrize(
    ("options", "apart", "costs"),
    [
        (("load.shape=64/16",), ["sample"], 0.4 + 0.1 * 20 / 16),
        (("load.shape=64/16", "load.warmup=1"), ["sample", "warm-up"], 0.4 + 0.1 * 20 / 16),
        (("load.warmup=1",), ["warm-up"], 0.4 + 0.1 * 20 / 48),
    ],
)
def test_what_is_in_no_figure_is_in_no_row_and_no_price(
    serve: Any, book: Book, tmp_path: Path, options: tuple[str, ...], apart: list[str], costs: float
) -> None:
    result = _loaded(serve, book, tmp_path, (1, 2), options)
    run = store.read(Path(result.file))
    labels = [batch.label for batch in run.parts[0].batches]
    assert sorted({*labels} - {"1", "2"}) == apart
    assert [batch.label for batch in run.parts[0].counted] == [each for each in labels if each not in apart]
    assert [row.at_once for row in result.levels] == [1, 2]
    assert [row.usd_per_million_output for row in run.costs] == pytest.approx([costs, costs])


def test_a_level_that_only_warms_up_has_no_row(serve: Any, book: Book, tmp_path: Path) -> None:
    result = _loaded(serve, book, tmp_path, (2,), ("load.warmup=1",))
    assert [row.at_once for row in result.levels] == [2]


def test_prompts_that_nobody_counted_give_no_price_where_prompts_cost() -> None:
    both = PriceUsed(usd_per_million_input=0.1, usd_per_million_output=0.4)
    assert cost_at(both, 100.0, None) is None
    assert cost_of_run(both, 1.0, None, 10) is None
    assert cost_of_run(HOURLY, 3600.0, None, 10) == 1.0
    assert cost_at(PriceUsed(usd_per_million_input=0.0, usd_per_million_output=0.4), 100.0, None) == 0.4


def _loaded(serve: Any, book: Book, tmp_path: Path, levels: tuple[int, ...], options: tuple[str, ...]) -> MeasureResult:
    clouds, target = offered(Rig(serve(ttft=0.002, itl=0.0002)), book.home)
    return measure_model(
        target,
        clouds,
        Settings.load({}, tmp_path),
        book,
        CallProgress(),
        measurements=("load",),
        profile="quick",
        levels=levels,
        usd_per_million=(0.1, 0.4),
        options=options,
    )
