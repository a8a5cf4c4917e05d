"""Which rows of Azure's price list make which rows of our table.

Names of meters as published tables and live queries show them (articles and public notes, read 2026-11-29). A disk's
SKU has three meters ("P80 LRS Disk", "P80 LRS Disk Mount", "P80 LRS Disk Operations"), so the whole name is matched. A
machine's product may or may not begin with "Virtual Machines", so its ARM name decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, Protocol

HOUR: Mapping[str, float] = {"1 Hour": 1, "1/Hour": 1}
SECOND: Mapping[str, float] = {"1 Second": 3600, "1 GiB Second": 3600, "1 GB Second": 3600, **HOUR, "1 GiB Hour": 1}
MONTH: Mapping[str, float] = {"1/Month": 1, "1": 1}
GB_MONTH: Mapping[str, float] = {"1 GB/Month": 1, "1 GiB/Month": 1}
GIB_HOUR: Mapping[str, float] = {"1 GiB/Hour": 730, "1 GiB Hour": 730}
_KINDS = {"Regional": "regional", "Global": "global", "Data Zone": "data-zone"}
_STORAGE = {"General Purpose": "general-purpose", "Business Critical": "business-critical"}
_REGION = " and armRegionName eq '{place}'"


class Listed(Protocol):
    """What a rate looks at of a row of the price list."""

    @property
    def product(self) -> str: ...  # noqa: D102
    @property
    def sku(self) -> str: ...  # noqa: D102
    @property
    def meter(self) -> str: ...  # noqa: D102
    @property
    def arm_sku(self) -> str: ...  # noqa: D102


@cache
def _pattern(key: str) -> re.Pattern[str]:
    """What the keys that a rate makes look like."""
    return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(key)))


@dataclass(frozen=True)
class Rate:
    """One kind of row. `meter` matches a whole meter name; its groups, and `{arm}`, fill `key`."""

    key: str
    unit: str
    meter: str
    units: Mapping[str, float]
    where: str
    """An OData condition without the one for the price's type and the region."""
    product: str = ""
    not_product: str = ""
    sku: str = ""
    tier: Literal["first paid", "last", "lowest"] = "first paid"
    regional: bool = True
    each_region: bool = False
    """Ask region by region, where all of them at once would be a hundred pages."""
    narrow: str = ""
    """A further condition when one key is asked for; its `{name}` is filled from the key."""
    words: Mapping[str, str] = field(default_factory=dict)
    everywhere: bool = False
    """One price for every place, whatever place the list names."""

    @property
    def section(self) -> str:
        """The first part of its keys."""
        return self.key.split("/", 1)[0]

    def values(self, key: str) -> Mapping[str, str] | None:
        """What a key of the table fills this rate's pattern with; None for a key of another rate."""
        found = _pattern(self.key).fullmatch(key)
        return None if found is None else found.groupdict()

    def covers(self, key: str) -> bool:
        """Whether a key of the table is one that this rate makes."""
        return self.values(key) is not None

    def asking(self, place: str = "", values: Mapping[str, str] | None = None) -> str:
        """The condition to ask with: for one place, for one key."""
        asked = f"priceType eq 'Consumption' and {self.where}"
        if place and self.regional:
            asked += _REGION.format(place=place)
        if values and self.narrow and all(re.fullmatch(r"[\w.-]+", each) for each in values.values()):
            asked += " and " + self.narrow.format(**values)
        return asked

    def factor(self, unit: str) -> float | None:
        """What a published amount is multiplied with to be in our unit; None for a unit that we do not know."""
        return self.units.get(unit)

    def key_of(self, offer: Listed) -> str | None:
        """The key of a row of the price list; None for a row of something else."""
        found = re.fullmatch(self.meter, offer.meter)
        if not found or not re.search(self.product, offer.product) or not re.search(self.sku, offer.sku):
            return None
        if self.not_product and re.search(self.not_product, offer.product):
            return None
        named = {name: self._word(value or "") for name, value in found.groupdict().items()}
        plain = re.sub(r"[^a-z0-9]", "", (offer.arm_sku or offer.sku).lower())
        system = "linux" if "Linux" in offer.product else "windows"
        return self.key.format(arm=offer.arm_sku, plain=plain, system=system, **named)

    def _word(self, value: str) -> str:
        return self.words.get(value, value.replace(" ", ""))


def _machine(market: str, sku: str, meter: str) -> Rate:
    return Rate(
        key=f"vm/{{arm}}/{market}",
        unit="hour",
        meter=meter,
        units=HOUR,
        where="serviceName eq 'Virtual Machines'",
        not_product=r"Dedicated Host|Cloud ?Services",
        sku=sku,
        each_region=True,
        narrow="armSkuName eq '{arm}'",
    )


def _app(key: str, unit: str, meter: str, units: Mapping[str, float] = SECOND) -> Rate:
    where = f"serviceName eq 'Azure Container Apps' and meterName eq '{meter}'"
    return Rate(f"container-apps/{key}", unit, re.escape(meter), units, where)


RATES = (
    _machine("on-demand", r"^(?!.*(Spot|Low Priority))", r"(?!.*(Spot|Low Priority)).+"),
    _machine("spot", r"Spot", r".+"),
    _machine("low-priority", r"Low Priority", r".+"),
    _app("active-vcpu", "vCPU-hour", "Standard vCPU Active Usage"),
    _app("active-memory", "GiB-hour", "Standard Memory Active Usage"),
    _app("idle-vcpu", "vCPU-hour", "Standard vCPU Idle Usage"),
    _app("idle-memory", "GiB-hour", "Standard Memory Idle Usage"),
    _app("gpu-t4", "GPU-hour", "Standard NC T4 v3 GPU Usage"),
    _app("gpu-a100", "GPU-hour", "Standard NC A100 v4 GPU Usage"),
    _app("dedicated-vcpu", "vCPU-hour", "Dedicated vCPU Usage"),
    _app("dedicated-memory", "GiB-hour", "Dedicated Memory Usage"),
    _app("dedicated-gpu", "GPU-hour", "Dedicated GPU Usage"),
    _app("dedicated-management", "environment-hour", "Dedicated Plan Management"),
    Rate(
        "ptu/{kind}",
        "PTU-hour",
        r"Provisioned Managed (?P<kind>Regional|Global|Data Zone) Unit",
        HOUR,
        "contains(meterName,'Provisioned Managed')",
        words=_KINDS,
    ),
    Rate(
        "disk/{tier}-{redundancy}",
        "disk-month",
        r"(?P<tier>[PES]\d+) (?P<redundancy>LRS|ZRS) Disk",
        MONTH,
        "serviceName eq 'Storage' and contains(productName,'Managed Disks')",
        product=r"^(Premium SSD|Standard SSD|Standard HDD) Managed Disks$",
        each_region=True,
        narrow="skuName eq '{tier} {redundancy}'",
    ),
    Rate(
        "disk/{kind}_LRS",
        "GiB-month",
        r"(?P<kind>Premium|Ultra) LRS Provisioned Capacity",
        GIB_HOUR,
        "serviceName eq 'Storage' and contains(meterName,'LRS Provisioned Capacity')",
        words={"Premium": "PremiumV2", "Ultra": "UltraSSD"},
    ),
    Rate(
        "snapshot/standard-lrs",
        "GB-month",
        r"(LRS )?Snapshots",
        GB_MONTH,
        "serviceName eq 'Storage' and productName eq 'Standard HDD Managed Disks' and contains(meterName,'Snapshots')",
        sku=r"LRS",
    ),
    Rate(
        "public-ip/standard-static-ipv4",
        "hour",
        r"Standard IPv4 Static Public IP",
        HOUR,
        "meterName eq 'Standard IPv4 Static Public IP'",
    ),
    Rate(
        "nat-gateway/standard",
        "hour",
        r"Standard Gateway",
        HOUR,
        "meterName eq 'Standard Gateway' and contains(productName,'NAT Gateway')",
        regional=False,
    ),
    Rate(
        "load-balancer/standard-first-5-rules",
        "hour",
        r"Standard Included LB Rules and Outbound Rules",
        HOUR,
        "meterName eq 'Standard Included LB Rules and Outbound Rules'",
        regional=False,
    ),
    Rate(
        "dedicated-host/{plain}",
        "host-hour",
        r".+",
        HOUR,
        "contains(productName,'Dedicated Host')",
        product=r"Dedicated Host",
        each_region=True,
    ),
    Rate(
        "acr/registry-{kind}",
        "day",
        r"(?P<kind>Basic|Standard|Premium) Registry Unit",
        {"1/Day": 1},
        "serviceName eq 'Container Registry' and contains(meterName,'Registry Unit')",
        tier="lowest",
        regional=False,
        words={"Basic": "basic", "Standard": "standard", "Premium": "premium"},
        everywhere=True,
    ),
    Rate(
        "dns/public-zone/first-25",
        "zone-month",
        r"Public Zone",
        MONTH,
        "meterName eq 'Public Zone'",
        regional=False,
        everywhere=True,
    ),
    Rate(
        "dns/public-zone/beyond-25",
        "zone-month",
        r"Public Zone",
        MONTH,
        "meterName eq 'Public Zone'",
        tier="last",
        regional=False,
        everywhere=True,
    ),
    Rate(
        "app-service/{sku}/{system}",
        "instance-hour",
        r"(?P<sku>[A-Z]\d+( m?v\d)?|Shared) App",
        HOUR,
        "serviceName eq 'Azure App Service' and contains(meterName,' App')",
    ),
    Rate(
        "sql-storage/{kind}",
        "GB-month",
        r"(?P<kind>General Purpose|Business Critical) Data Stored",
        GB_MONTH,
        "serviceName eq 'SQL Database' and contains(meterName,'Data Stored')",
        words=_STORAGE,
    ),
)
"""What a refresh rebuilds. Rows of other keys stay as they are, with their own dates."""
