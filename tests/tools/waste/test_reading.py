from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clouds.models import Scope
from clouds.models.waste import Detail, Listing, Metric, Question
from tools.waste.reading import Ask, Box, fill, odd_words
from tools.waste.rows import extract

HERE = Scope("north", "42")
LIST = Listing("toy", "ListDomains", "pages[].domains")
PAIRED = Detail(
    LIST, "toy", "DescribeDomains", lambda rows, _at: {"ids": [row["id"] for row in rows]}, rows="domains",
    batch=10, pair=(lambda row: row["id"], lambda row: row["id"]),
)  # fmt: skip
TAGS = Detail(
    LIST, "toy", "ListTags", lambda rows, _at: {"ids": [row["id"] for row in rows]}, rows="tags",
    batch=10, pair=(lambda row: row["id"], lambda row: row["of"]), late=True,
)  # fmt: skip
ONE, TWO = {"id": "one"}, {"id": "two"}


@pytest.mark.parametrize("odd", [None, "x", 3, {}, []])
def test_a_row_of_a_batch_that_says_not_whose_it_is_costs_the_others_nothing_and_is_noted(odd: Any) -> None:
    box = Box(PAIRED, HERE)
    fill(box, Ask({}, (ONE, TWO)), {"domains": [odd, {"id": "two", "state": "up"}]}, None)
    assert box.given == {id(ONE): [], id(TWO): [{"id": "two", "state": "up"}]}
    assert [call for call, _ in box.partly] == ["toy.DescribeDomains"]


def test_a_batch_in_which_every_row_is_in_order_is_whole() -> None:
    box = Box(PAIRED, HERE)
    fill(box, Ask({}, (ONE,)), {"domains": [{"id": "one"}]}, None)
    assert box.partly == []


def test_tags_that_a_batch_leaves_out_are_unread_and_not_none() -> None:
    box = Box(TAGS, HERE)
    fill(box, Ask({}, (ONE, TWO)), {"tags": [{"of": "one", "list": []}]}, None)
    assert list(box.given) == [id(ONE)]
    assert list(box.failed) == [id(TWO)]


@pytest.mark.parametrize("answer", [{}, {"domains": []}, {"domains": [{"id": "one", "state": "up"}]}])
def test_a_description_that_an_answer_leaves_out_is_unread_and_not_none(answer: dict[str, Any]) -> None:
    box = Box(replace(PAIRED, each=True), HERE)
    fill(box, Ask({}, (ONE, TWO)), answer, None)
    told = {id(ONE)} if answer.get("domains") else set()
    assert (set(box.given), set(box.failed)) == (told, {id(ONE), id(TWO)} - told)


@pytest.mark.parametrize(("each", "failed"), [(True, [id(ONE)]), (False, [])])
def test_what_is_described_one_by_one_and_is_not_in_the_answer_is_unread(each: bool, failed: list[int]) -> None:
    box = Box(replace(PAIRED, batch=1, pair=None, each=each), HERE)
    fill(box, Ask({}, (ONE,)), {}, None)
    assert list(box.failed) == failed


@pytest.mark.parametrize("odd", [None, "x", 3, []])
def test_what_should_hold_rows_and_cannot_makes_a_listing_incomplete(odd: Any) -> None:
    box = Box(LIST, HERE)
    fill(box, Ask({}), {"pages": [odd, {"domains": [ONE]}]}, None)
    assert box.rows == [ONE]
    assert [call for call, _ in box.partly] == ["toy.ListDomains"]


def test_null_in_place_of_rows_is_unread_and_not_none() -> None:
    for answer in ({"pages": None}, {"pages": [{"domains": None}]}):
        box = Box(LIST, HERE)
        fill(box, Ask({}), answer, None)
        assert [call for call, _ in box.partly] == ["toy.ListDomains"]


def test_a_page_without_rows_and_an_empty_answer_are_whole() -> None:
    for answer in ({"pages": [{}, {"domains": []}]}, {}, None):
        box = Box(LIST, HERE)
        fill(box, Ask({}), answer, None)
        assert (box.rows, box.partly) == ([], [])


@pytest.mark.parametrize("points", [lambda *_: [None], lambda *_: None, lambda answer, _: answer["absent"]])
def test_usage_that_cannot_be_matched_with_its_questions_is_unread(points: Any) -> None:
    read = Metric("use", LIST, 7, "zero", "toy", "Read", ask=lambda *_: (), points=points)
    box = Box(read, HERE)
    fill(box, Ask({}, (ONE, TWO), Question({}, (0, 1))), {}, None)
    assert box.values == {}
    assert set(box.failed) == {id(ONE), id(TWO)}


def test_rows_are_found_along_a_path() -> None:
    answer = {"items": {"a": {"disks": [1, 2]}, "b": {"warning": "none"}, "c": {"disks": [3]}}}
    assert extract(answer, "items.*.disks") == [1, 2, 3]
    assert extract({"Reservations": [{"Instances": [4]}, {}]}, "Reservations[].Instances[]") == [4]
    assert extract([5], "") == [[5]]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (KeyError("LaunchTime"), "no LaunchTime"),
        (KeyError("a name <from> outside"), "KeyError"),
        (KeyError("x" * 61), "KeyError"),
        (KeyError(3), "KeyError"),
        (KeyError(), "KeyError"),
        (TypeError("LaunchTime"), "TypeError"),
    ],
)
def test_what_an_odd_row_lacks_is_named_where_it_is_a_field(error: Exception, words: str) -> None:
    assert odd_words(error) == words
