"""Regions and zones: how their names are read, and which a question is about."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clouds.errors import InvalidInput
from clouds.models import Scope

_REGION = re.compile(r"[a-z]{2,14}-[a-z]{4,14}\d{1,2}")
_ZONE = re.compile(r"([a-z]{2,14}-[a-z]{4,14}\d{1,2})-[a-z0-9]{1,8}")


def region_of(location: str) -> str:
    """The region of a region or zone name. Raises InvalidInput for anything else."""
    if zone := _ZONE.fullmatch(location):
        return zone[1]
    if _REGION.fullmatch(location):
        return location
    raise InvalidInput(
        "region",
        f"{location[:40]!r} is not a region or zone of Google Cloud",
        fix="Name one like europe-west4 or europe-west4-a.",
    )


def is_zone(location: str) -> bool:
    """Whether a name is a zone's."""
    return _ZONE.fullmatch(location) is not None


class Asked:
    """The places of some scopes. Without a location in any of them, everywhere."""

    def __init__(self, scopes: Sequence[Scope]) -> None:
        """Raises InvalidInput for a name that is neither a region nor a zone."""
        named = () if any(not scope.location for scope in scopes) else tuple(str(scope.location) for scope in scopes)
        self.named = tuple(dict.fromkeys(named))
        self.regions = tuple(dict.fromkeys(region_of(name) for name in self.named))
        self.accounts = tuple(dict.fromkeys(scope.account for scope in scopes if scope.account))
        self._whole = {name for name in self.named if not is_zone(name)}

    @property
    def everywhere(self) -> bool:
        """Whether no place was named."""
        return not self.named

    def has(self, place: str) -> bool:
        """Whether a region or zone belongs to the question; a region does when one of its zones was named."""
        if self.everywhere or place in ("", "global"):
            return True
        if not is_zone(place):
            return place in self.regions
        return place in self.named or region_of(place) in self._whole
