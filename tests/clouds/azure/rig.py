"""A network in memory below the real client: answers by method and path, and what was sent, with its token."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2

from clouds.azure.api import AzureApi
from clouds.replay import Tap

NOW = 1_796_000_000.0  # 2026-11-29
SUBSCRIPTION = "00000000-0000-0000-0000-000000000001"
OTHER = "00000000-0000-0000-0000-000000000002"
TENANT = "00000000-0000-0000-0000-0000000000a1"
ARM = "https://management.azure.com"


@dataclass(frozen=True)
class Sent:
    method: str
    url: str
    body: Any
    token: str

    @property
    def path(self) -> str:
        return httpx2.URL(self.url).path

    @property
    def query(self) -> dict[str, str]:
        return dict(httpx2.URL(self.url).params)


@dataclass
class Token:
    token: str
    expires_on: int


@dataclass
class Credential:
    """A credential that hands out one token a tenant, or raises what it was given for it."""

    clock: Callable[[], float] = lambda: NOW
    life: float = 3600.0
    failing: Mapping[str, Exception] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def get_token(self, *scopes: str, tenant_id: str | None = None) -> Token:
        self.asked.append(tenant_id or "")
        if (tenant_id or "") in self.failing:
            raise self.failing[tenant_id or ""]
        return Token(f"token-of-{tenant_id or 'home'}-{len(self.asked)}", int(self.clock() + self.life))


Answer = tuple[int, Any] | tuple[int, Any, Mapping[str, str]] | Exception


class Network(httpx2.BaseTransport):
    """Answers in order for each (method, path); the last stays. An address that is not there fails the test."""

    def __init__(self, answers: Mapping[str, Answer | list[Answer]]) -> None:
        self.answers = {key: list(value) if isinstance(value, list) else [value] for key, value in answers.items()}
        self.sent: list[Sent] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        content = request.read()
        body = json.loads(content) if content else None
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        self.sent.append(Sent(request.method, str(request.url), body, token))
        for key in (f"{request.method} {request.url}", f"{request.method} {request.url.path}"):
            if key in self.answers:
                queue = self.answers[key]
                answer = queue.pop(0) if len(queue) > 1 else queue[0]
                if isinstance(answer, Exception):
                    raise answer
                status, said, headers = answer if len(answer) == 3 else (*answer, {})
                text = said if isinstance(said, str) else "" if said is None else json.dumps(said)
                return httpx2.Response(status, headers=dict(headers), content=text.encode())
        raise AssertionError(f"nobody answers {request.method} {request.url}")

    @property
    def paths(self) -> list[str]:
        return [f"{each.method} {each.path}" for each in self.sent]


class Clock:
    """Time that passes only where somebody sleeps."""

    def __init__(self) -> None:
        self.now, self.slept = NOW, list[float]()

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def rig(
    answers: Mapping[str, Answer | list[Answer]],
    *,
    credential: Any = None,
    taps: tuple[Tap, ...] = (),
    signed_in: tuple[Mapping[str, Any], ...] = (),
    attempts: int = 5,
) -> tuple[AzureApi, Network, Clock]:
    """An api over a network in memory, with a clock that only sleeping moves."""
    network, clock = Network(answers), Clock()
    given = credential or Credential(clock)
    api = AzureApi(
        credential=lambda: given,
        inner=network,
        taps=taps,
        attempts=attempts,
        clock=clock,
        sleep=clock.sleep,
        signed_in=lambda: signed_in,
    )
    return api, network, clock


def problem(code: str, message: str = "", **more: Any) -> dict[str, Any]:
    """An error body of ARM's."""
    return {"error": {"code": code, "message": message, **more}}


def registered(*providers: str) -> dict[str, Any]:
    """The answer of the list of providers."""
    return {"value": [{"namespace": each, "registrationState": "Registered"} for each in providers]}
