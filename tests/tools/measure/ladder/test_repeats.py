from collections.abc import Callable

import pytest

from clouds.errors import InvalidInput
from tools.measure.ladder.records import Answer, Rung
from tools.measure.ladder.repeats import Repeat, repeat, repeat_note


def run(name: str, *answers: tuple[str, str, bool]) -> Rung:
    made = (Answer(id=i, expected="1", said=text[-1:], right=right, text=text) for i, text, right in answers)
    return Rung(name=name, answers=tuple(made))


def test_text_answer_and_grade_are_compared_apart_over_what_both_have() -> None:
    first = run("Q4", ("a", "so 1", True), ("b", "so 1", True), ("c", "so 1", True), ("d", "so 1", True))
    second = run("Q4", ("a", "so 1", True), ("b", "well, 1", True), ("c", "so 2", False), ("e", "so 1", True))
    assert repeat(first, second) == Repeat(
        rung="Q4",
        n=3,
        different_text=2,
        different_answer=1,
        different_grade=1,
        right_first=3,
        right_second=2,
        not_shared=2,
    )


def test_fifty_questions_with_the_same_text_are_identical(make_rung: Callable[..., Rung]) -> None:
    ids = [str(index) for index in range(50)]
    found = repeat(make_rung("BF16", ids[:46], ids), make_rung("BF16", ids[:46], ids))
    assert (found.n, found.different_text, found.right_first, found.right_second) == (50, 0, 46, 46)
    assert found.identical
    assert repeat_note([found]) == (
        "Run twice with the same text on every question: BF16; a moved answer comes from the weights."
    )


def test_a_ladder_without_a_repeat_says_so() -> None:
    assert repeat_note([]) == "No rung was run twice: answers that moved may be the engine's own wavering."


def test_a_rung_that_differs_from_itself_limits_what_moved_answers_mean() -> None:
    found = repeat(run("Q4", ("a", "1", True)), run("Q4", ("a", "2", False)))
    assert repeat_note([found]) == (
        "The same rung run twice differs (Q4: 1 texts and 1 grades of 1): up to that many moved answers mean nothing."
    )


def test_runs_over_other_questions_are_no_repeat() -> None:
    with pytest.raises(InvalidInput, match="share no question"):
        repeat(run("Q4", ("a", "1", True)), run("Q4", ("b", "1", True)))
