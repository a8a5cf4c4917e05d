"""Waits after a step until what it was for has come true: a backup complete, a resource gone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from clouds.base import Api, Progress
from clouds.errors import CloudError, NotFound, Throttled, Unreachable
from clouds.models import Call, Scope
from clouds.models.removal import ANYTHING, Until
from tools.waste.rows import extract
from tools.waste.sight import why


class NotTrue(Exception):
    """It has not come true; the argument says what was read last."""


@dataclass(frozen=True)
class Clock:
    """A monotonic clock, so that a test needs no time."""

    read: Callable[[], float]


def wait(api: Api, until: Until, call: Call, scope: Scope, progress: Progress, clock: Clock, what: str) -> str:
    """Read until it is true; returns what was read last. Raises NotTrue, Cancelled, or a CloudError of the reading."""
    begun = clock.read()
    while True:
        word, true = _look(api, until, call, scope)
        if true:
            return word
        waited = clock.read() - begun
        if waited >= until.seconds:
            raise NotTrue(f"{what}: still {word or 'not there'} after {waited:.0f} s")
        progress.report(f"{what}: {word or 'waiting'} ({waited:.0f} s)")
        progress.sleep(min(until.every, max(0.0, until.seconds - waited)))


def _look(api: Api, until: Until, call: Call, scope: Scope) -> tuple[str, bool]:
    try:
        answer = api.send(call, scope=scope)
    except NotFound:
        return "not there", until.gone
    except (Throttled, Unreachable) as error:
        return why(error)[:80], False  # nothing was learnt; the next look may answer
    values = [_word(value) for value in extract(answer, until.path)]
    word = ", ".join(dict.fromkeys(values))[:80]
    if bad := [value for value in values if value in until.failed]:
        raise NotTrue(f"it is {bad[0]}")
    if until.gone:
        return word or "not there", all(value in until.gone_on for value in values)
    return word, bool(values) and (until.done == ANYTHING or all(value in until.done for value in values))


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def failure(error: Exception) -> str:
    """An error of a step in words."""
    if isinstance(error, CloudError):
        return why(error)
    return str(error) if isinstance(error, NotTrue) else f"fault: {type(error).__name__}"
