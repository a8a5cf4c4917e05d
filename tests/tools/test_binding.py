from __future__ import annotations

import json
import os
import re
from typing import Annotated, Literal

import pytest
from pydantic import Field

from clouds.errors import InvalidInput
from tools import TOOLS, binding
from tools import tool as tool_named
from tools.binding import MULTILINE
from tools.registry import Effect, Tool
from tools.result import Result


def sample(
    text: Annotated[str, MULTILINE, Field(max_length=50)],
    count: Annotated[int, Field(ge=1, le=9)] = 1,
    kind: Literal["decode", "load"] = "decode",
    names: tuple[str, ...] = (),
    settings: dict[str, str | int | float | bool] = {},  # noqa: B006
    plain: str = "",
    sizes: tuple[Annotated[int, Field(ge=1)], ...] = (),
    side: Literal["", "left", "right"] = "",
    shape: Annotated[str, Field(pattern="^[a-z]{0,9}$")] = "",
) -> Result:
    """A sample."""
    return Result(headline=f"{text}{count}{kind}{names}{settings}{plain}{sizes}{side}{shape}")


SAMPLE = Tool(sample, title="Sample", effect=Effect.READ, aliases={"words": "text"})


def test_good_arguments_come_out_as_the_function_takes_them() -> None:
    assert binding.validate(SAMPLE, {"text": "a", "count": 2, "names": ["x"], "settings": {"slots": 4}}) == {
        "text": "a",
        "count": 2,
        "kind": "decode",
        "names": ("x",),
        "settings": {"slots": 4},
        "plain": "",
        "sizes": (),
        "side": "",
        "shape": "",
    }


def test_an_alias_is_taken_for_its_argument() -> None:
    assert binding.validate(SAMPLE, {"words": "a"})["text"] == "a"


@pytest.mark.parametrize(("given", "names"), [("a, b", ("a", "b")), ('["a","b"]', ("a", "b")), ("a", ("a",))])
def test_a_list_may_arrive_as_json_or_as_words_with_commas(given: str, names: tuple[str, ...]) -> None:
    assert binding.validate(SAMPLE, {"text": "t", "names": given})["names"] == names


def test_an_object_may_arrive_as_json() -> None:
    assert binding.validate(SAMPLE, {"text": "t", "settings": '{"slots": 2}'})["settings"] == {"slots": 2}


REFUSED = [
    ({}, "`text`: is required"),
    ({"text": "a", "cuont": 2}, r"`cuont`: is not an argument; did you mean `count`\?"),
    ({"text": "a", "kind": "decoded"}, r"`kind`: 'decoded' is not known. Did you mean decode\? Allowed: decode, load"),
    ({"text": "a", "count": 0}, "`count`: takes from 1"),
    ({"text": "a", "count": "many"}, "`count`: takes a whole number from 1"),
    ({"text": "a", "names": 5}, "`names`: "),
    ({"text": "a", "settings": "slots"}, "`settings`: "),
    ({"text": "x" * 51}, "`text`: "),
    ({"text": "a", "plain": "x" * 1_000_000}, r"`plain`: has 1,000,000 characters"),
    ({"text": "a", "plain": "a\x00b"}, r"`plain`: holds the control character U\+0000"),
    ({"text": "a", "plain": "a\nb"}, r"`plain`: holds the control character U\+000A"),
    ({"text": "a\x1b[2J"}, r"`text`: holds the control character U\+001B"),
    ({"text": "a", "names": ["a\x07"]}, r"`names\[0\]`: holds the control character"),
    ({"text": "a", "settings": {"x\x07": 1}}, "`settings.x"),
    ({"text": None}, r"`text`: takes a text, not null$"),
    ({"text": "a", "count": True}, r"`count`: takes a number from 1 to 9, not true or false$"),
    ({"text": "a", "count": "true"}, r"`count`: takes a number from 1 to 9, not true or false$"),
    ({"text": "a", "sizes": [1, False]}, r"`sizes`: takes a number, not true or false$"),
    ({"text": "a", "side": "up"}, r"`side`: 'up' is not known. Allowed: left, right$"),
    (
        {"text": "a", "settings": {"slots": {"a": 1}, "threads": None}},
        r"`settings.slots`: takes {0}, not \{{'a': 1\}}; `settings.threads`: takes {0}, not null$".format(
            "a text, a number, or true or false"
        ),
    ),
    ({"text": "a", "shape": "{0}$(rm)"}, r"`shape`: takes what matches \^\[a-z\]\{0,9\}\$, not '\{0\}\$\(rm\)'"),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED)
def test_a_wrong_argument_is_refused_by_name_in_our_words(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as caught:
        binding.validate(SAMPLE, arguments)
    assert len(str(caught.value)) < 500
    assert "pydantic" not in str(caught.value)


NAMED = [
    (name, {"cloud": "local", "name": given}, "`name`: takes at most 50 of a-z, 0-9 and -, no - at an end, not")
    for name in ("plan_deployment", "deploy_endpoint")
    for given in ("../../etc", "$(reboot)", "a;b", "`id`", "-a", "A", "a b", "{0,48}", "x" * 51)
] + [
    ("check_quota", {"regions": [given]}, "`regions.0`: takes only letters, digits and . _ -, not")
    for given in ("eu west", "$(id)", "a/b", "{0}")
]


def test_a_name_that_a_shell_or_a_path_would_read_is_refused_in_our_words() -> None:
    for tool, arguments, words in NAMED:
        with pytest.raises(InvalidInput) as caught:
            binding.validate(tool_named(tool), arguments)
        assert words in str(caught.value), (tool, arguments)
        assert "pattern" not in str(caught.value), (tool, arguments)


HOSTILE: tuple[object, ...] = (
    "", "x" * 1_000_000, "a\x00b", "\x1b[2J", "\ud800", "../../etc/passwd", "/etc/passwd", "$(id)", "`id`", "a;b|c",
    "{0}", "{", "%s", "'\"", "null", "[", "[[[[", '{"a":', "1e999", "NaN", "-1", None, -1, 0, 10**400, 1e308,
    float("nan"), float("inf"), True, [], [None], [[]], ["x" * 100_000], {}, {"a": {"b": []}}, {"\x00": 1},
)  # fmt: skip


def test_no_argument_of_any_tool_breaks_the_reading_of_arguments() -> None:
    """Each is taken or refused by name; a fault of ours would be another exception.

    An argument that several tools take alike is tried with one of them, and with each with MODELRIG_ALL=1.
    """
    tried: set[str] = set()
    for tool in TOOLS:
        fields = binding.arguments_model(tool).model_fields
        for name in (*fields, "no_such"):
            alike = f"{name} {fields.get(name)!r}"
            if alike in tried and "MODELRIG_ALL" not in os.environ:
                continue
            tried.add(alike)
            for value in HOSTILE:
                try:
                    binding.validate(tool, {name: value})
                except InvalidInput as error:
                    assert len(str(error)) < 1_500, (tool.name, name, str(value)[:40])  # noqa: PT017 - both are right
                except Exception as fault:
                    fault.add_note(f"{tool.name}, {name}={str(value)[:40]!r}")
                    raise


def test_every_pattern_of_an_argument_has_words() -> None:
    shown = json.dumps([binding.input_schema(tool, ("local",)) for tool in TOOLS])
    patterns = set(re.findall(r'"pattern": ("(?:[^"\\\\]|\\\\.)*")', shown))
    assert {json.loads(each) for each in patterns} == set(binding.FORMS)


def test_every_wrong_argument_is_named_at_once() -> None:
    with pytest.raises(InvalidInput) as caught:
        binding.validate(SAMPLE, {"count": 0, "kind": "x", "other": 1})
    assert all(f"`{name}`" in str(caught.value) for name in ("text", "count", "kind", "other"))


def test_text_that_may_hold_lines_keeps_them_and_letters_of_any_script() -> None:
    assert binding.validate(SAMPLE, {"text": "ä\n\t漢字 😀"})["text"] == "ä\n\t漢字 😀"


def test_the_schema_is_plain_and_lean() -> None:
    assert binding.input_schema(SAMPLE, ("local",)) == {
        "type": "object",
        "properties": {
            "text": {"type": "string", "maxLength": 50},
            "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 1},
            "kind": {"type": "string", "enum": ["decode", "load"], "default": "decode"},
            "names": {"type": "array", "items": {"type": "string"}},
            "settings": {"type": "object", "additionalProperties": {}},
            "plain": {"type": "string"},
            "sizes": {"type": "array", "items": {"type": "integer", "minimum": 1}},
            "side": {"type": "string", "enum": ["", "left", "right"]},
            "shape": {"type": "string", "pattern": "^[a-z]{0,9}$"},
        },
        "required": ["text"],
        "additionalProperties": False,
    }
