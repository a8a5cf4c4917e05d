"""Whole ladders side by side: by hand for three machines, the articles' sums, and what a comparison cannot say."""

from collections.abc import Callable

import pytest

from clouds.errors import InvalidInput
from tools.measure.ladder.across import Differs, Pair, RungAcross, across, overlay
from tools.measure.ladder.records import Ladder, Rung, ladder

GRIDS = {
    "T4": {"BF16": "111110", "Q8": "101110", "Q4": "100111"},
    "L4": {"BF16": "111110", "Q8": "101111", "Q4": "001010"},
    "3050": {"BF16": "111111", "Q8": "111110", "Q4": "101010"},
}


@pytest.fixture
def machines(make_ladder: Callable[..., Ladder]) -> list[Ladder]:
    return [make_ladder(grid, name, accelerator=name) for name, grid in GRIDS.items()]


def test_three_machines_by_hand(machines: list[Ladder]) -> None:
    found = across(machines)
    assert found.rungs == (
        RungAcross(
            rung="BF16",
            right={"T4": 5, "L4": 5, "3050": 6},
            lost={"T4": 0, "L4": 0, "3050": 0},
            right_on_all=5,
            wrong_on_all=0,
            closest=Pair(first="T4", second="L4", different=0),
            furthest=Pair(first="T4", second="3050", different=1),
            lost_on_all=0,
        ),
        RungAcross(
            rung="Q8",
            right={"T4": 4, "L4": 5, "3050": 5},
            lost={"T4": 1, "L4": 1, "3050": 1},
            right_on_all=4,
            wrong_on_all=0,
            closest=Pair(first="T4", second="L4", different=1),
            furthest=Pair(first="L4", second="3050", different=2),
            lost_on_all=0,
        ),
        RungAcross(
            rung="Q4",
            right={"T4": 4, "L4": 2, "3050": 3},
            lost={"T4": 2, "L4": 3, "3050": 3},
            right_on_all=1,
            wrong_on_all=1,
            closest=Pair(first="L4", second="3050", different=1),
            furthest=Pair(first="T4", second="L4", different=4),
            lost_on_all=1,
        ),
    )
    assert found.lost_somewhere == {"T4": 2, "L4": 3, "3050": 3}
    assert (found.lost_somewhere_on_all, found.first_lost_at_the_same_rung) == (1, 0)
    assert found.lost_only_on == {"T4": ("q2",), "L4": ("q0",), "3050": ("q5",)}
    assert found.differs == (Differs(setting="accelerator", values={"T4": "T4", "L4": "L4", "3050": "3050"}),)
    assert found.cause == "One setting differs: accelerator."


def test_the_overlay_has_one_letter_a_question(machines: list[Ladder]) -> None:
    assert overlay(machines) == {"BF16": "rrrrrd", "Q8": "rdrrrd", "Q4": "dwddrd"}


def test_two_gpus_share_their_losses_as_the_second_article_counts_them(make_ladder: Callable[..., Ladder]) -> None:
    """Q4_0: 222 and 220 right of a base of 229, 15 and 16 lost, 10 of them on both, 16 graded differently."""
    base = "1" * 229 + "0" * 21
    one = "0" * 15 + "1" * 214 + "1" * 8 + "0" * 13
    other = "0" * 10 + "1" * 5 + "0" * 6 + "1" * 208 + "1" * 5 + "0" * 3 + "11" + "0" * 11
    found = across(
        [make_ladder({"BF16": base, "Q4_0": one}, "T4"), make_ladder({"BF16": base, "Q4_0": other}, "L4")]
    ).rungs[1]
    assert (found.right, found.lost, found.lost_on_all) == ({"T4": 222, "L4": 220}, {"T4": 15, "L4": 16}, 10)
    assert found.closest == found.furthest == Pair(first="T4", second="L4", different=16)


def test_thinking_and_its_larger_limit_changed_at_once_and_the_result_says_so(
    make_ladder: Callable[..., Ladder], make_rung: Callable[..., Rung]
) -> None:
    off = make_ladder({"BF16": "111", "F16": "111", "Q3": "100"}, "off", thinking=False, max_tokens=1024)
    on = make_ladder({"BF16": "110", "Q3": "010"}, "on", thinking=True, max_tokens=4096)
    found = across([off, on])
    assert [each.rung for each in found.rungs] == ["BF16", "Q3"]
    assert found.left_out == ("F16",)
    assert found.rungs[0].right_on_all == 2
    assert found.cause == (
        "2 settings differ at once (max_tokens, thinking): this comparison cannot say which of them did it."
    )


def test_tokens_and_time_of_two_ladders_are_divided_question_by_question(make_rung: Callable[..., Rung]) -> None:
    def run(name: str, tokens: list[int | None], seconds: float) -> Ladder:
        rung = make_rung("BF16", "ab", "ab")
        answers = tuple(
            answer.model_copy(update={"tokens": count, "seconds": seconds})
            for answer, count in zip(rung.answers, tokens, strict=True)
        )
        return ladder(name, (rung.model_copy(update={"answers": answers}),))

    found = across([run("off", [100, 300], 10.0), run("on", [250, 610], 24.0)]).rungs[0]
    assert (found.times_tokens, found.times_seconds) == (2.15, 2.4)
    assert across([run("off", [100, None], 10.0), run("on", [250, 610], 24.0)]).rungs[0].times_tokens is None


def test_a_rung_that_is_another_file_is_said(make_rung: Callable[..., Rung]) -> None:
    made = [
        ladder(name, (make_rung("BF16", "a", "a", tensors_sha256=hashed, sha256=name),))
        for name, hashed in (("T4", "11"), ("L4", "22"))
    ]
    assert "BF16 is not the same file on all: its differences are not the machine's alone." in across(made).notes
    same = [ladder(name, (make_rung("BF16", "a", "a", tensors_sha256="11", sha256=name),)) for name in ("T4", "L4")]
    assert across(same).notes == ()


def test_ladders_over_other_questions_are_compared_over_the_shared_ones(make_rung: Callable[..., Rung]) -> None:
    one = ladder("one", (make_rung("BF16", "abc", "abc"),))
    other = ladder("other", (make_rung("BF16", "bc", "bcd"),))
    found = across([one, other])
    assert found.n == 2
    assert found.notes == ("Compared over the 2 questions that all have; 1 are in some only.",)


@pytest.mark.parametrize(
    ("grids", "problem"),
    [
        ([("a", {"BF16": "1"})], "two differently named"),
        ([("a", {"BF16": "1"}), ("a", {"BF16": "1"})], "two differently named"),
        ([("a", {"BF16": "1"}), ("b", {"F16": "1"})], "no base in common"),
        ([("a", {"BF16": "1", "F16": "1"}), ("b", {"F16": "1", "BF16": "1"})], "no base in common"),
    ],
)
def test_ladders_that_cannot_be_lined_up_are_refused(
    grids: list[tuple[str, dict[str, str]]], problem: str, make_ladder: Callable[..., Ladder]
) -> None:
    with pytest.raises(InvalidInput, match=problem):
        across([make_ladder(grid, name) for name, grid in grids])
