"""From an accepted request to a machine that runs: its operation, its queue and its state are watched together.

An accepted request may still end in a stockout, a queue may run out, and what was there may vanish. Each is told as
what it is: capacity, quota, not offered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clouds.errors import CloudError, NoCapacity, NotFound, Throttled, Unexpected, Unreachable
from clouds.gcp.endpoints import operations
from clouds.gcp.endpoints.machines.held import Held
from clouds.gcp.endpoints.machines.view import ALIKE
from clouds.gcp.endpoints.machines.world import World
from clouds.gcp.endpoints.making import Maker
from clouds.gcp.endpoints.parts import kind_of
from clouds.models import Call, EndpointRef, Scope

WAITS_AT_MOST = 9000.0
"""Seconds: a request may wait for 2 h; half an hour more is not believed."""
POLL, STUCK_AFTER, VANISHED_AFTER, BLIND_TRIES = 10.0, 2400.0, 3, 8
"""Seconds between two looks; until something that is being made is stuck; looks until what is not shown is gone."""


@dataclass
class Spent:
    """Seconds and tries so far."""

    creating: float = 0.0
    waited: float = 0.0
    unseen: int = 0
    blind: int = 0


@dataclass(frozen=True)
class Settler:
    """Watches one request."""

    world: World
    maker: Maker

    def until_running(self, ref: EndpointRef, call: Call, facts: Mapping[str, Any]) -> Held:
        """The machine once it runs. Raises NoCapacity, QuotaTooSmall, NotOffered, or Unexpected when it is stuck."""
        spent, operation = Spent(), str(facts.get("operation", ""))
        while True:
            error, ended = self._operation(call, operation, ref)
            if error is not None:
                raise error
            held = self._seen(ref, spent, over=ended)
            if held is not None:
                self._check(ref, held)
                if held.standing.state == "loading":
                    return held
                self._going(ref, held, spent)
            self.maker.progress.sleep(POLL)

    def _seen(self, ref: EndpointRef, spent: Spent, *, over: bool) -> Held | None:
        """The machine, or None when it is not shown or could not be read now. Raises when that goes on too long."""
        try:
            held = self.world.find(ref)
        except NotFound:
            spent.unseen += 1
            if spent.unseen >= VANISHED_AFTER and over:
                raise self._vanished(ref) from None
            if spent.unseen > STUCK_AFTER / POLL:
                raise self._stuck(ref, "not shown", spent.unseen * POLL) from None
            self.maker.progress.report(f"{ref.location}: accepted, not shown yet")
            return None
        except (Throttled, Unreachable, Unexpected):
            spent.blind += 1
            if spent.blind >= BLIND_TRIES:
                raise
            return None
        spent.unseen = spent.blind = 0
        return held

    def _going(self, ref: EndpointRef, held: Held, spent: Spent) -> None:
        """Count the waiting and the making apart. Raises when either is longer than ever seen."""
        waits = held.standing.state == "waiting_for_capacity"
        if waits:
            spent.waited += POLL
            self.maker.progress.sleep(POLL)  # a queue is looked at half as often
            spent.waited += POLL
        else:
            spent.creating += POLL
        if spent.waited > WAITS_AT_MOST:
            raise self._in_vain(ref, spent.waited)
        if spent.creating > STUCK_AFTER:
            raise self._stuck(ref, held.status, spent.creating)
        words = f"{held.status}; {ALIKE}" if waits else f"{held.status}: {held.standing.reason}"
        self.maker.progress.report(f"{ref.location}: {words}")

    def _operation(self, call: Call, name: str, ref: EndpointRef) -> tuple[CloudError | None, bool]:
        """The error that the operation ended with, and whether it ended. What cannot be read says nothing."""
        if not name:
            return None, True
        polled = kind_of(call).polled
        project = str(call.parameters.get("project", ""))
        try:
            answer = operations.read(self.maker.api, polled, name, Scope(ref.location), project)
        except CloudError:
            return None, False
        if answer is None:
            return None, True
        return operations.failure(answer, f"starting {ref}"), operations.finished(answer)

    def _check(self, ref: EndpointRef, held: Held) -> None:
        """Raises for a machine that ended, or a queue that ran out, before it ever ran."""
        if held.standing.state == "failed":
            raise self.world.failure(held, f"starting {ref}") or NoCapacity(
                f"starting {ref}", answered=f"{held.status}: {held.standing.reason}", code="FAILED",
                fix="Try another zone, ask for fewer chips, or wait longer.",
            )  # fmt: skip
        if held.dead or held.standing.state in {"deleting", "deleted", "stopped", "stopping"}:
            raise NoCapacity(
                f"starting {ref}", answered=f"it ended before it ran: {held.status}: {held.standing.reason}",
                code=held.status, fix="Deploy it again, on demand or in another zone.",
            )  # fmt: skip

    def _vanished(self, ref: EndpointRef) -> CloudError:
        return NoCapacity(
            f"starting {ref}", answered="the request ended without a machine: it waited in vain, or was taken back",
            code="VANISHED", fix="Try another zone or market, or ask for fewer chips.",
        )  # fmt: skip

    def _in_vain(self, ref: EndpointRef, seconds: float) -> CloudError:
        return NoCapacity(
            f"starting {ref}",
            answered=f"it has waited for {seconds / 60:.0f} min, longer than Google lets a request wait; {ALIKE}",
            code="WAITED_IN_VAIN",
            fix="Ask for fewer chips, or try another zone or market.",
        )

    def _stuck(self, ref: EndpointRef, status: str, seconds: float) -> CloudError:
        return Unexpected(
            f"starting {ref}", answered=f"it has been {status} for {seconds / 60:.0f} min",
            fix="Deploy it in another zone; it is deleted here.",
        )  # fmt: skip
