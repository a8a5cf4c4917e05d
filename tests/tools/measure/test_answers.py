from __future__ import annotations

from typing import Any

import pytest

from tools.measure.answers import ANSWERS, grade, plan
from tools.measure.client import ModelClient, Reply
from tools.measure.measurement import Ask, Bench, Taken
from tools.measure.options import Options
from tools.measure.profiles import STANDARD
from tools.measure.questions import make_questions

QUESTIONS = make_questions()


def test_the_plan_says_seed_size_concurrency_and_limit() -> None:
    assert plan(Ask(STANDARD, "n")).settings == {
        "seed": 20_261_129,
        "questions": 40,
        "at_once": 4,
        "max_tokens": 128,
        "temperature": 0,
    }
    assert plan(Ask(STANDARD, "n", options=Options({"answers.tokens": "900"}))).max_tokens == 900


@pytest.mark.parametrize("question", QUESTIONS[::13], ids=lambda question: question.id)
def test_a_right_reply_is_right_and_its_twin_is_wrong(question: Any) -> None:
    right = grade(question, Reply("", text=f"It is **{question.expected}**."))
    wrong = grade(question, Reply("", text=f"It is **{question.expected}7**."))
    assert (right.right, right.said) == (True, question.expected)
    assert (wrong.right, wrong.said != question.expected) == (False, True)


def test_an_answer_in_the_thinking_alone_is_no_answer() -> None:
    item = grade(QUESTIONS[0], Reply("", reasoning=QUESTIONS[0].expected))
    assert (item.right, item.said, item.reply) == (False, "", "")


def test_a_failed_request_is_wrong_and_keeps_its_kind() -> None:
    item = grade(QUESTIONS[0], Reply("", kind="http_5xx", text=QUESTIONS[0].expected))
    assert (item.right, item.outcome) == (False, "http_5xx")


def test_a_reply_at_the_limit_is_marked_cut_off() -> None:
    assert grade(QUESTIONS[0], Reply("", finish="length")).cut_off
    assert not grade(QUESTIONS[0], Reply("", finish="stop")).cut_off


def test_all_forty_are_asked_graded_and_kept_whole(serve: Any, with_client: Any) -> None:
    expected = {question.text: question.expected for question in QUESTIONS}
    wrong = QUESTIONS[3].text
    truth = serve(answer=lambda prompt: ["I say ", "0" if prompt == wrong else expected[prompt]])
    todo, taken = plan(Ask(STANDARD, "n")), Taken()

    async def ask(client: ModelClient) -> None:
        await ANSWERS.run(todo, Bench(client, taken, lambda _says: None))

    with_client(truth, ask)
    found = {figure.key: figure for figure in ANSWERS.figures(todo, taken)}
    assert truth.most_together == 4
    assert [item.reply for item in taken.items][:4] == [
        *(f"I say {question.expected}" for question in QUESTIONS[:3]),
        "I say 0",
    ]
    assert (found["answers.right"].value, found["answers.right"].n) == (39, 40)
    kinds = ("multiplication", "a + b - c", "capital")
    assert [(found[f"answers.right.{kind}"].value, found[f"answers.right.{kind}"].n) for kind in kinds] == [
        (14, 15),
        (15, 15),
        (10, 10),
    ]
    assert found["answers.wall_seconds"].value > 0  # type: ignore[operator]
