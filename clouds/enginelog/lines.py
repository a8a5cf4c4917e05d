"""Finding what a line says: patterns over bounded lines, the last match of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

GIB = 1024**3
MIB = 1024**2
LONGEST = 4_000
"""Characters of a line that are looked at."""
NUMBER, WHOLE, COMMAS = r"\d{1,12}(?:\.\d{1,9})?", r"\d{1,12}", r"\d[\d,]{0,18}"
Patterns = Sequence[tuple[str, re.Pattern[str]]]
Found = dict[str, tuple[str, ...]]


def pattern(text: str) -> re.Pattern[str]:
    """A pattern in which <n> is a number, <i> a whole one and <c> a whole one with commas, each a bounded group.

    A line of a log is anybody's text: a number of four thousand digits, or one with two points, must match nothing.
    """
    for word, number in (("<n>", NUMBER), ("<i>", WHOLE), ("<c>", COMMAS)):
        text = text.replace(word, f"({number})")
    return re.compile(text)


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
