"""How waste is removed: steps as data. The same steps are shown, printed as a script, sent and read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from clouds.models.basic import Call, Reversal, Scope

if TYPE_CHECKING:
    from clouds.models.waste import Meter


@dataclass(frozen=True)
class From:
    """Stands in a call's parameters for something that an earlier step of the same finding answered."""

    step: str
    path: str


ANYTHING = ("*",)


@dataclass(frozen=True)
class Until:
    """What is read after a step until it has come true: `path` of the answer is in `done`, or the thing is `gone`.

    `done` of `ANYTHING` is true as soon as `path` holds a value, e.g. a date of deletion.
    `gone` is true when the cloud answers NotFound or `path` holds nothing; a value in `gone_on` counts as gone too.
    A value in `failed` ends the finding.
    """

    call: Call
    path: str
    done: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    gone: bool = False
    gone_on: tuple[str, ...] = ()
    seconds: float = 1800.0
    every: float = 15.0


@dataclass(frozen=True)
class Lookup:
    """Finds what an interrupted step may have made: `path` of the answer is what the step itself would have given."""

    call: Call
    answer: Mapping[str, str]
    """Path in the step's own answer -> path in the look-up's answer."""


@dataclass(frozen=True)
class CleanupStep:
    """One call of a cleanup. `text` is for a person. A step with `until` is over only when that has come true.

    `already` are error codes that mean that it is so already. `again` finds what it made when its answer was lost;
    without it the step may be sent twice. `capacity`: what is given up may not be had again.

    A `backup` stays and bills: `makes` is its id, or where the step's answer says it; `bills` is the most that it costs
    (the whole size of what it is of), empty where its size or its rate is not known. A deletion that takes a last
    snapshot by itself is no `backup`, since nothing is asked for ahead, and `makes` one all the same.
    """

    name: str
    text: str
    call: Call
    reversal: Reversal
    until: Until | None = None
    recoverable_days: int | None = None
    backup: bool = False
    capacity: bool = False
    already: tuple[str, ...] = ()
    again: Lookup | None = None
    makes: str | From = ""
    bills: tuple[Meter, ...] = ()


@dataclass(frozen=True)
class Doomed:
    """What the steps of one finding are made from. `mark` names the plan and marks backups; `name` is for a person.

    `meters` are what it was priced with.
    """

    row: Any
    at: Scope
    id: str
    name: str
    mark: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    meters: tuple[Meter, ...] = ()
