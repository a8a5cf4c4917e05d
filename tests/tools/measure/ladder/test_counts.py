"""Right, lost, gained, tombstones and ghosts: the article's counts, a small grid by hand, and what always holds."""

from collections.abc import Callable
from random import Random

import pytest

from clouds.errors import InvalidInput
from tools.measure.ladder.counts import Ghost, SharedLosses, Tombstone, count, shared_losses
from tools.measure.ladder.records import Answer, Ladder, Rung, ladder


def test_the_t4_ladder_comes_out_as_printed(t4: Ladder) -> None:
    found = count(t4)
    assert [(row.rung, row.right, row.lost, row.gained, row.tokens_per_second) for row in found.rungs] == [
        ("BF16", 229, 0, 0, 40.0),
        ("F16", 229, 1, 1, 39.6),
        ("Q8_0", 227, 4, 2, 64.3),
        ("Q6_K", 229, 4, 4, 70.8),
        ("Q5_K_M", 231, 3, 5, 78.7),
        ("Q4_K_M", 224, 9, 4, 84.1),
        ("Q4_0", 222, 15, 8, 93.6),
        ("Q3_K_M", 191, 42, 4, 74.2),
        ("Q2_K", 3, 226, 0, 74.0),
    ]
    first_lost = {row.rung: row.first_lost for row in found.rungs if row.first_lost}
    assert first_lost == {
        "F16": 1, "Q8_0": 4, "Q6_K": 1, "Q5_K_M": 2, "Q4_K_M": 6, "Q4_0": 9, "Q3_K_M": 26, "Q2_K": 177
    }  # fmt: skip
    assert (len(found.tombstones), sum(first_lost.values()), len(found.ghosts)) == (226, 226, 11)


def test_the_ratios_of_the_article_follow_from_its_medians(t4: Ladder) -> None:
    rows = {row.rung: row for row in count(t4).rungs}
    assert {name: round(row.times_base_speed or 0, 2) for name, row in rows.items()} == {
        "BF16": 1.00,
        "F16": 0.99,
        "Q8_0": 1.61,
        "Q6_K": 1.77,
        "Q5_K_M": 1.97,
        "Q4_K_M": 2.10,
        "Q4_0": 2.34,
        "Q3_K_M": 1.85,
        "Q2_K": 1.85,
    }
    assert {name: round(row.percent_of_base_bytes or 0, 1) for name, row in rows.items()} == {
        "BF16": 100.0,
        "F16": 100.0,
        "Q8_0": 53.3,
        "Q6_K": 41.3,
        "Q5_K_M": 39.0,
        "Q4_K_M": 36.8,
        "Q4_0": 36.1,
        "Q3_K_M": 34.4,
        "Q2_K": 32.1,
    }
    assert round(rows["Q5_K_M"].p_value, 3) == 0.727
    assert (rows["Q5_K_M"].verdict, rows["Q4_0"].verdict, rows["Q3_K_M"].verdict) == (
        "within noise",
        "within noise",
        "worse",
    )


def test_a_grid_by_hand(make_ladder: Callable[..., Ladder]) -> None:
    found = count(make_ladder({"F16": "11110", "Q8": "10110", "Q4": "01011", "Q2": "10000"}))
    assert [(row.rung, row.right, row.lost, row.gained, row.first_lost) for row in found.rungs] == [
        ("F16", 4, 0, 0, 0),
        ("Q8", 3, 1, 0, 1),
        ("Q4", 3, 2, 1, 2),
        ("Q2", 1, 3, 0, 1),
    ]
    assert found.tombstones == (
        Tombstone(id="q0", rung="Q4", expected="1", said="2", rose_again=("Q2",)),
        Tombstone(id="q1", rung="Q8", expected="1", said="2", rose_again=("Q4",)),
        Tombstone(id="q2", rung="Q4", expected="1", said="2", rose_again=()),
        Tombstone(id="q3", rung="Q2", expected="1", said="2", rose_again=()),
    )
    assert found.ghosts == (Ghost(id="q4", expected="1", base_said="2", rungs=("Q4",)),)
    assert (found.rose_again, found.lost_on_every_rung) == (2, 0)


def test_the_score_is_always_base_minus_lost_plus_gained_and_tombstones_add_up(
    make_ladder: Callable[..., Ladder],
) -> None:
    random = Random(20261129)  # noqa: S311 - the same cases every time
    for _ in range(300):
        width, right = random.randint(1, 12), random.choice((0.0, 0.2, 0.5, 0.8, 1.0))
        grid = {
            f"r{row}": "".join("1" if random.random() < right else "0" for _ in range(width))
            for row in range(random.randint(1, 6))
        }
        found = count(make_ladder(grid))
        base = found.rungs[0].right
        assert all(row.right == base - row.lost + row.gained for row in found.rungs)
        assert sum(row.first_lost for row in found.rungs) == len(found.tombstones)
        assert len(found.tombstones) <= base <= found.n
        assert len(found.ghosts) <= found.n - base
        assert all(row.lost >= row.first_lost for row in found.rungs)


def test_a_request_that_the_server_refused_is_wrong_and_stays_in_the_denominator() -> None:
    base = Rung(name="F16", answers=(Answer(id="a", expected="1", said="1", right=True),))
    refused = Answer(id="a", expected="1", right=False, error="HTTP 500: output does not match the expected format")
    found = count(ladder("here", (base, Rung(name="Q2", answers=(refused,)))))
    assert (found.rungs[1].n, found.rungs[1].right, found.rungs[1].lost, found.rungs[1].errors) == (1, 0, 1, 1)
    assert "1 requests ended in an error; they count as wrong and stay in the denominator." in found.notes


def test_two_rungs_with_one_score_can_lose_different_questions(make_ladder: Callable[..., Ladder]) -> None:
    made = make_ladder({"F16": "111111", "QAT": "100111", "Q4": "110011"})
    assert shared_losses(made, "QAT", "Q4") == SharedLosses(
        first="QAT", second="Q4", both=("q2",), only_first=("q1",), only_second=("q3",)
    )
    with pytest.raises(InvalidInput, match="no rung 'Q5'") as caught:
        shared_losses(made, "QAT", "Q5")
    assert caught.value.allowed == ("F16", "QAT", "Q4")


def test_a_base_with_little_right_says_that_little_can_be_lost(make_ladder: Callable[..., Ladder]) -> None:
    assert count(make_ladder({"F16": "1000000000", "Q4": "0000000000"})).notes == (
        "The base has 1 of 10 right: where little is right, little can be lost.",
    )
    assert "nothing can be gained" in count(make_ladder({"F16": "11", "Q4": "10"})).notes[0]


def test_the_speed_of_a_split_rung_is_no_multiple_of_a_whole_one(make_rung: Callable[..., Rung]) -> None:
    whole = make_rung("Q8", ["a"], ["a"], tokens_per_second=45.9, layers=36, layers_on_accelerator=36)
    split = make_rung("BF16", ["a"], ["a"], tokens_per_second=9.2, layers=36, layers_on_accelerator=14)
    found = count(ladder("1650", (split, whole)))
    assert [row.times_base_speed for row in found.rungs] == [None, None]
    assert found.notes[-1].startswith("BF16 ran partly beside the accelerator")


def test_the_speed_falls_back_on_the_median_of_the_answers() -> None:
    answers = tuple(
        Answer(id=str(index), expected="1", right=True, tokens=10 * index, tokens_per_second=rate)
        for index, rate in enumerate((10.0, 30.0, 20.0))
    )
    row = count(ladder("here", (Rung(name="F16", answers=answers),))).rungs[0]
    assert (row.tokens_per_second, row.mean_tokens) == (20.0, 10.0)


@pytest.mark.parametrize(
    ("rungs", "problem"),
    [
        ([], "there is no rung"),
        ([("F16", "ab"), ("F16", "ab")], "a name is there twice"),
        ([("F16", "ab"), ("Q4", "a")], "Q4 lacks 1 questions of F16 and has 0 others"),
        ([("F16", "ab"), ("Q4", "abc")], "Q4 lacks 0 questions of F16 and has 1 others"),
        ([("F16", "aa")], "F16 answers a question twice"),
    ],
)
def test_rungs_that_cannot_be_compared_are_refused(
    rungs: list[tuple[str, str]], problem: str, make_rung: Callable[..., Rung]
) -> None:
    with pytest.raises(InvalidInput, match=problem):
        ladder("here", tuple(make_rung(name, ids, ids) for name, ids in rungs))
