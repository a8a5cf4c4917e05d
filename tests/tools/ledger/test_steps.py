"""Steps: an intent before every creating call, its outcome after it, and no way back to a state that is not true."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain, product

import pytest

from clouds.base import Step
from clouds.errors import Conflict, InvalidInput, NotFound
from clouds.models import Call
from tools.ledger import Book
from tools.secrecy import WITHHELD

Begin = Callable[..., str]
CALL = Call("sagemaker", "CreateModel", {"ModelName": "gemma", "Containers": [{"Mode": "SingleModel"}]})


def test_an_intent_is_there_before_its_outcome(book: Book, begun: Begin) -> None:
    found = begun()
    step = book.intent(found, CALL)
    expected = Step(step, found, CALL, "intent", "2026-11-29T19:04:00.000Z")
    assert book.steps(found) == (expected,)
    assert book.unresolved(found) == book.unresolved() == (expected,)


def test_a_step_keeps_when_it_was_intended_and_what_came_of_it(
    book: Book, begun: Begin, clock: Callable[..., None]
) -> None:
    found = begun()
    first, second, third = (book.intent(found, CALL) for _ in range(3))
    clock.forward(minutes=3)
    book.done(first, {"arn": "arn:aws:sagemaker:us-east-2:111122223333:model/gemma"})
    book.failed(second, "ResourceLimitExceeded")
    book.undone(third)
    assert [(each.id, each.state, each.at, each.result, each.error) for each in book.steps(found)] == [
        (
            first,
            "done",
            "2026-11-29T19:04:00.000Z",
            {"arn": "arn:aws:sagemaker:us-east-2:111122223333:model/gemma"},
            "",
        ),
        (second, "failed", "2026-11-29T19:04:00.000Z", {}, "ResourceLimitExceeded"),
        (third, "undone", "2026-11-29T19:04:00.000Z", {}, ""),
    ]
    assert book.unresolved() == ()


def test_what_was_undone_keeps_the_result_that_names_it(book: Book, begun: Begin) -> None:
    found = begun()
    step = book.intent(found, CALL)
    book.done(step, {"arn": "a"})
    book.undone(step)
    assert [(each.state, each.result) for each in book.steps(found)] == [("undone", {"arn": "a"})]


def test_an_intent_needs_a_deployment_and_an_outcome_needs_an_intent(book: Book) -> None:
    with pytest.raises(NotFound, match="no such deployment"):
        book.intent("d-20261129-0000", CALL)
    with pytest.raises(NotFound, match="no such step"):
        book.done(7)


def test_a_secret_in_a_result_is_withheld_and_the_row_is_kept(book: Book, begun: Begin) -> None:
    found = begun()
    step = book.intent(found, CALL)
    book.done(step, {"arn": "a", "connection": {"api_key": "opensesame"}, "log": "Bearer abcdefgh12345678"})
    assert book.steps(found)[0].result == {"arn": "a", "connection": {"api_key": WITHHELD}, "log": WITHHELD}


def test_parameters_without_end_are_refused(book: Book, begun: Begin) -> None:
    found = begun()
    with pytest.raises(InvalidInput, match="characters of parameters"):
        book.intent(found, Call("x", "Create", {"UserData": "x" * 1_100_000}))


def test_a_result_without_end_is_cut_and_says_so(book: Book, begun: Begin) -> None:
    found = begun()
    step = book.intent(found, CALL)
    book.done(step, {"arn": "a", "body": "x" * 100_000})
    assert book.steps(found)[0].result == {"arn": "a", "body": "x" * 2000 + "… (100,000 characters)"}


MOVES = ("done", "failed", "undone")
TRUE_AFTER = {
    "intent": {"done": "done", "failed": "failed", "undone": "undone"},
    "done": {"done": "done", "undone": "undone"},
    "failed": {"failed": "failed"},
    "undone": {"done": "done", "failed": "failed", "undone": "undone"},
}


def test_a_step_only_ever_is_in_a_state_that_its_history_allows(book: Book, begun: Begin) -> None:
    """Every history of up to three moves: after three of them each state has been left by each move."""
    found = begun()
    for moves in chain.from_iterable(product(MOVES, repeat=length) for length in range(4)):
        step, state = book.intent(found, CALL), "intent"
        for move in moves:
            call = {"done": book.done, "undone": book.undone, "failed": partial(book.failed, error="refused")}[move]
            if move in TRUE_AFTER[state]:
                call(step)
                state = TRUE_AFTER[state][move]
            else:
                with pytest.raises(Conflict):
                    call(step)
            assert book.steps(found)[-1].state == state, moves
        assert (step in [each.id for each in book.unresolved(found)]) == (state == "intent"), moves
