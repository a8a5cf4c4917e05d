"""The tags that make a resource ours. The cloud's tags are the truth; a ledger is only the memory of them.

Azure takes tags on all that is made here but on role assignments, whose name says whose they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

DEPLOYMENT, EXPIRES, OWNER, READY = "modelrig-deployment", "modelrig-expires", "modelrig-owner", "modelrig-ready"
MODEL = "modelrig-model"
PROFILE = "modelrig-profile"
"""On an environment of somebody else's: the workload profile that we added, and for which deployment."""
PLACEHOLDER = "DEPLOYMENT-ID"
"""Stands in a plan's calls for the id that the ledger gives once the deployment is written down."""
GUID = "DEPLOYMENT-GUID"
"""Likewise, for a name that has to be a GUID."""


def make(deployment: str, expires: datetime, owner: str) -> dict[str, str]:
    """The three tags of every part."""
    return {DEPLOYMENT: deployment, EXPIRES: stamp(expires), OWNER: clean(owner)}


def read(resource: Mapping[str, Any]) -> dict[str, str]:
    """The tags of a resource; Azure leaves them out, or null, where there are none, and may change their case."""
    return {str(name).lower(): str(value) for name, value in (resource.get("tags") or {}).items()}


def deployment_of(resource: Mapping[str, Any]) -> str:
    """Whose a resource is: a deployment's id, empty for what is not ours."""
    return read(resource).get(DEPLOYMENT, "")


def clean(text: str) -> str:
    """Text that every Azure service takes as a tag's value (256 characters, and some refuse slashes)."""
    return re.sub(r"[^A-Za-z0-9 _.:=+@-]+", "-", text)[:120]


def stamp(moment: datetime) -> str:
    """ISO 8601 in UTC to the second: `2026-11-29T19:04:00Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(text: str) -> datetime | None:
    """A stamp read back, or a time of Azure's own (seven decimals); None for anything else."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|\+00:00)?", text)
    if not found:
        return None
    try:
        return datetime.fromisoformat(found[1]).replace(tzinfo=UTC)
    except ValueError:
        return None
