"""A confirmation token acts once, for one call, on one state, for thirty minutes."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from clouds.errors import CloudError, Conflict, InvalidInput
from tools.confirm import Bound, check, issue, stored
from tools.ledger import Book

BOUND = Bound(
    tool="delete_endpoint",
    arguments={"ref": "aws:sagemaker:us-east-2:gemma"},
    steps=("delete the endpoint", "delete its configuration"),
    state={"state": "ready", "model": "gemma"},
)
AGAIN = "Make the same call without `confirm` to get new steps and a new token."


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 11, 29, 19, 4, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def book(tmp_path: Path, clock: Clock) -> Iterator[Book]:
    with Book(tmp_path, clock=clock) as opened:
        yield opened


def test_the_same_call_with_its_token_acts(book: Book) -> None:
    token, until = issue(book, BOUND)
    assert re.fullmatch(r"[0-9a-f]{4}-[0-9a-f]{4}", token)
    assert until == "2026-11-29T19:34:00.000Z"
    plan = check(book, token, BOUND)
    assert (plan.tool, plan.steps) == ("delete_endpoint", ["delete the endpoint", "delete its configuration"])


def test_a_token_survives_a_restart(book: Book, tmp_path: Path, clock: Clock) -> None:
    token, _ = issue(book, BOUND)
    book.close()
    with Book(tmp_path, clock=clock) as restarted:
        assert stored(restarted, token) == check(restarted, token, BOUND)


def test_the_file_holds_no_token(book: Book, tmp_path: Path) -> None:
    token, _ = issue(book, BOUND)
    book.close()
    assert token.encode() not in b"".join(each.read_bytes() for each in tmp_path.iterdir() if each.is_file())


def test_a_token_acts_once(book: Book) -> None:
    token, _ = issue(book, BOUND)
    check(book, token, BOUND)
    with pytest.raises(Conflict) as refused:
        check(book, token, BOUND)
    assert refused.value.answered == "it was used at 2026-11-29T19:04:00.000Z; a token is good once"
    assert refused.value.fix == f"Nothing was changed. {AGAIN}"


def test_of_many_equal_calls_at_once_one_acts(book: Book) -> None:
    token, _ = issue(book, BOUND)
    outcomes: list[str] = []

    def call() -> None:
        try:
            check(book, token, BOUND)
            outcomes.append("acted")
        except Conflict:
            outcomes.append("refused")

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["acted"] + ["refused"] * 7


def test_a_token_is_good_until_thirty_minutes_have_passed(book: Book, clock: Clock) -> None:
    in_time, late = issue(book, BOUND)[0], issue(book, BOUND)[0]
    clock.now += timedelta(minutes=29, seconds=59)
    check(book, in_time, BOUND)
    clock.now += timedelta(seconds=1)
    with pytest.raises(Conflict, match=r"it expired at 2026-11-29T19:34:00\.000Z, 30 minutes after it was given"):
        check(book, late, BOUND)


REFUSED: list[tuple[Bound, type[CloudError], str]] = [
    (replace(BOUND, tool="apply_cleanup"), InvalidInput, "was given for delete_endpoint, not for apply_cleanup"),
    (
        replace(BOUND, arguments={"ref": "aws:sagemaker:us-east-2:other"}),
        InvalidInput,
        "was given for other arguments (`ref`: aws:sagemaker:us-east-2:gemma then, aws:sagemaker:us-east-2:other now)",
    ),
    (
        replace(BOUND, arguments={**BOUND.arguments, "force": True}),
        InvalidInput,
        "was given for other arguments (`force`: absent then, true now)",
    ),
    (
        replace(BOUND, state={"state": "updating", "model": "gemma"}),
        Conflict,
        "the state has changed since (`state`: ready then, updating now)",
    ),
    (
        replace(BOUND, steps=("delete the endpoint",)),
        Conflict,
        "the steps are others now (`step 2`: delete its configuration then, absent now)",
    ),
]


@pytest.mark.parametrize(("asked", "kind", "words"), REFUSED, ids=lambda each: each if isinstance(each, str) else "")
def test_another_call_or_another_state_is_refused_and_uses_nothing_up(
    asked: Bound, kind: type[CloudError], words: str, book: Book
) -> None:
    token, _ = issue(book, BOUND)
    with pytest.raises(kind) as refused:
        check(book, token, asked)
    assert words in str(refused.value)
    assert AGAIN in refused.value.fix
    check(book, token, BOUND)


@pytest.mark.parametrize(
    "token", ["7f3a", "yes", "ffff-ffff-ffff", "7F3A-9C41", "", "7f3a-9c41\n", "'; DROP TABLE plans;--", "x" * 10**6]
)
def test_what_is_no_token_is_refused_in_one_short_line(token: str, book: Book) -> None:
    with pytest.raises(InvalidInput, match="is not a token that was given out here") as refused:
        check(book, token, BOUND)
    assert len(str(refused.value)) < 200
    assert str(refused.value).isprintable()


def wrong(token: str) -> str:
    return f"{token[:-1]}{'0' if token[-1] != '0' else '1'}"


def test_a_wrong_token_is_refused_and_the_right_one_still_acts(book: Book) -> None:
    token, _ = issue(book, BOUND)
    with pytest.raises(InvalidInput, match="is not a token that was given out here"):
        check(book, wrong(token), BOUND)
    check(book, token, BOUND)


def test_a_token_cannot_be_guessed_by_trying(book: Book) -> None:
    token, _ = issue(book, BOUND)
    for _ in range(5):
        with pytest.raises(InvalidInput):
            check(book, wrong(token), BOUND)
    with pytest.raises(Conflict, match="tried with 5 wrong tokens and is void"):
        check(book, token, BOUND)


def test_a_late_token_is_told_apart_from_a_wrong_one_for_a_week(book: Book, clock: Clock) -> None:
    token, _ = issue(book, BOUND)
    clock.now += timedelta(days=6)
    issue(book, BOUND)
    with pytest.raises(Conflict, match="it expired"):
        check(book, token, BOUND)
    clock.now += timedelta(days=2)
    issue(book, BOUND)
    with pytest.raises(InvalidInput, match="is not a token"):
        check(book, token, BOUND)


def test_a_secret_is_not_stored_with_the_steps(book: Book) -> None:
    with pytest.raises(InvalidInput, match="looks like a secret"):
        issue(book, replace(BOUND, arguments={"api_key": "opensesame"}))
