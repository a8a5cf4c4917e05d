"""How a reply's bytes become events: one framer class per file, chosen by the wire's `frames`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from clouds.errors import InvalidInput
from clouds.models import Wire
from tools.measure.client.frames_aws import AwsEventStreamFramer
from tools.measure.client.sse import SseFramer

Piece = tuple[float, bytes]
"""A piece of a body and the stamp of the read that brought it."""


class Framer(Protocol):
    """Cuts a body into events. A new one is made for every reply."""

    def events(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """Payloads with the stamp of the read that completed each. Raises ValueError on a broken frame."""


FRAMERS: Mapping[str, Callable[[], Framer]] = {"sse": SseFramer, "aws-event-stream": AwsEventStreamFramer}
"""One name of `Wire.frames` each."""


def framer_for(wire: Wire) -> Callable[[], Framer]:
    """The framer that this wire needs. Raises InvalidInput where none reads its frames."""
    if wire.frames not in FRAMERS:
        raise InvalidInput(
            "ref",
            f"the endpoint streams {wire.frames} frames, which the timing client does not read",
            fix="Measure an endpoint that streams server-sent events.",
            allowed=tuple(FRAMERS),
        )
    return FRAMERS[wire.frames]
