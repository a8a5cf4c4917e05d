"""Why a price key of Azure has no rate somewhere, and what would give it one, in words for a person."""

from __future__ import annotations

from collections.abc import Mapping

from clouds.azure.meters import ALL
from clouds.pricetable import UNLISTED, unpriced

_NO_METER = "no meter of it stands in a source that could be read (2026-11-30), so nothing fetches its rate"
UNMETERED: Mapping[str, str] = {
    "backup/": "Azure bills an instance by the size of what it protects, which no reading gives",
    "blob/": "how much old versions hold is in no reading",
    "databricks/": "the sizes of the machines and disks that its managed group holds are not read",
    "expressroute-circuit/": f"Azure lists it by tier, billing and bandwidth; {_NO_METER}",
    "fine-tuned-hosting/": f"Azure lists it by model; {_NO_METER}",
    "log-analytics/": "how much is kept beyond the free days is in no reading",
}
"""What checks count and nothing fetches, by the beginning of its key, with the reason that a person is told."""


def without_rate(key: str) -> str:
    """Why a key has no rate in some place."""
    fetched = any(rate.covers(key) for rate in ALL)
    return unpriced(key, fetched=fetched, cloud="azure", whom="Azure", reasons=UNMETERED) or UNLISTED
