"""What a walk over variants says of itself: what failed, what it cost, and that a run was taken up again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import InvalidInput, NoCapacity
from clouds.models import DeploymentPlan, DeploymentSpec
from tests.tools.measure.made import made, part
from tests.tools.measure.rig import REF, Rig, offered
from tests.tools.measure.truth import Truth
from tools.ledger import Book
from tools.measure.cautions import judge
from tools.measure.measured import headline, result_of
from tools.measure.record import Run, Subject
from tools.measure.variants import checked, parse
from tools.measure.walk import Measured


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with Book(tmp_path / "home") as book:
        yield book


class Planning(Rig):
    """Refuses a value below 1, and has no room for 99."""

    def plan(self, spec: DeploymentSpec) -> DeploymentPlan:
        slots = spec.settings["slots"]
        if not isinstance(slots, int) or slots < 1:
            raise InvalidInput("settings.slots", f"{slots!r} is not a whole number", fix="Use 1 to 256.")
        if slots == 99:
            raise NoCapacity("planning", answered="no memory", fix="Wait.")
        return DeploymentPlan(spec=spec, ref=REF, steps=())


def test_a_value_that_the_service_would_refuse_is_refused_before_anything_is_measured(book: Book) -> None:
    rig = Planning(Truth())
    clouds, target = offered(rig, book.home)
    spec = DeploymentSpec(cloud="lab", service="rig", name="one", model="smol", settings={"slots": 4})

    def refused(text: str) -> str:
        try:
            checked(parse((text,), target, clouds, book), book)
        except InvalidInput as error:
            return f"{error} {error.fix}"
        return ""

    assert refused("slots=0") == "", "what the ledger does not know cannot be planned"
    book.deployments.begin(spec, DeploymentPlan(spec=spec, ref=REF, steps=()))
    assert (
        refused("slots=0") == "`variants`: 'slots=0' cannot be: `settings.slots`: 0 is not a whole number Use 1 to 256."
    )
    assert "'abc' is not a whole number" in refused("slots=abc")
    assert (refused("slots=2"), refused("slots=99")) == ("", "")
    assert rig.changes == []


def walked(*runs: Run, failed: str = "") -> list[Measured]:
    last = Measured(Path("f.json"), made("v", subject=Subject(ref="r", model="m", variant="slots=0"), state="failed"))
    found = [Measured(Path(f"{run.id}.json"), run) for run in runs]
    return [*found, Measured(last.path, last.run, failed)] if failed else found


def test_a_variant_that_failed_is_in_the_headline_the_status_and_the_next_step() -> None:
    found = result_of(walked(made("a", 50.0), failed="no memory"), "a was measured 2 times.")
    assert found.headline == "1 of 2 runs could not be measured: slots=0 (no memory). a was measured 2 times."
    assert found.is_error
    assert found.next.startswith('`get_endpoint_logs("r")` may show why')
    whole = result_of(walked(made("a", 50.0), made("b", 60.0)), "b is faster.")
    assert (whole.headline, whole.is_error) == ("b is faster.", False)


def test_time_and_cost_are_of_all_the_runs_of_a_walk() -> None:
    found = result_of(walked(made("a", 50.0, run_usd=0.25, seconds=10.0), made("b", 60.0, run_usd=0.5, seconds=20.5)))
    assert (found.seconds, found.run_usd) == (30.5, 0.75)
    assert any(
        note.startswith("These 2 runs took 30.5 s: $0.75 (without the engine's restarts between them)")
        for note in found.notes
    )
    unpriced = result_of(walked(made("a", 50.0, run_usd=0.25, seconds=10.0), made("b", 60.0)))
    assert unpriced.run_usd is None, "a part of a cost is not the cost"
    alone = result_of(walked(made("a", 50.0, run_usd=0.25, seconds=10.0)))
    assert any(note.startswith("This run took 10 s: $0.25. Price") for note in alone.notes)


def test_an_endpoint_that_stopped_answering_is_said_so_in_the_headline() -> None:
    gone = made("a", state="incomplete", missing=("decode", "load"), failure="the endpoint stopped answering (cut)")
    told = headline(gone, ())
    assert told.endswith("(INCOMPLETE: decode; load; the endpoint stopped answering (cut)).")


def test_failed_requests_are_counted_in_the_headline() -> None:
    run = made("a", 50.0)
    lost = run.parts[0].model_copy(update={"errors": {"http_5xx": 2, "cut": 1}, "requests": 10})
    assert headline(run.model_copy(update={"parts": (lost,)}), ()) == (
        "Decodes 50 tokens/s for one reply; 3 of 10 requests failed."
    )
    assert "failed" not in headline(run, ())


def test_a_run_that_was_taken_up_again_warns_of_what_is_from_before() -> None:
    times: tuple[Any, ...] = ("2026-11-30T10:00:00+00:00", "2026-11-30T11:00:00+00:00")
    parts = tuple(part(name, started=at) for name, at in zip(("decode", "load"), times, strict=True))
    run = made("a").model_copy(update={"parts": parts, "settings": {"resumed_at": "2026-11-30T10:30:00+00:00"}})
    (caution,) = judge(run)
    assert caution.kind == "resumed"
    assert "taken up again at 2026-11-30T10:30:00+00:00: decode is from before" in caution.text
    assert judge(run.model_copy(update={"settings": {}})) == ()
