from hashlib import sha256
from pathlib import Path

import pytest

from clouds.errors import InvalidInput
from tools.measure.decisions.items import Item, own_items, read_items

LINE = '{"id": "a", "question": "Is it?", "options": ["yes", "no"], "answer": "no", "task": "irony", "group": "p1"}\n'


def test_items_are_read_with_their_hash(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(LINE + '\n{"question": "Which?", "options": ["x", "y", "z"], "answer": 1}\n')
    found = read_items(path)
    assert found.items == (
        Item("a", "irony", "Is it?", ("yes", "no"), 1, "p1"),
        Item("line-3", "all", "Which?", ("x", "y", "z"), 1),
    )
    assert found.sha256 == sha256(path.read_bytes()).hexdigest()
    assert len(read_items(path, limit=1).items) == 1
    with pytest.raises(InvalidInput, match="sha256 is"):
        read_items(path, expected_sha256="0" * 64)


def test_an_answer_that_is_a_number_among_the_options_is_that_option(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text('{"question": "Which?", "options": [3, 1, 2], "answer": 1}')
    assert read_items(path).items[0].truth == 1


def test_options_and_names_are_one_line_each_whatever_the_file_has(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(
        '\ufeff{"task": "t\\u001b\\n<b>", "question": "a\u2028b", "options": ["x\\nB. y", "y"], "answer": "x\\nB. y"}'
    )
    assert read_items(path).items == (Item("line-1", "t <b>", "a\u2028b", ("x B. y", "y"), 0),)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[]", "no question, options and answer"),
        ('{"question": "?", "options": ["a"], "answer": "a"}', "has 1 options"),
        ('{"question": "?", "options": ["a", "a"], "answer": "a"}', "all different"),
        ('{"question": "?", "options": ["a", "b"], "answer": "c"}', "none of its options"),
        ('{"question": "?", "options": ["a", "b"], "answer": 2}', "none of its options"),
        (LINE + LINE, "an id is there twice"),
        ('{"question": "?", "options": "ab", "answer": "a"}', "options that are no list"),
        ('{"question": "?", "options": ["a\\nb", "a b"], "answer": 1}', "all different"),
        ('{"id": "a#b", "question": "?", "options": ["a", "b"], "answer": 1}', "an id with #"),
        ("", "there is none"),
    ],
)
def test_a_wrong_line_is_refused(line: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(line)
    with pytest.raises(InvalidInput, match=problem):
        read_items(path)


def test_a_prompt_letters_the_options_and_can_turn_them_round() -> None:
    item = Item("a", "t", "Which?", ("x", "y", "z"), 2)
    assert item.labels == ("A", "B", "C")
    assert "A. x\nB. y\nC. z" in item.prompt()
    assert "A. z\nB. y\nC. x" in item.prompt(reversed_order=True)


def test_the_items_that_ship_are_always_the_same_and_balanced() -> None:
    found = own_items()
    assert len(found.items) == 80
    assert found == own_items()
    for item in found.items:
        numbers = [int(word.strip("?")) for word in item.question.split() if word.strip("?").isdigit()]
        if numbers:
            assert item.truth == int(numbers[0] < numbers[1])
        else:
            assert item.options[item.truth] == max(item.options, key=int)
    shares = [sum(item.truth == 0 for item in found.items if item.task == task) for task in ("larger of two",)]
    assert 14 <= shares[0] <= 26
