"""A cleanup plan as it is kept: every step as data, what each finding looked like, and what was refused and why."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from clouds.models import Call, Reversal, Scope
from clouds.models.removal import CleanupStep, From, Lookup, Until
from tools.cleanup.backups import Bill, bill, made
from tools.inert import one_line

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_FROM = "$from"
TEXT = 400
"""Characters of a step in words; names in it are shorter (`tools.inert.NAME`)."""


@dataclass(frozen=True)
class PlannedCall:
    """One request. `{"$from": [step, path]}` in its parameters stands for an earlier answer of the same finding."""

    service: str
    operation: str
    parameters: Mapping[str, Any]

    def call(self) -> Call:
        """As it is sent, with its references."""
        return Call(self.service, self.operation, _revived(self.parameters))

    def __str__(self) -> str:
        return f"{self.service}.{self.operation}"


@dataclass(frozen=True)
class PlannedWait:
    """What is read after a step until it has come true."""

    call: PlannedCall
    path: str
    done: tuple[str, ...]
    failed: tuple[str, ...]
    gone: bool
    gone_on: tuple[str, ...]
    seconds: float
    every: float

    def until(self) -> Until:
        """As the engine waits for it."""
        return Until(
            self.call.call(), self.path, self.done, self.failed, self.gone, self.gone_on, self.seconds, self.every
        )


@dataclass(frozen=True)
class PlannedStep:
    """One step. `recoverable_until` is a date for what is kept for a while after it was deleted.

    A backup's id is `makes`, or stands at `makes_at` of the answer; it costs at most `bills_usd_per_month`.
    """

    name: str
    text: str
    call: PlannedCall
    reversal: Reversal
    wait: PlannedWait | None = None
    recoverable_until: str = ""
    backup: bool = False
    capacity: bool = False
    already: tuple[str, ...] = ()
    again_call: PlannedCall | None = None
    again_answer: Mapping[str, str] = field(default_factory=dict)
    makes: str = ""
    makes_at: str = ""
    bills_usd_per_month: float | None = None

    @property
    def leaves(self) -> bool:
        """Whether it makes something that stays and bills: a backup, or a last snapshot that a deletion takes."""
        return self.backup or bool(self.makes or self.makes_at)


@dataclass(frozen=True)
class PlannedFinding:
    """The steps of one finding, and what its resource looked like when they were made."""

    id: str
    check: str
    cloud: str
    account: str
    location: str
    call_location: str
    resource: str
    name: str
    reason: str
    usd_per_month: float | None
    fingerprint: str
    owner: str
    steps: tuple[PlannedStep, ...]
    bound: str = "exact"
    """How sure the amount is."""

    @property
    def scope(self) -> Scope:
        """Where its calls are sent."""
        return Scope(self.call_location or None, self.account)

    @property
    def where(self) -> str:
        """Its place in words: with the account where its calls go to no location, but to the account as a whole."""
        return " ".join(
            part for part in (self.cloud, "" if self.call_location else self.account, self.location) if part
        )


@dataclass(frozen=True)
class Refused:
    """A finding that has no steps, and why. Its cost is not part of what the plan saves."""

    id: str
    check: str
    resource: str
    name: str
    usd_per_month: float | None
    reason: str
    unread: bool = False
    """It could not be read again, so that nothing is known of it now."""
    fix: str = ""


@dataclass(frozen=True)
class CleanupPlan:
    """Steps not yet done, in the order in which they are carried out."""

    id: str
    scan: str
    created: str
    findings: tuple[PlannedFinding, ...]
    refused: tuple[Refused, ...]
    schema_version: Literal[1] = 1

    @property
    def usd_per_month(self) -> float:
        """What is no longer paid once every step is done; findings without a price are not in it."""
        return round(sum(each.usd_per_month or 0.0 for each in self.findings), 2)

    @property
    def unpriced(self) -> int:
        """Findings whose saving is not known."""
        return sum(each.usd_per_month is None for each in self.findings)

    @property
    def steps(self) -> tuple[str, ...]:
        """Every step in words, in order."""
        return tuple(words(step) for each in self.findings for step in each.steps)

    @property
    def backups(self) -> Bill:
        """The backups that are made on the way, and what they bill from then on."""
        return bill(step.bills_usd_per_month for each in self.findings for step in each.steps if step.leaves)

    @property
    def digest(self) -> str:
        """What a token is bound to: any other step, order or state of a resource makes another digest."""
        return hashlib.sha256(adapter().dump_json(self)).hexdigest()[:32]


def words(step: PlannedStep) -> str:
    """One step with what can be undone of it."""
    fate = {
        "can be undone": "can be undone",
        "recoverable": f"recoverable until {step.recoverable_until or 'its window ends'}",
        "cannot be undone": "CANNOT BE UNDONE",
    }[step.reversal]
    cost = step.bills_usd_per_month
    bills = f", bills at most ${cost:,.2f} a month until it is deleted" if step.leaves and cost is not None else ""
    return f"{step.text}: {fate}{', capacity may not come back' if step.capacity else ''}{bills}"


def planned(step: CleanupStep, recoverable_until: str, bills: float | None = None) -> PlannedStep:
    """A step of a check as it is kept."""
    wait, (makes, makes_at) = step.until, made(step)
    return PlannedStep(
        step.name,
        one_line(step.text, TEXT),
        _kept(step.call),
        step.reversal,
        None
        if wait is None
        else PlannedWait(
            _kept(wait.call), wait.path, wait.done, wait.failed, wait.gone, wait.gone_on, wait.seconds, wait.every
        ),
        recoverable_until if step.reversal == "recoverable" else "",
        step.backup,
        step.capacity,
        step.already,
        None if step.again is None else _kept(step.again.call),
        {} if step.again is None else step.again.answer,
        makes,
        makes_at,
        bills,
    )


def lookup(step: PlannedStep) -> Lookup | None:
    """How a lost answer of the step is found again."""
    return None if step.again_call is None else Lookup(step.again_call.call(), step.again_answer)


def _kept(call: Call) -> PlannedCall:
    return PlannedCall(call.service, call.operation, _plain(call.parameters))


def _plain(value: Any) -> Any:
    if isinstance(value, From):
        return {_FROM: [value.step, value.path]}
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return value


def _revived(value: Any) -> Any:
    if isinstance(value, Mapping):
        if set(value) == {_FROM}:
            return From(*value[_FROM])
        return {key: _revived(each) for key, each in value.items()}
    return [_revived(each) for each in value] if isinstance(value, list | tuple) else value


def filled(value: Any, answers: Mapping[str, Any], read: Any) -> Any:
    """Parameters with every `From` replaced by what the named step answered; `read(answer, path)` finds it."""
    if isinstance(value, From):
        found = read(answers.get(value.step, {}), value.path)
        if not found:
            raise KeyError(f"{value.step}.{value.path}")
        return found[0]
    if isinstance(value, Mapping):
        return {key: filled(each, answers, read) for key, each in value.items()}
    return [filled(each, answers, read) for each in value] if isinstance(value, list | tuple) else value


def references(value: Any) -> list[From]:
    """Every place in a value that an earlier answer goes into."""
    if isinstance(value, From):
        return [value]
    if isinstance(value, Mapping):
        return [found for each in value.values() for found in references(each)]
    return [found for each in value for found in references(each)] if isinstance(value, list | tuple) else []


def needed(finding: PlannedFinding, step: PlannedStep) -> set[str]:
    """What later calls need of a step's answer."""
    calls = [each.call.call() for each in finding.steps]
    calls += [each.wait.until().call for each in finding.steps if each.wait is not None]
    return {each.path for call in calls for each in references(call.parameters) if each.step == step.name}


@lru_cache(maxsize=1)
def adapter() -> TypeAdapter[CleanupPlan]:
    """Reads and writes plans."""
    from pydantic import ConfigDict, TypeAdapter

    CleanupPlan.__pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[attr-defined]
    return TypeAdapter(CleanupPlan)
