"""A network in memory, below botocore's retries and signing: bytes come back, or an error; sends are counted."""

from __future__ import annotations

from typing import Any

import botocore.session
from botocore.awsrequest import AWSResponse, HeadersDict


class Wire:
    """A network: answers raw bytes below the retries, or raises; counts what reached it."""

    def __init__(self, *answers: tuple[int, bytes] | Exception) -> None:
        self.answers, self.sent, self.tokens = list(answers), 0, [""]

    def attach(self, session: botocore.session.Session) -> None:
        session.get_component("event_emitter").register_first("before-send", self.send)

    def send(self, request: Any, **_: Any) -> Any:
        self.sent += 1
        token = request.headers.get("X-Amz-Security-Token", "")
        self.tokens.append(token.decode() if isinstance(token, bytes) else token)
        now = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(now, Exception):
            raise now

        class Raw:
            def stream(self, **_: Any) -> Any:
                yield now[1]

            def read(self) -> bytes:
                return now[1]

        return AWSResponse(request.url, now[0], HeadersDict({}), Raw())  # type: ignore[arg-type]
