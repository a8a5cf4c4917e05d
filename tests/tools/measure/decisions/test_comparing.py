"""Two sets of decisions: equal labels record by record, reversed options, groups, and what platforms must share."""

import pytest

from clouds.errors import InvalidInput
from tools.measure.decisions.comparing import OrderChange, agreement, hardware_note, order_changes
from tools.measure.decisions.items import Item
from tools.measure.decisions.reading import LabelRead, from_exact
from tools.measure.decisions.summary import Decision


def decide(number: int, place: int | None, truth: int = 0, task: str = "t", group: str = "", of: int = 3) -> Decision:
    """An item of `of` options that is read as `place`; None failed."""
    item = Item(f"{task}-{number}", task, "?", tuple("xyz"[:of]), truth, group)
    labels = item.labels
    read: LabelRead | None = None
    if place is not None:
        read = from_exact(labels, {label: -0.1 if index == place else -3.0 for index, label in enumerate(labels)})
    return Decision(item, read)


def test_equal_labels_are_counted_record_by_record() -> None:
    first = [decide(1, 0), decide(2, 1), decide(3, 0), decide(4, None), decide(5, 2)]
    second = [decide(1, 0), decide(2, 2), decide(3, 1), decide(4, 0), decide(9, 0)]
    (found,) = agreement(first, second)
    assert (found.n, found.equal, found.not_comparable) == (4, 1, 1)
    assert (found.pairs.lost, found.pairs.gained, found.pairs.both_wrong) == (1, 1, 1)
    assert found.verdict.word == "within noise"
    assert found.difference.groups is None


def test_the_tpu_and_the_gpu_agree_on_1186_of_1200() -> None:
    first = [decide(number, 0) for number in range(1200)]
    second = [decide(number, 0 if number < 1186 else 1) for number in range(1200)]
    (found,) = agreement(first, second)
    assert (found.n, found.equal) == (1200, 1186)


def test_items_that_share_a_passage_are_drawn_together() -> None:
    first = [decide(number, 0, group=f"g{number // 10}") for number in range(100)]
    second = [decide(number, 1 if number < 30 else 0, group=f"g{number // 10}") for number in range(100)]
    (found,) = agreement(first, second)
    assert found.difference.groups == 10
    assert found.difference.high - found.difference.low > 0.4


def test_each_task_has_its_row_and_there_is_one_over_all() -> None:
    both = [decide(1, 0, task="a"), decide(1, 0, task="b")]
    assert [row.task for row in agreement(both, both)] == ["a", "b", "all"]
    with pytest.raises(InvalidInput, match="share no item"):
        agreement(both, [decide(7, 0)])


def test_a_reversed_read_is_turned_back_before_it_is_compared() -> None:
    forward = [decide(1, 0), decide(2, 1), decide(3, 0, truth=2), decide(4, 0), decide(5, None)]
    # place 2 of reversed options is the first option again; the middle stays; 0 is the last option
    backward = [decide(1, 2), decide(2, 1), decide(3, 0, truth=2), decide(4, 1), decide(5, 0)]
    assert order_changes(forward, backward) == (
        OrderChange(task="t", n=4, changed=2, right_forward=2, right_reversed=2, first_place=0.5),
    )


def test_a_model_that_always_says_the_first_letter_is_found_out() -> None:
    items = [decide(number, 0, of=2) for number in range(10)]
    (found,) = order_changes(items, items)
    assert (found.changed, found.first_place) == (10, 1.0)


@pytest.mark.parametrize(
    ("first", "second", "note"),
    [("11", "11", ""), ("11", "22", "The checkpoints differ"), ("", "22", "is not known"), ("", "", "is not known")],
)
def test_a_comparison_of_platforms_without_a_shared_checkpoint_says_so(first: str, second: str, note: str) -> None:
    assert note in hardware_note(first, second)
    assert bool(hardware_note(first, second)) == bool(note)
