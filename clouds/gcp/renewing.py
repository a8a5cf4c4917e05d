"""The request that google-auth renews a token with, over the HTTP client that we have already."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2


@dataclass(frozen=True)
class Response:
    """What google-auth reads of an answer."""

    status: int
    headers: Mapping[str, str]
    data: bytes


def refresher(client: httpx2.Client, addressed: Callable[[str], tuple[str, str]]) -> Callable[..., Response]:
    """A `google.auth.transport.Request`. Raises its TransportError when no answer came."""

    def request(
        url: str,
        method: str = "GET",
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        **_: Any,
    ) -> Response:
        import httpx2
        from google.auth.exceptions import TransportError

        where, host = addressed(url)
        told = {**(headers or {}), **({"Host": host} if host else {})}
        content = body.encode() if isinstance(body, str) else body
        try:
            answer = client.request(method, where, content=content, headers=told, timeout=timeout or 20)
        except httpx2.HTTPError as error:
            raise TransportError(type(error).__name__) from None  # type: ignore[no-untyped-call]
        return Response(answer.status_code, dict(answer.headers), answer.content)

    return request
