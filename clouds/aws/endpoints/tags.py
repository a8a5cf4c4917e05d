"""The tags that make a resource ours. The cloud's tags are the truth; a ledger is only the memory of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

DEPLOYMENT, EXPIRES, OWNER, READY = "modelrig-deployment", "modelrig-expires", "modelrig-owner", "modelrig-ready"
SHARED = "shared"
"""The deployment of what several deployments use (the roles); it costs nothing and stays."""
PLACEHOLDER = "DEPLOYMENT-ID"
"""Stands in a plan's calls for the id that the ledger gives once the deployment is written down."""


def make(deployment: str, expires: datetime | None, owner: str) -> list[dict[str, str]]:
    """The three tags, as AWS takes them."""
    end = stamp(expires) if expires else "never"
    return [
        {"Key": DEPLOYMENT, "Value": deployment},
        {"Key": EXPIRES, "Value": end},
        {"Key": OWNER, "Value": clean(owner)},
    ]


def read(tags: Sequence[Mapping[str, Any]] | None) -> dict[str, str]:
    """A list of Key and Value as one mapping."""
    return {str(tag["Key"]): str(tag.get("Value", "")) for tag in tags or ()}


def clean(text: str) -> str:
    """Text that every AWS service takes as a tag's value."""
    return re.sub(r"[^A-Za-z0-9 _.:/=+@-]+", "-", text)[:120]


def stamp(moment: datetime) -> str:
    """ISO 8601 in UTC to the second: `2026-11-29T19:04:00Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(text: str) -> datetime | None:
    """A stamp read back; None for anything else ("never", a foreign tag)."""
    try:
        return datetime.fromisoformat(text) if "T" in text else None
    except ValueError:
        return None
