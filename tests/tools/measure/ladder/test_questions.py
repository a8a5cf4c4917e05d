"""Question files in both forms, packaged sets, and the questions that ship."""

import json
from collections import Counter
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import pytest

from clouds.errors import InvalidInput, NotInstalled
from tools.measure.ladder.grader import number, same
from tools.measure.ladder.own import EXAMPLES, own_questions
from tools.measure.ladder.questions import PACKAGED, Question, packaged, read_questions, spread

PLAIN = '{"id": "a", "question": "1 + 1?", "answer": 2, "kind": "sum"}\n'
GSM8K = '{"question": "How many?", "answer": "2 + 2 = <<2+2=4>>4\\n#### 1,004"}\n'


def test_the_plain_and_the_gsm8k_form_are_read(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(PLAIN + "\n" + GSM8K)
    found = read_questions(path)
    assert found.questions == (Question("a", "1 + 1?", "2", "sum"), Question("line-3", "How many?", "1,004", ""))
    assert found.sha256 == sha256(path.read_bytes()).hexdigest()
    assert read_questions(path, limit=1).questions == found.questions[:1]
    assert read_questions(path, expected_sha256=found.sha256) == found


def test_only_a_line_feed_ends_a_line_and_names_are_one_line_each(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    line = {"id": "a\nb", "kind": "k\x1b[31m" + "y" * 99, "question": "one\u2028two\x85\x0bthree", "answer": "1"}
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(line, ensure_ascii=False).encode() + b"\r\n" + GSM8K.encode())
    first, second = read_questions(path).questions
    assert first == Question("a b", "one\u2028two\x85\x0bthree", "1", "k [31m" + "y" * 54)
    assert second.id == "line-2"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("no json", "line 1 is not JSON"),
        (PLAIN + "[1]", "line 2 is no object"),
        ('{"question": "?"}', "line 1 has no question or no answer"),
        ('{"question": "?", "answer": true}', "line 1 has no question or no answer"),
        ('{"question": "?", "answer": "#### many"}', "line 1 has no number after ####"),
        (PLAIN + PLAIN, "the id 'a' is there twice"),
        ('{"id": "a#2", "question": "?", "answer": 1}', "line 1 has an id with #"),
        ("", "there is none"),
    ],
)
def test_a_file_with_a_wrong_line_is_refused_with_its_number(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=problem):
        read_questions(path)


def test_questions_that_changed_since_the_plan_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(PLAIN)
    with pytest.raises(InvalidInput, match="sha256 is"):
        read_questions(path, expected_sha256="0" * 64)
    with pytest.raises(InvalidInput, match="is no file"):
        read_questions(tmp_path)


def test_a_packaged_set_is_read_where_its_package_is_installed_and_named_where_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, file = PACKAGED["gsm8k-100"]
    if find_spec(package) is None:
        with pytest.raises(NotInstalled, match="gsm8k-100") as caught:
            packaged("gsm8k-100")
        assert package in caught.value.fix
    path = tmp_path / package / file
    path.parent.mkdir(parents=True)
    (tmp_path / package / "__init__.py").write_text("")
    path.write_text(json.dumps({"id": "gsm8k-test-0013", "prompt": "How many?", "expected": "18"}) + "\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert packaged("gsm8k-100").questions == (Question("gsm8k-test-0013", "How many?", "18"),)
    with pytest.raises(InvalidInput, match="is not known"):
        packaged("mmlu")


def test_the_questions_that_ship_are_always_the_same() -> None:
    found = own_questions()
    assert found.sha256 == "854e4882a54ec4728dc1ba0e5e3e1ccac829e5c649ec3530806c1db5eb8104d1"
    assert len({each.id for each in found.questions}) == len(found.questions) == 72
    assert len({each.text for each in found.questions}) == 72
    assert {each.kind for each in found.questions if number(each.answer) is None} == {
        "capital",
        "opposite",
        "plural",
        "month",
    }


def test_sums_and_products_that_ship_are_right() -> None:
    for each in own_questions().questions:
        if each.kind in {"sum", "product"}:
            first, sign, second = each.text.removeprefix("What is ").rstrip("?").split()
            assert same(each.answer, str(int(first) + int(second) if sign == "+" else int(first) * int(second)))


def test_no_example_gives_an_answer_away() -> None:
    asked = {each.text for each in own_questions().questions}
    assert not any(question in text for text, _ in EXAMPLES for question in asked)


def test_a_part_of_our_own_set_has_as_many_of_every_kind_in_the_order_of_the_set() -> None:
    whole = own_questions().questions
    part = spread(whole, 12)
    kinds = Counter(each.kind for each in part)
    assert set(kinds) == {each.kind for each in whole}
    assert max(kinds.values()) - min(kinds.values()) <= 1
    assert [each for each in whole if each in part] == list(part)
    assert (spread(whole, 1_000), len(spread(whole, 1))) == (whole, 1)
