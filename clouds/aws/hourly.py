"""What an hour with an accelerator costs on EC2 and SageMaker, in the cheapest region of the tables."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from clouds.aws import instances
from clouds.aws.endpoints.ec2 import places
from clouds.aws.endpoints.sagemaker import pools
from clouds.aws.prices import AwsPrices
from clouds.errors import InvalidInput, NotOffered
from clouds.hourly import cheapest
from clouds.models import Hourly


def hourly(home: Path, accelerator: str, count: int) -> tuple[Hourly, ...]:
    """On demand, of the types that modelrig deploys on. Nothing is sent; empty where AWS has none."""
    prices = AwsPrices(None, home)
    asked, where, found = f"{count}x{accelerator}", prices.locations(), list[Hourly]()
    with suppress(InvalidInput, NotOffered):
        hosted = [row.ml for row in instances.carrying(asked, sagemaker=True) if row.cuda]
        found += cheapest("sagemaker", hosted, where, lambda kind, place: prices.price(pools.key(kind), place))
    with suppress(InvalidInput, NotOffered):
        plain = [row.type for row in instances.carrying(asked) if row.cuda]
        found += cheapest("ec2", plain, where, lambda kind, place: prices.price(places.key(kind, "on-demand"), place))
    return tuple(found)
