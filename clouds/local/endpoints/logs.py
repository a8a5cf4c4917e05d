"""The newest lines of an endpoint's log. They come from outside: bounded, and control characters made visible."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from clouds.local.places import Place
from clouds.local.supervisor.journal import LIMIT
from clouds.models import LogPage

TAIL = 2**20
"""Bytes that are read from the end of each part for its last line."""
WHOLE = LIMIT + TAIL
"""Bytes that are read of each part: all of it, and never more of a file that somebody else wrote."""
SHOWN = 4_000
"""Characters of a line that are kept."""
MOST = 100_000


def page(place: Place, *, since: timedelta, limit: int, now: datetime | None = None) -> LogPage:
    """The newest `limit` lines that are not older than `since`.

    A line without a time belongs to the one before it; before the first time, to what follows.
    """
    oldest = (now or datetime.now(UTC)) - since
    lines: list[str] = []
    fresh: bool | None = None
    for line in _lines(place, WHOLE):
        when = _when(line)
        if when is not None:
            if fresh is None and when < oldest:
                lines.clear()
            fresh = when >= oldest
        if fresh is not False:
            lines.append(visible(line))
    kept = lines[-max(1, min(limit, MOST)) :]
    note = f"{len(kept):,} of {len(lines):,} lines" if len(kept) < len(lines) else ""
    return LogPage(lines=tuple(kept), source=str(place.log), total=len(lines), note=note)


def last(place: Place) -> str:
    """The last line of the log, without its time; empty when there is none."""
    line = ""
    for line in _lines(place, TAIL):  # noqa: B007 - the last one is wanted
        pass
    return visible(line.partition(" | ")[2] or line)[:200]


def visible(line: str) -> str:
    """One line with every control character spelt out, cut at SHOWN characters."""
    spelt = line[:SHOWN]
    if not spelt.isprintable():
        spelt = "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in spelt)
    return spelt if len(line) <= SHOWN else f"{spelt}… ({len(line) - SHOWN} more characters)"


def _lines(place: Place, most: int) -> Iterator[str]:
    for part in (place.log.with_name("log.1"), place.log):
        yield from _tail(part, most)


def _tail(path: Path, most: int) -> Iterator[str]:
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - most))
            raw = file.read(most)
    except (FileNotFoundError, NotADirectoryError):
        return
    if size > most:
        raw = raw.partition(b"\n")[2]
    for line in raw.split(b"\n"):
        if line:
            yield line.decode("utf-8", "replace")


def _when(line: str) -> datetime | None:
    word = line.partition(" ")[0]
    try:
        return datetime.fromisoformat(word) if word.endswith("Z") else None
    except ValueError:
        return None
