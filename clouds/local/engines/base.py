"""What the supervisor knows of an engine. Standard library only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clouds.local.flags import Flag
from clouds.local.launch import Launch

Ask = Callable[[str], Any]
"""GET of one path on the engine; its JSON, or None when it did not answer with any."""


@dataclass(frozen=True)
class Engine:
    """One engine as a value: how it is started, what it says of itself, what its requests take."""

    name: str
    flags: Mapping[str, Flag]
    command: Callable[[Launch, int, Path], list[str]]
    """launch, port, key file -> the command line; the key itself is never on it."""
    environment: Callable[[Launch, str], Mapping[str, str]]
    """launch, key -> variables to add."""
    facts: Callable[[Launch, Sequence[str], Ask], dict[str, Any]]
    """launch, log lines, ask -> fields of EngineFacts; what it did not say is left out."""
    reason: Callable[[Sequence[str]], str]
    """log lines -> why it ended, in its own words; empty when it did not say."""
    accepts: tuple[str, ...]
    """Fields of a request beyond the OpenAI ones."""
    fresh_connection: bool
    """Whether a streamed reply ends its connection."""


def number(text: str) -> int:
    """A whole number as logs print it: "867,999"."""
    return int(text.replace(",", ""))


SIZES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
