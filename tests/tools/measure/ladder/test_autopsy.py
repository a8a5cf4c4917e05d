"""How answers fail: each way by one reply, and the article's Q2_K row as a whole."""

from tools.measure.ladder.autopsy import Autopsy, autopsy, failures, looped
from tools.measure.ladder.records import Answer, Rung, ladder


def answer(**more: object) -> Answer:
    return Answer.model_validate({"id": "a", "expected": "42", "right": False, "text": "Answer: 3", **more})


def test_a_reply_fails_in_its_own_way() -> None:
    rows = [
        ({}, False, set()),
        ({"finish": "length"}, False, {"cut off"}),
        ({"text": "so it is 3\n" * 5}, False, {"looped"}),
        ({"text": "", "reasoning": "again\n" * 5}, True, {"looped", "empty"}),
        ({"reasoning": "let me think"}, False, {"thought"}),
        ({"reasoning": "let me think"}, True, set()),
        ({"text": " \n", "reasoning": "42\nAnswer: 42"}, False, {"thought", "empty", "right in reasoning"}),
        ({"text": "", "error": "HTTP 500"}, False, set()),
    ]
    assert [(reply, thinking, failures(answer(**reply), thinking=thinking)) for reply, thinking, _ in rows] == rows


def test_four_equal_lines_are_no_loop_and_rules_and_blanks_never_are() -> None:
    assert not looped("one line\n" * 4)
    assert looped("one line\nanother\n" * 5)
    assert looped("one  line\n one line\none line \none line\none line")
    assert not looped("---\n\n| |\n" * 9)


def test_a_rung_is_counted_for_all_answers_and_for_the_lost_ones() -> None:
    base = Rung(name="F16", answers=tuple(answer(id=str(i), right=i < 5, text="Answer: 42") for i in range(6)))
    broken = Rung(
        name="Q2",
        answers=(
            answer(id="0", finish="length", text="round and round\n" * 6),
            answer(id="1", finish="length"),
            answer(id="2", text="", reasoning="Answer: 42"),
            answer(id="3", right=True, text="Answer: 42"),
            answer(id="4", error="HTTP 500", text=""),
            answer(id="5", finish="length"),
        ),
    )
    lowest = Rung(name="Q1", answers=tuple(answer(id=str(i), right=i in {0, 2}) for i in range(6)))
    assert autopsy(ladder("here", (base, broken, lowest)))[0] == Autopsy(
        rung="Q2",
        n=6,
        cut_off=3,
        looped=1,
        thought=1,
        empty=1,
        empty_right_in_reasoning=1,
        errors=1,
        lost=4,
        lost_cut_off=2,
        lost_looped=1,
        lost_empty=1,
        first_lost=4,
        first_lost_rose_again=2,
    )


def test_the_collapse_of_q2_k_comes_out_as_printed() -> None:
    """246 of 250 cut off, 228 looped, 75 thought, 63 empty of which 2 right in reasoning; 226 dead: 222, 207, 60."""
    base = Rung(name="BF16", answers=tuple(answer(id=str(i), right=i < 229, text="Answer: 42") for i in range(250)))
    rows = []
    for i in range(250):
        loop = i < 207 or i >= 229
        empty = i < 60 or i in {240, 241, 242}
        thought = i < 72 or empty
        thoughts = ("Answer: 42" if i < 2 else "hm") + ("\nover and over" * 5 if empty and loop else "")
        rows.append(
            answer(
                id=str(i),
                right=226 <= i < 229,
                finish="length" if i < 222 or i >= 226 else "stop",
                text="" if empty else "over and over\n" * 5 if loop else "Answer: 3",
                reasoning=thoughts if thought else "",
            )
        )
    row = autopsy(ladder("T4", (base, Rung(name="Q2_K", answers=tuple(rows)))))[0]
    assert (row.cut_off, row.looped, row.thought, row.empty, row.empty_right_in_reasoning) == (246, 228, 75, 63, 2)
    assert (row.lost, row.lost_cut_off, row.lost_looped, row.lost_empty) == (226, 222, 207, 60)
