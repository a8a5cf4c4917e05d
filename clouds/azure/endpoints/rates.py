"""What an hour costs: a replica with its GPU, cores and memory, or a machine of Azure ML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from clouds.azure.prices import AzurePrices
from clouds.models import Price

GPU_KEYS: Mapping[str, str] = {"T4": "container-apps/gpu-t4", "A100-80GB": "container-apps/gpu-a100"}


def replica(
    book: AzurePrices, accelerator: str, cores: float, memory_gib: float, region: str, *, fresh: bool = False
) -> Price | None:
    """An hour of one replica while it is up. None where any of its three meters is unknown: half a price is none.

    GPU replicas have no idle rate (Container Apps billing: only what has no GPU allocated gets it), so the active
    meters count at all times. `fresh` asks Azure's price list first, as for what is about to be created.
    """
    wanted = {
        GPU_KEYS[accelerator]: 1.0,
        "container-apps/active-vcpu": cores,
        "container-apps/active-memory": memory_gib,
    }
    amount, found = 0.0, list[Price]()
    for key, count in wanted.items():
        price = _of(book, key, region, fresh=fresh)
        if price is None:
            return None
        found.append(price)
        amount += price.amount * count
    return Price(
        amount=round(amount, 6),
        unit="hour",
        as_of=min(price.as_of for price in found),
        source=found[0].source,
        basis=f"on demand: 1 x {accelerator}, {cores:g} vCPU, {memory_gib:g} GiB while a replica is up",
    )


def machine(
    book: AzurePrices, size: str, region: str, told: Mapping[str, float] | None = None, *, fresh: bool = False
) -> Price | None:
    """An hour of a machine of Azure ML, which bills as a virtual machine does.

    `told` are the prices that Azure ML itself names for its sizes, for those that no table has.
    """
    held = _of(book, f"vm/{size}/on-demand", region, fresh=fresh)
    amount = (told or {}).get(size, 0.0)
    if held is not None or amount <= 0:
        return held
    today = datetime.now(UTC).date().isoformat()
    return Price(amount=amount, unit="hour", as_of=today, source="Azure ML's own estimate (vmSizes)")


def _of(book: AzurePrices, key: str, region: str, *, fresh: bool) -> Price | None:
    price = book.current(key, region) if fresh else book.price(key, region) or book.current(key, region)
    return price if price is not None and price.amount > 0 else None


def estimates(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, float]:
    """Linux list prices by size, from Azure ML's vmSizes: never the low-priority or the Windows ones, USD only."""
    found: dict[str, float] = {}
    for row in rows:
        told = row.get("estimatedVMPrices") or {}
        if told.get("billingCurrency") != "USD" or told.get("unitOfMeasure") != "OneHour":
            continue
        for price in told.get("values") or ():
            if price.get("osType") == "Linux" and price.get("vmTier") == "Standard":
                found[str(row.get("name", ""))] = float(price.get("retailPrice") or 0)
    return found
