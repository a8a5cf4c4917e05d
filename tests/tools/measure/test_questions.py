from __future__ import annotations

from collections import Counter

import pytest

from tools.measure.questions import make_questions, read_number


def test_the_set_is_fifteen_products_fifteen_sums_and_ten_capitals_none_twice() -> None:
    questions = make_questions()
    assert Counter(question.kind for question in questions) == {"multiplication": 15, "a + b - c": 15, "capital": 10}
    assert len({question.text for question in questions}) == len({question.id for question in questions}) == 40


def test_a_seed_makes_the_same_set_and_another_seed_another() -> None:
    texts = [[question.text for question in make_questions(seed)] for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_every_expected_answer_is_right_by_pythons_own_arithmetic() -> None:
    for question in make_questions()[:30]:
        expression = question.text.removeprefix("What is ").split("?")[0]
        assert str(eval(expression)) == question.expected  # noqa: S307 - our own text


READ = [
    ("926", "926"),
    ("The answer is 926.", "926"),
    ("**926**", "926"),
    ("1,026", "1026"),
    ("1 026", "1026"),
    ("1\u202f026", "1026"),
    ("1'026", "1026"),
    ("3{,}901", "3901"),
    ("It is 1 026 in all", "1026"),
    ("12,345,678", "12345678"),
    ("926.0", "926"),
    ("926.50", "926.5"),
    ("0926", "926"),
    ("-275", "-275"),
    ("\u2212275", "-275"),
    ("The result is \u2013275", "-275"),
    ("- 275", "-275"),
    ("It is minus 275.", "-275"),
    ("-1,234", "-1234"),
    ("876 + 608 - 558 = 926", "926"),
    ("Answer: 926, not 558", "926"),
    ("**Answer:** 926 (876 and 50)", "926"),
    ("Answer: 1\nAnswer: 2", "2"),
    ("Answer: none, but 7", "7"),
]
NOT_READ_AS = [
    ("1484 - 558", "-558"),
    ("(1484)-558", "-558"),
    ("1484 minus 558", "-558"),
    ("so:\n- 275", "-275"),
    ("926.5", "926"),
    ("1,2345", "12345"),
    ("876 608 558 926", "876608558926"),
    ("926 and then 558", "926"),
    ("Answer: 926, not 558", "558"),
    ("nothing", "0"),
]


def test_a_number_is_read_however_it_is_written() -> None:
    assert [(reply, read_number(reply)) for reply, _ in READ] == READ


@pytest.mark.parametrize(("reply", "wrong"), NOT_READ_AS)
def test_what_is_not_the_answer_is_not_read_as_one(reply: str, wrong: str) -> None:
    assert read_number(reply) != wrong


def test_a_reply_without_a_number_reads_as_nothing_and_an_endless_one_ends() -> None:
    assert read_number("") == read_number("I cannot say.") == ""
    assert len(read_number("9" * 100_000)) <= 200


@pytest.mark.parametrize(
    "reply", ["Bogotá", "bogota.", "The capital of Colombia is **Bogotá**.", "Answer: Bogota", "BOGOTÁ D.C."]
)
def test_a_city_is_read_whatever_its_accents_and_case(reply: str) -> None:
    assert city("Bogotá").read(reply) == "Bogotá"


@pytest.mark.parametrize("reply", ["Bogotana", "Medellín", "It is not Bogotá.", "Bogotá? Answer: Cali", ""])
def test_another_city_a_denial_or_a_longer_word_is_not_the_answer(reply: str) -> None:
    assert city("Bogotá").read(reply) != "Bogotá"


def city(name: str):
    return next(q for seed in range(50) for q in make_questions(seed) if q.expected == name)
