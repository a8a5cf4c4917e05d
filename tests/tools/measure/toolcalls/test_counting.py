from collections import Counter

import pytest

from tools.measure.toolcalls.counting import FIRST_LIST, PHRASES, counting_questions, true_answer
from tools.measure.toolcalls.filters import select


def test_there_are_63_questions_and_the_first_one_five_times() -> None:
    made = counting_questions()
    assert len(made) == 68
    assert Counter(each.size for each in made) == {11: 26, 110: 21, 330: 21}
    assert sum(each.ids == FIRST_LIST for each in made) == 5
    assert len({each.id for each in made}) == 68
    assert made == counting_questions.__wrapped__()  # made anew, not remembered


def test_the_first_question_is_ten_or_more_of_eleven_ids_and_its_answer_is_eight() -> None:
    first = counting_questions()[-1]
    assert first.text == "How many of the ids are 10 or more?"
    assert (first.ids, first.answer) == ((0, 2, 3, 20, 21, 22, 23, 10, 11, 12, 13), 8)


def test_every_threshold_is_an_id_so_that_an_open_and_a_closed_bound_differ() -> None:
    for each in counting_questions():
        numbers = [int(word) for word in each.where.split() if word.isdigit()]
        assert set(numbers) <= set(each.ids)
        turned = each.where.replace("<=", "<").replace(">=", ">") if "=" in each.where else each.where.replace(
            "<", "<="
        ).replace(">", ">=")  # fmt: skip
        assert len(select(turned, each.ids)) != each.answer


def test_all_seven_phrasings_are_asked_at_every_size_and_seed() -> None:
    ids = Counter(each.id.rsplit("-", 1)[1] for each in counting_questions() if not each.id.startswith("first"))
    assert ids == {str(place + 1): 9 for place in range(len(PHRASES))}
    assert len(PHRASES) == 7


def test_the_true_answer_is_counted_from_the_ids_by_another_way() -> None:
    for each in counting_questions():
        if "inclusive" in each.text:
            low, high = (int(word) for word in each.text.split() if word.isdigit())
            assert each.answer == sum(low <= value <= high for value in each.ids)
        if "under" in each.text:
            bound = int(each.text.rstrip("?").split()[-1])
            assert each.answer == sum(value < bound for value in each.ids)


@pytest.mark.parametrize(("what", "answer"), [("count", 3), ("sum", 12), ("mean", 4.0), ("largest", 7)])
def test_other_arithmetic_over_the_same_ids(what: str, answer: float) -> None:
    assert true_answer(what, [2, 7, 3]) == answer
    assert true_answer(what, []) == 0
    assert {each.what for each in counting_questions(what)} == {what}


def test_harder_filters_add_eighteen_questions_in_which_a_nearly_right_filter_shows() -> None:
    made = counting_questions(harder=True)
    assert len(made) == 86
    outside = next(each for each in made if "outside" in each.text)
    low, high = (int(word) for word in outside.text.rstrip("?").split() if word.isdigit())
    assert outside.answer == sum(value < low or value > high for value in outside.ids)
    assert len(select(f"id <= {low} or id >= {high}", outside.ids)) == outside.answer + 2
