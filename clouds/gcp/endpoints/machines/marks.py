"""The phase marks that a machine's script writes, read back; and how far the engine is between two of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from clouds.enginelog import progress_words
from clouds.gcp.endpoints.machines.startup import ANSWERS, FAILED
from clouds.models import Phase

LOADING = "loading and compiling"
_MARK = re.compile(r"modelrig phase: (.{1,120}?) at (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")
_COMPILE = re.compile(r"(?:[Pp]re-?)?[Cc]ompil\w+")
_NEXT = (
    ("script began", "preparing the machine"),
    ("compile cache read", "preparing the machine"),
    ("no compile cache yet", "preparing the machine"),
    ("pulling image", "pulling the image"),
    ("image pulled", "starting the engine"),
    ("preparing", "the preparing script"),
    ("prepared", "starting the engine"),
    ("engine started", LOADING),
    ("engine answers", "serving"),
)
"""What goes on after a mark."""


def of(lines: Iterable[str]) -> tuple[tuple[str, datetime], ...]:
    """The marks in their order, each once, with the machine's own clock."""
    found: dict[tuple[str, datetime], None] = {}
    for line in lines:
        for mark in _MARK.finditer(line[:4000]):
            found[mark[1], datetime.fromisoformat(mark[2]).astimezone(UTC)] = None
    return tuple(found)


def answers(lines: Iterable[str], revision: int = 1) -> bool:
    """Whether the engine of this revision said that it answers."""
    return any(words == f"{ANSWERS} r{revision}" for words, _ in of(lines))


def failed(lines: Iterable[str], revision: int = 1) -> str:
    """Why the script gave up; empty when it did not, or when it was an earlier revision."""
    told = [words for words, _ in of(lines) if words.startswith(FAILED)]
    if not told:
        return ""
    other = re.search(r" r(\d+)$", told[-1])
    return "" if other and int(other[1]) != revision else told[-1]


def phases(created: datetime | None, lines: Sequence[str]) -> tuple[Phase, ...]:
    """The stretches of a start: "pulling the image", 124 s."""
    found, before, name = list[Phase](), created, "starting the machine"
    for words, at in of(lines):
        if before is not None and at >= before:
            found.append(Phase(name=name, seconds=round((at - before).total_seconds(), 1)))
        before = at if before is None or at >= before else before
        name = next((after for mark, after in _NEXT if words.startswith(mark)), words)
    return tuple(found)


def progress(lines: Sequence[str]) -> str:
    """How far a start is: the last mark, and the engine's last telling line after it, compiling told apart."""
    told = of(lines)
    mark = told[-1][0] if told else ""
    engine = progress_words(line for line in lines if "modelrig phase:" not in line)
    last = next((line for line in reversed(lines) if "modelrig phase:" not in line and line.strip()), "")
    if mark.startswith("engine started") and "startup complete" not in engine and _COMPILE.search(last[:400]):
        engine = f"compiling: {last.strip()[:100]}"
    return "; ".join(word for word in (mark, engine) if word)[:240]
