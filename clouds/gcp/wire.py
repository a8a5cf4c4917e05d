"""One HTTP exchange with Google: the request as its method wants it, the answer as a body or as the error it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from clouds.errors import Unexpected, Unreachable
from clouds.gcp import errors
from clouds.gcp.methods import Method
from clouds.gcp.words import REMEDIES
from clouds.replay import Request, Tap

if TYPE_CHECKING:
    from ssl import SSLContext

    import httpx2

READ_TIMEOUT = 75
BETWEEN = "Something between this machine and Google answered; look at the proxy."


@cache
def tls() -> SSLContext:
    """One TLS context for every client: reading the machine's certificates takes 30 ms each time."""
    import httpx2

    return httpx2.create_ssl_context()


def proxy() -> str | None:
    """The proxy of this machine's settings for Google's hosts; a client with a transport of its own looks for none."""
    from urllib.request import getproxies, proxy_bypass

    return None if proxy_bypass("www.googleapis.com") else getproxies().get("https")


def client(taps: Sequence[Tap], *, proxy: str | None = None) -> httpx2.Client:
    """The HTTP client; every request through it must be named for the taps."""
    import httpx2

    from clouds.replay.rest import transport

    inner = httpx2.HTTPTransport(
        verify=tls(), proxy=proxy, limits=httpx2.Limits(max_connections=256, max_keepalive_connections=64)
    )
    return httpx2.Client(
        transport=transport(taps, inner),
        timeout=httpx2.Timeout(READ_TIMEOUT, connect=5),
        headers={"User-Agent": "modelrig"},
    )


def exchanged(
    sender: Callable[[], httpx2.Client],
    taps: Sequence[Tap],
    method: Method,
    request: Request,
    headers: Mapping[str, str],
    addressed: Callable[[str], tuple[str, str]],
) -> Any:
    """Send once; the answer's body. Raises CloudError: `Unreachable.sent` says whether Google may have heard it."""
    import httpx2

    from clouds.replay.rest import Reply, address, named, replied

    tried, filled = f"{request}", request.parameters
    try:
        reply = replied(taps, request)
        if reply is None:
            url, host = addressed(method.url(filled))
            if query := urlencode(method.query(filled)):
                url = f"{url}?{query}"  # one address that is parsed once, and not a second time with its query
            told = {**headers, **({"Host": host} if host else {})}
            content = json.dumps(filled["body"]).encode() if "body" in filled else b"{}" if method.body else None
            if content is not None:
                told["Content-Type"] = "application/json"
            extensions = named(request, asked=True)
            response = sender().request(method.verb, address(url), content=content, headers=told, extensions=extensions)
            reply = Reply(response.status_code, response.content, response.headers)
    except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
        raise Unreachable(
            tried,
            answered=errors.bounded(str(error)),
            code=type(error).__name__,
            fix=REMEDIES["unreachable"],
            sent=False,
        ) from None
    except httpx2.HTTPError as error:
        fix = REMEDIES["unreachable"] if method.reads else REMEDIES["answer_lost"]
        raise Unreachable(tried, answered=errors.bounded(str(error)), code=type(error).__name__, fix=fix) from None
    if method.reads and reply.status == 200 and not reply.content.strip():
        raise Unexpected(tried, answered="status 200 and nothing else", code="200", fix=BETWEEN)  # no list is empty so
    return answered(reply.status, reply.content, reply.headers, tried)


def answered(status: int, content: bytes, headers: Mapping[str, str], tried: str) -> Any:
    """The body of an answer. Raises the CloudError that it is."""
    try:
        body = json.loads(content) if content.strip() else {}
    except ValueError:
        body = content.decode(errors="replace")
    if status >= 400:
        raise errors.of_answer(status, body, headers, tried)
    if isinstance(body, str):
        raise Unexpected(
            tried,
            answered=errors.bounded(body, 200),
            code=str(status),
            fix=BETWEEN,
        )
    return body
