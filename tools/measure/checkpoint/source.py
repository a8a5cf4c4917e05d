"""Where a checkpoint's bytes come from: a file here, or a URL read by range requests. Nothing is read whole."""

from __future__ import annotations

import os
import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urljoin, urlsplit

from clouds.errors import CloudError, InvalidInput, NotFound, PermissionMissing, Unexpected, Unreachable

TIMEOUT = 30.0
TOKENS = re.compile(r"(?:HF_TOKEN|HUGGING_FACE_HUB_TOKEN|[A-Z][A-Z0-9_]{0,60}_API_KEY)")
"""Variables whose value may be sent to the host that a checkpoint is on."""


class Source(Protocol):
    """Bytes with an address."""

    @property
    def name(self) -> str:
        """The file's own name."""

    @property
    def size(self) -> int:
        """In bytes."""

    def read(self, offset: int, count: int) -> bytes:
        """At most `count` bytes from `offset`; fewer only at the end."""

    def beside(self, name: str) -> Source:
        """Another file of the same folder. Raises NotFound when it is first read and not there."""


@dataclass(frozen=True)
class Local:
    """A file of this machine."""

    path: Path

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.path.name

    @property
    def size(self) -> int:
        """In bytes. Raises NotFound."""
        try:
            return self.path.stat().st_size
        except OSError as error:
            raise _absent(str(self.path), error.strerror or "") from error

    def read(self, offset: int, count: int) -> bytes:
        """At most `count` bytes from `offset`. Raises NotFound."""
        try:
            with self.path.open("rb") as file:
                file.seek(offset)
                return file.read(count)
        except OSError as error:
            raise _absent(str(self.path), error.strerror or "") from error

    def beside(self, name: str) -> Source:
        """Another file of the same folder."""
        return Local(self.path.parent / plain(name))


class _SameHost(urllib.request.HTTPRedirectHandler):
    """A redirect to another host (a download network) must not carry the token with it."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        made = super().redirect_request(req, fp, code, msg, headers, newurl)
        if made is not None and urlsplit(newurl).netloc != urlsplit(req.full_url).netloc:
            made.remove_header("Authorization")
        return made


@dataclass(frozen=True)
class Http:
    """A file behind a URL whose server answers range requests."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return urlsplit(self.url).path.rsplit("/", 1)[-1]

    @cached_property
    def size(self) -> int:
        """In bytes, from the total of a one-byte range."""
        return self._get(0, 1)[1]

    def read(self, offset: int, count: int) -> bytes:
        """At most `count` bytes from `offset`. Raises CloudError."""
        return self._get(offset, count)[0] if count > 0 else b""

    def beside(self, name: str) -> Source:
        """Another file of the same folder."""
        return Http(urljoin(self.url, plain(name)), self.headers)

    def _get(self, offset: int, count: int) -> tuple[bytes, int]:
        request = urllib.request.Request(  # noqa: S310  the scheme was checked where the URL came in
            self.url, headers={**self.headers, "Range": f"bytes={offset}-{offset + count - 1}"}
        )
        tried = f"reading {count:,} bytes of {self.name}"
        try:
            with urllib.request.build_opener(_SameHost).open(request, timeout=TIMEOUT) as answer:
                body = answer.read(count)
                if answer.status == 206:
                    return body, int(answer.headers["Content-Range"].rsplit("/", 1)[-1])
                if offset == 0 and answer.headers.get("Content-Length"):
                    return body, int(answer.headers["Content-Length"])
        except urllib.error.HTTPError as error:
            raise _refused(tried, error.code) from error
        except (OSError, ValueError, TypeError) as error:
            raise Unreachable(tried, answered=type(error).__name__, fix="Check the URL and the network.") from error
        raise Unexpected(
            tried, answered="the server ignores range requests", fix="Download the file and name its path."
        )


def locate(location: str, token_env: str = "") -> Source:
    """The source that a path or an http(s) URL names; a folder or a URL that ends in "/" is its index or one file.

    `token_env` names the environment variable with a bearer token for the URL; its value is shown nowhere.
    """
    if location.startswith(("http://", "https://")):
        token = _token(location, token_env) if token_env else ""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        url = _file_url(location)
        return _indexed(Http(url, headers)) if url.endswith("/") else Http(url, headers)
    path = Path(location).expanduser()
    if path.is_dir():
        return _in_folder(path)
    if not path.is_file():
        raise _absent(location, "no such file or folder")
    return Local(path)


def _token(url: str, variable: str) -> str:
    """The token to send. A cloud's own credential can never be named, and plain http carries none."""
    if not TOKENS.fullmatch(variable):
        fix = "Name HF_TOKEN, HUGGING_FACE_HUB_TOKEN or a variable that ends in _API_KEY."
        raise InvalidInput("token_env", f"{variable[:40]!r} may not be sent to a URL", fix=fix)
    parts = urlsplit(url)
    if parts.scheme == "http" and parts.hostname not in {"127.0.0.1", "localhost", "::1"}:
        raise InvalidInput("token_env", "a token is not sent over plain http", fix="Use https.")
    token = os.environ.get(variable, "")
    if not token:
        raise InvalidInput("token_env", f"{variable} is not set", fix="Export it where the server starts.")
    return token


def plain(name: str) -> str:
    """A file name that stays in its folder: an index from outside must not name files elsewhere."""
    if not name or name != name.replace("\\", "/").rsplit("/", 1)[-1] or name in {".", ".."}:
        raise InvalidInput("checkpoint", f"its index names {name[:80]!r}", fix="An index may only name its own folder.")
    return name


def _file_url(url: str) -> str:
    """A model's page on a hub (owner/name, no file) has its files under resolve/main; any other URL is as it is."""
    parts = urlsplit(url)
    bits = [bit for bit in parts.path.split("/") if bit]
    page = len(bits) == 2 and not url.endswith("/") and not bits[-1].endswith((".safetensors", ".gguf", ".json"))
    return f"{parts.scheme}://{parts.netloc}/{bits[0]}/{bits[1]}/resolve/main/" if page else url


def _indexed(folder: Http) -> Source:
    for name in ("model.safetensors.index.json", "model.safetensors"):
        found = folder.beside(name)
        try:
            if found.size:
                return found
        except NotFound:
            continue
    raise _absent(folder.url, "no model.safetensors in it")


def _in_folder(path: Path) -> Source:
    index = path / "model.safetensors.index.json"
    if index.is_file():
        return Local(index)
    files = sorted([*path.glob("*.safetensors"), *path.glob("*.gguf")])
    if len(files) != 1:
        raise InvalidInput(
            "checkpoint",
            f"the folder has no index and {len(files)} weight files",
            fix="Name one file.",
            allowed=tuple(file.name for file in files[:20]),
        )
    return Local(files[0])


def _absent(what: str, answered: str) -> NotFound:
    return NotFound(
        f"opening {what}", answered=answered, fix="Name a .safetensors or .gguf file, its folder or its URL."
    )


def _refused(tried: str, code: int) -> CloudError:
    if code in {401, 403}:
        return PermissionMissing(tried, code=str(code), fix="Give token_env: the variable with a token for this host.")
    if code in {404, 410}:
        return NotFound(tried, code=str(code), fix="Check the URL: it must name the file itself or its folder.")
    return Unexpected(tried, code=str(code), fix="Try again later, or download the file and name its path.")
