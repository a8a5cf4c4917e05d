"""Text from files as it goes into records: one line each, bounded."""

from __future__ import annotations

LONGEST = 1_000
"""Characters of a sentence that is kept."""
AGAIN = "#"
"""Marks in a record the item that was asked once more, in another order or for a repeat."""


def line(text: str, longest: int = LONGEST) -> str:
    """On one line and bounded; what cannot be printed becomes a space."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())[:longest]


def json_lines(data: bytes) -> list[str]:
    """The lines of a JSON-lines file. Only LF ends one: a text may hold U+2028 and its like as they are."""
    return data.decode("utf-8-sig", "replace").split("\n")
