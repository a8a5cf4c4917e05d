"""Deployments: written down before anything is created, found again by id, ref or name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from clouds.errors import Conflict, InvalidInput, NotFound
from clouds.models import Call, DeploymentPlan, DeploymentSpec, EndpointRef
from tools.ledger import Book, Deployment, differences
from tools.ledger.values import now

Begin = Callable[..., str]
MakeSpec = Callable[..., DeploymentSpec]
MakePlan = Callable[..., DeploymentPlan]


def test_a_deployment_is_read_back_as_it_was_written(book: Book, spec: MakeSpec, plan: MakePlan) -> None:
    asked = spec(regions=("us-east-2", "us-west-2"), location=None, settings={"context": 2048, "quantization": "fp8"})
    found = book.deployments.begin(asked, plan(asked), account="111122223333")
    assert re.fullmatch(r"d-20261129-[0-9a-f]{4}", found)
    assert book.deployments.get(found) == Deployment(
        id=found,
        ref="aws:sagemaker:us-east-2:gemma",
        state="creating",
        spec=asked,
        created="2026-11-29T19:04:00.000Z",
        account="111122223333",
    )
    assert book.deployments.get(found).name == "gemma"
    assert book.deployments.get(found).expires == "2026-11-29T23:04:00.000Z"


def test_its_plan_is_read_back_with_the_id_in_it(book: Book, spec: MakeSpec, plan: MakePlan) -> None:
    asked = spec()
    found = book.deployments.begin(asked, plan(asked, 1.1267))
    assert book.deployments.plan(found) == replace(plan(asked, 1.1267), deployment=found)


def test_it_is_found_by_id_by_ref_and_by_name(book: Book, begun: Begin) -> None:
    found = begun()
    for text in (found, "aws:sagemaker:us-east-2:gemma", "gemma"):
        assert [each.id for each in book.deployments.find(text)] == [found]
    assert book.refs() == (EndpointRef("aws", "sagemaker", "us-east-2", "gemma"),)


def test_an_ambiguous_name_finds_all_that_have_it(book: Book, begun: Begin) -> None:
    both = [begun(), begun(cloud="gcp", service="tpu")]
    assert [each.id for each in book.deployments.find("gemma")] == both


def test_a_name_that_nobody_has_finds_nothing(book: Book, begun: Begin) -> None:
    begun()
    assert book.deployments.find("gemm") == ()


def test_what_has_ended_is_found_only_when_asked_for(book: Book, begun: Begin) -> None:
    found = begun()
    book.deployments.ended(found)
    assert book.deployments.find("gemma") == ()
    assert [(each.id, each.state, each.ended) for each in book.deployments.find("gemma", ended=True)] == [
        (found, "ended", "2026-11-29T19:04:00.000Z")
    ]
    assert book.deployments.live() == ()
    assert [each.id for each in book.deployments.recent()] == [found]


def test_the_same_name_cannot_be_begun_twice_and_every_difference_is_named(
    book: Book, begun: Begin, spec: MakeSpec, plan: MakePlan
) -> None:
    found = begun()
    other = spec(location="us-west-2", settings={"context": 4096, "eager": True})
    with pytest.raises(Conflict) as refused:
        book.deployments.begin(other, plan(other, location="us-west-2"))
    assert refused.value.answered == (
        f"aws:sagemaker:us-east-2:gemma has that name ({found}, creating): location: not given there, us-west-2 asked; "
        "context: 2048 there, 4096 asked; eager: not given there, on asked"
    )
    assert [each.id for each in book.deployments.live()] == [found]
    assert book.deployments.same_name(other) == book.deployments.get(found)


def test_a_name_is_free_again_when_it_has_ended(begun: Begin, book: Book) -> None:
    first = begun()
    book.deployments.ended(first)
    assert begun() != first


DIFFERENCES = [
    ({}, ()),
    ({"model": "other"}, ("model: google/gemma-4-E2B-it there, other asked",)),
    ({"ttl_hours": 8.0}, ("ttl_hours: 4 there, 8 asked",)),
    ({"instance_types": ("a", "b")}, ("instance_types: not given there, a, b asked",)),
    ({"settings": {"context": 2048.0}}, ()),
    ({"settings": {}}, ("context: 2048 there, not given asked",)),
]


@pytest.mark.parametrize(("changes", "words"), DIFFERENCES, ids=str)
def test_differences_between_two_specs_are_named(
    changes: dict[str, object], words: tuple[str, ...], spec: MakeSpec
) -> None:
    assert differences(spec(), spec(**changes)) == words


def test_a_failed_deployment_with_parts_left_is_still_active(book: Book, begun: Begin) -> None:
    found = begun()
    step = book.intent(found, Call("sagemaker", "CreateModel"))
    book.done(step)
    book.deployments.failed(found, reason="no capacity")
    assert [(each.state, each.reason) for each in book.deployments.live()] == [("failed", "no capacity")]
    book.undone(step)
    assert book.deployments.live() == ()


def test_a_failed_deployment_with_parts_left_keeps_its_name(book: Book, begun: Begin) -> None:
    found = begun()
    book.intent(found, Call("sagemaker", "CreateModel"))
    book.deployments.failed(found, reason="no capacity")
    with pytest.raises(Conflict, match=r"failed, and left parts behind \(no capacity\)"):
        begun()


def test_what_has_ended_stays_ended(book: Book, begun: Begin) -> None:
    found = begun()
    book.deployments.ended(found)
    book.deployments.ended(found)
    with pytest.raises(Conflict, match="it has ended"):
        book.deployments.active(found)
    assert book.deployments.get(found).state == "ended"


def test_facts_are_merged_key_by_key(book: Book, begun: Begin) -> None:
    found = begun()
    book.remember(found, {"pid": 7, "port": 8000})
    book.remember(found, {"port": 8001, "phases": [{"name": "loading", "seconds": 2.4}]})
    assert book.facts(found) == {"pid": 7, "port": 8001, "phases": [{"name": "loading", "seconds": 2.4}]}


def test_facts_of_an_unknown_deployment_are_empty_and_cannot_be_written(book: Book) -> None:
    assert book.facts("d-20261129-0000") == {}
    with pytest.raises(NotFound):
        book.remember("d-20261129-0000", {"pid": 7})


def test_more_facts_than_fit_are_refused_and_the_old_ones_stay(book: Book, begun: Begin) -> None:
    found = begun()
    book.remember(found, {"pid": 7})
    with pytest.raises(InvalidInput, match="characters of facts"):
        book.remember(found, {"log": "x" * 300_000})
    assert book.facts(found) == {"pid": 7}


@pytest.mark.parametrize("change", ["settings", "facts", "call"])
def test_a_secret_is_refused_before_anything_is_written(
    change: str, book: Book, home: object, begun: Begin, spec: MakeSpec, plan: MakePlan
) -> None:
    found, secret = begun(), "sk-proj-4f7d2a9b8c1e6f3a5d7b"
    asked = spec("other", settings={"api_key": "opensesame"})
    tries = {
        "settings": lambda: book.deployments.begin(asked, plan(asked)),
        "facts": lambda: book.remember(found, {"seen": [secret]}),
        "call": lambda: book.intent(found, Call("x", "Create", {"Environment": {"HF_TOKEN": "opensesame"}})),
    }
    with pytest.raises(InvalidInput, match="looks like a secret") as refused:
        tries[change]()
    assert "opensesame" not in str(refused.value)
    assert secret not in str(refused.value)
    assert (len(book.deployments.live()), book.facts(found), book.steps(found)) == (1, {}, ())


def worker(book: Book, pid: int = 2**22 + 1) -> str:
    """An operation that is running, in the process of that pid."""
    operation = book.operations.add("deploy_endpoint", {}, flags=(), cwd="/").id
    assert book.operations.claim(operation, pid) is not None
    book.journal.operation = operation
    return operation


def test_two_workers_cannot_create_the_same_deployment(book: Book, begun: Begin, clock) -> None:
    clock.now = now()
    first = worker(book, os.getpid())
    found = begun()
    assert book.deployments.get(found).operation == first
    book.deployments.take(found)
    worker(book)
    with pytest.raises(Conflict, match=f"{first} is working on it"):
        book.deployments.take(found)
    assert book.deployments.get(found).operation == first


@pytest.mark.parametrize("over", ["it has ended", "its worker is dead"])
def test_a_worker_takes_over_what_another_has_left(over: str, book: Book, begun: Begin) -> None:
    first = worker(book)
    found = begun()
    if over == "it has ended":
        assert book.operations.finish(first, 2**22 + 1, "failed")
    second = worker(book)
    book.deployments.take(found)
    assert book.deployments.get(found).operation == second


def test_a_shell_has_no_operation_and_is_held_back_too(book: Book, begun: Begin, clock) -> None:
    clock.now = now()
    first = worker(book, os.getpid())
    found = begun()
    book.journal.operation = ""
    with pytest.raises(Conflict, match=f"{first} is working on it"):
        book.deployments.take(found)


def test_a_deployment_may_be_placed_elsewhere_than_planned(book: Book, begun: Begin) -> None:
    found = begun()
    book.deployments.placed(found, EndpointRef("aws", "sagemaker", "us-west-2", "gemma"))
    assert book.deployments.find("aws:sagemaker:us-west-2:gemma") == (book.deployments.get(found),)


def test_an_update_in_place_changes_the_spec_that_is_compared(book: Book, begun: Begin, spec: MakeSpec) -> None:
    found = begun()
    held = spec(model="other", settings={"context": 2048, "slots": 2})
    book.deployments.changed(found, held)
    assert differences(book.deployments.get(found).spec, held) == ()
    assert book.journal.recent(1).events[0].detail == (
        "model: google/gemma-4-E2B-it there, other asked; slots: not given there, 2 asked"
    )


def test_what_was_remembered_as_its_end_is_its_end(book: Book, begun: Begin) -> None:
    found = begun()
    book.remember(found, {"expires": "2026-11-30T01:00:00Z"})
    assert book.deployments.get(found).expires == "2026-11-30T01:00:00Z"


@pytest.mark.parametrize("method", ["get", "plan", "active", "deleting", "ended", "take"])
def test_an_unknown_deployment_is_said_to_be_unknown(method: str, book: Book) -> None:
    with pytest.raises(NotFound, match="none of that id"):
        getattr(book.deployments, method)("d-20261129-0000")
