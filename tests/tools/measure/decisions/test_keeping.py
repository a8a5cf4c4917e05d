"""A decision goes into a record and comes back as it was, whatever its question looks like."""

from __future__ import annotations

from typing import Any

import pytest

from tools.measure.client import Reply
from tools.measure.decisions.items import Item as Question
from tools.measure.decisions.keeping import decisions_of, item_of
from tools.measure.decisions.reading import from_top
from tools.measure.decisions.summary import Decision

PASSAGE = "Read:\n\nA. one\nB. two\nC. three\n\nWhich. is it?"


@pytest.mark.parametrize("order", ["forward", "reversed"])
@pytest.mark.parametrize("options", [("yes", "no"), ("a. b", "", "D. d")])
@pytest.mark.parametrize("text", ["Is it?", PASSAGE])
def test_a_decision_comes_back_with_its_options_and_its_read(text: str, options: tuple[str, ...], order: str) -> None:
    question = Question("q", "t", text, options, 1, "g")
    read = from_top(question.labels, [("A", -0.2), ("x", -3.0)])
    made = item_of(Decision(question, read, 0.5), Reply("q", status=200), order, "top 2")
    (found,) = decisions_of([made], order)
    assert found.item.options == (options if order == "forward" else options[::-1])
    assert (found.item.id, found.item.task, found.item.group) == ("q", "t", "g")
    assert found.item.options[found.item.truth] == options[1]
    assert (found.read, found.seconds, found.error) == (read, 0.5, "")


def test_a_record_whose_prompt_has_no_lettered_lines_is_read_all_the_same() -> None:
    question = Question("q", "t", "?", ("yes", "no"), 1)
    made = item_of(Decision(question, from_top(("A", "B"), [("B", -0.2)]), 0.5), Reply("q"), "forward", "top 2")
    (found,) = decisions_of([made.model_copy(update={"question": "Yes or no?"})])
    assert (found.item.options, found.item.truth, found.right) == (("A", "B"), 1, True)


def test_a_decision_that_failed_comes_back_as_failed() -> None:
    failed: Any = Reply("q", kind="http_5xx", status=500)
    made = item_of(Decision(Question("q", "t", "?", ("a", "b"), 0), None, None, "500"), failed, "forward", "exact")
    (found,) = decisions_of([made])
    assert (found.read, found.error, found.right) == (None, "http_5xx", False)
