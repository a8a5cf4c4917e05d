"""What a health check calls right: the reply holds the answer as a word, and says no more than that."""

from __future__ import annotations

from pathlib import Path

import pytest

from clouds import openai
from clouds.errors import Throttled, Unexpected, Unreachable
from tests.tools.test_starting import REF, Engine, running
from tools.context import Target
from tools.ledger import Book
from tools.progress import CallProgress
from tools.query import Health, check_health
from tools.settings import Settings


def checked(home: Path, monkeypatch: pytest.MonkeyPatch, **answers: str) -> Health:
    monkeypatch.setattr("tests.tools.test_starting.ANSWERS", answers)
    with Book(home) as book, running(Engine(looks=0, state="ready")) as target:
        return check_health(target, Settings.load({}, home), book, CallProgress())


def test_a_reply_that_holds_the_answer_is_right_and_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chatty = "I'm going to make a banana with a lemon. " + "And more. " * 40
    found = checked(tmp_path, monkeypatch, Continue="6, 7, 8", Complete="It is PARIS.", Repeat=chatty)
    assert found.headline == f"{REF} is healthy: 3 of 3 replies hold the answer, 3 answered."
    assert found.probes[2].reply.startswith("\"I'm going to make a banana with a lemon.")
    assert len(found.probes[2].reply) < 130
    assert "What else it says, and how well, is not judged here." in found.text()


def test_a_word_that_only_contains_the_answer_is_not_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = checked(tmp_path, monkeypatch, Continue="66666", Complete="Parisian", Repeat="banana")
    assert found.headline == f"{REF} is not healthy: 1 of 3 replies hold the answer, 3 answered."
    assert [probe.right for probe in found.probes] == [False, False, True]


def unanswered(home: Path, monkeypatch: pytest.MonkeyPatch, ref: str, *errors: Exception) -> Health:
    """A check of which each question is answered with the next of these errors."""
    left = iter(errors * 3 if len(errors) == 1 else errors)

    def chat(*_: object, **__: object) -> openai.Reply:
        error = next(left)
        if isinstance(error, StopIteration):
            return openai.Reply("6 Paris banana", seconds=0.1)
        raise error

    monkeypatch.setattr("tools.query.openai.chat", chat)
    with Book(home) as book:
        return check_health(Target(ref), Settings.load({}, home), book, CallProgress())


URL = "http://127.0.0.1:9/v1"
BOOM = Unexpected("a chat request", code="HTTP 500", answered="boom", fix="Read it.")
BUSY = Throttled("a chat request", code="HTTP 429", answered="slow down", retry_after=7, fix="Ask again after 7 s.")
GONE = Unreachable("a chat request", answered="refused", fix="Start it.")


def test_a_server_that_answers_with_errors_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = unanswered(tmp_path, monkeypatch, URL, BOOM)
    assert found.headline == f"{URL} is not healthy: it is there and answers HTTP 500."
    assert found.is_error
    assert found.next == "read the log of that server: modelrig did not start it and has none."
    assert "replies hold" not in found.text()


def test_a_server_that_is_asked_too_often_says_when(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = unanswered(tmp_path, monkeypatch, URL, BUSY)
    assert found.headline == f"{URL} is not healthy: it is there and answers HTTP 429."
    assert found.next.startswith("Ask again after 7 s.")


def test_what_cannot_be_reached_is_not_reachable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = unanswered(tmp_path, monkeypatch, URL, GONE)
    assert found.headline == f"{URL} is not reachable: no question was answered."
    assert found.is_error
    assert found.next == GONE.fix


def test_some_answers_and_an_error_are_both_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = unanswered(tmp_path, monkeypatch, URL, StopIteration(), StopIteration(), BOOM)
    assert found.headline == (
        f"{URL} is not healthy: 2 of 3 replies hold the answer, 2 answered; it is there and answers HTTP 500."
    )
    assert not found.is_error
