"""The length of every list of a result in one sentence, so that whoever reads it need not count.

A list is long when it is longer than a glance, and unsaid when its length is neither a number of the result's own nor a
word of its sentences ("10 of 1,313"). Texts of several words are read and not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FEW = 3
"""Rows that nobody has to count."""
WORDS = 4
"""From so many words on a text is read: notes, steps, lines of a log."""
_POINTS = str.maketrans(".;:()", "     ")


def lengths(result: Mapping[str, Any]) -> str:
    """Empty where every long list of the result has its length beside it."""
    known = {each for each in result.values() if isinstance(each, int) and not isinstance(each, bool)}
    words = words_of(result)
    unsaid = [
        f"{len(value):,} {name.replace('_', ' ')}"
        for name, value in result.items()
        if isinstance(value, list | tuple) and is_long(value) and not said(len(value), known, words)
    ]
    return f"Listed: {', '.join(unsaid)}." if unsaid else ""


def is_long(value: list[Any] | tuple[Any, ...]) -> bool:
    """Whether somebody might have to count it."""
    return len(value) > FEW and not all(isinstance(each, str) and len(each.split()) >= WORDS for each in value)


def said(length: int, known: set[Any], words: set[str]) -> bool:
    """Whether a length is among the numbers or in the sentences."""
    return length in known or f"{length:,}" in words


def words_of(value: Mapping[str, Any]) -> set[str]:
    """The words of an object's own sentences: its texts, and those of its lists of texts."""
    lists = [each for each in value.values() if isinstance(each, list | tuple)]
    texts = [each for each in (*value.values(), *(each for some in lists for each in some)) if isinstance(each, str)]
    return set(" ".join(texts).translate(_POINTS).split())
