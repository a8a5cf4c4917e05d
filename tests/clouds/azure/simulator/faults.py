"""What can go wrong with one request: it is refused, its answer is lost, its operation fails, or the process dies."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx2

from tests.clouds.azure.simulator.wire import Refused, refusal

if TYPE_CHECKING:
    from tests.clouds.azure.simulator.seam import Seam, Sent

KINDS = (
    "throttled",
    "server error",
    "acted, answer lost",
    "connection reset",
    "access denied",
    "token expired",
    "operation failed",
    "killed before",
    "killed after",
)


class Killed(BaseException):
    """The process is gone: nothing may catch this, as nothing catches a SIGKILL."""


@dataclass(frozen=True)
class Fault:
    """Every attempt of the request number `at`, or every request of that `name`, ends in `kind`."""

    at: int
    kind: str
    name: str = ""

    def hits(self, sent: Sent) -> bool:
        return sent.number == self.at or str(sent) == self.name

    def applies(self, sent: Sent) -> bool:
        """An operation that fails after it was accepted needs one: a write to ARM."""
        return self.kind != "operation failed" or (sent.changes)

    def strike(self, seam: Seam, request: httpx2.Request, sent: Sent) -> httpx2.Response:
        sent.outcome = self.kind
        match self.kind:
            case "throttled":
                return refusal(
                    Refused(429, "TooManyRequests", "Too many requests. Please retry."), {"Retry-After": "5"}
                )
            case "server error":
                return refusal(Refused(500, "InternalServerError", "The server encountered an internal error."))
            case "acted, answer lost":
                seam.act(request, sent)
                raise httpx2.ReadTimeout("no answer", request=request)
            case "connection reset":
                raise httpx2.ReadError("connection reset by peer", request=request)
            case "access denied":
                text = f"The client 'dev' does not have authorization to perform action '{sent.type}/{sent.verb}'"
                return refusal(Refused(403, "AuthorizationFailed", text))
            case "token expired":
                return refusal(
                    Refused(401, "ExpiredAuthenticationToken", "The access token expiry UTC time has passed.")
                )
            case "operation failed":
                seam.account.fails_next = True
                answer = seam.act(request, sent)
                seam.account.fails_next = False
                return answer
            case "killed before":
                return seam.kill(sent)
            case _:
                with suppress(httpx2.HTTPError):  # also where nothing answered: the process dies all the same
                    seam.act(request, sent)
                return seam.kill(sent)
