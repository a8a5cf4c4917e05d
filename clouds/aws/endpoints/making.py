"""Sends creating calls so that a crash at any moment leaves a ledger row for whatever may exist.

A creating call is never retried below us, where a lost answer would look like "already exists". Whatever does not come
back as a plain yes is settled by reading the cloud: there and ours is done; not there after a lost answer is sent once
more, since a name or a client token lets nothing be made twice; not there after a refusal is failed; and what cannot be
read stays an open intent, which the next run resolves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from clouds.aws.api import AwsApi
from clouds.aws.endpoints import tags
from clouds.aws.endpoints.parts import KINDS, Found, Kind, kind_of
from clouds.base import Ledger, Progress, Step
from clouds.errors import Cancelled, CloudError, Conflict, NotFound, Throttled, Unexpected, Unreachable
from clouds.models import Call, Scope

SETTLES_WITHIN = 60.0
"""Seconds that a new role may need until other services know it (the articles' own tools wait 10 s)."""
THROTTLED_TRIES, MARK_TRIES = 6, 3
_UNSETTLED = ("could not assume role", "to assume the role", "invalid iam instance profile")


@dataclass(frozen=True)
class Steady:
    """A progress for work that has to be finished although somebody asked to stop."""

    inner: Progress
    pause: Callable[[float], None]

    def report(self, message: str, done: float | None = None, total: float | None = None) -> None:
        """Say where we are."""
        with suppress(Cancelled):
            self.inner.report(message, done, total)

    def check(self) -> None:
        """Never raises."""

    def sleep(self, seconds: float) -> None:
        """Wait the whole time."""
        try:
            self.inner.sleep(seconds)
        except Cancelled:
            self.pause(seconds)


@dataclass
class Maker:
    """Makes and removes parts of one deployment."""

    api: AwsApi
    ledger: Ledger
    progress: Progress
    deployment: str
    _open: list[Step] | None = None
    _unsent: set[int] = field(default_factory=set)

    def make(self, call: Call, region: str) -> Mapping[str, Any]:
        """Send one creating call, or find what an earlier try made. Returns what was kept of it.

        Raises Conflict when something of that name is not ours, otherwise what AWS refused with.
        """
        return self._made(self._step(call), call, region, again=True)

    def _made(self, step: int, call: Call, region: str, *, again: bool) -> Mapping[str, Any]:
        kind, scope = kind_of(call), Scope(region)
        try:
            answer = self._sent(call, scope)
        except CloudError as error:
            found = self._settled(step, kind, call, scope, error, again=again)
            return self._made(step, call, region, again=False) if found is None else found
        facts = {"region": region, **kind.facts(answer)}
        self.ledger.done(step, facts)
        return facts

    def _settled(
        self, step: int, kind: Kind, call: Call, scope: Scope, error: CloudError, *, again: bool
    ) -> Mapping[str, Any] | None:
        """What was made although no yes came back; None to send the call once more (it cannot make a second one)."""
        if not error.sent:
            self._unsent.add(step)
            self.ledger.failed(step, str(error))
            raise error
        lost = isinstance(error, Unreachable | Unexpected)
        if lost:
            self.progress.sleep(2.0)  # what was made is not shown everywhere at once
        try:
            found = kind.look(self.api, scope, call.parameters)
        except CloudError:
            raise error from None  # nobody knows: the intent stays open
        if found is None and lost and again:
            return None
        if found is None:
            self.ledger.failed(step, str(error))
            raise error
        if found.deployment not in {self.deployment, tags.SHARED} and not (kind.word == "role" and found.deployment):
            self.ledger.failed(step, str(error))
            raise taken(kind, call, scope.location or "", found) from error
        facts = {"region": scope.location, **found.facts}
        self.ledger.done(step, facts)
        return facts

    def _step(self, call: Call) -> int:
        """A new intent, or the open one that a killed run left for this very call."""
        if self._open is None:
            self._open = [step for step in self.ledger.steps(self.deployment) if step.state == "intent"]
        for step in self._open:
            if step.call == call:
                self._open.remove(step)
                return step.id
        return self.ledger.intent(self.deployment, call)

    def mark(self, call: Call, region: str) -> str:
        """Write a tag, with some patience. Returns why it could not be written; empty when it was."""
        said = ""
        for attempt in range(MARK_TRIES):
            if attempt:
                self.progress.sleep(5.0)
            try:
                self.api.send(call, scope=Scope(region))
            except CloudError as error:
                said = f"{call} in {region}: {error.code or error.kind}"
            else:
                return ""
        return said

    def begin(self, call: Call) -> int:
        """Write down something that is not done when its call is sent (the wait for a first token): it stays open, so
        that a run that was killed meanwhile is seen to be unfinished."""
        return self._step(call)

    def drop(self, operation: str) -> None:
        """What was begun under this operation will not be finished any more."""
        for step in self.ledger.steps(self.deployment) if self.deployment else ():
            if step.state == "intent" and str(step.call) == operation:
                self.ledger.undone(step.id)

    def _sent(self, call: Call, scope: Scope) -> Any:
        """One attempt; again only where nothing was done: throttled, not reached, or a role not known yet."""
        waited, throttled = 0.0, 0
        while True:
            try:
                return self.api.send(call, scope=scope, once=True)
            except (Throttled, Unreachable) as error:
                throttled += 1
                lost = isinstance(error, Unreachable) and error.sent
                if lost or throttled >= THROTTLED_TRIES:
                    raise
                self.progress.sleep(error.retry_after or min(2.0**throttled, 20.0))
            except CloudError as error:
                if waited >= SETTLES_WITHIN or not any(words in error.answered.lower() for words in _UNSETTLED):
                    raise
                self.progress.sleep(5.0)
                waited += 5.0

    def remove(self, call: Call, region: str, *, gone: Callable[[str], None] | None = None) -> str:
        """Remove what a creating call made. Returns "deleted" or "was not there"; raises what AWS refused with."""
        kind, scope = kind_of(call), Scope(region)
        found = kind.look(self.api, scope, call.parameters)
        if found is None:
            self.forget(call, region)
            return "was not there"
        if found.deployment not in {self.deployment, tags.SHARED}:
            raise taken(kind, call, region, found)
        if kind.remove is None:
            return "kept"
        self.delete(kind.remove(call.parameters, found.id), region)
        if gone is not None:
            gone(found.id)
        self.forget(call, region)
        return "deleted"

    def delete(self, call: Call, region: str) -> None:
        """Send one deleting call; that the thing is not there is what was wanted."""
        try:
            self.api.send(call, scope=Scope(region))
        except NotFound:
            return

    def begun(self, calls: Sequence[Call]) -> list[Call]:
        """Those of which something may have been sent (each is written down before); of the others nothing is there."""
        rows = [step for step in self.ledger.steps(self.deployment) if step.id not in self._unsent]
        made = {(str(row.call), kind_of(row.call).name(row.call.parameters)) for row in rows if str(row.call) in KINDS}
        return [call for call in calls if (str(call), kind_of(call).name(call.parameters)) in made]

    def forget(self, call: Call, region: str) -> None:
        """Mark every step that may have made this part there as undone."""
        kind = kind_of(call)
        name = kind.name(call.parameters)
        for step in self.ledger.steps(self.deployment) if self.deployment else ():
            same = str(step.call) == str(call) and kind.name(step.call.parameters) == name
            if same and step.state in {"intent", "done"} and step.result.get("region", region) == region:
                self.ledger.undone(step.id)

    def steady(self, sleep: Callable[[float], None]) -> Maker:
        """The same, for undoing: being asked to stop does not stop it half-way."""
        return Maker(self.api, self.ledger, Steady(self.progress, sleep), self.deployment)


def taken(kind: Kind, call: Call, region: str, found: Found) -> Conflict:
    """The name is in use by something that this deployment did not make."""
    whose = f"it belongs to deployment {found.deployment}" if found.deployment else "modelrig did not make it"
    return Conflict(
        f"{call} in {region}",
        answered=f"{kind.of(call.parameters)} exists already and {whose}",
        fix="Choose another name, or delete what is there first.",
    )
