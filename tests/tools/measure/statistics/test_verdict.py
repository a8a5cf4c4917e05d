from tools.measure.statistics.mcnemar import paired
from tools.measure.statistics.verdict import of_pairs, of_range
from tools.measure.statistics.words import Verdict


def test_a_range_ends_in_one_of_four_words() -> None:
    rows = [
        (2.03, 2.07, {}, "better"),
        (0.50, 0.60, {}, "worse"),
        (0.50, 0.60, {"higher_is_better": False}, "better"),
        (1.10, 1.20, {"higher_is_better": False}, "worse"),
        (0.99, 1.02, {}, "within noise"),
        (1.00, 1.02, {}, "within noise"),
        (-0.018, -0.003, {"neutral": 0.0}, "worse"),
        (-0.012, 0.003, {"neutral": 0.0}, "within noise"),
        (1.005, 1.010, {"drift": -0.007}, "within noise"),
        (1.012, 1.020, {"drift": -0.007}, "better"),
        (None, None, {}, "cannot say"),
        (1.10, 1.20, {"higher_is_better": None}, "cannot say"),
        (2.03, 2.07, {"cannot": ("1,024/128 tokens against 16/512",)}, "cannot say"),
    ]
    assert [(low, high, options, of_range(low, high, **options).word) for low, high, options, _ in rows] == rows


def test_what_forbids_a_verdict_is_its_reason() -> None:
    assert of_range(2.0, 2.1, cannot=("quoted, not measured here", "another shape")) == Verdict(
        word="cannot say", why="quoted, not measured here; another shape"
    )


def test_five_gained_and_three_lost_are_within_noise() -> None:
    found = of_pairs(paired([True] * 3 + [False] * 5 + [True] * 242, [False] * 3 + [True] * 5 + [True] * 242))
    assert found == Verdict(word="within noise", why="3 lost, 5 gained of 250, McNemar p = 0.727")


def test_forty_two_lost_and_four_gained_are_worse() -> None:
    answers = [True] * 42 + [False] * 4 + [True] * 204
    assert of_pairs(paired(answers, [not value for value in answers[:46]] + answers[46:])).word == "worse"
    assert of_pairs(paired([not value for value in answers[:46]] + answers[46:], answers)).word == "better"


def test_five_moved_items_can_never_show_a_difference_and_the_reason_says_so() -> None:
    found = of_pairs(paired([True] * 5, [False] * 5))
    assert found.word == "within noise"
    assert found.why.endswith("fewer than 6 moved items can never show a difference")
    assert of_pairs(paired([True] * 6, [False] * 6)).word == "worse"


def test_no_shared_item_cannot_be_judged() -> None:
    assert of_pairs(paired([], [])).word == "cannot say"
    assert of_pairs(paired([True], [True]), cannot=("other questions",)).word == "cannot say"
