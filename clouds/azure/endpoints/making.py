"""Makes and removes parts so that a crash at any moment leaves a ledger row for whatever may exist.

Every part is read before it is sent, since ARM's PUT overwrites: foreign is refused, ours and whole is taken, ours and
under way is waited for. Whatever does not come back as a plain yes is settled by reading again: there and whole is
done; there and failed is written down as made and raised; not there after a lost answer is sent once more, since a PUT
of one id makes no second thing; not there after a refusal is failed; what cannot be read stays an open intent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from clouds.azure.api import AzureApi
from clouds.azure.endpoints import ids, keys, parts
from clouds.azure.endpoints.parts import Found, kind_of
from clouds.azure.lro import Begun
from clouds.base import Ledger, Progress, Step
from clouds.errors import (
    Cancelled,
    CloudError,
    Conflict,
    NoCapacity,
    NotFound,
    QuotaTooSmall,
    Throttled,
    Unexpected,
    Unreachable,
)
from clouds.models import Call, Scope

TRIES = 6
PAUSE = 10.0
UNKNOWN_FOR = 120.0
"""Seconds for which a new identity may be unknown to the service that gives rights (PrincipalNotFound)."""


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
    """Makes and removes parts of one deployment. `words` are put into calls as they are sent (keys, identities)."""

    api: AzureApi
    ledger: Ledger
    progress: Progress
    deployment: str
    words: dict[str, str] = field(default_factory=dict, repr=False)
    _open: list[Step] | None = None
    _unsent: set[int] = field(default_factory=set)

    def make(self, call: Call) -> Found:
        """Make one part, or take what an earlier run made. Raises Conflict for a foreign one, else Azure's refusal."""
        known = {row.id for row in self.ledger.steps(self.deployment)}
        step = self.begin(call)
        try:
            found = parts.look(self.api, call)
        except CloudError:  # the intent stays open; only this run knows that it sent nothing
            self._unsent |= {step} - known
            raise
        if found is not None:
            self._check_ours(step, call, found)
            if not found.settled:
                found = self._waited(step, call, found)
            if not found.bad and parts.applied(call, found.resource):
                return self._done(step, found)
        return self._put(step, call, again=True)

    def _put(self, step: int, call: Call, *, again: bool) -> Found:
        try:
            begun = self._begun(keys.filled(call, self.words))
        except CloudError as error:
            if not error.sent:
                self._unsent.add(step)
                self.ledger.failed(step, str(error))
                raise
            return self._settled(step, call, error, again=again)
        try:
            self.api.poll(begun, progress=self.progress, timeout=kind_of(call).within)
            found = parts.look(self.api, call)
        except CloudError as error:  # whatever it is, the call itself was taken
            return self._settled(step, call, error, again=again)
        if found is None or found.bad:
            word = "it is not there" if found is None else f"it is {found.state}"
            return self._settled(step, call, _odd(call, f"that it was made, and {word}"), again=again)
        return self._done(step, found)

    def _settled(self, step: int, call: Call, error: CloudError, *, again: bool) -> Found:
        """What was made although no yes came back."""
        lost = isinstance(error, Unreachable | Unexpected)
        if lost:
            self.progress.sleep(2.0)  # what was made is not shown everywhere at once
        try:
            found = parts.look(self.api, call)
        except CloudError:
            raise error from None  # nobody knows: the intent stays open
        if found is None:
            if lost and again:
                return self._put(step, call, again=False)
            self.ledger.failed(step, str(error))
            raise error
        self._check_ours(step, call, found)
        if not found.settled:
            found = self._waited(step, call, found)
        if not found.bad and parts.applied(call, found.resource):
            return self._done(step, found)
        if not found.bad and lost and again:
            return self._put(step, call, again=False)
        self._done(step, found)
        raise error

    def _waited(self, step: int, call: Call, found: Found) -> Found:
        """Wait for what is under way already. Raises Azure's own words when it fails, with the part written down."""
        try:
            self.api.poll(_resource(call, found), progress=self.progress, timeout=kind_of(call).within)
        except NotFound:
            return self._put(step, call, again=False)  # it was being deleted
        except CloudError:
            if (now := parts.look(self.api, call)) is not None and now.bad:
                return now
            raise
        return parts.look(self.api, call) or self._put(step, call, again=False)

    def _done(self, step: int, found: Found) -> Found:
        self.ledger.done(step, {"id": found.id, **({"state": found.state} if found.bad else {})})
        return found

    def _check_ours(self, step: int, call: Call, found: Found) -> None:
        if found.deployment in {self.deployment, parts.MINE}:
            return
        error = taken(call, found)
        self.ledger.failed(step, str(error))
        raise error

    def begin(self, call: Call) -> int:
        """A new intent, or the open one that a killed run left for this very call.

        Also for what is not done when a call is sent (the wait for a first token): it stays open, so that a run that
        was killed meanwhile is seen to be unfinished.
        """
        if self._open is None:
            self._open = [step for step in self.ledger.steps(self.deployment) if step.state == "intent"]
        for step in self._open:
            if step.call == call:
                self._open.remove(step)
                return step.id
        return self.ledger.intent(self.deployment, call)

    def drop(self, operation: str) -> None:
        """What was begun under this operation will not be finished any more."""
        for step in self.ledger.steps(self.deployment) if self.deployment else ():
            if step.state == "intent" and str(step.call) == operation:
                self.ledger.undone(step.id)

    def _begun(self, call: Call) -> Begun:
        """One attempt; again only where nothing was done: throttled, not reached, or an identity not known yet."""
        waited, tries = 0.0, 0
        while True:
            try:
                return self.api.begin(call, scope=_scope(call))
            except (Throttled, Unreachable) as error:
                tries += 1
                if (isinstance(error, Unreachable) and error.sent) or tries >= TRIES:
                    raise
                self.progress.sleep(error.retry_after or min(2.0**tries, 20.0))
            except CloudError as error:
                if error.code != "PrincipalNotFound" or waited >= UNKNOWN_FOR:
                    raise
                self.progress.sleep(PAUSE)
                waited += PAUSE

    def change(self, call: Call, *, within: float, again: bool = True) -> None:
        """Change a part that is there, when nothing is under way on it, and wait for the end. Raises what it came to.

        The same change twice is the same as once, so that one whose answer was lost is sent again.
        """
        made = Call(call.service, "put", call.parameters)
        self._calm(made, within)
        try:
            begun = self._begun(call)
        except Unreachable:
            if not again:
                raise
            self.progress.sleep(2.0)
            self.change(call, within=within, again=False)
            return
        try:
            self.api.poll(begun, progress=self.progress, timeout=within)
        except CloudError as error:
            found = self._calm(made, within)  # whatever the look said, the change itself was taken
            if found is None or found.bad or isinstance(error, NoCapacity | QuotaTooSmall):
                raise

    def _calm(self, call: Call, within: float) -> Found | None:
        """A part once no operation of Azure's is under way on it; None when it is not there. Raises CloudError."""
        found = parts.look(self.api, call)
        if found is None or found.settled:
            return found
        with suppress(CloudError):  # what became of it, its state says
            self.api.poll(_resource(call, found), progress=self.progress, timeout=within)
        return parts.look(self.api, call)

    def tag(self, resource: str, pairs: Mapping[str, str]) -> str:
        """Merge tags into those of a resource. Returns why they could not be written; empty when they were."""
        place = f"{resource}/providers/Microsoft.Resources/tags/default"
        call = Call(
            "Microsoft.Resources/tags",
            "patch",
            {"id": place, "body": {"operation": "Merge", "properties": {"tags": dict(pairs)}}},
        )
        said = ""
        for attempt in range(3):
            if attempt:
                self.progress.sleep(5.0)
            try:
                self.api.poll(self.api.begin(call, scope=_scope(call)), progress=self.progress, timeout=120.0)
            except CloudError as error:
                said = f"{error.code or error.kind}"
            else:
                return ""
        return said

    def begun(self, calls: Sequence[Call]) -> list[Call]:
        """Those of which something may have been sent (each is written down before); of the others nothing is there."""
        rows = [step.call for step in self.ledger.steps(self.deployment) if step.id not in self._unsent]
        made = {(str(row), str(row.parameters.get("id", "")).lower()) for row in rows}
        return [call for call in calls if (str(call), str(call.parameters.get("id", "")).lower()) in made]

    def forget(self, call: Call) -> None:
        """Mark every step that may have made this part as undone."""
        wanted = str(call.parameters["id"])
        for step in self.ledger.steps(self.deployment) if self.deployment else ():
            here = str(step.call.parameters.get("id", ""))
            if step.state in {"intent", "done"} and str(step.call) == str(call) and here and ids.same(here, wanted):
                self.ledger.undone(step.id)

    def steady(self, pause: Callable[[float], None]) -> Maker:
        """The same, for undoing: being asked to stop does not stop it half-way."""
        return Maker(self.api, self.ledger, Steady(self.progress, pause), self.deployment, self.words)


def taken(call: Call, found: Found) -> Conflict:
    """The name is in use by something that this deployment did not make."""
    whose = f"it belongs to deployment {found.deployment}" if found.deployment else "modelrig did not make it"
    return Conflict(
        f"making {kind_of(call).of(call)}",
        answered=f"{found.id} exists already and {whose}",
        fix="Choose another name, or delete what is there first.",
    )


def _resource(call: Call, found: Found) -> Begun:
    """An operation that somebody else's run began, watched by the resource's own state."""
    place = str(call.parameters["id"])
    return Begun(
        "PUT", 200, found.resource, "resource", f"making {kind_of(call).of(call)}", place, "", PAUSE,
        _scope(call).account or "",
    )  # fmt: skip


def _scope(call: Call) -> Scope:
    return Scope(account=ids.subscription_of(str(call.parameters["id"])))


def _odd(call: Call, what: str) -> Unexpected:
    return Unexpected(
        f"making {kind_of(call).of(call)}", answered=f"Azure says {what}", fix="Look at it (get_endpoint), then again."
    )
