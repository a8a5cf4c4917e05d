"""Finds what an answer of ARM really says: the deepest code that we know, wherever a provider has put it.

`{"error": {code, message, details: [...]}}`, the same without `error`, an `innererror`, JSON inside a message, or
`Code="X" Message="Y"` inside a message (karpenter-provider-azure fakes and public issues, read 2026-11-29).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

_INSIDE = re.compile(
    r"""\b[Cc]ode\s*[:=]\s*"?([A-Za-z][A-Za-z0-9_.]{2,80})"?[,;]?\s*[Mm]essage\s*[:=]\s*"?(.*)""", re.DOTALL
)
_DEPTH = 8


@dataclass(frozen=True)
class Said:
    """One level of an error: its code, its words, and what it is about."""

    code: str
    message: str
    target: str = ""


def said(body: Any) -> tuple[Said, ...]:
    """Every level of an error, the outermost first; empty for an answer that is no error of ARM's."""
    return tuple(_levels(body, 0))


def deepest(body: Any, known: Callable[[str], bool]) -> Said:
    """The deepest level whose code is known, else the deepest with any code; empty words where nothing is said."""
    levels = said(body)
    named = [level for level in levels if level.code]
    for level in reversed(named):
        if known(level.code):
            return level
    return named[-1] if named else (levels[-1] if levels else Said("", ""))


def _levels(value: Any, depth: int) -> Iterator[Said]:
    if depth > _DEPTH or not isinstance(value, Mapping):
        return
    error = _error(value)
    if error is None:
        return
    code, message = str(error.get("code") or ""), str(error.get("message") or "")
    yield Said(code, message, str(error.get("target") or ""))
    yield from _inside(message, depth)
    for key in ("innererror", "innerError"):
        if isinstance(error.get(key), Mapping):
            yield from _levels({"error": error[key]}, depth + 1)
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        yield from _levels({"error": detail}, depth + 1)


def _error(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Where the code and message stand; a failed operation has them under `error`, some providers at the top."""
    for holder in (value, value.get("properties")):
        if isinstance(holder, Mapping) and isinstance(holder.get("error"), Mapping):
            inner: Mapping[str, Any] = holder["error"]
            return inner
    if isinstance(value.get("error"), str):
        return {"code": value["error"], "message": value.get("error_description") or value.get("message") or ""}
    lowered = {str(key).lower(): item for key, item in value.items()}
    if isinstance(lowered.get("code"), str | int) and "message" in lowered:
        return lowered
    return None


def _inside(message: str, depth: int) -> Iterator[Said]:
    if message.lstrip().startswith("{"):
        with suppress(ValueError):
            yield from _levels(json.loads(message), depth + 1)
        return
    found = _INSIDE.search(message)
    if found:
        yield Said(found[1], found[2].strip().strip('"'))
