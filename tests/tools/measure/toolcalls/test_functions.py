"""Single function calls: our own, a small file in BFCL's form, and what one call must be."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import NotInstalled
from tools.measure.toolcalls.functions import (
    ANSWERS,
    PACKAGE,
    QUESTIONS,
    FunctionQuestion,
    bfcl_simple,
    grade_call,
    own_functions,
)

ASKED = FunctionQuestion(
    "a",
    "?",
    {},
    "math.area",
    {
        "base": [10],
        "unit": ["metres", ""],
        "kind": ["right-angled"],
        "at": [[1, 2.0]],
        "to": [{"city": ["Rome", "Roma"]}],
    },
)
GOOD: dict[str, Any] = {"base": 10, "kind": "Right angled", "at": [1.0, 2], "to": {"city": "roma"}}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, ""),
        ({"unit": "Metres"}, ""),
        ({"base": 10.0}, ""),
        ({"unit": "feet"}, 'unit is "feet"'),
        ({"base": "10"}, 'base is "10"'),
        ({"base": True}, "base is true"),
        ({"base": None}, "base is null"),
        ({"at": [2, 1]}, "at is [2, 1]"),
        ({"at": [1]}, "at is [1]"),
        ({"to": {"city": "Paris"}}, 'to is {"city": "Paris"}'),
        ({"to": {}}, "to is {}"),
        ({"colour": "red"}, "the argument 'colour' is not one of its own"),
    ],
)
def test_arguments_are_right_when_each_is_among_the_accepted_values(change: dict[str, Any], why: str) -> None:
    found = grade_call(ASKED, [("math_area", json.dumps({**GOOD, **change}))])
    assert (found.right, found.why) == (not why, why)


def test_exactly_one_call_of_the_right_function_is_right() -> None:
    rows = [
        ([], "0 calls instead of one"),
        ([("math_area", "{}"), ("math_area", "{}")], "2 calls instead of one"),
        ([("volume", "{}")], "called 'volume'"),
        ([("math_area", "no json")], "its arguments are no JSON object"),
        ([("math_area", "[1]")], "its arguments are no JSON object"),
        ([("math_area", json.dumps({"base": 10, "kind": "right-angled", "at": [1, 2]}))], "to is missing"),
    ]
    assert [(calls, grade_call(ASKED, calls).why) for calls, _ in rows] == rows


def test_our_own_requests_are_always_the_same_and_their_true_calls_are_right() -> None:
    found = own_functions()
    assert found == own_functions()
    assert len(found.questions) == 24
    for question in found.questions:
        arguments = {key: values[0] for key, values in question.accepted.items()}
        assert grade_call(question, [(question.name, json.dumps(arguments))]).right
        assert question.schema["function"]["parameters"]["required"] == list(question.accepted)
        assert all(str(value) in question.text for value in arguments.values())


def test_bfcl_is_read_where_its_package_is_installed_and_named_where_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if find_spec(PACKAGE) is None:
        with pytest.raises(NotInstalled) as caught:
            bfcl_simple()
        assert "bfcl-eval" in caught.value.fix
    entry = {
        "id": "simple_python_1",
        "question": [[{"role": "user", "content": "Compute it."}]],
        "function": [
            {
                "name": "math.factorial",
                "description": "Factorial.",
                "parameters": {"type": "dict", "properties": {"number": {"type": "float"}}, "required": ["number"]},
            }
        ],
    }
    truth = {"id": "simple_python_1", "ground_truth": [{"math.factorial": {"number": [5]}}]}
    for name, value in ((QUESTIONS, entry), (ANSWERS, truth)):
        path = tmp_path / PACKAGE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value) + "\n")
    (tmp_path / PACKAGE / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    (question,) = bfcl_simple().questions
    assert question.text == "Compute it."
    assert question.schema["function"] == {
        "name": "math_factorial",
        "description": "Factorial.",
        "parameters": {"type": "object", "properties": {"number": {"type": "number"}}, "required": ["number"]},
    }
    assert grade_call(question, [("math_factorial", '{"number": 5}')]).right
