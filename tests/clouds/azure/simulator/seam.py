"""Joins a simulated subscription to httpx, below every retry: what was sent, faults, and a process that can die."""

from __future__ import annotations

import json
import traceback
from dataclasses import dataclass, field
from threading import RLock
from typing import Any, NoReturn

import httpx2

from tests.clouds.azure.simulator import arm, outside
from tests.clouds.azure.simulator.faults import Fault, Killed
from tests.clouds.azure.simulator.subscription import Subscription
from tests.clouds.azure.simulator.wire import Drift, Refused, refusal

ARM = "management.azure.com"


@dataclass
class Sent:
    """One request; the same one sent again at the same moment is another attempt of it."""

    number: int
    method: str
    url: str
    body: Any
    at: float
    host: str = ""
    type: str = ""
    verb: str = ""
    outcome: str = ""

    @property
    def arm(self) -> bool:
        return self.host == ARM

    @property
    def changes(self) -> bool:
        """A write to ARM."""
        return self.arm and self.method in {"PUT", "PATCH", "DELETE"}

    def __str__(self) -> str:
        return f"{self.method} {self.type or self.host}"


@dataclass
class Seam(httpx2.BaseTransport):
    """Stands in place of the network, for ARM and for everything else that is asked."""

    account: Subscription
    sent: list[Sent] = field(default_factory=list)
    fault: Fault | None = None
    down: str = ""
    """Why the process is dead: a further request is an error of the test."""
    _lock: RLock = field(default_factory=RLock)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        with self._lock:
            sent = self._noted(request)
            if self.down:
                raise Drift(f"{sent} was sent by a process that was killed ({self.down})")
            if self.fault is not None and self.fault.hits(sent) and self.fault.applies(sent):
                return self.fault.strike(self, request, sent)
            return self.act(request, sent)

    def _noted(self, request: httpx2.Request) -> Sent:
        content, now = request.read(), self.account.time()
        last = self.sent[-1] if self.sent else None
        url = str(request.url)
        if last is not None and (last.method, last.url, last.at) == (request.method, url, now):
            return last
        body = json.loads(content) if content else None
        kind = arm.type_of(request.url.path) if request.url.host == ARM else request.url.host.rpartition(".azure")[0]
        sent = Sent(len(self.sent), request.method, url, body, now, request.url.host, kind, request.method.lower())
        self.sent.append(sent)
        return sent

    def act(self, request: httpx2.Request, sent: Sent) -> httpx2.Response:
        """Let the simulated service do it, and answer as it would."""
        try:
            handle = arm.handle if request.url.host == ARM else outside.handle
            return handle(self.account, request, sent.body)
        except Refused as no:
            sent.outcome = no.code
            return refusal(no)
        except httpx2.HTTPError:
            raise
        except Exception as error:
            raise Drift("".join(traceback.format_exception(error))) from error

    def kill(self, sent: Sent) -> NoReturn:
        """The process dies here. Raises Killed."""
        self.down = str(sent)
        raise Killed(sent)

    def names(self) -> list[str]:
        """What was sent, in order, as `METHOD type`."""
        return [str(one) for one in self.sent]

    def writes(self) -> list[str]:
        """What was sent to ARM and may have changed something."""
        return [str(one) for one in self.sent if one.changes]
