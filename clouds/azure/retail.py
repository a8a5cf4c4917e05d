"""Asks the public Retail Prices API (no sign-in), and reads its rows past the traps that they hold.

The four of the article of 2026-09-24: a meter is published for reservations and dev/test too; tiers come in any order
and the first is often free; a SKU has several meters, and Windows is spelt two ways; some meters belong to no region.
Further: rows of the future, rows repeated for a meter's other regions, and names that differ between two series of the
same machine (public notes of live queries, 2026-08-01).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from clouds.azure.prices import price_of
from clouds.azure.rates import RATES, Rate
from clouds.models import Call, Price, Scope
from clouds.pricetable import Row

if TYPE_CHECKING:
    from clouds.azure.api import AzureApi

READS = (Call("prices", "list"),)
SOURCE = "Azure Retail Prices API"
_WINDOWS = re.compile(r"\bWin(dows)?\b")


@dataclass(frozen=True)
class Offer:
    """One row of the price list that counts: pay as you go, in US dollars, in force, not for Windows."""

    place: str
    product: str
    sku: str
    meter: str
    arm_sku: str
    unit: str
    usd: float
    tier: float
    as_of: str
    primary: bool


def ask(api: AzureApi, key: str, location: str, now: datetime) -> Price | None:
    """The live price of a key in a place; None when Azure lists none, or several that differ. Raises CloudError."""
    place = location.replace(" ", "").lower()
    if not re.fullmatch(r"[a-z0-9]+", place):
        return None
    for rate in RATES:
        values = rate.values(key)
        if values is not None:
            listed = offers(read(api, rate.asking(place, values)), now)
            found = [row for row in rows(rate, listed) if row.key == key and row.location in (place, "global")]
            return price_of(found[0]) if len(found) == 1 else None
    return None


def read(api: AzureApi, condition: str) -> list[Mapping[str, Any]]:
    """Every row of the price list that meets an OData condition. Raises CloudError."""
    answer = api.send(Call("prices", "list", {"query": {"$filter": condition}}), scope=Scope())
    found: list[Mapping[str, Any]] = answer.get("Items", [])
    return found


def offers(items: Iterable[Mapping[str, Any]], now: datetime) -> Iterator[Offer]:
    """The rows that count. A zero stays: it may be the free first tier of a meter whose next one is not."""
    for item in items:
        starts = str(item.get("effectiveStartDate") or "")[:10]
        kind = item.get("type") or item.get("priceType")
        product = str(item.get("productName") or "")
        if kind != "Consumption" or item.get("currencyCode", "USD") != "USD" or starts > f"{now:%Y-%m-%d}":
            continue
        if _WINDOWS.search(product) or item.get("retailPrice") is None:
            continue
        region = str(item.get("armRegionName") or item.get("location") or "")
        yield Offer(
            place="global" if region.lower() in ("", "global", "zone 1") else region.replace(" ", "").lower(),
            product=product,
            sku=str(item.get("skuName") or ""),
            meter=str(item.get("meterName") or ""),
            arm_sku=str(item.get("armSkuName") or ""),
            unit=str(item.get("unitOfMeasure") or ""),
            usd=float(item["retailPrice"]),
            tier=float(item.get("tierMinimumUnits") or 0),
            as_of=starts or f"{now:%Y-%m-%d}",
            primary=item.get("isPrimaryMeterRegion") is not False,
        )


def rows(rate: Rate, listed: Iterable[Offer]) -> Iterator[Row]:
    """The rows of our table that a rate makes; where two prices are left for one key and place, neither is taken."""
    groups: dict[tuple[str, str], list[tuple[Offer, float]]] = {}
    for offer in listed:
        factor = rate.factor(offer.unit)
        key = rate.key_of(offer)
        if key is not None and factor is not None:
            place = "global" if rate.everywhere else offer.place
            groups.setdefault((key, place), []).append((offer, factor))
    for (key, place), group in groups.items():
        chosen = _chosen(rate, [each for each in group if each[0].primary] or group)
        if chosen is not None:
            offer, factor = chosen
            yield Row(key, rate.unit, place, round(offer.usd * factor, 6), offer.as_of, f"{SOURCE} ({offer.meter})")


def _chosen(rate: Rate, group: list[tuple[Offer, float]]) -> tuple[Offer, float] | None:
    """The price of a group: of its first tier that costs anything, of its last tier, or its lowest."""
    paid = [each for each in group if each[0].usd > 0]
    if not paid:
        return None
    if rate.tier == "lowest":
        return min(paid, key=lambda each: each[0].usd)
    tiers = sorted({offer.tier for offer, _ in paid})
    wanted = tiers[-1] if rate.tier == "last" else tiers[0]
    prices = {offer.usd: (offer, factor) for offer, factor in paid if offer.tier == wanted}
    return next(iter(prices.values())) if len(prices) == 1 else None
