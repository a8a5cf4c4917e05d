"""Whether a service is in a region at all, by the table that botocore ships.

A service that a region does not have has no name there either: the SDK then reports that no answer came, which must not
read as a region that could not be looked at.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any


def offered(service: str, region: str) -> bool:
    """False only where botocore's table lists regions of that service and this is none of them."""
    known = _regions(service)
    return not known or region in known


@lru_cache(maxsize=128)
def _regions(service: str) -> frozenset[str]:
    return frozenset(_session().get_available_regions(service)) | frozenset(
        _session().get_available_regions(service, "aws-us-gov")
    )


@lru_cache(maxsize=1)
def _session() -> Any:  # botocore is imported late
    import botocore.session

    return botocore.session.Session()
