"""Two sets of decisions over the same items: options reversed, another platform, another checkpoint."""

from __future__ import annotations

from collections.abc import Sequence

from clouds.errors import InvalidInput
from clouds.models import Record
from tools.measure.decisions.summary import Decision
from tools.measure.statistics.bootstrap import paired_difference
from tools.measure.statistics.mcnemar import Paired, paired
from tools.measure.statistics.verdict import of_pairs
from tools.measure.statistics.words import Interval, Verdict


class Agreement(Record):
    """Predicted options compared record by record, and accuracy paired over the same items."""

    task: str
    n: int
    equal: int
    """Items for which both predict the same option."""
    not_comparable: int
    """Items that one of the two failed on or could not read."""
    pairs: Paired
    difference: Interval
    """Share right of the second minus the first; groups are drawn whole where items share one."""
    verdict: Verdict


class OrderChange(Record):
    """The same items with their options reversed."""

    task: str
    n: int
    changed: int
    """Items whose predicted option is another one."""
    right_forward: int
    right_reversed: int
    first_place: float
    """Share of all reads of both orders that predict the first letter, against one over the number of options."""


def agreement(first: Sequence[Decision], second: Sequence[Decision]) -> tuple[Agreement, ...]:
    """One row a task, and one over all where there are several. Raises InvalidInput without a shared item."""
    there = {each.item.id: each for each in second}
    matched = [(each, there[each.item.id]) for each in first if each.item.id in there]
    if not matched:
        raise InvalidInput("second", "the two share no item", fix="Read the same items on both.")
    tasks = list(dict.fromkeys(each.item.task for each, _ in matched))
    rows = [_agreement(task, [pair for pair in matched if pair[0].item.task == task]) for task in tasks]
    return tuple(rows if len(rows) == 1 else [*rows, _agreement("all", matched)])


def order_changes(forward: Sequence[Decision], backward: Sequence[Decision]) -> tuple[OrderChange, ...]:
    """`backward` was read with `prompt(reversed_order=True)`: its first letter stands for the last option."""
    there = {each.item.id: each for each in backward}
    rows = []
    for task in dict.fromkeys(each.item.task for each in forward):
        pairs = [(each, there[each.item.id]) for each in forward if each.item.task == task and each.item.id in there]
        read = [(a, _place(a), b, _place(b)) for a, b in pairs if _place(a) is not None and _place(b) is not None]
        if not read:
            continue
        # a place read in reversed order counts from the other end
        options = [(place, len(b.item.options) - 1 - (back or 0)) for _, place, b, back in read]
        truths = [a.item.truth for a, *_ in read]
        rows.append(
            OrderChange(
                task=task,
                n=len(read),
                changed=sum(one != other for one, other in options),
                right_forward=sum(one == truth for (one, _), truth in zip(options, truths, strict=True)),
                right_reversed=sum(other == truth for (_, other), truth in zip(options, truths, strict=True)),
                first_place=sum((place == 0) + (back == 0) for _, place, _, back in read) / (2 * len(read)),
            )
        )
    return tuple(rows)


def hardware_note(first_tensors: str, second_tensors: str) -> str:
    """What a comparison of two platforms must say of the checkpoints; empty when they are the same."""
    if first_tensors and first_tensors == second_tensors:
        return ""
    if first_tensors and second_tensors:
        return "The checkpoints differ: what moved is not the platform's alone."
    return "Whether both served the same checkpoint is not known: what moved may not be the platform's."


def _place(decision: Decision) -> int | None:
    return decision.read.predicted if decision.read is not None else None


def _agreement(task: str, matched: Sequence[tuple[Decision, Decision]]) -> Agreement:
    both = [(_place(a), _place(b)) for a, b in matched]
    known = [(one, other) for one, other in both if one is not None and other is not None]
    pairs = paired([a.right for a, _ in matched], [b.right for _, b in matched])
    groups = [a.item.group or a.item.id for a, _ in matched]
    shared = len(set(groups)) < len(groups)
    difference = paired_difference(
        [float(a.right) for a, _ in matched],
        [float(b.right) for _, b in matched],
        groups=groups if shared else None,
    )
    return Agreement(
        task=task,
        n=len(matched),
        equal=sum(one == other for one, other in known),
        not_comparable=len(matched) - len(known),
        pairs=pairs,
        difference=difference,
        verdict=of_pairs(pairs),
    )
