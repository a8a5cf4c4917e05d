"""The HTTP client of this cloud: the seam for taps, and below it the one place where a token is added.

A token goes to Azure's own hosts over HTTPS and to nobody else; below the seam, so that a replay or a guard that
answers first never starts a sign-in, and a recorder never sees a token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from clouds.azure.paths import ARM, PRICES
from clouds.azure.tokens import ARM_SCOPE, Tokens
from clouds.errors import Unexpected
from clouds.replay import Tap
from clouds.replay.rest import transport

if TYPE_CHECKING:
    from httpx2 import BaseTransport, Client

AUDIENCES: Mapping[str, str] = {
    ARM: ARM_SCOPE,
    "api.loganalytics.azure.com": "https://api.loganalytics.io/.default",
    PRICES: "",
}
"""Every host that is spoken to, and the scope of the token that it gets; "" for none."""
TENANT = "modelrig.tenant"
CONNECT, READ = 10.0, 75.0


def trusted(url: str, host: str = ARM) -> bool:
    """Whether an address that an answer names is on that host, over HTTPS, with nothing in front of the host's name."""
    try:
        parts = urlsplit(url)
        named = (parts.scheme, parts.hostname, parts.port or 443)
    except ValueError:
        return False
    return named == ("https", host, 443) and "@" not in parts.netloc


def client(tokens: Tokens, taps: Sequence[Tap], inner: BaseTransport | None = None) -> Client:
    """A client for all threads. `inner` takes the network's place."""
    import httpx2

    class Authorized(httpx2.BaseTransport):
        def __init__(self) -> None:
            self._inner = inner
            self._lock = Lock()

        @property
        def network(self) -> httpx2.BaseTransport:
            """Opened when the first request gets this far: its certificates cost more than a whole replay."""
            with self._lock:
                if self._inner is None:
                    self._inner = httpx2.HTTPTransport(proxy=_proxy(), limits=httpx2.Limits(max_connections=64))
                return self._inner

        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            scope = AUDIENCES.get(request.url.host)
            if scope is None or not trusted(str(request.url), request.url.host):
                raise Unexpected(
                    f"sending to {request.url.host[:80]}",
                    answered="this is not a host of Azure's that modelrig speaks to",
                    fix="Report this as a bug of modelrig; nothing was sent.",
                    sent=False,
                )
            if scope:
                request.headers["authorization"] = f"Bearer {tokens.get(request.extensions.get(TENANT, ''), scope)}"
            return self.network.handle_request(request)

        def close(self) -> None:
            if self._inner is not None:
                self._inner.close()

    return httpx2.Client(
        transport=transport(taps, Authorized()),
        timeout=httpx2.Timeout(READ, connect=CONNECT),
        headers={"accept": "application/json", "user-agent": "modelrig"},
        follow_redirects=False,
    )


def _proxy() -> str | None:
    """The proxy that the environment names for HTTPS: a client with its own transport does not look for itself."""
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    return None if proxy_bypass(ARM) else proxies.get("https") or proxies.get("all")
