"""ARM ids: the only names that are unique across a tenant. Azure keeps their case and compares without it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from clouds.errors import InvalidInput

_ID = re.compile(
    r"/subscriptions/(?P<subscription>[0-9a-f-]{36})"
    r"(?:/resourceGroups/(?P<group>[-\w.()]{1,90})(?:/providers/(?P<path>[\w.]+(?:/[^/?#\s]{1,260}){2,}))?)?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Parts:
    """An id taken apart. `type` is `Microsoft.App/containerApps`, empty for a group or a subscription."""

    subscription: str
    group: str = ""
    type: str = ""
    name: str = ""


def parse(text: str) -> Parts:
    """Raises InvalidInput for what is no id of a subscription, a group or something in a group."""
    found = _ID.fullmatch(text.rstrip("/"))
    words = (found["path"] or "").split("/") if found else []
    if not found or (words and len(words) % 2 == 0):
        raise InvalidInput(
            "id",
            f"{text[:120]!r} is not an Azure resource id",
            fix="Give /subscriptions/…/resourceGroups/…/providers/…",
        )
    kind = "/".join(words[:1] + words[1::2]) if words else ""
    return Parts(found["subscription"].lower(), found["group"] or "", kind, words[-1] if words else "")


def group(subscription: str, name: str) -> str:
    """A resource group."""
    return f"/subscriptions/{subscription}/resourceGroups/{name}"


def within(parent: str, kind: str, name: str) -> str:
    """Something in a group, or a child of something: `kind` is the whole type, of which a child takes the last word."""
    if parse(parent).type:
        return f"{parent}/{kind.rsplit('/', 1)[-1]}/{name}"
    return f"{parent}/providers/{kind}/{name}"


def same(one: str, other: str) -> bool:
    """Whether two ids name one thing."""
    return one.rstrip("/").lower() == other.rstrip("/").lower()


def group_of(resource: str) -> str:
    """The id of the group that a resource is in."""
    parts = parse(resource)
    return group(parts.subscription, parts.group)


def subscription_of(text: str) -> str:
    """The subscription that any id begins with, also that of something on top of a resource; empty for none."""
    found = re.match(r"/subscriptions/([0-9a-f-]{36})", text, re.IGNORECASE)
    return found[1].lower() if found else ""
