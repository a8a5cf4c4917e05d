"""What an hour with an accelerator costs with the TPU API, on Compute Engine and Cloud Run, in the cheapest region."""

from __future__ import annotations

from pathlib import Path

from clouds.gcp.endpoints import hardware
from clouds.gcp.endpoints.machines.view import price_key
from clouds.gcp.endpoints.run import settings, view
from clouds.gcp.prices import GcpPrices
from clouds.hourly import cheapest
from clouds.models import Hourly, Price


def hourly(home: Path, accelerator: str, count: int) -> tuple[Hourly, ...]:
    """On demand, of the machines that modelrig deploys on. Nothing is sent; empty where Google has none."""
    prices = GcpPrices(None, home)
    where, found = prices.locations(), list[Hourly]()
    for service, shapes in (("tpu", hardware.TPU), ("gce", hardware.GCE)):
        kinds = [one.type for one in shapes if (one.accelerator, one.count) == (accelerator, count)]

        def machine(kind: str, place: str, service: str = service) -> Price | None:
            return prices.price(price_key(service, kind, "on-demand"), place)

        found += cheapest(service, kinds, where, machine)
    if (accelerator, count) == ("L4", 1):
        usual = settings.choose({})
        cpu, memory = float(usual.cpu), usual.memory_gib
        words = f"{cpu:g} vCPU, {memory:g} GiB"
        found += cheapest("run", [words], where, lambda _, place: view.price(prices, place, cpu, memory))
    return tuple(found)
