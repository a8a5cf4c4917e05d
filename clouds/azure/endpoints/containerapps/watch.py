"""Watches an app from its PUT until a replica answers, and keeps how long each part of the cold start took."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from clouds import enginelog
from clouds.azure.endpoints.carrying import Run, StartFailed, patiently
from clouds.azure.endpoints.containerapps import invoke, logs, probes, state, view
from clouds.azure.endpoints.containerapps.state import Seen
from clouds.azure.endpoints.web import Web
from clouds.errors import CloudError, NoCapacity, NotFound, NotOffered, QuotaTooSmall, Unexpected
from clouds.models import Phase

POLL = 10.0
SURE = 2
"""Looks in a row that show a revision as broken until it is believed: a new one can look so for a moment."""
NAMES = (
    ("placed", "waiting for a replica"),
    ("started", "pulling the image"),
    ("up", "loading the model"),
    ("token", "first token"),
)


@dataclass
class Marks:
    """When each part of a start was first seen. `whole`: it was seen from its beginning and is a measurement."""

    asked: datetime
    whole: bool = False
    seen: dict[str, datetime] = field(default_factory=dict)

    def note(self, name: str, now: datetime) -> None:
        """Keep the first moment of a mark; a later mark means that the earlier ones have passed too."""
        for earlier, _ in NAMES:
            self.seen.setdefault(earlier, now)
            if earlier == name:
                return

    def phases(self) -> tuple[Phase, ...]:
        """The stretches between the marks, one after the other, as far as it came."""
        found, before = list[Phase](), self.asked
        for mark, name in NAMES:
            if mark not in self.seen:
                break
            at = self.seen[mark]
            found.append(Phase(name=name, seconds=round((at - before).total_seconds(), 1)))
            before = at
        return tuple(found)


@dataclass(frozen=True)
class Limits:
    """Seconds: until a replica has to be there, and until the engine has to answer after its container started."""

    capacity: float
    start: float

    @classmethod
    def of(cls, model: str, capacity: int, start: int) -> Limits:
        """From the settings of a deployment; a restart in the middle of a start is borne once."""
        return cls(capacity, probes.window(model, start) * 1.5)


def until_up(run: Run, web: Web, place: str, region: str, limits: Limits, marks: Marks) -> Seen:
    """Returns when a replica is up. Raises NoCapacity and its kin, else StartFailed.

    Its /health is asked on the way: at no replica that is what starts one, and it costs no token.
    """
    api, blind, broken = run.maker.api, 0, 0
    while True:
        try:
            seen = view.read(api, place)
            blind = 0
        except NotFound:
            raise StartFailed(_deleted(run, region)) from None
        except CloudError as error:
            blind = patiently(blind, error)
            run.maker.progress.sleep(POLL)
            continue
        now = run.now()
        marks.whole = marks.whole or seen.count == 0
        _note(marks, seen, now)
        if seen.up:
            return seen
        broken = broken + 1 if state.standing(seen).state == "failed" else 0
        if broken >= SURE or state.standing(seen).state == "deleting":
            _fail(run, web, seen, region)
        _check_time(run, web, seen, region, limits, marks)
        words = state.standing(seen)
        waited = (now - marks.asked).total_seconds()
        run.maker.progress.report(f"{region}: {words.state.replace('_', ' ')} since {waited:.0f} s; {words.reason}")
        # also while it loads: without requests in flight Azure may take the replica back after the cool-down
        invoke.wake(web, seen)
        run.maker.progress.sleep(POLL)


def _note(marks: Marks, seen: Seen, now: datetime) -> None:
    if seen.up:
        marks.note("up", now)
    elif seen.started:
        marks.note("started", now)
    elif seen.containers:
        marks.note("placed", now)


def _check_time(run: Run, web: Web, seen: Seen, region: str, limits: Limits, marks: Marks) -> None:
    now, tried = run.now(), f"starting {run.plan.spec.name} in {region}"
    if "placed" not in marks.seen:
        waited = (now - marks.asked).total_seconds()
        if waited >= limits.capacity:
            raise NoCapacity(
                tried,
                answered=f"no replica was placed in {waited:.0f} s. {seen.words}".strip(),
                code="NoReplica",
                fix="Name more regions or the other accelerator; quota does not reserve a GPU.",
            )
        return
    since = marks.seen.get("started", marks.seen["placed"])
    if (now - since).total_seconds() >= limits.start + (0 if "started" in marks.seen else limits.capacity):
        _fail(run, web, seen, region)


def _fail(run: Run, web: Web, seen: Seen, region: str) -> None:
    """Raises what the revision says: room is looked for elsewhere, all else is the deployment's own fault."""
    lines = [text for _, text in logs.tail(run.maker.api, web, seen, logs.KEPT)]
    error = state.failure(seen, f"starting {run.plan.spec.name} in {region}", enginelog.errors(lines))
    if isinstance(error, NoCapacity | QuotaTooSmall | NotOffered):
        raise error
    raise StartFailed(error if isinstance(error, CloudError) else Unexpected(str(error), fix="Report this."))


def _deleted(run: Run, region: str) -> NotFound:
    return NotFound(
        f"starting {run.plan.spec.name} in {region}",
        answered="it was deleted meanwhile, by its own end or by somebody",
        fix="Deploy it again if that was not meant.",
    )
