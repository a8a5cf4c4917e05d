"""A plan is written before the run, cited by its hash, and every departure from it is in the record with its time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import InvalidInput
from tests.tools.measure.made import made
from tests.tools.measure.rig import Rig, offered
from tests.tools.measure.walked import walked, wish_of
from tools.ledger import Book
from tools.measure.comparing.compare import compare
from tools.measure.comparing.differences import BASE
from tools.measure.comparing.report import notes
from tools.measure.measure_model import measure_model
from tools.measure.options import Options
from tools.measure.record import Departure, PlanCited, Run
from tools.measure.registering.departures import cited
from tools.measure.registering.plans import Planned, read, wanted, write
from tools.measure.registering.telling import of_run
from tools.measure.variants import Variant
from tools.measure.walk import planned_only
from tools.progress import CallProgress
from tools.settings import Settings

KNEE = ("knee.most=1", "knee.batches=1", "knee.shape=0/4")


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with Book(tmp_path / "home") as book:
        yield book


@pytest.fixture
def call(tmp_path: Path, book: Book, serve: Any) -> Any:
    (tmp_path / "project").mkdir()
    rig = Rig(serve(ttft=0.001, itl=0.0002))

    def run(*options: str, measurements: tuple[str, ...] = ("knee",), levels: tuple[int, ...] = ()) -> Run | None:
        target, project = offered(rig, book.home)[1], tmp_path / "project"
        wish = wish_of(book, project, measurements, (*KNEE, *options), levels)
        if wish.plans.write is not None:
            planned_only((Variant(BASE, target),), wish, wish.plans.write)
            return None
        return walked(target, wish, book).run

    run.rig = rig  # type: ignore[attr-defined]
    return run


def test_a_plan_is_written_and_nothing_is_asked(call: Any, tmp_path: Path, book: Book) -> None:
    clouds, target = offered(call.rig, book.home)
    settings, options = Settings.load({}, tmp_path / "project"), ("plan.write=plan.json", "plan.expects=no knee at one")
    result = measure_model(
        target,
        clouds,
        settings,
        book,
        CallProgress(),
        profile="quick",
        measurements=("knee",),
        options=(*KNEE, *options),
    )
    assert (result.state, result.run, call.rig.truth.bodies) == ("planned", "", [])
    data = json.loads((tmp_path / "project" / "plan.json").read_text())
    assert data["sha256"] in result.headline
    assert data["plan"]["expects"] == "no knee at one"
    says = data["plan"]["says"]
    assert (says["model"], says["measurements"], says["engine name"]) == ("smol", "knee", "rig")
    assert (says["knee most"], says["option knee.most"], says["knee tokens"]) == ("1", "1", "4")


def test_a_run_that_follows_its_plan_cites_it_and_departs_in_nothing(call: Any) -> None:
    call("plan.write=plan.json")
    run = call("plan.file=plan.json")
    assert run.plan is not None
    assert (run.plan.file, run.plan.departures) == ("plan.json", ())
    assert len(run.plan.sha256) == 64
    assert of_run(run).endswith("followed as written.")


def test_every_departure_is_there_with_its_time_and_reason(call: Any) -> None:
    call("plan.write=plan.json")
    call.rig.model = "larger"
    options = ("plan.file=plan.json", "plan.reason=the first model was gone")
    run = call(*options, levels=(2,), measurements=("knee", "decode"))
    assert run.plan is not None
    found = {each.what: (each.planned, each.done, each.reason) for each in run.plan.departures}
    reason = "the first model was gone"
    assert found["model"] == ("smol", "larger", reason)
    assert found["levels"] == ("1, 4", "2", reason)
    assert found["measurements"] == ("knee", "decode, knee", reason)
    assert found["decode long_tokens"] == ("", "72", reason)
    assert all(each.at.startswith("20") and each.at.endswith("Z") for each in run.plan.departures)
    assert run.plan.departures[0].at <= run.ended.replace("+00:00", "Z")
    assert "departures: model was larger instead of smol" in of_run(run)


def test_a_run_without_a_plan_says_exploratory(call: Any) -> None:
    run = call()
    assert run.plan is None
    assert of_run(run).startswith("Exploratory: no plan")


def test_what_was_planned_and_is_missing_is_a_departure(call: Any) -> None:
    call("plan.write=plan.json")
    call.rig.truth.fault = lambda n, _body: "500" if n > 1 else ""
    run = call("plan.file=plan.json")
    assert run.state == "incomplete"
    assert run.plan is not None
    assert [(each.planned, each.done) for each in run.plan.departures] == [("measured", "missing")]


def test_a_plan_that_was_changed_after_it_was_written_is_refused(call: Any, tmp_path: Path) -> None:
    call("plan.write=plan.json")
    path = tmp_path / "project" / "plan.json"
    path.write_text(path.read_text().replace('"knee most": "1"', '"knee most": "8"'))
    with pytest.raises(InvalidInput, match="changed after it was written"):
        call("plan.file=plan.json")


def test_a_plan_is_not_written_over_and_not_outside(call: Any) -> None:
    call("plan.write=plan.json")
    with pytest.raises(InvalidInput, match="is there already"):
        call("plan.write=plan.json")
    with pytest.raises(InvalidInput, match="outside"):
        call("plan.write=/etc/plan.json")
    with pytest.raises(InvalidInput, match="both there"):
        call("plan.write=a.json", "plan.file=plan.json")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"plan": 3, "sha256": "x"}', '{"plan": {"says": []}, "sha256": ""}'])
def test_a_file_that_is_no_plan_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(InvalidInput, match=r"p\.json is not a plan"):
        read(tmp_path / "p.json")
    with pytest.raises(InvalidInput, match=r"q\.json is not a plan"):
        wanted(Options({"plan.file": "q.json"}, (tmp_path,)))


def test_the_hash_is_of_what_the_plan_says(tmp_path: Path) -> None:
    first = write(tmp_path / "a.json", {"model": "m"}, "2026-11-29T00:00:00Z", "")
    assert first == write(tmp_path / "b.json", {"model": "m"}, "2026-11-29T00:00:00Z", "")
    assert first != write(tmp_path / "c.json", {"model": "n"}, "2026-11-29T00:00:00Z", "")
    assert read(tmp_path / "a.json").sha256 == first


def test_a_variant_s_own_engine_is_no_departure_and_another_walk_is() -> None:
    planned = Planned(Path("p.json"), "0" * 64, "2026-11-28", {"model": "a", "variants": "base, x=1", "levels": "1"})
    now = {"model": "b", "engine name": "rig", "variants": "base, x=1", "levels": "1"}

    def departs(variant: str, **changed: str) -> list[str]:
        return [each.what for each in cited(planned, {**now, **changed}, variant, "2026-11-29").departures]

    assert departs("x=1") == []
    assert departs("base") == departs("base again") == departs("") == ["model", "engine name"]
    assert departs("x=2", variants="base, x=2") == ["variants"]


def test_a_comparison_names_the_runs_that_departed_or_had_no_plan() -> None:
    left = Departure(at="2026-11-29T10:00:00Z", what="levels", planned="1, 4", done="1", reason="time")
    planned = PlanCited(file="p.json", sha256="0" * 64, written="2026-11-28", departures=(left,))
    runs = [made("a", 50.0, plan=planned), made("b", 60.0)]
    said = list(notes(compare(runs), runs))
    assert "a departs from its plan in 1 points: levels was 1 instead of 1, 4 (2026-11-29T10:00:00Z: time)." in said
    assert "b is exploratory: no plan was written before it." in said
    assert not any("exploratory" in note for note in notes(compare(runs[1:] * 1 + [made("c")]), runs[1:]))
