"""The meters that `refresh-prices aws` asks for, by what they bill."""

from __future__ import annotations

from clouds.aws.meters.base import BASE
from clouds.aws.meters.databases import DATABASES, FILES
from clouds.aws.meters.meter import Meter, maker, rows
from clouds.aws.meters.network import NETWORK
from clouds.aws.meters.services import SAGEMAKER, SERVICES, UNMETERED
from clouds.pricetable import UNLISTED, unpriced

METERS = (*BASE, *NETWORK, *DATABASES, *FILES, *SERVICES, *SAGEMAKER)
"""What a refresh rebuilds. Rows of other keys stay as they are, with their own dates."""


def without_rate(key: str) -> str:
    """Why a key has no rate somewhere, and what would give it one, in words for a person."""
    fetched = maker(key, METERS) is not None
    if words := unpriced(key, fetched=fetched, cloud="aws", whom="AWS", reasons=UNMETERED):
        return words
    if key.startswith("ec2/"):
        return "not priced: the table knows machines with Linux and without licences, on demand"
    return UNLISTED


__all__ = ["BASE", "METERS", "UNMETERED", "Meter", "maker", "rows", "without_rate"]
