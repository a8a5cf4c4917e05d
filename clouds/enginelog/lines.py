"""Finding what a line says: patterns over bounded lines, the last match of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

GIB = 1024**3
MIB = 1024**2
LONGEST = 4_000
"""Characters of a line that are looked at."""
Patterns = Sequence[tuple[str, re.Pattern[str]]]
Found = dict[str, tuple[str, ...]]


def last(patterns: Patterns, lines: Iterable[str]) -> Found:
    """The groups of the last match of each pattern, by its name. Nothing for one that no line has."""
    found: Found = {}
    for line in lines:
        for name, pattern in patterns:
            if match := pattern.search(line[:LONGEST]):
                found[name] = tuple(group or "" for group in match.groups())
    return found


def whole(text: str) -> int:
    """A whole number as engines print it, with commas."""
    return int(text.replace(",", ""))
