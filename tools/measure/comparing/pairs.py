"""Answers of two runs, question by question."""

from __future__ import annotations

from collections.abc import Sequence

from clouds.models import Record
from tools.measure.comparing.differences import shape_problems
from tools.measure.lines import AGAIN
from tools.measure.record import Item, Run
from tools.measure.statistics.mcnemar import paired
from tools.measure.statistics.proportions import independent_difference
from tools.measure.statistics.verdict import of_pairs
from tools.measure.statistics.words import Word

FEW = 200
"""Items below which only a large difference can show."""


class Moved(Record):
    """One question that one run got right and the other wrong."""

    question: str
    expected: str
    base: str
    other: str
    now: str
    """"lost" or "gained"."""


class AnswersRow(Record):
    """Right answers of both runs over the questions that both were asked."""

    asked: int
    base_right: int
    other_right: int
    identical: int
    """Replies that are the same character for character."""
    lost: int
    gained: int
    p_value: float
    verdict: Word
    why: str
    moved: tuple[Moved, ...] = ()
    unpaired: int = 0
    """Questions that only one of them was asked, or that differ in their text; they are in no figure."""


def answers(base: Run, other: Run, part: str = "answers") -> AnswersRow | None:
    """The paired comparison; None when one of them was asked nothing."""
    first, second = base.part(part), other.part(part)
    if first is None or second is None or not first.items or not second.items:
        return None
    ours = [item for item in first.items if AGAIN not in item.id]
    theirs = {item.id: item for item in second.items if AGAIN not in item.id}
    pairs = [
        (mine, theirs[mine.id])
        for mine in ours
        if mine.id in theirs and (mine.question, mine.expected) == (theirs[mine.id].question, theirs[mine.id].expected)
    ]
    cells = paired([mine.right for mine, _ in pairs], [their.right for _, their in pairs])
    verdict = of_pairs(cells, cannot=shape_problems(base, other, part))
    return AnswersRow(
        asked=len(pairs),
        base_right=cells.both_right + cells.lost,
        other_right=cells.both_right + cells.gained,
        identical=sum(mine.reply == their.reply and mine.outcome == their.outcome == "ok" for mine, their in pairs),
        lost=cells.lost,
        gained=cells.gained,
        p_value=cells.p_value,
        verdict=verdict.word,
        why=verdict.why if pairs else f"{verdict.why}; {_apart(ours, list(theirs.values()))}",
        moved=tuple(_moved(mine, their) for mine, their in pairs if mine.right != their.right),
        unpaired=len(ours) + len(theirs) - 2 * len(pairs),
    )


def _apart(first: Sequence[Item], second: Sequence[Item]) -> str:
    """Of questions that are no pairs only the shares can be set against each other, and that is said."""
    right = [sum(item.right for item in items) for items in (first, second)]
    range_ = independent_difference(right[0], len(first), right[1], len(second))
    change = f"{100 * range_.estimate:+.1f} points ({100 * range_.low:+.1f} to {100 * range_.high:+.1f}, 95 %)"
    return f"{right[0]} of {len(first)} and {right[1]} of {len(second)} right are {change} by {range_.method}"


def _moved(mine: Item, their: Item) -> Moved:
    return Moved(
        question=mine.question,
        expected=mine.expected,
        base=_said(mine),
        other=_said(their),
        now="lost" if mine.right else "gained",
    )


def _said(item: Item) -> str:
    if item.outcome != "ok":
        return f"({item.outcome})"
    return (item.said or " ".join(item.reply.split())[:60]) + (" (cut off)" if item.cut_off else "")
