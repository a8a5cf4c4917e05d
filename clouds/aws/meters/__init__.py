"""The meters that `refresh-prices aws` asks for, by what they bill."""

from __future__ import annotations

from clouds.aws.meters.base import BASE
from clouds.aws.meters.databases import DATABASES, FILES
from clouds.aws.meters.meter import Meter, maker, rows
from clouds.aws.meters.network import NETWORK
from clouds.aws.meters.services import SAGEMAKER, SERVICES, UNMETERED

METERS = (*BASE, *NETWORK, *DATABASES, *FILES, *SERVICES, *SAGEMAKER)
"""What a refresh rebuilds. Rows of other keys stay as they are, with their own dates."""


def without_rate(key: str) -> str:
    """Why a key has no rate somewhere, and what would give it one, in words for a person."""
    reason = next((why for start, why in UNMETERED.items() if key.startswith(start)), "")
    if reason:
        return f"not priced: {reason}"
    if maker(key, METERS) is not None:
        return "not in the bundled table for this place; `server.py refresh-prices aws` asks AWS for it"
    if key.startswith("ec2/"):
        return "not priced: the table knows machines with Linux and without licences, on demand"
    return "not priced: no source with a date lists it"


__all__ = ["BASE", "METERS", "UNMETERED", "Meter", "maker", "rows", "without_rate"]
