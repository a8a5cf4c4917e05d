"""The one network seam: what every cloud's api layer asks before it sends a request, and tells after it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Request:
    """One request as the SDK is about to send it.

    `operation` is the cloud's own spelling on the wire (`DescribeVolumes`, `instances.list`), never a method's name.
    `alias` is a second name of the service under which others may have recorded it (AWS: the endpoint prefix).
    """

    service: str
    operation: str
    location: str = ""
    account: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    alias: str = ""

    @property
    def name(self) -> str:
        """`service.Operation`: what allow-lists and fixture files are named by."""
        return f"{self.service}.{self.operation}"

    def __str__(self) -> str:
        return f"{self.name} in {'/'.join(p for p in (self.account, self.location) if p) or 'no location'}"


@dataclass(frozen=True)
class Answer:
    """What came back. `body` is the answer as the SDK parses it, `wire` the raw bytes where those matter."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    wire: bytes | None = None


class Tap(Protocol):
    """Sits on the seam. A replay answers, a read-only guard refuses, a recorder writes down."""

    def before(self, request: Request) -> Answer | None:
        """None lets the request go on. Raises CloudError to refuse it; then nothing is sent."""

    def after(self, request: Request, answer: Answer) -> None:
        """Hear what the network answered; not called for an answer that came from a tap."""


def ask(taps: Iterable[Tap], request: Request) -> Answer | None:
    """The first answer of the taps, in their order; put a guard before a replay."""
    for tap in taps:
        answer = tap.before(request)
        if answer is not None:
            return answer
    return None


def tell(taps: Iterable[Tap], request: Request, answer: Answer) -> None:
    """Tell every tap what the network answered."""
    for tap in taps:
        tap.after(request, answer)
