"""How values are written into rows: JSON, moments in UTC, short ids."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Clock = Callable[[], datetime]
"""Where the present moment comes from: aware, in UTC."""


def now() -> datetime:
    """The present moment in UTC."""
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds: of one width, so that rows sort by it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment(text: str) -> datetime:
    """The moment that `stamp` wrote."""
    return datetime.fromisoformat(text)


def encode(value: Any) -> str:
    """Canonical JSON: two values that are equal are written the same. Records and dataclasses become objects."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=_plain)


def decode(text: str) -> Any:
    """What `encode` wrote."""
    return json.loads(text)


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, datetime):
        return stamp(value)
    if hasattr(value, "items"):
        return dict(value.items())
    raise TypeError(f"{type(value).__name__} cannot be kept in the ledger")


def clip(text: str, limit: int = 500) -> str:
    """Text that can be stored, bounded; says how long it was when it was cut."""
    safe = text[:limit].encode("utf-8", "backslashreplace").decode("utf-8")
    return safe if len(text) <= limit else f"{safe}… ({len(text):,} characters)"


def fresh(taken: Callable[[str], bool], prefix: str = "") -> str:
    """A short random id that is not taken: four hex digits, more when those are used up."""
    import secrets  # here, since it takes 5 ms of a process that only reads

    for digits in (4, 4, 4, 4, 6, 6, 8, 16):
        found = f"{prefix}{secrets.token_hex(digits // 2)}"
        if not taken(found):
            return found
    raise RuntimeError("no free id was found")
