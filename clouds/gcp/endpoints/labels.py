"""The labels that make a resource ours. The cloud's labels are the truth; a ledger is only the memory of them.

A label's value has only a-z, 0-9, `_` and `-`, 63 at most, so a moment is written `20261129t190400z`. What takes no
label (a firewall rule, a scheduler job) carries the same pairs in its description.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

DEPLOYMENT, EXPIRES, OWNER, READY = "modelrig-deployment", "modelrig-expires", "modelrig-owner", "modelrig-ready"
PLACEHOLDER = "deployment-id"
"""Stands in a plan's calls for the id that the ledger gives once the deployment is written down."""
_STAMP = re.compile(r"(\d{4})(\d\d)(\d\d)t(\d\d)(\d\d)(\d\d)z")


def make(deployment: str, expires: datetime, owner: str) -> dict[str, str]:
    """The three labels of every part."""
    return {DEPLOYMENT: deployment, EXPIRES: stamp(expires), OWNER: clean(owner)}


def clean(text: str) -> str:
    """Text that a label's value takes: an e-mail address loses its dots and its at."""
    return re.sub(r"[^a-z0-9_-]+", "-", text.lower()).strip("-")[:63]


def stamp(moment: datetime) -> str:
    """A moment in UTC to the second, as a label takes it: `20261129t190400z`."""
    return moment.astimezone(UTC).strftime("%Y%m%dt%H%M%Sz")


def moment(text: str) -> datetime | None:
    """A stamp read back; None for anything else."""
    found = _STAMP.fullmatch(text)
    if found is None:
        return None
    try:
        return datetime(*(int(part) for part in found.groups()), tzinfo=UTC)  # type: ignore[arg-type, misc]
    except ValueError:
        return None


def iso(moment: datetime) -> str:
    """ISO 8601 in UTC to the second, as results show it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def end_of(pairs: Mapping[str, str]) -> str:
    """The promised end in ISO 8601; empty when the labels name none."""
    found = moment(pairs.get(EXPIRES, ""))
    return iso(found) if found else ""


def time_of(text: object) -> datetime | None:
    """A time in Google's RFC 3339 (any offset, nanoseconds too) in UTC; None for what is none."""
    plain = re.sub(r"(\.\d{6})\d+", r"\1", str(text))
    try:
        found = datetime.fromisoformat(plain)
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo else None


def described(pairs: Mapping[str, str]) -> str:
    """Labels as the description of what takes none."""
    return " ".join(f"{name}={value}" for name, value in pairs.items())


def of_description(text: str) -> dict[str, str]:
    """The other way round."""
    return dict(word.split("=", 1) for word in text.split() if word.startswith("modelrig-") and "=" in word)
