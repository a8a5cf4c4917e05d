"""One event's payload as JSON, also where its text is not what the standard wants of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any


def chunk_of(payload: bytes) -> dict[str, Any] | None:
    """The object that a payload is; None when it is none.

    Half of a character, which some engines send when a token ends inside one, is read as U+FFFD like any other wrong
    byte: the reply is whole all the same.
    """
    try:
        found = _reader()(payload)
    except ValueError:
        try:
            found = _sound(json.loads(payload.decode("utf-8", "replace")))
        except (ValueError, RecursionError):
            return None
    return found if isinstance(found, dict) else None


@cache
def _reader() -> Callable[[bytes], Any]:
    """Imported once: this runs for every chunk."""
    from pydantic_core import from_json

    return from_json


def _sound(value: Any) -> Any:
    """The same without halves of characters, which no file takes."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_sound(each) for each in value]
    if isinstance(value, dict):
        return {_sound(name): _sound(each) for name, each in value.items()}
    return value
