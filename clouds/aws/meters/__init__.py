"""The meters that `refresh-prices aws` asks for, by what they bill."""

from __future__ import annotations

from clouds.aws.meters.base import BASE
from clouds.aws.meters.databases import DATABASES, FILES
from clouds.aws.meters.meter import Meter, maker, rows
from clouds.aws.meters.network import NETWORK
from clouds.aws.meters.services import SAGEMAKER, SERVICES, UNMETERED

METERS = (*BASE, *NETWORK, *DATABASES, *FILES, *SERVICES, *SAGEMAKER)
"""What a refresh rebuilds. Rows of other keys stay as they are, with their own dates."""

__all__ = ["BASE", "METERS", "UNMETERED", "Meter", "maker", "rows"]
