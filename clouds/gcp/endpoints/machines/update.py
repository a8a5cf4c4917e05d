"""Changes the machine that is held: another model or flags. The container is replaced; machine and clock stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from clouds.base import PriceBook, Progress
from clouds.errors import CloudError, Conflict, InvalidInput, NotFound, Throttled, Unexpected, Unreachable
from clouds.gcp.endpoints import labels as tags
from clouds.gcp.endpoints.machines import marks, start, view
from clouds.gcp.endpoints.machines import serving as engines
from clouds.gcp.endpoints.machines.held import SERVE, SERVING, Held
from clouds.gcp.endpoints.machines.serving import Serving
from clouds.gcp.endpoints.machines.world import World
from clouds.models import Change, Endpoint, EndpointRef, Wire

POLL, STARTS_WITHIN, BLIND_TRIES = 15.0, 5400.0, 8


@dataclass(frozen=True)
class Changer:
    """One change of one machine."""

    world: World
    prices: PriceBook
    progress: Progress
    connect: Callable[[EndpointRef], Wire]
    now: Callable[[], datetime]

    def check(self, change: Change) -> None:
        """Raises InvalidInput for what cannot change in place, and Conflict for the end, before anything is sent."""
        fixed = sorted(name for name in change.settings or {} if name not in engines.SETTINGS and name[:1] != "-")
        if fixed or "image" in (change.settings or {}):
            raise InvalidInput(
                "settings", f"{', '.join(fixed) or 'image'} cannot change in place",
                fix=f"What can: {', '.join(name for name in engines.SETTINGS if name != 'image')}.",
            )  # fmt: skip

    def engine(self, ref: EndpointRef, change: Change) -> Endpoint:
        """Tell the machine what to serve, wait until it says so, ask for one token; it is not ready until then."""
        held = self.world.find(ref)
        before = held.serving
        if before is None:
            raise Unexpected(
                f"changing {ref}", answered="its metadata does not say what it serves with",
                fix="Delete it and deploy again.",
            )  # fmt: skip
        if held.standing.state != "loading":
            raise Conflict(
                f"changing {ref}", answered=f"it is {held.status}", fix="Wait until it runs (get_endpoint).", sent=False
            )
        fresh = before.changed(change.model, change.settings or {})
        self.progress.report(f"{ref.location}: {held.name} starts {fresh.model}")
        self.world.label(held, {tags.READY: ""})
        self.world.tell(held, {SERVING: fresh.text(), SERVE: engines.script(fresh)})
        held, answers = self._watch(ref, fresh)
        said = start.one_token(self.connect, ref) if answers else f"no answer in {STARTS_WITHIN:.0f} s"
        if not said:
            self.world.label(held, {tags.READY: tags.stamp(self.now())})
            held = self.world.find(ref)
        found = view.build(ref, held, self.world.lines(held), self.prices, self.world.shapes)
        return found if not said else found.model_copy(update={"state": "loading", "reason": said})

    def _watch(self, ref: EndpointRef, fresh: Serving) -> tuple[Held, bool]:
        """Wait for the mark of this revision. Raises Unexpected when the engine failed; the machine stays as it is."""
        waited, blind = 0.0, 0
        while True:
            try:
                held = self.world.find(ref)
                lines = self.world.lines(held) or ()
                blind = 0
            except NotFound:
                raise start.taken_back(ref, "it is not there any more") from None
            except (Throttled, Unreachable, Unexpected):
                blind += 1
                if blind >= BLIND_TRIES:
                    raise
                self.progress.sleep(POLL)
                waited += POLL
                continue
            if marks.answers(lines, fresh.revision):
                return held, True
            if failed := marks.failed(lines, fresh.revision):
                raise self._failed(ref, failed)
            if waited >= STARTS_WITHIN:
                return held, False
            self.progress.report(f"{ref.location}: {waited:.0f} s; {marks.progress(lines)}")
            self.progress.sleep(POLL)
            waited += POLL

    def _failed(self, ref: EndpointRef, words: str) -> CloudError:
        return Unexpected(
            f"changing {ref}", answered=words,
            fix="The machine is held and bills: read its log, then change it again or delete it.",
        )  # fmt: skip


def end_is_fixed(ref: EndpointRef, why: str) -> Conflict:
    """The end was set when the machine was made, and Google takes no other while it runs."""
    return Conflict(
        f"moving the end of {ref}", answered=why, fix="Deploy another one; this one ends at its own time.", sent=False
    )
