"""Joins the pages of a list, and says what a list itself could not see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

MOST = 10_000
"""Pages after which a list is taken for one without an end."""
_EMPTY = "NO_RESULTS_ON_PAGE"
_LISTS = ("unreachable", "unreachables", "missingZones")


def joined(whole: dict[str, Any], page: Mapping[str, Any]) -> dict[str, Any]:
    """`page` added to `whole`: lists grow, the scopes of an aggregated list are merged, warnings are kept."""
    for key, value in page.items():
        old = whole.get(key)
        if key == "warning" and isinstance(value, Mapping):
            whole[key] = _warnings(old, value)
        elif isinstance(old, list) and isinstance(value, list):
            whole[key] = old + [each for each in value if key not in _LISTS or each not in old]
        elif isinstance(old, dict) and isinstance(value, Mapping):
            whole[key] = joined(dict(old), value)
        elif old is None or key in ("warning", "etag"):
            whole[key] = value
    return whole


def gaps(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """What a list says that it could not look at: `unreachable` places and its scopes' warnings, one line each."""
    found = [str(place) for key in _LISTS for place in answer.get(key) or ()]
    items = answer.get("items")
    scopes = items.items() if isinstance(items, Mapping) else ()
    for place, inside in (("", answer), *scopes):
        warning = inside.get("warning") if isinstance(inside, Mapping) else None
        if isinstance(warning, Mapping) and warning.get("code") not in (None, _EMPTY):
            words = ": ".join(part for part in (place, str(warning["code"]), str(warning.get("message", ""))) if part)
            found.append(words[:300])
    found += [str(each.get("message", each))[:300] for each in answer.get("executionErrors") or ()]
    return tuple(dict.fromkeys(found))


def scoped(answer: Mapping[str, Any], kind: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Location and row of everything of a kind in an aggregated list: `("us-central1-a", {...})`, or `"global"`."""
    for place, inside in (answer.get("items") or {}).items():
        for row in inside.get(kind) or ():
            yield place.rsplit("/", 1)[-1], row


def _warnings(old: Any, new: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(old, Mapping) or old.get("code") == _EMPTY:
        return new
    if new.get("code") == _EMPTY or old == new:
        return old
    message = "; ".join(dict.fromkeys(str(each.get("message", "")) for each in (old, new)))
    return {**old, "message": message, "data": [*(old.get("data") or ()), *(new.get("data") or ())]}
