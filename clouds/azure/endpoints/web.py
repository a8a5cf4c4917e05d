"""What is asked outside of ARM: a container's log, a model's health, one token, and the digest that a tag has now.

No ARM token ever goes here. Redirects are not followed: they would carry a key to another host.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from clouds.errors import InvalidInput, NotFound, Unreachable

if TYPE_CHECKING:
    from httpx2 import BaseTransport, Client

    from clouds.replay import Tap

LIMIT = 2_000_000
_TYPES = ("index.v1", "manifest.v1")
_MANIFESTS = ", ".join(
    (
        *(f"application/vnd.oci.image.{kind}+json" for kind in _TYPES),
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    )
)
_HOSTS = {"docker.io": "registry-1.docker.io"}
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True)
class Page:
    """One answer: its status, its headers in lower case, its body as text of at most 2 MB."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        """The body as JSON; None when it is none."""
        try:
            return json.loads(self.text)
        except ValueError:
            return None


class Web:
    """An HTTP client without any credential of its own. `inner` takes the network's place in tests."""

    def __init__(self, taps: Sequence[Tap] = (), inner: BaseTransport | None = None) -> None:
        """Nothing is imported or opened yet."""
        self._taps, self._inner = taps, inner

    @cached_property
    def _client(self) -> Client:
        from urllib.request import getproxies

        import httpx2

        from clouds.replay import rest

        proxies = getproxies()
        network = self._inner or httpx2.HTTPTransport(proxy=proxies.get("https") or proxies.get("all"))
        return httpx2.Client(transport=rest.transport(self._taps, network), follow_redirects=False)

    def ask(
        self,
        what: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: Any = None,
        seconds: float = 10.0,
    ) -> Page:
        """GET, or POST of a JSON body. `what` names the request for the recorder. Raises Unreachable.

        A secret belongs in `headers` only: neither they nor the query are in an error.
        """
        import httpx2

        from clouds.replay import Request
        from clouds.replay.rest import address, named

        parts = urlsplit(url)
        place = f"{parts.scheme}://{parts.netloc}{parts.path}"
        try:
            answer = self._client.request(
                "GET" if body is None else "POST",
                address(url),
                headers=dict(headers or {}),
                content=None if body is None else json.dumps(body).encode(),
                timeout=seconds,
                extensions=named(Request("web", what, parts.netloc)),
            )
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            late = isinstance(error, httpx2.TimeoutException)
            raise Unreachable(
                f"asking {place}",
                answered=f"no answer in {seconds:g} s" if late else type(error).__name__,
                fix="Ask again; get_endpoint says whether it is up.",
            ) from None
        return Page(
            answer.status_code,
            {name.lower(): value for name, value in answer.headers.items()},
            answer.content[:LIMIT].decode("utf-8", "replace"),
        )

    def digest_of(self, image: str) -> str:
        """The image by digest. One that has a digest stays. Raises NotFound, Unreachable and InvalidInput."""
        if _DIGEST.fullmatch(image.partition("@")[2]):
            return image
        found = re.fullmatch(r"([a-z0-9.-]+\.[a-z]+)/([a-z0-9./_-]+):([\w.-]{1,128})", image)
        if not found:
            raise InvalidInput(
                "image",
                f"{image[:80]!r} has no registry, name and tag",
                fix="Give registry/name:tag or registry/name@sha256:….",
            )
        host, name, tag = found.groups()
        url = f"https://{_HOSTS.get(host, host)}/v2/{quote(name)}/manifests/{quote(tag)}"
        headers = {"Accept": _MANIFESTS}
        page = self.ask("manifest", url, headers=headers)
        if page.status == 401:
            token = self._pull_token(page.headers.get("www-authenticate", ""), name)
            page = self.ask("manifest", url, headers={**headers, "Authorization": f"Bearer {token}"})
        digest = page.headers.get("docker-content-digest", "")
        if page.status != 200 or not _DIGEST.fullmatch(digest):
            raise NotFound(
                f"reading the digest of {image}",
                answered=f"HTTP {page.status}",
                fix="Check the tag, or give the image as registry/name@sha256:….",
            )
        return f"{host}/{name}@{digest}"

    def _pull_token(self, challenge: str, name: str) -> str:
        """An anonymous token for pulling, from where the registry says."""
        words = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
        realm = words.get("realm", "")
        if not realm.startswith("https://"):
            raise NotFound(
                f"reading the image {name}", answered="its registry asks for a login", fix="Use a public image."
            )
        where = f"{realm}?service={quote(words.get('service', ''))}&scope=repository:{quote(name)}:pull"
        answer = self.ask("pull-token", where).json or {}
        return str(answer.get("token") or answer.get("access_token") or "")
