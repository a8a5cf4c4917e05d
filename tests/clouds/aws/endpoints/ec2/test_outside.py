"""The two questions to the world outside AWS, over a real socket on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

import pytest

from clouds.aws.endpoints.ec2 import outside
from clouds.errors import InvalidInput, NotFound, Unreachable

DIGEST = "sha256:" + "12" * 32


class Answers(BaseHTTPRequestHandler):
    """A registry that wants an anonymous token, and an address service."""

    address = b"203.0.113.7\n"
    tags: ClassVar[set[str]] = {"server-cuda"}
    realm = "https://token.example/token"
    asked: ClassVar[list[tuple[str, str]]] = []

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers.get("Authorization", "")))
        if self.path == "/":
            return self._say(200, self.address)
        if self.path.startswith("/token"):
            return self._say(200, json.dumps({"token": "anonymous"}).encode())
        if self.headers.get("Authorization") != "Bearer anonymous":
            return self._say(401, b"", ("WWW-Authenticate", f'Bearer realm="{self.realm}",service="registry"'))
        if self.path.rsplit("/", 1)[-1] in self.tags:
            return self._say(200, b"{}", ("Docker-Content-Digest", DIGEST))
        return self._say(404, b'{"errors": [{"code": "MANIFEST_UNKNOWN"}]}')

    def _say(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (*headers, ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Answers]]:
    """Every https host is the server on loopback: only the socket is replaced."""
    import urllib.request

    server = HTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    real = urllib.request.urlopen

    def here(request: urllib.request.Request, timeout: float) -> object:
        parts = request.full_url.split("/", 3)
        path = parts[3] if len(parts) > 3 else ""
        led = urllib.request.Request(
            f"http://127.0.0.1:{server.server_port}/{path}", headers=dict(request.header_items())
        )
        return real(led, timeout=timeout)

    monkeypatch.setattr(urllib.request, "urlopen", here)
    monkeypatch.setattr(Answers, "asked", [])
    yield Answers
    server.shutdown()
    server.server_close()
    thread.join(5)


def test_our_own_address_is_a_single_one(world: type[Answers]) -> None:
    assert outside.my_address() == "203.0.113.7/32"


@pytest.mark.parametrize("answer", [b"2001:db8::1", b"<html>", b"", b"\xff\xfe"])
def test_what_is_no_ipv4_address_is_not_taken_for_one(
    world: type[Answers], monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    monkeypatch.setattr(world, "address", answer)
    with pytest.raises(Unreachable) as told:
        outside.my_address()
    assert "ssh_from" in told.value.fix


def test_a_tag_is_resolved_with_an_anonymous_token(world: type[Answers]) -> None:
    assert outside.digest_of("ghcr.io/ggml-org/llama.cpp:server-cuda") == DIGEST
    paths = [path for path, _ in world.asked]
    assert paths == [
        "/v2/ggml-org/llama.cpp/manifests/server-cuda",
        "/token?service=registry&scope=repository:ggml-org/llama.cpp:pull",
        "/v2/ggml-org/llama.cpp/manifests/server-cuda",
    ]


def test_a_tag_that_does_not_exist_is_not_found(world: type[Answers]) -> None:
    with pytest.raises(NotFound, match="HTTP 404"):
        outside.digest_of("ghcr.io/ggml-org/llama.cpp:server-rocm")


def test_a_registry_that_sends_us_elsewhere_without_tls_is_not_followed(
    world: type[Answers], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world, "realm", "http://other.example/token")
    with pytest.raises(NotFound, match="asks for a login"):
        outside.digest_of("ghcr.io/ggml-org/llama.cpp:server-cuda")


@pytest.mark.parametrize("image", ["llama", "ghcr.io/x", "GHCR.io/x:y", "ghcr.io/x:y z"])
def test_what_names_no_image_is_refused(image: str) -> None:
    with pytest.raises(InvalidInput):
        outside.digest_of(image)
