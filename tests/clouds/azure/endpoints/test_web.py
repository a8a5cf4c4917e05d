"""What is asked outside of ARM: digests, and that a key goes nowhere it was not meant for."""

from __future__ import annotations

from collections.abc import Callable

import httpx2
import pytest

from clouds.azure.endpoints.web import Web
from clouds.errors import InvalidInput, NotFound, Unreachable

DIGEST = "sha256:" + "ab" * 32


def web(answer: Callable[[httpx2.Request], httpx2.Response]) -> Web:
    return Web(inner=httpx2.MockTransport(answer))


def test_a_tag_becomes_the_digest_that_its_registry_says_now() -> None:
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(f"{request.url.host}{request.url.path} {request.headers.get('authorization', '')}".strip())
        if request.url.path == "/token":
            return httpx2.Response(200, json={"token": "t"})
        if "authorization" not in request.headers:
            challenge = 'Bearer realm="https://auth.docker.io/token",service="registry.docker.io"'
            return httpx2.Response(401, headers={"WWW-Authenticate": challenge})
        return httpx2.Response(200, headers={"Docker-Content-Digest": DIGEST})

    assert web(answer).digest_of("docker.io/vllm/vllm-openai:v1") == f"docker.io/vllm/vllm-openai@{DIGEST}"
    assert asked == [
        "registry-1.docker.io/v2/vllm/vllm-openai/manifests/v1",
        "auth.docker.io/token",
        "registry-1.docker.io/v2/vllm/vllm-openai/manifests/v1 Bearer t",
    ]


def test_an_image_by_digest_is_asked_of_nobody() -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        raise AssertionError(request.url)

    assert web(answer).digest_of(f"ghcr.io/a/b@{DIGEST}") == f"ghcr.io/a/b@{DIGEST}"
    with pytest.raises(InvalidInput):
        web(answer).digest_of("vllm")


def test_a_tag_that_is_not_there_and_a_registry_that_wants_a_login() -> None:
    with pytest.raises(NotFound, match="HTTP 404"):
        web(lambda _: httpx2.Response(404)).digest_of("ghcr.io/a/b:c")
    basic = httpx2.Response(401, headers={"WWW-Authenticate": "Basic"})
    with pytest.raises(NotFound, match="asks for a login"):
        web(lambda _: basic).digest_of("private.io/a/b:c")


def test_a_redirect_is_not_followed_and_no_key_is_in_an_error() -> None:
    moved = httpx2.Response(302, headers={"Location": "https://elsewhere.example/"})
    page = web(lambda _: moved).ask("chat", "https://x.io/a?b=c", headers={"Authorization": "Bearer secret"})
    assert page.status == 302

    def late(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ReadTimeout("late", request=request)

    with pytest.raises(Unreachable) as error:
        web(late).ask("chat", "https://x.io/a?sig=secret", headers={"Authorization": "Bearer secret"}, seconds=3)
    assert str(error.value) == "asking https://x.io/a: no answer in 3 s"
