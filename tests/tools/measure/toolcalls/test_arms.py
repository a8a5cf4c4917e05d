import json

import pytest

from tools.measure.toolcalls.arms import ARMS, COUNT, PYTHON, ROWS, Called
from tools.measure.toolcalls.counting import counting_questions

FIRST = counting_questions()[-1]


def test_the_ids_are_in_the_prompt_of_the_python_arm_only() -> None:
    assert [str(list(FIRST.ids)) in arm.prompt(FIRST) for arm in ARMS] == [False, False, True]
    assert all(arm.tool in arm.prompt(FIRST) for arm in ARMS)


def test_the_counting_tool_returns_the_count_and_echoes_the_filter() -> None:
    found = COUNT.call(FIRST, "count_ids", '{"where": "id > 9"}')
    assert json.loads(found.returned) == {
        "where": "id > 9", "count": 8, "min": 10, "max": 23, "sum": 132, "mean": 16.5
    }  # fmt: skip
    assert (found.selected_right, found.value, found.failed) == (True, 8, False)


def test_the_rows_tool_returns_the_ids_and_no_count() -> None:
    found = ROWS.call(FIRST, "list_ids", '{"where": "id > 10"}')
    assert json.loads(found.returned) == [20, 21, 22, 23, 11, 12, 13]
    assert (found.selected_right, found.value) == (False, None)


def test_a_filter_that_selects_nothing_is_a_count_of_zero() -> None:
    found = COUNT.call(FIRST, "count_ids", '{"where": "id > 99"}')
    assert json.loads(found.returned) == {"where": "id > 99", "count": 0}


@pytest.mark.parametrize(("what", "value"), [("sum", 132.0), ("mean", 16.5), ("largest", 23.0)])
def test_the_counting_tool_has_the_number_for_the_other_questions_too(what: str, value: float) -> None:
    question = counting_questions(what)[-1]
    assert COUNT.call(question, "count_ids", '{"where": "id >= 10"}').value == value


def test_python_is_answered_with_what_it_prints() -> None:
    found = PYTHON.call(FIRST, "run_python", json.dumps({"code": "print(sum(i >= 10 for i in ids))"}))
    assert (found.returned, found.value, found.failed) == ("8\n", 8, False)
    silent = PYTHON.call(FIRST, "run_python", json.dumps({"code": "sum(i >= 10 for i in ids)"}))
    assert (silent.returned, silent.value) == ("(nothing was printed)", None)
    assert PYTHON.call(FIRST, "run_python", json.dumps({"code": "1/0"})).failed


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("count_ids", "no json"),
        ("count_ids", "[]"),
        ("count_ids", "{}"),
        ("count_ids", '{"where": 3}'),
        ("drop_ids", '{"where": ""}'),
        ("count_ids", ""),
    ],
)
def test_a_call_that_cannot_be_read_is_told_to_the_model(name: str, arguments: str) -> None:
    found = COUNT.call(FIRST, name, arguments)
    assert found == Called(name, arguments, "error: call count_ids with one string, where", None, failed=True)


def test_a_filter_that_cannot_be_read_is_told_to_the_model() -> None:
    found = COUNT.call(FIRST, "count_ids", '{"where": "id >= ten"}')
    assert found.failed
    assert found.returned.startswith("error: `where`: 'ten' is neither id nor a number")


def test_a_tool_is_sent_as_a_function() -> None:
    assert ROWS.schema["function"]["name"] == "list_ids"
    assert ROWS.schema["function"]["parameters"]["required"] == ["where"]
