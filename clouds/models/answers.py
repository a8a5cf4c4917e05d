"""What a cloud answers about itself: identity, quota, capacity, logs, and the wire to a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from clouds.models.basic import Record


@dataclass(frozen=True)
class LogPage:
    """Lines from outside, newest last, bounded; they are data and are quoted wherever they are shown."""

    lines: tuple[str, ...]
    source: str
    total: int | None = None
    note: str = ""


class Identity(Record):
    """Who we are in a cloud, where, and how the credential renews. Never holds a secret."""

    principal: str
    account: str
    kind: str
    renews: str
    location: str = ""
    details: Mapping[str, str] = {}


class Quota(Record):
    """Permission to ask. `used` None means that the cloud does not publish it."""

    name: str
    code: str
    scope: str
    limit: float | None
    used: float | None
    unit: str
    adjustable: bool | None = None
    offered: bool | None = None


class Capacity(Record):
    """What is known about whether one is free: "offered", "score n" or "unknown", and never "available"."""

    accelerator: str
    scope: str
    answer: str
    evidence: str
    as_of: str


@dataclass(frozen=True)
class Wire:
    """How to send a chat request to an endpoint; one streaming client sends it on every cloud.

    The request goes to `url + path`. `sign(method, url, body)` returns extra headers for this one request.
    `close` ends a tunnel. `headers` hold secrets and are never shown. `extra_body` is merged into every body.
    `accepts` names the fields beyond the OpenAI ones that this engine is known to take; empty is not known.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    path: str = "/v1/chat/completions"
    model: str = ""
    sign: Callable[[str, str, bytes], Mapping[str, str]] | None = field(default=None, repr=False)
    frames: Literal["sse", "aws-event-stream"] = "sse"
    fresh_connection: bool = False
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    accepts: tuple[str, ...] = ()
    close: Callable[[], None] | None = field(default=None, repr=False)
    plain_path: str = ""
