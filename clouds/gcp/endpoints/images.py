"""What digest a container image has now, from the registry's own API. It asks outside Google Cloud."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from urllib.parse import quote

from clouds.errors import InvalidInput, NotFound, Unreachable

_MANIFESTS = (
    "application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json, "
    "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json"
)
_HOSTS = {"docker.io": "registry-1.docker.io"}
MOST = 2_000_000


def pinned(image: str, digest: Callable[[str], str]) -> str:
    """The image by digest; a tag that may move is resolved now. Without a registry it is Docker Hub's."""
    if "@sha256:" in image:
        return image
    first, _, rest = image.partition("/")
    named = image if rest and ("." in first or ":" in first) else f"docker.io/{image}"
    return f"{named.rsplit(':', 1)[0]}@{digest(named)}"


def digest_of(image: str) -> str:
    """`sha256:…` of `host/name:tag`. Raises NotFound, Unreachable and InvalidInput."""
    found = re.fullmatch(r"([a-z0-9.-]+\.[a-z]+)/([a-z0-9./_-]+):([\w.-]+)", image)
    if not found:
        raise InvalidInput("image", f"{image[:80]!r} has no registry, name and tag", fix="Give registry/name:tag.")
    host, name, tag = _HOSTS.get(found[1], found[1]), found[2], found[3]
    url, headers = f"https://{host}/v2/{quote(name)}/manifests/{quote(tag)}", {"Accept": _MANIFESTS}
    body, answer = _get(url, headers)
    if answer["status"] == "401":
        token = _token(answer.get("www-authenticate", ""), name)
        body, answer = _get(url, {**headers, "Authorization": f"Bearer {token}"})
    digest = answer.get("docker-content-digest", "")
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", digest):
        raise NotFound(
            f"reading the digest of {image}", answered=f"HTTP {answer['status']} {body[:120]!r}",
            fix="Check the tag, or give the image as name@sha256:….",
        )  # fmt: skip
    return digest


def _token(challenge: str, name: str) -> str:
    """An anonymous token for pulling, from where the registry says."""
    words = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
    realm = words.get("realm", "")
    if not realm.startswith("https://"):
        raise NotFound(f"reading the image {name}", answered="its registry asks for a login", fix="Use a public image.")
    body, _ = _get(f"{realm}?service={quote(words.get('service', ''))}&scope=repository:{quote(name)}:pull", {})
    answer = json.loads(body)
    return str(answer.get("token") or answer.get("access_token") or "")


def _get(url: str, headers: dict[str, str]) -> tuple[bytes, dict[str, str]]:
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    try:
        with urlopen(Request(url, headers=headers), timeout=10) as answer:  # noqa: S310 - https, built above
            return answer.read(MOST), {"status": str(answer.status), **_lower(answer.headers.items())}
    except HTTPError as error:
        with error:
            return error.read(2_000), {"status": str(error.code), **_lower(error.headers.items())}
    except OSError as error:
        raise Unreachable(f"asking {url}", answered=str(error)[:200], fix="Check this machine's network.") from None


def _lower(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name.lower(): value for name, value in pairs}
