"""The question turned on our own results: whether anything in them has to be counted by whoever reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tools.lengths import is_long, said, words_of


def uncounted(result: Mapping[str, Any]) -> tuple[str, ...]:
    """The lists of a structured result, longer than a glance, with no number beside or above them that is their length.

    A list is counted when its own object, or one around it, holds its length as a number, or a sentence of its own
    object or of the result says it ("10 of 1,313"). Texts of several words are read, not counted.
    """
    return tuple(_uncounted(result, "", set(), words_of(result)))


def _uncounted(value: Any, path: str, known: set[float], words: set[str]) -> Iterator[str]:
    if isinstance(value, Mapping):
        own = known | {each for each in value.values() if isinstance(each, int) and not isinstance(each, bool)}
        for key, each in value.items():
            yield from _uncounted(each, f"{path}.{key}" if path else str(key), own, words | words_of(value))
    elif isinstance(value, list | tuple):
        if is_long(value) and not said(len(value), known, words):
            yield path
        for each in value:
            yield from _uncounted(each, path, known, words)
