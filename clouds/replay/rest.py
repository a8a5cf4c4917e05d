"""The seam for clouds that are spoken to over REST: a transport that asks the taps before it sends.

Built on httpx2, which the MCP SDK brings along. A request names itself in its extensions, so that what is matched and
guarded is the operation that the api layer meant and not a guess from the URL:

    client.get(url, extensions=named(Request("compute", "instances.list", "us-west4-a")))

Who asks the taps before a request is made of it spares making one where a tap answers: that is most of the work.

    replied(taps, request) or client.get(url, extensions=named(request, asked=True))
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from clouds.errors import Unexpected
from clouds.replay.seam import Answer, Request, Tap, ask, tell

if TYPE_CHECKING:
    from httpx2 import URL, BaseTransport

_KEY, _ASKED = "modelrig.request", "modelrig.asked"


@dataclass(frozen=True)
class Reply:
    """What a tap answered, as it would have come over the wire. The headers' names are in small letters."""

    status: int
    content: bytes
    headers: Mapping[str, str]


def replied(taps: Sequence[Tap], request: Request) -> Reply | None:
    """What a tap answers; None lets it go to the network. Raises what a tap refuses it with."""
    answer = ask(taps, request)
    return None if answer is None else Reply(answer.status, _content(answer), _headers(answer))


def named(request: Request, *, asked: bool = False) -> dict[str, Any]:
    """The extensions that carry a request's name down to the transport, and whether its taps were `asked` already."""
    return {_KEY: request, _ASKED: asked}


@lru_cache(maxsize=512)
def address(url: str) -> URL:
    """An address, parsed: who waits for something asks the same one again and again. Raises httpx2.InvalidURL."""
    import httpx2

    return httpx2.URL(url)


def transport(taps: Sequence[Tap], inner: BaseTransport | None = None) -> BaseTransport:
    """A transport for `httpx2.Client(transport=...)`. Without `inner` the real network is behind it."""
    import httpx2

    class Seam(httpx2.BaseTransport):
        def __init__(self) -> None:
            self._inner = inner or httpx2.HTTPTransport()

        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            meant = request.extensions.get(_KEY)
            if not isinstance(meant, Request):
                raise Unexpected(
                    f"sending {request.method} {request.url.copy_with(query=None)}",
                    answered="the request does not say which operation it is",
                    fix="Report this as a bug of modelrig.",
                    sent=False,
                )
            reply = None if request.extensions.get(_ASKED) else replied(taps, meant)
            if reply is not None:
                return httpx2.Response(reply.status, headers=dict(reply.headers), content=reply.content)
            response = self._inner.handle_request(request)
            response.read()
            tell(taps, meant, Answer(response.status_code, _body(response.content), dict(response.headers)))
            return response

        def close(self) -> None:
            self._inner.close()

    return Seam()


def _headers(answer: Answer) -> dict[str, str]:
    """The recorded headers, less those that spoke of the bytes then on the wire."""
    given = {key.lower(): value for key, value in answer.headers.items()}
    kept = {k: v for k, v in given.items() if k not in ("content-length", "content-encoding", "transfer-encoding")}
    return {"content-type": "application/json", **kept}


def _content(answer: Answer) -> bytes:
    if answer.wire is not None:
        return answer.wire
    return b"" if answer.body is None else json.dumps(answer.body).encode()


def _body(content: bytes) -> Any:
    if not content:
        return None
    try:
        return json.loads(content)
    except ValueError:
        return content.decode(errors="replace")
