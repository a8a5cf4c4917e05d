"""What can go wrong with one call: it is refused, its answer is lost or half of it, or the process dies around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clouds.replay import Answer, Request

if TYPE_CHECKING:
    from tests.clouds.gcp.simulator.seam import Seam, Sent

KINDS = (
    "throttled",
    "server error",
    "acted, answer lost",
    "acted, half an answer",
    "connection refused",
    "permission denied",
    "token expired",
    "killed before",
    "killed after",
)


class Killed(BaseException):
    """The process is gone: nothing may catch this, as nothing catches a SIGKILL."""


def _status(code: int, status: str, message: str, **more: Any) -> Answer:
    return Answer(code, {"error": {"code": code, "status": status, "message": message, **more}})


@dataclass(frozen=True)
class Fault:
    """Every attempt of the call number `at`, or of every call of `operation`, ends in `kind`."""

    at: int
    kind: str
    operation: str = ""

    def hits(self, sent: Sent) -> bool:
        return sent.number == self.at or sent.name == self.operation

    def strike(self, seam: Seam, request: Request, sent: Sent) -> Answer:
        import httpx2

        sent.outcome = self.kind
        match self.kind:
            case "throttled":
                info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "RATE_LIMIT_EXCEEDED"}
                words = "Quota exceeded for quota metric 'Requests' and limit 'Requests per minute'"
                return _status(429, "RESOURCE_EXHAUSTED", words, details=[info])
            case "server error":
                return Answer(502, None, {"content-type": "text/html"}, b"<html><h1>502 Bad Gateway</h1></html>")
            case "acted, answer lost":
                seam.act(request, sent)
                raise httpx2.ReadTimeout("timed out")
            case "acted, half an answer":
                seam.act(request, sent)
                return Answer(200, None, {"content-type": "application/json"}, b'{"name": "opera')
            case "connection refused":
                raise httpx2.ConnectError("connection refused")
            case "permission denied":
                info = {
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "IAM_PERMISSION_DENIED",
                    "domain": "iam.googleapis.com", "metadata": {"permission": f"{request.name}"},
                }  # fmt: skip
                return _status(403, "PERMISSION_DENIED", f"Permission '{request.name}' denied", details=[info])
            case "token expired":
                return _status(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
            case "killed before":
                return seam.kill(sent)
            case _:
                seam.act(request, sent)
                return seam.kill(sent)
