"""Five items before the rest is paid for: whether this endpoint can be read, and whether the read sees its labels."""

from __future__ import annotations

from collections.abc import Sequence

from clouds.models import Record
from tools.measure.decisions.items import Item
from tools.measure.decisions.summary import Decision

FIRST = 5


class Smoke(Record):
    """`ok` is whether the run goes on. Labels that hold little probability do not stop it: the run warns of them."""

    ok: bool
    labels_returned: tuple[int, ...]
    problem: str = ""


def smoke_items(items: Sequence[Item]) -> tuple[Item, ...]:
    """The first items of every task, five in all, so that each task is tried while there is room."""
    tasks = list(dict.fromkeys(item.task for item in items))
    chosen: list[Item] = []
    place = 0
    while len(chosen) < min(FIRST, len(items)):
        for task in tasks:
            own = [item for item in items if item.task == task]
            if place < len(own) and len(chosen) < FIRST:
                chosen.append(own[place])
        place += 1
    return tuple(chosen)


def smoke(decisions: Sequence[Decision]) -> Smoke:
    """Stops at failed requests and where no label came back on any item."""
    reads = [each.read for each in decisions if each.read is not None]
    returned = tuple(read.returned for read in reads)
    failed = next((each.error for each in decisions if each.read is None), "")
    if failed or not reads:
        return Smoke(ok=False, labels_returned=returned, problem=failed[:300] or "nothing was read")
    if not any(returned):
        problem = "no label came back on any item: ask for more log-probabilities, or change the prompt's last line"
        return Smoke(ok=False, labels_returned=returned, problem=problem)
    return Smoke(ok=True, labels_returned=returned)
