"""Sends creating calls so that a crash at any moment leaves a ledger row for whatever may exist.

A creating call is never retried below us, where a lost answer would look like "already exists". Whatever does not come
back as a plain yes is settled by reading the cloud: there and ours is done; not there after a lost answer is sent once
more, since a name or a request id lets nothing be made twice; not there after a refusal is failed; and what cannot be
read stays an open intent, which the next run resolves.

A yes of Google is only an operation. It may still end in a stockout, and what it made may be dead (preempted,
suspended, failed) or on its way out: neither counts as there, both stand in the way of a new one and are deleted first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from clouds.base import Ledger, Progress, Step
from clouds.errors import Cancelled, CloudError, Conflict, NotFound, Throttled, Unexpected, Unreachable
from clouds.gcp.api import GcpApi
from clouds.gcp.endpoints import operations
from clouds.gcp.endpoints.parts import KINDS, Found, Kind, kind_of
from clouds.models import Call, Scope

NOT_OURS = "NOT_OURS"
"""Our own code for a thing that another made."""
THROTTLED_TRIES, MARK_TRIES = 6, 3
POLL, ENDED_WITHIN = 5.0, 1200.0
BUSY = frozenset({"FAILED_PRECONDITION", "RESOURCE_NOT_READY", "resourceInUseByAnotherResource", "RESOURCE_IN_USE"})


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

    api: GcpApi
    ledger: Ledger
    progress: Progress
    deployment: str
    _open: list[Step] | None = None
    unsent: set[int] = field(default_factory=set)

    def make(self, call: Call, location: str) -> Mapping[str, Any]:
        """Send one creating call, or find what an earlier try made. Returns what was kept of it: its operation.

        Raises Conflict when something of that name is not ours, otherwise what Google refused with.
        """
        kind = kind_of(call)
        if kind.bills:
            found = kind.look(self.api, Scope(location), call.parameters)
            if found is not None and self._ours(kind, call, location, found):
                return self._taken_up(call, location, found)
            if found is not None:
                self.progress.report(f"{location}: {kind.of(call.parameters)} is {found.status}; it is deleted first")
                self.remove(call, location)
            else:
                self._gone_meanwhile(call)
        step, told = self._step(call)
        return self._made(step, told, location, again=True)

    def _ours(self, kind: Kind, call: Call, location: str, found: Found) -> bool:
        """Whether it is ours and serves or will serve. Raises Conflict when it is somebody else's."""
        if found.deployment != self.deployment:
            raise taken(kind, call, location, found)
        return not (found.dead or found.leaving)

    def _taken_up(self, call: Call, location: str, found: Found) -> Mapping[str, Any]:
        """What an earlier run has made: its rows in the ledger are settled."""
        facts = {"location": location, **found.facts}
        rows = [step for step in self.ledger.steps(self.deployment) if same(step.call, call)]
        for step in rows:
            if step.state == "intent":
                self.ledger.done(step.id, facts)
        done = next((step for step in reversed(rows) if step.state == "done"), None)
        if not rows or (done is None and not any(step.state == "intent" for step in rows)):
            self.ledger.done(self.ledger.intent(self.deployment, call), facts)
        return {**(done.result if done else {}), **facts}

    def _made(self, step: int, call: Call, location: str, *, again: bool) -> Mapping[str, Any]:
        kind, scope = kind_of(call), Scope(location)
        try:
            answer = self._sent(call, scope)
        except CloudError as error:
            found = self._settled(step, kind, call, scope, error, again=again)
            return self._made(step, call, location, again=False) if found is None else found
        facts = {"location": location, "operation": operations.name_of(answer)} if kind.polled else {}
        self.ledger.done(step, {"location": location, **facts})
        return facts

    def _settled(
        self, step: int, kind: Kind, call: Call, scope: Scope, error: CloudError, *, again: bool
    ) -> Mapping[str, Any] | None:
        """What was made although no yes came back; None to send the call once more (it cannot make a second one)."""
        if not error.sent:
            self.unsent.add(step)
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
            if not lost and not isinstance(error, Conflict):
                self.ledger.failed(step, str(error))
            raise error  # "exists already" or no answer, and nothing to be seen: the intent stays open
        if found.deployment != self.deployment:
            self.ledger.failed(step, str(error))
            raise taken(kind, call, scope.location or "", found) from error
        facts = {"location": scope.location, **found.facts}
        self.ledger.done(step, facts)
        return facts

    def _gone_meanwhile(self, call: Call) -> None:
        """What was made and is not there any more is no longer made."""
        for step in self.ledger.steps(self.deployment):
            if step.state == "done" and same(step.call, call):
                self.ledger.undone(step.id)

    def _step(self, call: Call) -> tuple[int, Call]:
        """A new intent, or the open one that a killed run left for this thing, with its own request id.

        What was made before and is over is asked for under another request id: Google would answer with the first one.
        """
        if self._open is None:
            self._open = [step for step in self.ledger.steps(self.deployment) if step.state == "intent"]
        for step in self._open:
            if same(step.call, call):
                self._open.remove(step)
                return step.id, step.call
        over = [s for s in self.ledger.steps(self.deployment) if s.state in {"undone", "failed"}]
        number = sum(same(step.call, call) for step in over)
        if number and "requestId" in call.parameters:
            fresh = str(uuid5(NAMESPACE_URL, f"{call.parameters['requestId']}/{number}"))
            call = Call(call.service, call.operation, {**call.parameters, "requestId": fresh})
        return self.ledger.intent(self.deployment, call), call

    def mark(self, send: Callable[[], None]) -> str:
        """Write a label, with some patience. Returns why it could not be written; empty when it was."""
        said = ""
        for attempt in range(MARK_TRIES):
            if attempt:
                self.progress.sleep(5.0)
            try:
                send()
            except CloudError as error:
                said = f"{error.code or error.kind}: {error.answered}"[:200]
            else:
                return ""
        return said

    def begin(self, call: Call) -> int:
        """Write down something that is not done when its call is sent (the wait for a first token): it stays open, so
        that a run that was killed meanwhile is seen to be unfinished."""
        for step in self.ledger.steps(self.deployment):
            if step.state == "intent" and step.call == call:
                return step.id
        return self.ledger.intent(self.deployment, call)

    def drop(self, name: str) -> None:
        """What was begun under this name will not be finished any more."""
        for step in self.ledger.steps(self.deployment) if self.deployment else ():
            if step.state == "intent" and str(step.call) == name:
                self.ledger.undone(step.id)

    def _sent(self, call: Call, scope: Scope) -> Any:
        """One attempt; again only where nothing was done: throttled, or not reached."""
        throttled = 0
        while True:
            try:
                return self.api.send(call, scope=scope, once=True)
            except (Throttled, Unreachable) as error:
                throttled += 1
                lost = isinstance(error, Unreachable) and error.sent
                if lost or throttled >= THROTTLED_TRIES:
                    raise
                self.progress.sleep(error.retry_after or min(2.0**throttled, 20.0))

    def remove(self, call: Call, location: str) -> str:
        """Remove what a creating call made and read until it is gone. Returns "deleted" or "was not there".

        Raises what Google refused with, and Unexpected when it does not go.
        """
        kind, scope = kind_of(call), Scope(location)
        found = kind.look(self.api, scope, call.parameters)
        if found is None:
            self.forget(call)
            return "was not there"
        if found.deployment != self.deployment:
            raise taken(kind, call, location, found)
        self._until_gone(kind, call, scope, found)
        self.forget(call)
        return "deleted"

    def _until_gone(self, kind: Kind, call: Call, scope: Scope, found: Found) -> None:
        """Delete, and read back. What is busy (being made, being stopped) is asked again; a refusal is raised."""
        waited, operation = 0.0, ""
        leaving = found.leaving
        while True:
            if not leaving:
                leaving, operation = self._deleted(kind, call, scope)
            elif operation:
                project = str(call.parameters.get("project", ""))
                error = operations.error_of(self.api, kind.polled, operation, scope, f"deleting {found.id}", project)
                if error is not None and not isinstance(error, NotFound):
                    raise error
            left = kind.look(self.api, scope, call.parameters)
            if left is None:
                return
            if waited >= ENDED_WITHIN:
                raise Unexpected(
                    f"deleting {kind.of(call.parameters)} in {scope.location}",
                    answered=f"it is still {left.status or 'there'} after {waited:.0f} s",
                    fix="Ask again in some minutes (get_endpoint); then delete_endpoint once more.",
                )
            self.progress.report(f"{scope.location}: {kind.of(call.parameters)} is going: {waited:.0f} s")
            self.progress.sleep(POLL)
            waited += POLL

    def _deleted(self, kind: Kind, call: Call, scope: Scope) -> tuple[bool, str]:
        """Send the deleting call. Whether it was accepted, and its operation; False when the thing is busy."""
        try:
            answer = self.api.send(kind.remove(call.parameters), scope=scope)
        except NotFound:
            return True, ""
        except CloudError as error:
            if error.code not in BUSY:
                raise
            return False, ""
        return True, operations.name_of(answer) if kind.polled else ""

    def forget(self, call: Call) -> None:
        """Mark every step that may have made this part there as undone."""
        for step in self.ledger.steps(self.deployment) if self.deployment else ():
            if same(step.call, call) and step.state in {"intent", "done"}:
                self.ledger.undone(step.id)

    def steady(self, sleep: Callable[[float], None]) -> Maker:
        """The same, for undoing: being asked to stop does not stop it half-way."""
        return Maker(self.api, self.ledger, Steady(self.progress, sleep), self.deployment)


def same(one: Call, other: Call) -> bool:
    """Whether two creating calls make the same thing: of one kind, name and place."""
    if str(other) not in KINDS or _thing(one) != _thing(other):
        return False
    kind = kind_of(other)
    places = ("project", "zone", "parent")
    return kind.name(one.parameters) == kind.name(other.parameters) and all(
        one.parameters.get(place) == other.parameters.get(place) for place in places
    )


def _thing(call: Call) -> str:
    """A queued resource is one thing, whichever version of the API made it."""
    return str(call).replace("tpu-v2alpha1.", "tpu.")


def taken(kind: Kind, call: Call, location: str, found: Found) -> Conflict:
    """The name is in use by something that this deployment did not make."""
    whose = f"it belongs to deployment {found.deployment}" if found.deployment else "modelrig did not make it"
    return Conflict(
        f"{call} in {location}",
        answered=f"{kind.of(call.parameters)} exists already and {whose}",
        code=NOT_OURS,
        fix="Choose another name, or delete what is there first.",
    )
