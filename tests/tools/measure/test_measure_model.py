from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import Cancelled, CloudError, InvalidInput, NotFound
from clouds.models import Price
from tests.tools.measure.report.reading import Reader, of_run
from tests.tools.measure.rig import Rig, offered
from tools.context import Target
from tools.faults import fault, sentence
from tools.ledger import Book
from tools.measure import store
from tools.measure.measure_model import measure_model
from tools.measure.measured import MeasureResult
from tools.progress import CallProgress
from tools.settings import Settings

pytestmark = pytest.mark.usefixtures("no_picture")

QUICK = {"ttft": 0.002, "itl": 0.0002}


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with Book(tmp_path / "home") as book:
        yield book


@pytest.fixture
def call(tmp_path: Path, book: Book) -> Any:
    """measure_model with the quick profile, on a rig or on a URL."""
    project = tmp_path / "project"
    project.mkdir()

    def run(rig: Rig, *, url: bool = False, progress: Any = None, **given: Any) -> MeasureResult:
        clouds, target = offered(rig, book.home)
        return measure_model(
            Target(rig.truth.url) if url else target,
            clouds,
            Settings.load({}, project),
            book,
            progress or CallProgress(),
            **{"profile": "quick", **given},
        )

    return run


def test_a_bare_url_is_measured_and_the_result_has_the_numbers_that_matter(serve: Any, call: Any) -> None:
    answers = {"What": ["4", "2"]}
    truth = serve(**QUICK, answer=lambda prompt: answers.get(prompt.split()[0], ["tok "] * 100))
    result = call(Rig(truth), url=True, price_usd_per_hour=1.1267, objective_ms=(5_000, 0))
    assert result.state == "complete"
    assert result.headline.startswith(f"Decodes {_n(result.decode_tokens_per_second)} tokens/s for one reply, ")
    assert result.headline.endswith("per million output tokens when kept that busy.")
    assert "0 of 40 answers right" in result.headline
    assert [(row.at_once, row.errors, row.kept_percent) for row in result.levels] == [(1, 0, 100), (4, 0, 100)]
    assert "Kept: of all requests, failed ones included, those with the first token within 5,000 ms." in result.notes
    run = store.read(Path(result.file))
    assert run.id == result.run
    assert result.levels[1].usd_per_million == float(f"{run.costs[1].usd_per_million_output:.4g}")
    assert any("only while the endpoint is kept that busy" in note for note in result.notes)
    assert any("Quick profile" in note for note in result.notes)
    page = Path(result.file).with_suffix(".html")
    assert f"Report to look at: `{page}`" in result.notes[-1]
    assert Reader(page.read_text("utf-8")).values() == of_run(run)


def test_text_and_structure_are_each_complete_and_short(serve: Any, call: Any) -> None:
    result = call(Rig(serve(**QUICK)), measurements=("decode", "load"), price_usd_per_hour=1.0)
    text, structured = result.text(), json.dumps(result.structured())
    figures = (result.decode_tokens_per_second, result.levels[1].tokens_per_second, result.ttft_p50_ms)
    assert [_n(figure) in text for figure in figures] == [True] * 3
    assert [str(figure) in structured for figure in figures] == [True] * 3
    assert result.run in text
    assert result.run in structured
    assert "| at once | tokens/s | range | TTFT p50 / p99 | per token p50 | errors | $ per million |" in text
    assert len(text) < 4_000
    assert len(structured) < 4_000


def test_only_what_was_asked_for_is_measured(serve: Any, call: Any) -> None:
    result = call(Rig(serve(**QUICK)), measurements=("load",), levels=(2, 2, 5))
    assert [row.at_once for row in result.levels] == [2, 5]
    assert (result.decode_tokens_per_second, result.answers_right) == (None, "")


def test_the_clouds_price_is_taken_and_a_given_one_wins(serve: Any, call: Any) -> None:
    rig = Rig(serve(**QUICK), price=Price(amount=2.0, unit="hour", as_of="2026-09-26", source="list"))
    listed = call(rig, measurements=("load",), levels=(1,))
    given = call(rig, measurements=("load",), levels=(1,), price_usd_per_hour=9.0)
    tokens = call(rig, measurements=("load",), levels=(1,), usd_per_million=(0.5, 2.0))
    assert any("Price $2/h (list, 2026-09-26)" in note for note in listed.notes)
    assert any("Price $9/h (given by the caller" in note for note in given.notes)
    assert tokens.levels[0].usd_per_million == float(f"{2.0 + 0.5 * 20 / 48:.4g}")


def test_without_a_price_there_is_no_cost_and_the_result_says_so(serve: Any, call: Any) -> None:
    result = call(Rig(serve(**QUICK)), measurements=("load",), levels=(1,))
    assert {row.usd_per_million for row in result.levels} == {None}
    assert any("No price is known, so no cost is." in note for note in result.notes)
    assert "$" not in result.headline
    assert not any(note.startswith("Kept") for note in result.notes)


def test_variants_are_walked_on_one_machine_with_the_base_again_last(serve: Any, call: Any, book: Book) -> None:
    rig = Rig(serve(**QUICK))
    result = call(rig, measurements=("decode",), variants=("context=1024", "slots=8,context=512"), name="walk")
    assert [(row.variant, row.state) for row in result.variants] == [
        ("base", "complete"),
        ("context=1024", "complete"),
        ("slots=8,context=512", "complete"),
        ("base again", "complete"),
    ]
    assert rig.changes == [
        {"context": 1024, "slots": 4},
        {"context": 512, "slots": 8},
        {"context": 2048, "slots": 4},
    ]
    assert result.headline.startswith("context=1024 decodes ")
    runs = {row.variant: store.read(book.home / "runs" / f"{row.run}.json") for row in result.variants}
    engine = runs["slots=8,context=512"].engine
    assert engine is not None
    assert engine.settings == {"context": 512, "slots": 8}
    assert [run.name for run in runs.values()] == ["walk"] * 4


def test_a_variant_that_does_not_start_is_a_failed_run_and_the_base_is_put_back(serve: Any, call: Any) -> None:
    rig = Rig(serve(**QUICK))
    result = call(rig, measurements=("decode",), variants=("context=13", "context=1024"))
    assert [(row.variant, row.state) for row in result.variants] == [
        ("base", "complete"),
        ("context=13", "failed"),
        ("context=1024", "complete"),
        ("base again", "complete"),
    ]
    assert "no memory" in result.variants[1].error
    assert rig.now == {"context": 2048, "slots": 4}


@pytest.mark.more
def test_another_model_is_measured_and_the_first_comes_back(serve: Any, call: Any) -> None:
    rig = Rig(serve(**QUICK))
    call(rig, measurements=("decode",), variants=("model=other", "context=1024"))
    assert rig.changes == [
        {"model": "other", "context": 2048},
        {"model": "smol", "context": 1024},
        {"context": 2048},
    ]


def test_a_wish_to_stop_in_the_middle_puts_the_base_back(serve: Any, call: Any, book: Book) -> None:
    rig = Rig(serve(**QUICK))
    progress = CallProgress(lambda *_: progress.cancel() if rig.now["context"] == 1024 else None)
    with pytest.raises(Cancelled) as caught:
        call(rig, measurements=("decode",), variants=("context=1024",), progress=progress)
    assert rig.now["context"] == 2048
    base, other = sorted((book.home / "runs").glob("*.json"), key=lambda path: "context" in path.stem)
    told = f"Kept: {base.stem} (complete), {other.stem} (incomplete); list_runs shows what is there."
    assert fault(caught.value)["next"] == f"{told} The same call measures anew."


def test_a_run_that_was_stopped_says_that_it_is_kept_and_how_it_is_called(serve: Any, call: Any, book: Book) -> None:
    progress = CallProgress(lambda message, *_: progress.cancel() if message.startswith("decode: ") else None)
    with pytest.raises(Cancelled) as caught:
        call(Rig(serve(**QUICK)), progress=progress)
    (path,) = (book.home / "runs").glob("*.json")
    assert store.read(path).state == "incomplete"
    assert caught.value.left.startswith(f"Kept: {path.stem} (incomplete); ")
    assert "Nothing" not in sentence(fault(caught.value))


def test_a_run_that_was_stopped_before_it_measured_anything_leaves_nothing_and_says_so(
    serve: Any, call: Any, book: Book
) -> None:
    progress = CallProgress(lambda message, *_: progress.cancel() if "first reply" in message else None)
    with pytest.raises(Cancelled) as caught:
        call(Rig(serve(ttft=1.0)), progress=progress)
    assert list((book.home / "runs").glob("*.json")) == []
    assert "Nothing half-made was left" in sentence(fault(caught.value))


def test_a_base_that_does_not_answer_is_an_error_and_leaves_no_file(serve: Any, call: Any, book: Book) -> None:
    with pytest.raises(NotFound):
        call(Rig(serve(fault=lambda *_: "404")))
    assert list((book.home / "runs").iterdir()) == []


def test_runs_go_where_the_caller_says_inside_the_project(serve: Any, call: Any, tmp_path: Path) -> None:
    result = call(Rig(serve(**QUICK)), measurements=("decode",), folder="docs/runs", name="mine")
    path = Path(result.file)
    assert path.parent == tmp_path / "project" / "docs" / "runs"
    assert path.name.endswith("-mine.json")


BAD: list[tuple[dict[str, Any], str]] = [
    ({"profile": "fast"}, "profile"),
    ({"measurements": ("decod",)}, "measurements"),
    ({"levels": (0,)}, "levels"),
    ({"levels": (513,)}, "levels"),
    ({"levels": tuple(range(1, 10))}, "levels"),
    ({"variants": ("context",)}, "ref"),
    ({"variants": ("=1",)}, "variants"),
    ({"variants": ("a b=1",)}, "variants"),
    ({"variants": ("a=1,a=2",)}, "variants"),
    ({"variants": ("unheard_of=1",)}, "variants"),
    ({"variants": ("a=1",) * 13}, "variants"),
    ({"price_usd_per_hour": -1}, "price_usd_per_hour"),
    ({"price_usd_per_hour": float("nan")}, "price_usd_per_hour"),
    ({"price_usd_per_hour": 1, "usd_per_million": (1, 1)}, "usd_per_million"),
    ({"usd_per_million": (1,)}, "usd_per_million"),
    ({"objective_ms": (1, 2, 3)}, "objective_ms"),
    ({"objective_ms": (0, 0)}, "objective_ms"),
    ({"objective_ms": (0,)}, "objective_ms"),
    ({"usd_per_million": (0.1, 0)}, "usd_per_million"),
    ({"options": ("answers.tokens=0",)}, "options"),
    ({"options": ("ladder.limit=5",)}, "options"),
    ({"name": "../x"}, "name"),
    ({"folder": "../x"}, "folder"),
    ({"api_key_env": "X_API_KEY"}, "api_key_env"),
]


def test_bad_input_is_refused_by_name_before_anything_is_sent_or_written(serve: Any, call: Any, book: Book) -> None:
    rig, refused = Rig(serve(**QUICK)), []
    for given, _ in BAD:
        with pytest.raises(InvalidInput) as caught:
            call(rig, **given)
        refused.append((given, caught.value.field))
    assert refused == BAD
    assert rig.truth.connections == 0
    assert rig.changes == []
    assert not (book.home / "runs").exists()


def test_a_url_cannot_be_changed(serve: Any, call: Any) -> None:
    with pytest.raises(CloudError, match="bare URL"):
        call(Rig(serve(**QUICK)), url=True, variants=("context=1024",))


def _n(value: float | None) -> str:
    from tools.figures import number

    assert value is not None
    return number(value)
