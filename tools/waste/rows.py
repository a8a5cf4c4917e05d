"""Where the rows of an answer are: a path of words through what a cloud answered."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from clouds.models.waste import Row


def extract(answer: Any, path: str, odd: list[Any] | None = None) -> list[Row]:
    """The rows at a path: "Volumes", "Reservations[].Instances[]", "items.*.disks"; "" is the answer itself.

    What holds rows and is no mapping is put into `odd`; an answer that is nothing at all (HTTP 204) holds none.
    """
    found: list[Any] = [] if answer is None and path else [answer]
    for word in _words(path):
        following: list[Any] = []
        for each in found:
            if odd is not None and not isinstance(each, Mapping):
                odd.append(each)
            inner = list(each.values()) if word == "*" and isinstance(each, Mapping) else _inner(each, word)
            if isinstance(inner, list):
                following.extend(inner)
            elif inner is not None:
                following.append(inner)
            elif odd is not None and isinstance(each, Mapping) and word in each:
                odd.append(None)  # null is not an empty list: nobody said that there is nothing
        found = following
    return found


def _inner(each: Any, word: str) -> Any:
    return each.get(word) if isinstance(each, Mapping) else None


@lru_cache(maxsize=512)
def _words(path: str) -> tuple[str, ...]:
    return tuple(word for word in path.replace("[]", "").split(".") if word)
