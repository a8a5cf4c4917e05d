"""The sizes that Azure ML knows in a location, with its own price estimates: one call says whether an endpoint may run
on a size, and at what list price.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from clouds.models import Call, Price, Scope

if TYPE_CHECKING:
    from clouds.azure.api import AzureApi

VM_SIZES = Call("Microsoft.MachineLearningServices/locations/vmSizes", "list")
ENDPOINTS = "MIR"
"""Azure ML's word for managed online endpoints among `supportedComputeTypes` (REST specification, 2026-07-01)."""
SOURCE = "Azure ML vmSizes, its own estimate of the list price"


@dataclass(frozen=True)
class VmSize:
    """One size: family, how much of what, whether endpoints take it, and estimates for Linux in US dollars an hour."""

    size: str
    family: str
    vcpus: int | None
    gpus: int | None
    memory_gib: float | None
    compute: tuple[str, ...]
    usd: Mapping[str, float] = field(default_factory=dict)
    """`Standard` and `LowPriority` -> USD per hour; absent where Azure estimates none."""

    @property
    def endpoints(self) -> bool:
        """Whether a managed online endpoint may run on it."""
        return ENDPOINTS in self.compute

    def price(self, now: datetime, *, low_priority: bool = False) -> Price | None:
        """The estimate as a price; None where there is none, and never $0."""
        amount = self.usd.get("LowPriority" if low_priority else "Standard")
        if amount is None:
            return None
        basis = "low priority, estimated" if low_priority else "on demand, estimated"
        return Price(amount=amount, unit="hour", as_of=f"{now:%Y-%m-%d}", source=SOURCE, basis=basis)


def endpoint_sizes(api: AzureApi, scope: Scope) -> Mapping[str, VmSize]:
    """Every size that Azure ML lists in a location, by its name in lower case. Raises CloudError."""
    rows = api.send(VM_SIZES, scope=scope)["value"]
    return {str(row["name"]).lower(): _size(row) for row in rows}


def _size(row: Mapping[str, Any]) -> VmSize:
    return VmSize(
        size=str(row["name"]),
        family=str(row.get("family") or ""),
        vcpus=row.get("vCPUs"),
        gpus=row.get("gpus"),
        memory_gib=row.get("memoryGB"),
        compute=tuple(str(each) for each in row.get("supportedComputeTypes") or ()),
        usd=_estimates(row.get("estimatedVMPrices") or {}),
    )


def _estimates(prices: Mapping[str, Any]) -> Mapping[str, float]:
    """Linux alone, in US dollars an hour; another currency or unit is not an answer."""
    if prices.get("billingCurrency") != "USD" or prices.get("unitOfMeasure") != "OneHour":
        return {}
    return {
        str(each.get("vmTier")): float(each["retailPrice"])
        for each in prices.get("values") or ()
        if each.get("osType") == "Linux" and (each.get("retailPrice") or 0) > 0
    }
