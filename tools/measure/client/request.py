"""What is asked of a model, and the bytes that ask it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from clouds.errors import InvalidInput
from clouds.models import Wire

OPTIONAL = ("cache_prompt", "ignore_eos", "stream_options", "temperature")
"""Fields of a request without which it still can be sent."""
PLAIN = {"http": 80, "https": 443}


@dataclass(frozen=True)
class ChatRequest:
    """One request. `fixed_length` asks for exactly `max_tokens` (`ignore_eos`); a shorter reply is then a fault.

    `extra` is merged into the body (tools, logprobs). `label` says in a record which request this was.
    """

    prompt: str
    max_tokens: int
    label: str = ""
    fixed_length: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Dialect:
    """Which optional fields an endpoint takes; learnt once by a probe. A field that it refused by name is not sent."""

    cache_prompt: bool = True
    ignore_eos: bool = True
    stream_options: bool = True
    temperature: bool = True
    limit: str = "max_tokens"

    @classmethod
    def of(cls, wire: Wire) -> Dialect:
        """What a wire is known to take; where nothing is known, everything until it is refused."""
        if not wire.accepts:
            return cls()
        return cls(cache_prompt="cache_prompt" in wire.accepts, ignore_eos="ignore_eos" in wire.accepts)

    def body(self, request: ChatRequest, model: str) -> dict[str, Any]:
        """The JSON of one streamed chat request at temperature 0."""
        found: dict[str, Any] = {"model": model} if model else {}
        found |= {
            "messages": [{"role": "user", "content": request.prompt}],
            self.limit: request.max_tokens,
            "stream": True,
        }
        if self.temperature:
            found["temperature"] = 0
        if self.stream_options:
            found["stream_options"] = {"include_usage": True}
        if self.ignore_eos and request.fixed_length:
            found["ignore_eos"] = True
        if self.cache_prompt:
            found["cache_prompt"] = False
        return found | dict(request.extra)

    def without(self, words: str) -> Dialect | None:
        """The dialect after a refusal in these words; None when they name no field that can be left out."""
        if "max_completion_tokens" in words and self.limit == "max_tokens":
            return replace(self, limit="max_completion_tokens")
        named = [name for name in OPTIONAL if name in words and getattr(self, name)]
        return self._without(named[0]) if named else None

    @property
    def left_out(self) -> tuple[str, ...]:
        """The fields that the endpoint refused."""
        return tuple(name for name in OPTIONAL if not getattr(self, name))

    def _without(self, name: str) -> Dialect:
        changed: dict[str, Any] = {name: False}
        return replace(self, **changed)


@dataclass(frozen=True)
class Address:
    """Where a wire's socket goes."""

    host: str
    port: int
    secure: bool
    base: str

    @classmethod
    def of(cls, wire: Wire) -> Address:
        """Raises InvalidInput for a URL that names no host or another scheme."""
        parts = urlsplit(wire.url)
        try:
            port = parts.port or PLAIN.get(parts.scheme, 0)
        except ValueError:
            port = 0
        if parts.scheme not in PLAIN or not parts.hostname or not port:
            raise InvalidInput("ref", "its address is not an http(s) URL", fix="Give scheme, host and port.")
        return cls(parts.hostname, port, parts.scheme == "https", parts.path.rstrip("/"))


def encode(wire: Wire, address: Address, method: str, path: str, body: bytes) -> bytes:
    """A whole HTTP/1.1 request, signed where the wire signs. Secrets in headers leave only through the socket."""
    headers = {"Host": _host(address), "Accept": "text/event-stream, application/json", "User-Agent": "modelrig"}
    if body:
        headers |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    headers |= wire.headers
    if wire.sign is not None:
        headers |= wire.sign(method, wire.url.rstrip("/") + path, body)
    if any("\r" in part or "\n" in part for pair in headers.items() for part in pair):
        raise InvalidInput("ref", "a header of its wire holds a line break", fix="Correct the key or the signing.")
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{method} {address.base}{path} HTTP/1.1\r\n{lines}\r\n".encode("latin-1", "replace") + body


def encode_chat(wire: Wire, address: Address, dialect: Dialect, request: ChatRequest, model: str) -> bytes:
    """One chat request of this dialect as bytes."""
    body = dialect.body(request, model) | dict(wire.extra_body)
    return encode(wire, address, "POST", wire.path, json.dumps(body, separators=(",", ":")).encode())


def _host(address: Address) -> str:
    host = f"[{address.host}]" if ":" in address.host else address.host
    return host if address.port == PLAIN["https" if address.secure else "http"] else f"{host}:{address.port}"
