"""How answers fail on every rung: cut off at the limit, looping, in the thinking block, or empty."""

from __future__ import annotations

from collections import Counter

from clouds.models import Record
from tools.measure.ladder.counts import count, lost
from tools.measure.ladder.grader import same, stated
from tools.measure.ladder.records import Answer, Ladder, Rung

LOOP = 5
"""Times that one line must be there to be a loop."""


class Autopsy(Record):
    """One rung: how many answers fail in which way, for all answers and for the lost ones."""

    rung: str
    n: int
    cut_off: int
    looped: int
    """One line, five times or more."""
    thought: int
    """Wrote into the thinking block although thinking was off."""
    empty: int
    """No content at all."""
    empty_right_in_reasoning: int
    """Of those, how many have the right answer in the thinking block. They still count as wrong."""
    errors: int
    lost: int
    lost_cut_off: int
    lost_looped: int
    lost_empty: int
    first_lost: int
    first_lost_rose_again: int


def autopsy(ladder: Ladder) -> tuple[Autopsy, ...]:
    """One row for every rung but the base, which loses nothing against itself."""
    counted = count(ladder)
    rows = []
    for rung in ladder.rungs[1:]:
        dead = lost(ladder, rung.name)
        stones = [each for each in counted.tombstones if each.rung == rung.name]
        kinds = {answer.id: failures(answer, thinking=thinking(ladder, rung)) for answer in rung.answers}
        rows.append(
            Autopsy(
                rung=rung.name,
                n=len(rung.answers),
                cut_off=sum("cut off" in each for each in kinds.values()),
                looped=sum("looped" in each for each in kinds.values()),
                thought=sum("thought" in each for each in kinds.values()),
                empty=sum("empty" in each for each in kinds.values()),
                empty_right_in_reasoning=sum("right in reasoning" in each for each in kinds.values()),
                errors=sum(bool(answer.error) for answer in rung.answers),
                lost=len(dead),
                lost_cut_off=sum("cut off" in kinds[id_] for id_ in dead),
                lost_looped=sum("looped" in kinds[id_] for id_ in dead),
                lost_empty=sum("empty" in kinds[id_] for id_ in dead),
                first_lost=len(stones),
                first_lost_rose_again=sum(bool(each.rose_again) for each in stones),
            )
        )
    return tuple(rows)


def thinking(ladder: Ladder, rung: Rung) -> bool:
    """Whether the rung was asked to think; off unless a setting says on."""
    return bool(rung.settings.get("thinking", ladder.settings.get("thinking", False)))


def failures(answer: Answer, *, thinking: bool = False) -> set[str]:
    """The ways in which one answer fails. A refused request failed in its own way and has no text to look at."""
    if answer.error:
        return set()
    found = set()
    if answer.finish == "length":
        found.add("cut off")
    if looped(answer.text) or looped(answer.reasoning):
        found.add("looped")
    if answer.reasoning.strip() and not thinking:
        found.add("thought")
    if not answer.text.strip():
        found.add("empty")
        if same(stated(answer.reasoning), answer.expected):
            found.add("right in reasoning")
    return found


def looped(text: str) -> bool:
    """One line with a letter or a digit in it is there five times or more."""
    lines = Counter(" ".join(line.split()) for line in text.splitlines())
    return any(times >= LOOP and any(char.isalnum() for char in line) for line, times in lines.items())
