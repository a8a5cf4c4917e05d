from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import InvalidInput
from clouds.models import DeploymentPlan, DeploymentSpec, Endpoint, EndpointRef, Setting
from tests.tools.measure.rig import REF, Rig, offered
from tests.tools.measure.truth import Truth
from tools import starting
from tools.ledger import Book
from tools.measure.held import Held, started
from tools.measure.variants import Variant, parse
from tools.progress import CallProgress


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with Book(tmp_path / "home") as book:
        yield book


def deployed(book: Book, settings: dict[str, Setting]) -> None:
    spec = DeploymentSpec(cloud="lab", service="rig", name="one", model="catalogue/smol", settings=settings)
    book.deployments.begin(spec, DeploymentPlan(spec=spec, ref=REF, steps=()))


def held(rig: Rig, book: Book, *texts: str) -> tuple[Held, tuple[Variant, ...]]:
    clouds, target = offered(rig, book.home)
    variants = parse(texts, target, clouds, book)
    return Held(target, variants, book), variants


def test_a_walk_that_was_killed_is_put_right_by_the_next_one(book: Book) -> None:
    rig = Rig(Truth())
    deployed(book, {"context": 2048})
    first, variants = held(rig, book, "context=1024,model=other")
    first.become(variants[1], CallProgress())
    assert (rig.now["context"], rig.model) == (1024, "other")
    # Here the worker is killed: nobody puts the base back. The same call begins again.
    again, _ = held(rig, book, "context=1024,model=other")
    again.back(CallProgress())
    assert (rig.now["context"], rig.model) == (2048, "catalogue/smol")
    fresh, _ = held(rig, book)
    fresh.back(CallProgress())
    assert len(rig.changes) == 2


def test_without_a_change_nothing_is_put_back(book: Book) -> None:
    rig = Rig(Truth())
    deployed(book, {})
    one, variants = held(rig, book)
    one.become(variants[0], CallProgress())
    one.back(CallProgress())
    assert rig.changes == []


def test_what_was_given_at_deployment_counts_before_what_the_engine_reports(book: Book) -> None:
    rig = Rig(Truth())
    deployed(book, {"context": 4096})
    one, variants = held(rig, book, "context=1024")
    one.become(variants[1], CallProgress())
    one.back(CallProgress())
    assert rig.changes[-1]["context"] == 4096


class Loading(Rig):
    """It says what its settings are once it has loaded."""

    looks = 0

    def get(self, ref: EndpointRef) -> Endpoint:
        self.looks += 1
        endpoint = super().get(ref)
        return endpoint if self.looks > 2 else endpoint.model_copy(update={"state": "loading", "engine": None})


def test_a_base_that_still_loads_is_waited_for_since_it_does_not_say_yet_what_would_be_put_back(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "LOOK_SECONDS", 0.01)
    rig = Loading(Truth())
    with pytest.raises(InvalidInput, match="what slots is now is not known"):
        held(rig, book, "slots=2")
    rig = Loading(Truth())
    clouds, target = offered(rig, book.home)
    variants = parse(("slots=2",), target, clouds, book)
    started(target, variants, CallProgress())
    one = Held(target, variants, book)
    one.become(variants[1], CallProgress())
    one.back(CallProgress())
    assert rig.changes == [{"slots": 2}, {"slots": 4}]


def test_what_is_not_changed_is_not_waited_for(book: Book) -> None:
    rig = Loading(Truth())
    _, target = offered(rig, book.home)
    started(target, (Variant("base", target),), CallProgress())
    assert rig.looks == 0


def test_a_setting_whose_value_nobody_knows_is_refused_before_anything_changes(book: Book) -> None:
    rig = Rig(Truth())
    with pytest.raises(InvalidInput, match="what dtype is now is not known"):
        held(rig, book, "dtype=f16")
    assert rig.changes == []


@pytest.mark.parametrize(
    ("text", "model", "settings"),
    [
        ("context=4096, slots=8", "", {"context": 4096, "slots": 8}),
        ("model=org/name:tag", "org/name:tag", {}),
        ("a=true,b=0.5,c=--x y", "", {"a": True, "b": 0.5, "c": "--x y"}),
    ],
)
def test_a_change_is_read_with_its_types(book: Book, text: str, model: str, settings: dict[str, Any]) -> None:
    clouds, target = offered(Rig(Truth()), book.home)
    found = parse((text,), target, clouds, book)[1]
    assert (found.label, found.model, found.settings, found.changes) == (text, model, settings, True)


def test_another_endpoint_is_named_by_its_ref_or_its_name_in_the_ledger(book: Book) -> None:
    clouds, target = offered(Rig(Truth()), book.home)
    deployed(book, {})
    by_ref, by_name = parse((str(REF), "one"), target, clouds, book)[1:]
    assert (by_ref.target.ref, by_name.target.ref, by_name.changes) == (str(REF), str(REF), False)
    with pytest.raises(InvalidInput, match="not an endpoint"):
        parse(("two",), target, clouds, book)
