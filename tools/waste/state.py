"""What a survey holds of one scope while it looks: its boxes, and which checks wait for them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from clouds.errors import ApiDisabled
from clouds.models import Scope
from clouds.models.waste import (
    Detail,
    Listing,
    Metric,
    Reading,
    Row,
    Seen,
    Unresolved,
    Unseen,
    Waste,
    WasteCheck,
    Young,
    before,
)
from tools.waste.inventory import Held, there
from tools.waste.judging import Judged, Verdict
from tools.waste.reading import ODD, Ask, Box
from tools.waste.sight import Sight


@dataclass(frozen=True, slots=True)
class Wasted:
    """One row judged waste, with its tags. `tags_problem`: why they are not known. `row` is kept for a cleanup only."""

    check: WasteCheck
    scope: Scope
    place: str
    id: str
    name: str
    row: Row
    waste: Waste
    used: Mapping[str, float]
    created: datetime | None
    tags: Mapping[str, str]
    tags_problem: str
    fingerprint: str


@dataclass
class Looked:
    """What was seen of one cloud."""

    account: str
    places: list[str] = field(default_factory=list)
    unlisted: tuple[str, BaseException] | None = None
    """The call and the error, where the other accounts could not be listed and only our own was looked at."""
    judged: list[tuple[str, Judged]] = field(default_factory=list)
    wasted: list[Wasted] = field(default_factory=list)
    requests: dict[str, int] = field(default_factory=dict)
    charged: dict[Metric, int] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(eq=False)
class Run:
    """One check in one scope."""

    check: WasteCheck
    waiting: int
    judged: Judged | None = None
    late: Box | None = None


class Order:
    """What some checks read, the same in every scope: parents before children, and who waits for what."""

    def __init__(self, checks: tuple[WasteCheck, ...]) -> None:
        self.checks = checks
        self.reads: dict[Reading, None] = {}
        self.children: dict[Reading, list[Detail | Metric]] = {}
        self.waiting = [0] * len(checks)
        self.waits: dict[Reading, list[int]] = {}
        for number, check in enumerate(checks):
            for read in check.all_reads:
                if read not in self.reads:
                    self.reads[read] = None
                    if not isinstance(read, Listing):
                        for each in before(read):
                            self.children.setdefault(each, []).append(read)
                if not is_late(read):
                    self.waiting[number] += 1
                    self.waits.setdefault(read, []).append(number)
        names = Counter(f"{read.service}.{read.operation}" for read in self.reads if isinstance(read, Detail))
        self.twice = {name for name, count in names.items() if count > 1}
        self.depth = depths(self.reads)


class State:
    """One scope: its boxes, and which checks wait for them."""

    def __init__(self, place: str, scope: Scope, now: datetime, order: Order, held: Held | None = None) -> None:
        """`held` is what an inventory says is in this place; None: nothing is known beforehand."""
        self.place, self.scope, self.held = place, scope, held
        self.boxes: dict[Reading, Box] = {read: Box(read, scope) for read in order.reads}
        self.children, self.twice, self.depth = order.children, order.twice, order.depth
        self.runs = [Run(check, waiting) for check, waiting in zip(order.checks, order.waiting, strict=True)]
        self.left = len(self.runs)
        self.judged: list[tuple[Run, Judged]] = []
        """Runs that are judged and whose tags are still read."""
        self.runs_of = {read: [self.runs[number] for number in numbers] for read, numbers in order.waits.items()}
        self.sight = Sight(now, scope, self.boxes)
        self.shared: dict[str, Shared] = {}

    def due(self, read: Reading) -> bool:
        """Whether a reading that hangs on others can be asked for now: they are read, and it was not asked for."""
        return not (is_late(read) or self.boxes[read].asked) and all(self.boxes[each].ready for each in before(read))

    def needed(self, read: Detail, rows: Sequence[Row]) -> Sequence[Row]:
        """The rows that a detail is asked for: those that an inventory does not exclude and nothing read decides."""
        rows = there(read, rows, self.held)
        if read.needed is None:
            return rows
        sight = Sight(self.sight.now, self.scope, {each: self.boxes[each] for each in before(read)})
        return [row for row in rows if _is_needed(read.needed, row, sight)]


@dataclass
class Shared:
    """One request that several readings need: it is sent once, and its answer given to all of them."""

    waiting: list[tuple[Box, Ask]] = field(default_factory=list)
    answer: Any = None
    error: BaseException | None = None
    answered: bool = False


def fingerprint(check: WasteCheck, verdict: Verdict, boxes: Mapping[Reading, Box], tags: Mapping[str, str]) -> str:
    """What the resource looked like and what goes with it, without its usage: any change makes another fingerprint."""
    details = {
        f"{read.service}.{read.operation}": boxes[read].given.get(id(verdict.row), [])
        for read in check.reads
        if isinstance(read, Detail) and read.of is check.kind.of
    }
    moving = check.kind.moving
    row = verdict.row
    if moving and isinstance(row, Mapping):
        row = {key: value for key, value in row.items() if key not in moving}
    text = json.dumps([verdict.id, row, details, dict(tags), sorted(verdict.waste.holds)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def settle(box: Box) -> None:
    """Rows that were all answered with "that API is not enabled" are of a service that does not apply here."""
    if isinstance(box.read, Detail) and box.failed and not box.given:
        errors = list(box.failed.values())
        if all(isinstance(error, ApiDisabled) for error in errors):
            box.failure = errors[0]
            box.failed.clear()


def _is_needed(needed: Callable[[Row, Seen], bool], row: Row, sight: Sight) -> bool:
    try:
        return needed(row, sight)
    except (Unseen, Unresolved, Young, *ODD):  # what would have decided is not known
        return True


def is_late(read: Reading) -> bool:
    """Whether a reading is made only for what was judged waste."""
    return isinstance(read, Detail) and read.late


def depths(readings: Iterable[Reading]) -> dict[Reading, int]:
    """How many further reads wait for each, one after the other: what a chain still has before it."""
    found: dict[Reading, int] = {}

    def reach(read: Reading, length: int) -> None:
        if found.get(read, -1) < length:
            found[read] = length
            for each in before(read):
                reach(each, length + 1)

    for read in readings:
        reach(read, 0)
    return found
