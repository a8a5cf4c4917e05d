"""What each port reads, derived from the very calls it sends: the read-only allow-list is made of these."""

from __future__ import annotations

from collections.abc import Mapping

from clouds.gcp import capacity, catalogue, identity, quotas
from clouds.models import Call

READS: Mapping[str, tuple[Call, ...]] = {
    "identity": identity.READS,
    "quotas": quotas.READS,
    "capacity": capacity.READS,
    "prices": catalogue.READS,
}
"""What each port reads."""


def reads() -> frozenset[str]:
    """The read-only allow-list of every port: `service.operation`."""
    return frozenset(str(call) for calls in READS.values() for call in calls)
