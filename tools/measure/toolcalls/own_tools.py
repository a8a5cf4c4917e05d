"""The question turned on our own results: whether anything in them has to be counted by whoever reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

FEW = 3
"""Rows that nobody has to count."""


def uncounted(result: Mapping[str, Any]) -> tuple[str, ...]:
    """The lists of a structured result, longer than a glance, with no number beside or above them that is their length.

    A list is counted when its own object, or one around it, holds its length as a number, or a sentence of the result
    says it ("10 of 1,313").
    """
    sentences = " ".join(_sentences(result))
    return tuple(_uncounted(result, "", set(), sentences))


def _uncounted(value: Any, path: str, known: set[float], sentences: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        own = known | {each for each in value.values() if isinstance(each, int) and not isinstance(each, bool)}
        for key, each in value.items():
            yield from _uncounted(each, f"{path}.{key}" if path else str(key), own, sentences)
    elif isinstance(value, list | tuple):
        if len(value) > FEW and len(value) not in known and f"{len(value):,}" not in sentences.split():
            yield path
        for each in value:
            yield from _uncounted(each, path, known, sentences)


def _sentences(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _sentences(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _sentences(each)
