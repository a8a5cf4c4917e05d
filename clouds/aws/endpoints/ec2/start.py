"""From a started machine to a model that gave a token: watched on its console, asked once through the tunnel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from clouds import enginelog
from clouds.aws.api import AwsApi
from clouds.aws.endpoints import tags
from clouds.aws.endpoints.ec2 import calls, create, machine, userdata, view
from clouds.aws.prices import AwsPrices
from clouds.errors import Cancelled, CloudError, NoCapacity, NotFound, Throttled, Unexpected, Unreachable
from clouds.models import Call, Endpoint, EndpointRef, State, Wire

POLL, STARTS_WITHIN, TRIES, BLIND_TRIES = 15.0, 4500.0, 4, 8
QUESTION = [{"role": "user", "content": "Reply with the single word: ok"}]


def awaited(name: str) -> Call:
    """The wait for a first token, as the ledger has it: open from RunInstances until the token came."""
    service, operation = create.AWAITED.split(".")
    return Call(service, operation, {"Name": name})


class StartFailed(Exception):
    """It will not start: what was made has to be taken back."""

    def __init__(self, cause: CloudError) -> None:
        super().__init__(str(cause))
        self.cause = cause


@dataclass(frozen=True)
class Starter:
    """Watches one machine of one run."""

    api: AwsApi
    prices: AwsPrices
    run: create.Run
    connect: Callable[[EndpointRef], Wire]

    def until_ready(self, ref: EndpointRef) -> Endpoint:
        """Returns the endpoint, ready, or loading with the reason. Raises when machine or engine failed."""
        self.run.token = self.run.maker.begin(awaited(ref.name))
        try:
            row, answers = self._watch(ref)
        except Cancelled:
            self._undo(ref)
            raise
        except StartFailed as error:
            self._undo(ref)
            raise error.cause from None
        if not answers:
            return self._seen(ref, row, "loading", f"no answer in {STARTS_WITHIN:.0f} s; it bills until its end")
        self.run.maker.progress.report(f"{ref.location}: the engine answers; asking for one token")
        said = self._token(ref)
        if said:
            return self._seen(ref, row, "loading", f"the engine answers, but asked for a token: {said}")
        moment = tags.stamp(self.run.now())
        self.run.remember(
            ready_at=moment, location=ref.location, placed=row["InstanceType"], instance=row["InstanceId"]
        )
        self.run.maker.ledger.done(self.run.token, {"region": ref.location, "at": moment})
        unmarked = self._tag(ref, row, tags.READY, moment)
        reason = f"it gave a token; the tag that says so could not be written ({unmarked})" if unmarked else ""
        return self._seen(ref, row, "ready", reason)

    def _seen(self, ref: EndpointRef, row: dict[str, Any], state: State, reason: str) -> Endpoint:
        """What was just made: it exists and bills, whatever a last reading says."""
        try:
            found = view.of(self.api, self.prices, ref)
        except CloudError:
            found = view.build(ref, row, None, self.prices)
        return found.model_copy(update={"state": state, "reason": reason})

    def _token(self, ref: EndpointRef) -> str:
        """One token, asked for several times if need be. Returns why there was none."""
        said = ""
        for attempt in range(TRIES):
            if attempt:
                self.run.maker.progress.sleep(POLL)
            said = self.one_token(self.connect, ref)
            if not said:
                return ""
        return said

    def _undo(self, ref: EndpointRef) -> None:
        left = create.undo(self.run, ref.location)
        self.run.remember(ended=all(part.outcome != "still there" for part in left))

    def _watch(self, ref: EndpointRef) -> tuple[dict[str, Any], bool]:
        """Wait for the mark on the console. The machine, and False when it takes longer than any start.

        A reading may fail now and then; the machine itself goes on. Raises StartFailed, and what cannot be read at all.
        """
        progress, waited, blind, marked, row = self.run.maker.progress, 0.0, 0, False, dict[str, Any]()
        while waited < STARTS_WITHIN:
            try:
                row = machine.find(self.api, ref, ended=True)
                lines = machine.console(self.api, ref.location, str(row["InstanceId"]))
                blind = 0
            except (Throttled, Unreachable, Unexpected, NotFound):
                blind += 1
                if blind >= BLIND_TRIES:
                    raise
                progress.sleep(POLL)
                waited += POLL
                continue
            self._check(ref, row, lines or ())
            key = machine.host_key(lines)
            if key and not marked:
                # the engine's own lines will push it out of the 64 KB that EC2 keeps
                marked = not self._tag(ref, row, calls.HOST_KEY, key)
            if any(f"modelrig phase: {userdata.ANSWERS}" in line for line in lines or ()):
                return row, True
            now = machine.standing(row, lines)
            progress.report(f"{ref.location}: {row['State']['Name']} since {waited:.0f} s; {now.reason}")
            progress.sleep(POLL)
            waited += POLL
        return row, False

    def _check(self, ref: EndpointRef, row: dict[str, Any], lines: tuple[str, ...]) -> None:
        """Raises StartFailed: with NoCapacity when spot took the machine back, else with what ended or failed."""
        state, why = str(row["State"]["Name"]), row.get("StateReason", {})
        if state in {"shutting-down", "terminated", "stopping", "stopped"}:
            code, said = str(why.get("Code", "")), str(why.get("Message", ""))
            kind = NoCapacity if "Spot" in code or "InsufficientInstanceCapacity" in code else Unexpected
            fix = "Deploy it again, on demand or in another zone." if kind is NoCapacity else "Deploy it again."
            raise StartFailed(kind(f"starting {ref}", answered=f"the machine is {state}: {said}", code=code, fix=fix))
        failed = next((line for line in lines if f"modelrig phase: {userdata.FAILED}" in line), "")
        if failed:
            said = " | ".join(enginelog.errors(lines)) or failed
            mark = failed[failed.index("modelrig phase") :][:120]
            fix = "Correct what its console says, then deploy again."
            raise StartFailed(Unexpected(f"starting {ref}", answered=f"{mark}; its console: {said}", fix=fix))

    def _tag(self, ref: EndpointRef, row: dict[str, Any], key: str, value: str) -> str:
        call = Call("ec2", "CreateTags", {"Resources": [row["InstanceId"]], "Tags": [{"Key": key, "Value": value}]})
        return self.run.maker.mark(call, ref.location)

    @staticmethod
    def one_token(connect: Callable[[EndpointRef], Wire], ref: EndpointRef) -> str:
        """Ask for one short answer through the tunnel. Returns why there was none; empty when a token came."""
        from clouds.openai import chat

        try:
            wire = connect(ref)
        except CloudError as error:
            return str(error)[:300]
        try:
            reply = chat(wire, QUESTION, max_tokens=8)
        except CloudError as error:
            return str(error)[:300]
        finally:
            if wire.close is not None:
                wire.close()
        got = reply.usage.get("completion_tokens") or reply.text or reply.reasoning
        return "" if got else "it answered without a token"
