"""Every miss by its first cause, the sums per size, and an endpoint without a parser."""

import pytest

from clouds.errors import InvalidInput
from tools.measure.toolcalls.arms import COUNT, PYTHON, ROWS, Arm, Called
from tools.measure.toolcalls.counting import counting_questions
from tools.measure.toolcalls.grading import (
    Asked,
    SizeSummary,
    grade,
    said_number,
    summarize,
    without_parser,
    written_calls,
)

FIRST = counting_questions()[-1]
RIGHT, WRONG = '{"where": "id >= 10"}', '{"where": "id > 10"}'


def asked(arm: Arm, *sent: str, text: str = "Answer: 8", **more: object) -> Asked:
    calls = tuple(arm.call(FIRST, arm.tool, each) for each in sent)
    return Asked(FIRST, arm.name, calls, text, **more)


@pytest.mark.parametrize(
    ("answer", "miss"),
    [
        (asked(COUNT, RIGHT), None),
        (asked(COUNT, WRONG, RIGHT), None),
        (asked(COUNT, WRONG, text="Answer: 7"), "wrong filter"),
        (asked(COUNT, RIGHT, text="Answer: 1"), "misquoted"),
        (asked(ROWS, RIGHT, text="Answer: 9"), "miscounted"),
        (asked(ROWS, WRONG, text="Answer: 7"), "wrong filter"),
        (asked(ROWS, text="Answer: 7"), "no call"),
        (asked(ROWS, RIGHT, text="There are several."), "unreadable"),
        (asked(ROWS, RIGHT, text="10, 11, 12", finish="length"), "cut off"),
        (asked(ROWS, "no json", text="Answer: 7"), "wrong filter"),
        (asked(ROWS, RIGHT, text="", error="HTTP 500"), "error"),
        (asked(ROWS, RIGHT, error="HTTP 500"), "error"),
        (asked(PYTHON, '{"code": "print(8)"}'), None),
        (asked(PYTHON, text="Answer: 7"), "not used"),
        (asked(PYTHON, '{"code": "len(ids)"}', text="Answer: 7"), "no print"),
        (asked(PYTHON, '{"code": "print(7)"}', text="Answer: 7"), "wrong code"),
        (asked(PYTHON, '{"code": "print(8)"}', text="Answer: 7"), "misquoted"),
        (asked(PYTHON, '{"code": "print(8)"}', text="It printed."), "unreadable"),
    ],
)
def test_a_miss_has_the_first_cause_that_explains_it(answer: Asked, miss: str | None) -> None:
    found = grade(answer)
    assert (found.right, found.miss) == (miss is None, miss)


def test_a_right_number_without_a_call_is_right_and_its_filters_are_none() -> None:
    found = grade(asked(ROWS))
    assert (found.right, found.filters) == (True, ())


def test_filters_are_right_by_what_they_select() -> None:
    found = grade(asked(COUNT, '{"where": "id > 9"}', WRONG, '{"where": "ten"}'))
    assert found.filters == ("id > 9", "id > 10", "ten")
    assert found.filters_right == (True, False, None)


def test_a_number_is_read_after_answer_or_when_it_is_the_only_one() -> None:
    rows = [
        ("Answer: 8", 8),
        ("There are 8 ids, 8.", 8),
        ("There are 8 ids of 11.", None),
        ("Answer: eight", None),
        ("", None),
        ("1,004", 1004),
        ("v2 has 8", 8),
    ]
    assert [(text, said_number(text)) for text, _ in rows] == rows


def test_a_mean_is_right_to_its_two_decimals() -> None:
    question = counting_questions("mean")[0]
    for said, right in ((question.answer, True), (question.answer + 0.004, True), (question.answer + 0.02, False)):
        assert grade(Asked(question, "rows", (), f"Answer: {said}")).right == right


def test_sums_are_by_arm_and_size_with_tokens_and_cost() -> None:
    graded = [
        grade(asked(ROWS, RIGHT, output_tokens=100)),
        grade(asked(ROWS, RIGHT, text="Answer: 9", output_tokens=300)),
        grade(asked(ROWS, WRONG, text="Answer: 7", output_tokens=200)),
        grade(asked(COUNT, RIGHT)),
    ]
    assert summarize(graded, usd_per_million_output=0.5) == (
        SizeSummary(
            arm="rows",
            size=11,
            n=3,
            right=1,
            misses={"miscounted": 1, "wrong filter": 1},
            wrong_filters=1,
            filters=3,
            output_tokens=200,
            usd_per_question=0.0001,
        ),
        SizeSummary(
            arm="count",
            size=11,
            n=1,
            right=1,
            misses={},
            wrong_filters=0,
            filters=1,
            output_tokens=None,
            usd_per_question=None,
        ),
    )


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([Asked(FIRST, "rows", (), "", error="HTTP 400: auto tool choice requires a parser")], "refuses tools"),
        ([Asked(FIRST, "rows", (), '<|tool_call>call:list_ids{where:"id >= 10"}')], "1 of 1 replies hold a tool call"),
        ([Asked(FIRST, "rows", (), 'list_ids({"where": "id >= 10"})')], "no parser for this model"),
        ([Asked(FIRST, "rows", (), "Answer: 8")], ""),
        ([Asked(FIRST, "rows", (), "I would use list_ids for that. Answer: 8")], ""),
        ([Asked(FIRST, "rows", (), "", error="HTTP 500: out of memory")], ""),
        ([asked(ROWS, RIGHT), Asked(FIRST, "rows", (), "list_ids(...)")], ""),
    ],
)
def test_an_endpoint_without_a_tool_parser_is_recognised_and_named(answers: list[Asked], words: str) -> None:
    found = without_parser(answers, "list_ids")
    assert words in found
    assert bool(found) == bool(words)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "list_ids", "arguments": {"where": "id > 3"}}',
        '```json\n{"tool":"list_ids","parameters":{"where":"id>3"}}\n```',
        "[list_ids(where='id > 3')]",
        "list_ids()",
        'list_ids("id > 3")',
        '<function=list_ids>{"where": "id > 3"}</function>',
        "<list_ids>\n<where>id > 3</where>\n</list_ids>",
        'Action: list_ids\nAction Input: {"where": "id > 3"}',
        '[TOOL_CALLS] [{"name": "other"}]',
        "functions.list_ids:0",
    ],
)
def test_a_call_is_known_in_every_way_that_models_write_one(text: str) -> None:
    assert written_calls([text, "list_ids says 4"], "list_ids") == 1


@pytest.mark.parametrize(
    "text", ["list_ids (which lists them) says 4", "Use list_ids: 4", '{"where": "id > 3"}', "my_list_ids({})", ""]
)
def test_words_about_a_tool_are_no_call(text: str) -> None:
    assert written_calls([text], "list_ids") == 0


def test_nothing_asked_cannot_be_judged() -> None:
    with pytest.raises(InvalidInput):
        without_parser([], "list_ids")
    assert isinstance(asked(ROWS, RIGHT).calls[0], Called)
