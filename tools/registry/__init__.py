"""A tool is a value: a typed function, a title, an effect. The four MCP hints are written from the effect."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from clouds.errors import InvalidInput
from tools.result import Result

FOLLOWS = "get_operation"
"""Offered with `--read-only` too, since what only reads may take long: there it stops nothing that changes things."""


class Effect(Enum):
    """What a tool may change. READ changes nothing anywhere in a cloud and spends nothing."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"


@dataclass(frozen=True)
class Preview:
    """What a call would do, made without doing it. `state` is what the steps were read from: any change refuses."""

    headline: str
    steps: tuple[str, ...]
    state: Mapping[str, str]
    stays: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tool:
    """One tool. `run` is a plain function whose docstring is the description and whose types are the schema.

    `preview` makes the call ask first: from the same arguments it returns the steps, or None to act at once.
    `long` runs the call in a worker process that outlives this one; the caller waits a while, then gets a reference.
    """

    run: Callable[..., Result]
    title: str
    effect: Effect
    preview: Callable[..., Preview | None] | None = None
    long: bool = False
    idempotent: bool = True
    open_world: bool = True
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other names under which an argument is taken: {"endpoint": "ref"}."""

    @property
    def name(self) -> str:
        """The function's own name."""
        return self.run.__name__

    @property
    def description(self) -> str:
        """The function's docstring."""
        return inspect.getdoc(self.run) or ""

    @property
    def hints(self) -> Mapping[str, bool]:
        """All four MCP hints, written from the effect."""
        return {
            "readOnlyHint": self.effect is Effect.READ,
            "destructiveHint": self.effect is Effect.DESTRUCTIVE,
            "idempotentHint": self.idempotent,
            "openWorldHint": self.open_world,
        }


def refused(name: str) -> InvalidInput:
    """The answer to a call of a tool that `--read-only` leaves out."""
    return InvalidInput(
        "tool",
        f"{name} changes things, and this modelrig was started with --read-only",
        fix="Start it without --read-only to use this tool.",
    )
