"""Words that every record uses: refs, calls, scopes, and what a reading could not see."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict

from clouds.errors import InvalidInput

T = TypeVar("T")
Setting = str | int | float | bool

State = Literal[
    "waiting_for_capacity",
    "creating",
    "loading",
    "ready",
    "updating",
    "stopping",
    "stopped",
    "deleting",
    "deleted",
    "failed",
    "unknown",
]
Reversal = Literal["can be undone", "recoverable", "cannot be undone"]


class Record(BaseModel):
    """A frozen record that can appear in a result. Schemas are built on first use: start-up pays for none."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


@dataclass(frozen=True)
class EndpointRef:
    """Where an endpoint is: prints and parses as `cloud:service:location:name`."""

    cloud: str
    service: str
    location: str
    name: str

    def __str__(self) -> str:
        return f"{self.cloud}:{self.service}:{self.location}:{self.name}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a printed ref. Raises InvalidInput when it has not exactly four plain parts."""
        parts = text.split(":")
        if len(parts) != 4 or not all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,89}", part) for part in parts):
            raise InvalidInput(
                "ref",
                f"{text[:80]!r} is not an endpoint",
                fix="Use cloud:service:location:name as list_endpoints prints it, a name, or an http(s) URL.",
            )
        return cls(*parts)


@dataclass(frozen=True)
class Call:
    """One request to a cloud, as data: what is planned, printed, recorded and sent is this same value."""

    service: str
    operation: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.service}.{self.operation}"


@dataclass(frozen=True)
class Scope:
    """Where to look: a location (region, zone, group) inside an account (project, subscription); None is all."""

    location: str | None = None
    account: str | None = None

    def __str__(self) -> str:
        return "/".join(part for part in (self.account, self.location) if part) or "everywhere"


class Unread(Record):
    """One thing that could not be looked at. Unknown is never "no" and never "zero"."""

    call: str
    scope: str
    reason: str


@dataclass(frozen=True)
class Read(Generic[T]):
    """What was found, and what could not be looked at. Complete only when `unread` is empty."""

    found: tuple[T, ...] = ()
    unread: tuple[Unread, ...] = ()
    not_applicable: tuple[Unread, ...] = ()
    notes: tuple[str, ...] = ()
    """What a reader of the rows should know beside them, a sentence each."""

    @property
    def complete(self) -> bool:
        """False when anything was unread; "not applicable" does not make it incomplete."""
        return not self.unread
