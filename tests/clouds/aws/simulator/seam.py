"""Joins a simulated account to a botocore session, below the retries and above the socket.

The parameters are noted when botocore has them as plain values (`before-parameter-build`); the answer is given where
the bytes would leave (`before-send`), so that signing, retries, back-off and the real response parser all run. A brief
seam gives it where the request stands (`before-call`): half a call's time goes into what comes after that.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from tests.clouds.aws.simulator import shapes, wire
from tests.clouds.aws.simulator.faults import Killed

if TYPE_CHECKING:
    from botocore.awsrequest import AWSPreparedRequest
    from botocore.model import OperationModel
    from botocore.session import Session

    from tests.clouds.aws.simulator.account import Account
    from tests.clouds.aws.simulator.faults import Fault


class Refused(Exception):
    """What an operation answers instead of a result."""

    def __init__(self, code: str, message: str, status: int = 400, **more: Any) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.status, self.more = code, message, status, more


class Drift(BaseException):
    """The simulator answered, or was asked, what the real API has no shape for. botocore must not swallow it."""


@dataclass
class Sent:
    """One logical call: a retry of it is the same one."""

    number: int
    service: str
    operation: str
    region: str
    parameters: dict[str, Any]
    outcome: str = ""
    attempts: int = 0
    acted: bool = False

    def __str__(self) -> str:
        return f"{self.service}.{self.operation}"


Out = wire.Bytes | wire.Values
"""How an answer leaves."""
Operation = Callable[["Account", str, Mapping[str, Any]], dict[str, Any] | None]


@dataclass
class Seam:
    """`account` may be swapped between tests while the clients stay: making clients is what costs time."""

    account: Account
    sent: list[Sent] = field(default_factory=list)
    fault: Fault | None = None
    down: str = ""
    """Why the process is dead: a further call is an error of the test, because a dead process sends nothing."""
    died_in_main: bool = False
    brief: bool = False
    """Answer with values, but for event streams."""
    checked: bool = True
    """Hold every call and answer to botocore's shapes; off only where the same calls are held to them elsewhere."""

    def __post_init__(self) -> None:
        self._local = threading.local()
        self._lock = threading.RLock()
        self._flying = 0

    def attach(self, session: Session, *, signed: bool = True) -> Session:
        """Every client that this session makes from now on talks to the simulated account."""
        from botocore import UNSIGNED

        events = session.get_component("event_emitter")
        if not signed:  # a third of a call's time, and the same everywhere
            events.register_first("choose-signer", lambda **_: UNSIGNED)
        events.register_first("before-parameter-build", self._note)
        events.register_first("before-call", self._answer_values)
        events.register_first("before-send", self._answer_bytes)
        return session

    def start(self, account: Account, *, brief: bool = False) -> None:
        """A new account and an empty record, for the same clients."""
        self.account, self.sent, self.fault = account, [], None
        self.down, self.checked, self.brief = "", True, brief

    def kill(self, sent: Sent) -> NoReturn:
        """The process dies here. Raises Killed."""
        self.down, self.died_in_main = str(sent), _in_main()
        raise Killed(sent)

    def operations(self) -> list[str]:
        """What was sent, in order, as `service.Operation`."""
        return [str(one) for one in self.sent]

    def _note(self, params: dict[str, Any], model: OperationModel, context: dict[str, Any], **_: Any) -> None:
        self._local.call = (model, _copied(params), None)
        self._local.region = str(context["client_region"])

    def _answer_values(self, model: OperationModel, params: dict[str, Any], **_: Any) -> Any:
        if not self.brief or model.has_event_stream_output:
            return None
        return self._answer(wire.Values(str(params["url"])))

    def _answer_bytes(self, request: AWSPreparedRequest, **_: Any) -> Any:
        return self._answer(wire.Bytes(str(request.url)))

    def _answer(self, out: Out) -> Any:
        model, params, sent = self._local.call
        service = str(model.service_model.service_name)
        with self._lock:
            self._flying += 1
            crowded = service == "service-quotas" and self._flying > self.account.throttled_above
        try:
            if self.account.answer_after:
                time.sleep(self.account.answer_after)
            return self._one(out, model, params, sent, crowded)
        finally:
            with self._lock:
                self._flying -= 1

    def _one(self, out: Out, model: OperationModel, params: dict[str, Any], sent: Sent | None, crowded: bool) -> Any:
        service = str(model.service_model.service_name)
        with self._lock:
            if sent is None:
                sent = Sent(len(self.sent), service, str(model.name), self._local.region, params)
                self.sent.append(sent)
                self._local.call = (model, params, sent)
            sent.attempts += 1
            if self.down:
                if not (self.died_in_main and _in_main()):
                    raise Killed(sent)  # all threads of a process die with it
                raise Drift(f"{sent} was sent by a process that was killed ({self.down})")
            if crowded:
                sent.outcome = "TooManyRequestsException"
                return out.refusal(model, 429, "TooManyRequestsException", "Rate exceeded")
            if self.fault is not None and self.fault.hits(sent):
                return self.fault.strike(self, out, model, sent)
            return self.act(out, model, sent)

    def act(self, out: Out, model: OperationModel, sent: Sent) -> Any:
        """Let the simulated service do it, and answer as it would."""
        operation = self.account.operations.get(str(sent))
        if operation is None:
            raise Drift(f"the simulator has no {sent}")
        try:
            if self.checked:
                _validate(model, sent.parameters)
            result = operation(self.account, sent.region, sent.parameters) or {}
        except Refused as no:
            sent.outcome = no.code
            return out.refusal(model, no.status, no.code, no.message, no.more)
        except Exception as error:
            raise Drift("".join(traceback.format_exception(error))) from error
        streamed = model.has_event_stream_output  # bytes already, framed by the operation
        wrong = [] if streamed or not self.checked else shapes.wrong_output(model, result)
        if wrong:
            raise Drift(f"{sent} answered what AWS could not: {'; '.join(wrong)}")
        sent.outcome, sent.acted = "ok", True
        return out.answer(model, result)


def _validate(model: OperationModel, params: dict[str, Any]) -> None:
    wrong = shapes.wrong_input(model, params)
    if wrong:
        noun = "error" if len(wrong) == 1 else "errors"
        raise Refused("ValidationException", f"{len(wrong)} validation {noun} detected: {'; '.join(wrong)}")


def _copied(value: Any) -> Any:
    """As `deepcopy`, of what the parameters of a call are made of: a fifth of its time."""
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in value.items()}
    return [_copied(each) for each in value] if isinstance(value, list) else value


def _in_main() -> bool:
    return threading.current_thread() is threading.main_thread()
