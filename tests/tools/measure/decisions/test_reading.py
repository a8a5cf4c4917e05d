"""Labels read exactly or out of the top k: fallback, bound, mass, and what cannot be read."""

from math import exp, inf, log

import pytest

from clouds.errors import InvalidInput
from tools.measure.decisions.reading import from_exact, from_top, softmax


def test_all_labels_in_the_top_have_their_own_probabilities() -> None:
    read = from_top("ABC", [("A", log(0.5)), ("C", log(0.2)), ("B", log(0.1)), ("the", log(0.05))])
    assert read.probabilities == pytest.approx((0.625, 0.125, 0.25))
    assert (read.returned, read.predicted, read.used_fallback, read.exact) == (3, 0, False, False)
    assert read.label_mass == pytest.approx(0.8)
    assert read.bounds == read.logprobs


def test_a_label_outside_the_top_gets_the_lowest_minus_five_and_its_bound() -> None:
    read = from_top("AB", [("B", log(0.6)), ("x", log(0.1))])
    assert read.logprobs == pytest.approx((log(0.1) - 5, log(0.6)))
    # 0.3 are left for all other tokens, and none of them is above the lowest returned
    assert read.bounds == pytest.approx((log(0.1), log(0.6)))
    assert (read.returned, read.predicted, read.used_fallback) == (1, 1, True)


def test_the_bound_is_never_more_than_what_is_left() -> None:
    read = from_top("AB", [("B", log(0.6)), ("x", log(0.38))])
    assert read.bounds[0] == pytest.approx(log(0.02))


def test_rounding_that_leaves_nothing_keeps_the_bound_at_the_fallback() -> None:
    read = from_top("AB", [("B", log(0.9)), ("x", log(0.11))])
    assert read.bounds[0] == pytest.approx(log(0.11) - 5)


def test_spellings_of_one_label_add_up() -> None:
    read = from_top("AB", [("A", log(0.3)), (" A", log(0.2)), ("▁A", log(0.1)), ("B", log(0.05))])
    assert exp(read.logprobs[0]) == pytest.approx(0.6)
    assert read.returned == 2


def test_whether_the_most_likely_token_was_a_label_is_kept() -> None:
    assert from_top("AB", [("A", log(0.5)), ("The", log(0.2))]).top_is_label
    low = from_top("AB", [("The", log(0.9)), ("B", log(0.02)), ("A", log(0.01))])
    assert not low.top_is_label
    assert low.label_mass == pytest.approx(0.03)
    assert max(low.probabilities) == pytest.approx(2 / 3)  # it reads as confident regardless


def test_without_any_label_it_is_unreadable_and_predicts_nothing() -> None:
    read = from_top("AB", [("The", log(0.9)), ("I", log(0.05))])
    assert (read.readable, read.predicted, read.returned, read.label_mass) == (False, None, 0, 0.0)


def test_an_engine_that_returns_nothing_is_no_wrong_answer() -> None:
    with pytest.raises(InvalidInput, match="no log-probabilities"):
        from_top("AB", [])


def test_exact_reads_have_no_fallback_and_no_bound() -> None:
    read = from_exact("AB", {"A": log(0.2), "B": log(0.7), "C": log(0.01)})
    assert read.probabilities == pytest.approx((2 / 9, 7 / 9))
    assert (read.exact, read.used_fallback, read.top_is_label, read.bounds) == (True, False, True, read.logprobs)
    with pytest.raises(InvalidInput, match="no value for B"):
        from_exact("AB", {"A": -1.0})


def test_a_label_of_no_probability_at_all_is_still_read() -> None:
    assert from_exact("AB", {"A": -inf, "B": -0.1}).probabilities == (0.0, 1.0)


@pytest.mark.parametrize("shift", [0.0, -700.0, 700.0])
def test_softmax_does_not_depend_on_a_constant(shift: float) -> None:
    assert softmax([shift + log(0.2), shift + log(0.6)]) == pytest.approx((0.25, 0.75))
