"""Reads the Cloud Billing Catalog: SKUs with their first paid tier, and the meters that make rows of our table.

Traps that the patterns answer (catalogue read by gemma4-dev and public tools, 2026-08 to 2026-10): TPU v5e and newer
are under Compute Engine, "Cloud TPU" holds v2 to v4 alone; flex-start is called `DWS Defined Duration`, has usage type
OnDemand and drops the Tpu; `Capacity Optimized TpuV6e` is a decoy with the same usage type and another rate; `Reserved`
rows can be exactly zero; places in descriptions are names of cities, so that only `serviceRegions` says where.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clouds.errors import NotFound
from clouds.models import Call, Scope
from clouds.pricetable import Row

if TYPE_CHECKING:
    from clouds.gcp.api import GcpApi

SERVICES: Mapping[str, str] = {
    "Compute Engine": "6F81-5844-456A",
    "Cloud TPU": "E000-3F24-B8AA",
    "Cloud Run": "152E-C115-5142",
    "Cloud SQL": "9662-B51E-5089",
    "Cloud Storage": "95FF-2EF5-5EA1",
    "Kubernetes Engine": "CCD8-9BF1-090E",
    "Networking": "E505-1604-58F8",
    "Cloud DNS": "FA26-5236-B8B5",
    "Cloud Pub/Sub": "A1E8-BE35-7EBC",
    "Cloud Spanner": "CC63-0873-48FD",
    "Cloud Bigtable": "C3BE-24A5-0975",
    "Cloud Memorystore for Redis": "5AF5-2C11-D467",
}
"""Ids of services, as public tools that query them name them (2026-11-29)."""
SKUS = "services.skus.list"
NAMES = Call("cloudbilling", "services.list")
READS = (Call("cloudbilling", SKUS), NAMES)
_HOURLY = {"h": 1.0, "s": 3600.0}


@dataclass(frozen=True)
class Sku:
    """One SKU with a price. `usd` is its first tier above zero; `free` the amount before that tier."""

    id: str
    description: str
    usage: str
    group: str
    regions: tuple[str, ...]
    unit: str
    usd: float
    as_of: str
    free: float = 0.0


@dataclass(frozen=True)
class Meter:
    """One kind of row: `description` matches a SKU's from its start. `seen` is False where its name is a guess of ours.

    A guess that finds nothing loses nothing; a name that was seen and finds nothing does.
    """

    key: str
    service: str
    description: str
    usage: str
    listed_unit: str
    unit: str
    seen: bool = True

    @property
    def section(self) -> str:
        """The first part of its key."""
        return self.key.split("/", 1)[0]

    def takes(self, sku: Sku) -> bool:
        """Whether a SKU is one of its rows."""
        right = sku.usage == self.usage and sku.unit == self.listed_unit
        return right and re.match(self.description, sku.description) is not None


def skus(api: GcpApi, service: str) -> Iterator[Sku]:
    """Every priced SKU of a service in USD, page after page. Raises CloudError."""
    try:
        yield from _listed(api, f"services/{SERVICES[service]}")
    except NotFound:  # an id is only what others saw: the name is what Google promises
        services = api.send(NAMES, scope=Scope()).get("services") or ()
        name = next((str(row["name"]) for row in services if row.get("displayName") == service), "")
        if not name or name == f"services/{SERVICES[service]}":
            raise
        yield from _listed(api, name)


def _listed(api: GcpApi, parent: str) -> Iterator[Sku]:
    call = Call("cloudbilling", SKUS, {"parent": parent, "currencyCode": "USD", "pageSize": 5000})
    for page in api.pages(call, scope=Scope()):
        for row in page.get("skus") or ():
            if (sku := read(row)) is not None:
                yield sku


def read(row: Mapping[str, Any]) -> Sku | None:
    """One SKU as the catalogue lists it; None where it has no price above zero: free and unknown look alike there."""
    newest = max(row.get("pricingInfo") or (), key=lambda each: str(each.get("effectiveTime", "")), default=None)
    if newest is None:
        return None
    expression = newest.get("pricingExpression") or {}
    tiers = sorted(expression.get("tieredRates") or (), key=lambda tier: float(tier.get("startUsageAmount") or 0))
    paid = next((tier for tier in tiers if money(tier.get("unitPrice") or {}) > 0), None)
    category = row.get("category") or {}
    if paid is None:
        return None
    return Sku(
        id=str(row.get("skuId", "")),
        description=str(row.get("description", "")),
        usage=str(category.get("usageType", "")),
        group=str(category.get("resourceGroup", "")),
        regions=tuple(row.get("serviceRegions") or ()),
        unit=str(expression.get("usageUnit", "")),
        usd=money(paid["unitPrice"]),
        as_of=str(newest.get("effectiveTime", ""))[:10],
        free=float(paid.get("startUsageAmount") or 0),
    )


def money(price: Mapping[str, Any]) -> float:
    """An amount in whole units (a text, which may be absent) and billionths."""
    return round(int(price.get("units") or 0) + int(price.get("nanos") or 0) / 1e9, 9)


def rows(meter: Meter, found: Iterable[Sku]) -> Iterator[Row]:
    """The rows of a meter; where the catalogue has two prices for one place, neither is taken."""
    prices: dict[str, dict[float, Sku]] = {}
    for sku in found:
        if meter.takes(sku):
            for region in sku.regions:
                prices.setdefault(region, {})[sku.usd] = sku
    for region, each in prices.items():
        if len(each) == 1:
            usd, sku = next(iter(each.items()))
            yield Row(meter.key, meter.unit, region, usd, sku.as_of, "Cloud Billing Catalog API")
