"""What an hour with an accelerator costs on Container Apps and Azure ML, in the cheapest region of the tables."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from clouds.azure import sizes
from clouds.azure.endpoints import rates
from clouds.azure.endpoints.containerapps import calls
from clouds.azure.prices import AzurePrices
from clouds.errors import InvalidInput, NotOffered
from clouds.hourly import cheapest
from clouds.models import Hourly, Price


def hourly(home: Path, accelerator: str, count: int) -> tuple[Hourly, ...]:
    """On demand, of what modelrig deploys on. Nothing is sent; empty where Azure has none."""
    prices = AzurePrices(None, home)
    where, found = prices.locations(), list[Hourly]()
    held = {gpu.profile: gpu for gpu in calls.gpus() if (gpu.accelerator, count) == (accelerator, 1)}

    def replica(kind: str, place: str) -> Price | None:
        return rates.replica(prices, accelerator, held[kind].vcpus, held[kind].memory_gib, place)

    found += cheapest("containerapps", held, where, replica)
    with suppress(InvalidInput, NotOffered):
        kinds = [row.size for row in sizes.carrying(f"{count}x{accelerator}")]
        found += cheapest("ml", kinds, where, lambda kind, place: prices.price(f"vm/{kind}/on-demand", place))
    return tuple(found)
