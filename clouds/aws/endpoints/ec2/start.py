"""From a started machine to a model that gave a token: watched on its console, asked once through the tunnel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from clouds.aws.api import AwsApi
from clouds.aws.endpoints import enginelog, tags
from clouds.aws.endpoints.ec2 import calls, create, machine, userdata, view
from clouds.aws.prices import AwsPrices
from clouds.errors import Cancelled, CloudError, NoCapacity, Throttled, Unexpected, Unreachable
from clouds.models import Call, Endpoint, EndpointRef, Scope, Wire

POLL, STARTS_WITHIN, TRIES = 15.0, 4500.0, 4
QUESTION = [{"role": "user", "content": "Reply with the single word: ok"}]


def awaited(name: str) -> Call:
    """The wait for a first token, as the ledger has it: open from RunInstances until the token came."""
    service, operation = create.AWAITED.split(".")
    return Call(service, operation, {"Name": name})


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
            answers = self._answers(ref)
        except Cancelled:
            self._undo(ref)
            raise
        except (NoCapacity, Unexpected) as error:
            self._undo(ref)
            raise error from None
        if not answers:
            endpoint = view.of(self.api, self.prices, ref)
            return endpoint.model_copy(update={"reason": f"no answer in {STARTS_WITHIN:.0f} s; it bills until its end"})
        self.run.maker.progress.report(f"{ref.location}: the engine answers; asking for one token")
        said = self._token(ref)
        if said:
            endpoint = view.of(self.api, self.prices, ref)
            return endpoint.model_copy(update={"reason": f"the engine answers, but asked for a token: {said}"})
        moment = tags.stamp(self.run.now())
        row = machine.find(self.api, ref)
        self.run.remember(
            ready_at=moment, location=ref.location, placed=row["InstanceType"], instance=row["InstanceId"]
        )
        self.run.maker.ledger.done(self.run.token, {"region": ref.location, "at": moment})
        self._tag(ref, row, tags.READY, moment)
        return view.of(self.api, self.prices, ref)

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

    def _answers(self, ref: EndpointRef) -> bool:
        """Wait for the mark on the console. False when it takes longer than any start."""
        progress, waited, marked = self.run.maker.progress, 0.0, False
        while waited < STARTS_WITHIN:
            try:
                row = machine.find(self.api, ref, ended=True)
                lines = machine.console(self.api, ref.location, str(row["InstanceId"]))
            except (Throttled, Unreachable):
                progress.sleep(POLL)
                waited += POLL
                continue
            self._check(ref, row, lines or ())
            key = machine.host_key(lines)
            if key and not marked:
                # the engine's own lines will push it out of the 64 KB that EC2 keeps
                self._tag(ref, row, calls.HOST_KEY, key)
                marked = True
            if any(f"modelrig phase: {userdata.ANSWERS}" in line for line in lines or ()):
                return True
            now = machine.standing(row, lines)
            progress.report(f"{ref.location}: {row['State']['Name']} since {waited:.0f} s; {now.reason}")
            progress.sleep(POLL)
            waited += POLL
        return False

    def _check(self, ref: EndpointRef, row: dict[str, Any], lines: tuple[str, ...]) -> None:
        """Raises NoCapacity when spot took the machine back, Unexpected when it ended or its engine failed."""
        state, why = str(row["State"]["Name"]), row.get("StateReason", {})
        if state in {"shutting-down", "terminated", "stopping", "stopped"}:
            code, said = str(why.get("Code", "")), str(why.get("Message", ""))
            kind = NoCapacity if "Spot" in code or "InsufficientInstanceCapacity" in code else Unexpected
            raise kind(
                f"starting {ref}", answered=f"the machine is {state}: {said}", code=code,
                fix="Deploy it again, on demand or in another zone." if kind is NoCapacity else "Deploy it again.",
            )  # fmt: skip
        failed = next((line for line in lines if f"modelrig phase: {userdata.FAILED}" in line), "")
        if failed:
            said = " | ".join(enginelog.errors(lines)) or failed
            raise Unexpected(
                f"starting {ref}", answered=f"{failed[failed.index('modelrig phase'):][:120]}; its console: {said}",
                fix="Correct what its console says, then deploy again.",
            )  # fmt: skip

    def _tag(self, ref: EndpointRef, row: dict[str, Any], key: str, value: str) -> None:
        call = Call("ec2", "CreateTags", {"Resources": [row["InstanceId"]], "Tags": [{"Key": key, "Value": value}]})
        try:
            self.api.send(call, scope=Scope(ref.location))
        except CloudError as error:
            self.run.maker.progress.report(f"{ref.location}: {key} could not be written to its tags: {error}")

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
