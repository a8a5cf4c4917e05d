"""What the builder says of itself, in one small JSON file that is always whole."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def now() -> str:
    """UTC, ISO 8601."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def read(path: Path) -> dict[str, Any]:
    """The state; empty when there is none or it is damaged (the builder then starts afresh)."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def write(path: Path, value: Mapping[str, Any]) -> None:
    """Replace the file in one step."""
    replace(path, json.dumps(value, indent=1))


def replace(path: Path, text: str) -> None:
    """Write a whole text file, 0600, in one step."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        fresh.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise


class Log:
    """The state file of one place as the builder writes it: `core` and one entry per extra."""

    def __init__(self, path: Path) -> None:
        self.path, self.content = path, read(path)
        self._written = 0.0

    def set(self, part: str, state: str, **facts: Any) -> None:
        """Another state of `core` or of an extra; `since` is when it entered it."""
        before = self.content.get(part, {})
        since = before.get("since") if before.get("state") == state else None
        self.content[part] = {"state": state, "since": since or now(), **facts}
        self._write()

    def step(self, part: str, step: str, percent: int | None = None) -> None:
        """How far it is; steps of one kind are written four times a second at most."""
        entry = self.content.get(part, {})
        same_kind = str(entry.get("step", "")).split(" ")[0] == step.split(" ", 1)[0]
        entry["step"] = step
        if percent is not None:
            entry["percent"] = percent
        if not same_kind or time.monotonic() - self._written > 0.25:
            self._write()

    def _write(self) -> None:
        write(self.path, self.content)
        self._written = time.monotonic()
