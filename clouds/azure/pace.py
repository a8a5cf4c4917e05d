"""How often Azure may be asked: what its headers say, and how long to wait before the next request."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Lock

_WAITS = ("retry-after-ms", "x-ms-retry-after-ms")
_COST = re.compile(r"x-ms-ratelimit-microsoft\.costmanagement-[a-z-]*retry-after")
_LEFT = re.compile(r"x-ms-ratelimit-remaining-[a-z-]+")


def wait_of(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait that an answer's headers name (Retry-After as seconds or date, or Azure's own); None for none."""
    given = {key.lower(): value for key, value in headers.items()}
    found = [float(given[name]) / 1000 for name in _WAITS if _number(given.get(name))]
    after = given.get("retry-after", "")
    if _number(after):
        found.append(float(after))
    elif after:
        with suppress(ValueError):
            found.append(max(0.0, email.utils.parsedate_to_datetime(after).timestamp() - now))
    found += [float(value) for key, value in given.items() if _COST.fullmatch(key) and _number(value)]
    return max(found) if found else None


def _number(text: str | None) -> bool:
    return bool(text and re.fullmatch(r"\d+(\.\d+)?", text))


class Pace:
    """Remembers until when a bucket is empty. Resource Graph and ARM tell it before they refuse."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` is in seconds."""
        self._clock = clock
        self._until: dict[str, float] = {}
        self._lock = Lock()

    def due(self, bucket: str) -> float:
        """Seconds until this bucket may be asked again."""
        with self._lock:
            return max(0.0, self._until.get(bucket, 0.0) - self._clock())

    def hear(self, bucket: str, headers: Mapping[str, str], wait: float | None = None) -> None:
        """Take in an answer's headers; `wait` is what a refusal asked for."""
        given = {key.lower(): value for key, value in headers.items()}
        pause = wait or 0.0
        if given.get("x-ms-user-quota-remaining") == "0":
            pause = max(pause, _clocked(given.get("x-ms-user-quota-resets-after", "")))
        if any(_LEFT.fullmatch(key) and value == "0" for key, value in given.items()):
            pause = max(pause, 1.0)
        if pause:
            with self._lock:
                self._until[bucket] = max(self._until.get(bucket, 0.0), self._clock() + pause)


def _clocked(text: str) -> float:
    """hh:mm:ss as seconds; 5 where it says nothing that we understand (the window of Resource Graph's quota)."""
    found = re.fullmatch(r"(\d+):(\d{2}):(\d{2})(?:\.\d+)?", text)
    return 5.0 if found is None else int(found[1]) * 3600.0 + int(found[2]) * 60 + int(found[3])
