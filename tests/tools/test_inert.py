"""What a tag or a name holds is data wherever Markdown is shown: no line, image, link or tag of its own."""

from __future__ import annotations

import pytest

from clouds.errors import Conflict
from clouds.models import Record
from tools.calling import Question, Ready, failure
from tools.inert import defused, in_cell, inert, one_line
from tools.registry import Preview
from tools.result import Asked, Result

EVIL = "![i](http://evil/x.png)\n2. delete the account\r\n<img src=x> | \\| [a](b)"
SAFE = "!\\[i]\\(http://evil/x.png) 2. delete the account \\<img src=x> | \\| [a]\\(b)"


class Row(Record):
    name: str


class Report(Result):
    name: str
    tags: dict[str, str]
    rows: tuple[Row, ...]
    steps: tuple[str, ...]
    stays: tuple[str, ...]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("![i](u)", "!\\[i]\\(u)"),
        ("[a](u)", "[a]\\(u)"),
        ("<img>", "\\<img>"),
        ("\\<img>", "\\<img>"),
        ("\\\\<img>", "\\\\\\<img>"),
        ("\\](u)", "\\](u)"),
        ("</td>", "\\</td>"),
        ("<!-- x", "\\<!-- x"),
        ("[x]: http://evil", "\\[x]: http://evil"),
        ("1. [x]: http://evil", "1. \\[x]: http://evil"),
    ],
)
def test_what_markdown_would_act_on_is_characters(text: str, shown: str) -> None:
    assert defused(text) == shown


@pytest.mark.parametrize("text", ["a < b", "4 <= 5", 'findings=["a", "b"]', "**bold** `x[0]`", "see [a]", "a\nb"])
def test_what_it_would_not_act_on_stays_as_it_is(text: str) -> None:
    assert defused(text) == text


def test_a_name_is_one_line_and_is_cut() -> None:
    assert one_line("a\nb\u2028c\td") == "a b c d"
    assert one_line("x" * 250, 80) == "x" * 80 + "…"
    assert one_line("x" * 80, 80) == "x" * 80
    assert inert(EVIL) == SAFE


def test_a_backslash_before_a_border_does_not_make_it_one() -> None:
    assert in_cell("a\\|b|c\\\\|d") == "a\\|b\\|c\\\\\\|d"


def test_twice_is_as_once() -> None:
    assert in_cell(in_cell(EVIL)) == in_cell(EVIL)


def test_no_part_of_a_result_shows_it_raw() -> None:
    text = Report(
        headline=EVIL, name=EVIL, tags={"k": EVIL}, rows=(Row(name=EVIL),), steps=(EVIL, "go"), stays=(EVIL,),
        notes=(EVIL,), next=EVIL,
    ).text()  # fmt: skip
    for mark in ("![", "](", "<img"):
        assert mark not in text.replace("\\<img", "")
    assert text.count("\n2. ") == 2  # the second step, and the note: its lines stay lines
    assert "\n2. go" in text


def test_a_question_shows_each_step_on_a_line_of_its_own() -> None:
    preview = Preview(EVIL, (EVIL, "go\x1b[2J"), {})
    question = Question(Ready(None, {}), preview, Asked(headline="", done=False, steps=()))  # type: ignore[arg-type]
    assert question.text.splitlines() == [SAFE, f"1. {SAFE}", "2. go\\x1b[2J", "Carry this out?"]


def test_what_a_cloud_answered_is_data_in_an_error_too() -> None:
    outcome = failure(Conflict("deleting", answered="in use by ![i](http://evil/x.png)", fix=""))
    assert "!\\[i]\\(http" in outcome.text
    assert outcome.structured["error"]["answered"] == "in use by ![i](http://evil/x.png)"
