"""What a health check calls right: the reply holds the answer as a word, and says no more than that."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.test_starting import REF, Engine, running
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
