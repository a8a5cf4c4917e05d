"""From a machine that runs to a model that gave a token: watched in its log, asked once through the tunnel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clouds import enginelog
from clouds.base import PriceBook
from clouds.errors import Cancelled, CloudError, NoCapacity, NotFound, Throttled, Unexpected, Unreachable
from clouds.gcp.endpoints import labels as tags
from clouds.gcp.endpoints.machines import create, marks, view
from clouds.gcp.endpoints.machines.held import Held
from clouds.models import Endpoint, EndpointRef, State, Wire

POLL, STARTS_WITHIN, TRIES, BLIND_TRIES = 15.0, 5400.0, 4, 8
SILENT_AFTER = 1200.0
"""Seconds of a console without any mark of ours: the script died or never began (gemma4-dev saw it spin for ever)."""
QUESTION = [{"role": "user", "content": "Reply with the single word: ok"}]


class StartFailed(Exception):
    """It will not start: what was made has to be taken back."""

    def __init__(self, cause: CloudError) -> None:
        super().__init__(str(cause))
        self.cause = cause


@dataclass(frozen=True)
class Starter:
    """Watches one machine of one run."""

    run: create.Run
    prices: PriceBook
    connect: Callable[[EndpointRef], Wire]

    def until_ready(self, ref: EndpointRef) -> Endpoint:
        """Returns the endpoint, ready, or loading with the reason. Raises when machine or engine failed."""
        self.run.token = self.run.maker.begin(create.awaited(ref.name))
        try:
            held, answers = self._watch(ref)
            said = self._asked(ref) if answers else f"no answer in {STARTS_WITHIN:.0f} s; it bills until its end"
        except Cancelled:
            self._undo(ref)
            raise
        except StartFailed as error:
            self._undo(ref)
            raise error.cause from None
        if said:
            return self._seen(ref, held, "loading", said)
        moment = self.run.now()
        self.run.remember(ready_at=tags.iso(moment), location=ref.location, placed=held.type, instance=held.name)
        self.run.maker.ledger.done(self.run.token, {"location": ref.location, "at": tags.iso(moment)})
        unmarked = mark_ready(self.run, held, tags.stamp(moment))
        reason = f"it gave a token; the label that says so could not be written ({unmarked})" if unmarked else ""
        return self._seen(ref, held, "ready", reason)

    def _seen(self, ref: EndpointRef, held: Held, state: State, reason: str) -> Endpoint:
        """What was just made: it exists and bills, whatever a last reading says."""
        world, lines = self.run.world, None
        try:
            held = world.find(ref)
            lines = world.lines(held)
        except CloudError:
            pass
        found = view.build(ref, held, lines, self.prices, world.shapes)
        return found.model_copy(update={"state": state, "reason": reason})

    def _asked(self, ref: EndpointRef) -> str:
        """One token, asked for several times if need be. Returns why there was none."""
        self.run.maker.progress.report(f"{ref.location}: the engine answers; asking for one token")
        said = ""
        for attempt in range(TRIES):
            if attempt:
                self.run.maker.progress.sleep(POLL)
            said = one_token(self.connect, ref)
            if not said:
                return ""
        return f"the engine answers, but asked for a token: {said}"

    def _undo(self, ref: EndpointRef) -> None:
        left = create.undo(self.run, [ref.location, "global"])
        self.run.remember(ended=all(part.outcome != "still there" for part in left))

    def _watch(self, ref: EndpointRef) -> tuple[Held, bool]:
        """Wait for the mark in the log. The machine, and False when it takes longer than any start.

        A reading may fail now and then; the machine itself goes on. Raises StartFailed, and what cannot be read at all.
        """
        progress, waited, blind = self.run.maker.progress, 0.0, 0
        while True:
            try:
                held = self.run.world.find(ref)
                lines = self.run.world.lines(held) or ()
                blind = 0
            except NotFound:
                raise StartFailed(taken_back(ref, "it is not there any more")) from None
            except (Throttled, Unreachable, Unexpected):
                blind += 1
                if blind >= BLIND_TRIES:
                    raise
                progress.sleep(POLL)
                waited += POLL
                continue
            self._check(ref, held, lines, waited)
            serving = held.serving
            if marks.answers(lines, serving.revision if serving else 1):
                return held, True
            if waited >= STARTS_WITHIN:
                return held, False
            now = view.standing(held, lines)
            progress.report(f"{ref.location}: {held.status} since {waited:.0f} s; {now.reason}")
            progress.sleep(POLL)
            waited += POLL

    def _check(self, ref: EndpointRef, held: Held, lines: tuple[str, ...], waited: float) -> None:
        """Raises StartFailed: with NoCapacity when the machine was taken back, else with what failed on it."""
        if held.dead or held.standing.state in {"deleting", "deleted", "stopped", "stopping", "failed"}:
            raise StartFailed(taken_back(ref, f"{held.status}: {held.standing.reason}"))
        if waited > SILENT_AFTER and lines and not marks.of(lines):
            raise StartFailed(
                Unexpected(
                    f"starting {ref}",
                    answered=f"it runs since {waited:.0f} s and its startup script has not begun",
                    fix="See that the boot image runs startup scripts and that the network lets the machine out.",
                )
            )
        failed = marks.failed(lines, held.serving.revision if held.serving else 1)
        if failed:
            said = " | ".join(enginelog.errors([line for line in lines if "modelrig phase" not in line]))
            raise StartFailed(
                Unexpected(
                    f"starting {ref}",
                    answered=f"{failed}; its log: {said or 'no error line'}",
                    fix="Correct what its log says, then deploy again.",
                )
            )


def taken_back(ref: EndpointRef, words: str) -> CloudError:
    """A machine that ran and ended before its engine answered."""
    return NoCapacity(
        f"starting {ref}", answered=f"the machine ended while it started: {words}", code="ENDED",
        fix="Deploy it again, on demand or in another zone.",
    )  # fmt: skip


def mark_ready(run: create.Run, held: Held, moment: str) -> str:
    """Say in the cloud that a token came. Returns why that could not be written."""
    return run.maker.mark(lambda: run.world.label(held, {tags.READY: moment}))


def one_token(connect: Callable[[EndpointRef], Wire], ref: EndpointRef) -> str:
    """Ask for one short answer through the tunnel. Returns why there was none; empty when a token came."""
    from clouds.openai import chat

    try:
        wire = connect(ref)
    except CloudError as error:
        return str(error)[:300]
    try:
        reply = chat(wire, QUESTION, max_tokens=8, timeout=300.0)
    except CloudError as error:
        return str(error)[:300]
    finally:
        if wire.close is not None:
            wire.close()
    got = reply.usage.get("completion_tokens") or reply.text or reply.reasoning
    return "" if got else "it answered without a token"
