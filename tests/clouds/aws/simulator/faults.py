"""What can go wrong with one call: it is refused, its answer is lost, or the process dies around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from botocore.model import OperationModel

    from tests.clouds.aws.simulator.seam import Out, Seam, Sent

KINDS = (
    "throttled",
    "server error",
    "acted, answer lost",
    "connection reset",
    "access denied",
    "token expired",
    "killed before",
    "killed after",
)
_THROTTLED = {
    "service-quotas": ("TooManyRequestsException", 429),
    "iam": ("Throttling", 400),
    "sts": ("Throttling", 400),
    "ec2": ("RequestLimitExceeded", 503),
}


class Killed(BaseException):
    """The process is gone: nothing may catch this, as nothing catches a SIGKILL."""


@dataclass(frozen=True)
class Fault:
    """Every attempt of the logical call number `at`, or of every call of `operation`, ends in `kind`."""

    at: int
    kind: str
    operation: str = ""

    def hits(self, sent: Sent) -> bool:
        return sent.number == self.at or str(sent) == self.operation

    def strike(self, seam: Seam, out: Out, model: OperationModel, sent: Sent) -> Any:
        from botocore.exceptions import ConnectionClosedError, ReadTimeoutError

        sent.outcome = self.kind
        match self.kind:
            case "throttled":
                code, status = _THROTTLED.get(sent.service, ("ThrottlingException", 400))
                return out.refusal(model, status, code, "Rate exceeded")
            case "server error":
                return out.refusal(model, 500, "InternalFailure", "An internal error has occurred.")
            case "acted, answer lost":
                seam.act(out, model, sent)
                raise ReadTimeoutError(endpoint_url=out.url)
            case "connection reset":
                raise ConnectionClosedError(endpoint_url=out.url)
            case "access denied":
                code, text = denied(sent)
                return out.refusal(model, 403, code, text)
            case "token expired":
                code = "RequestExpired" if sent.service == "ec2" else "ExpiredTokenException"
                status = 400 if sent.service == "ec2" else 403
                return out.refusal(model, status, code, "The security token included in the request is expired")
            case "killed before":
                return seam.kill(sent)
            case _:
                seam.act(out, model, sent)
                return seam.kill(sent)


def denied(sent: Sent) -> tuple[str, str]:
    """The code and the words of a missing permission."""
    action = f"{sent.service}:{sent.operation}"
    who = "User: arn:aws:iam::123456789012:user/dev"
    if sent.service == "ec2":
        return (
            "UnauthorizedOperation",
            f"You are not authorized to perform this operation. {who} is not authorized to perform: {action}",
        )
    text = f"{who} is not authorized to perform: {action} because no identity-based policy allows the {action} action"
    return ("AccessDenied" if sent.service in {"iam", "sts"} else "AccessDeniedException"), text
