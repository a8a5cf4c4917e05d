"""Asks the Price List API and the spot market for one price, with the filters that leave one row.

Without them several rows match and the first is arbitrary: a hosting, a studio and a training hour of one type are
separate meters, and an unused reservation, a capacity block and a used machine are separate rows of one EC2 type
(article of 2026-09-26 and public price samples, read 2026-11-29).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from clouds.models import Call, Price, Scope

if TYPE_CHECKING:
    from clouds.aws.api import AwsApi

HOME = Scope("us-east-1")
"""The Price List API is not in every region; its answers cover all of them."""
READS = (Call("pricing", "GetProducts"), Call("ec2", "DescribeSpotPriceHistory"))
_PREFIX = re.compile(r"^(?:[A-Z]{2,4}\d|EU)-")  # USE2-, EU-, APN1-; us-east-1 has none or USE1-; VPN- is none


@dataclass(frozen=True)
class Offer:
    """One on-demand price of the Price List: `usage` without its region's prefix, `usd` of its first paid tier."""

    attributes: Mapping[str, str]
    usage: str
    unit: str
    usd: float
    as_of: str
    description: str


def hosting(instance_type: str, region: str) -> Call:
    """An hour of a SageMaker endpoint instance."""
    return products("AmazonSageMaker", instanceName=instance_type, regionCode=region, component="Hosting")


def machine(instance_type: str, region: str) -> Call:
    """An hour of a used, shared Linux machine without licences."""
    return products("AmazonEC2", instanceType=instance_type, regionCode=region, **LINUX)


LINUX = {"operatingSystem": "Linux", "tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used"}


def products(service: str, **attributes: str) -> Call:
    """One question to the Price List API: all of these attributes must match."""
    filters = [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in attributes.items()]
    return Call("pricing", "GetProducts", {"ServiceCode": service, "Filters": filters, "FormatVersion": "aws_v1"})


def ask(api: AwsApi, key: str, location: str, now: datetime) -> Price | None:
    """The live price of an instance type; None when AWS lists none, or several that differ. Raises CloudError."""
    match key.split("/"):
        case ["sagemaker-hosting", str(instance_type), "on-demand"]:
            return _listed(api, hosting(instance_type, location), f"Host:{instance_type}")
        case ["ec2", str(instance_type), "on-demand"]:
            return _listed(api, machine(instance_type, location), f"BoxUsage:{instance_type}")
        case ["ec2", str(instance_type), "spot"]:
            return _spot(api, instance_type, location, now)
        case _:
            return None


def offers(items: Iterable[str]) -> Iterator[Offer]:
    """The on-demand prices of an answer's `PriceList`, whose items are JSON texts. Zero is no price and is left out."""
    for text in items:
        item = json.loads(text)
        attributes = item["product"].get("attributes", {})
        for term in item.get("terms", {}).get("OnDemand", {}).values():
            tiers = sorted(term["priceDimensions"].values(), key=lambda tier: float(tier.get("beginRange") or 0))
            paid = next((tier for tier in tiers if _usd(tier) > 0), None)
            if paid is not None:
                yield Offer(
                    attributes,
                    _PREFIX.sub("", attributes.get("usagetype", "")),
                    paid["unit"],
                    _usd(paid),
                    str(item.get("publicationDate") or term.get("effectiveDate", ""))[:10],
                    paid.get("description", ""),
                )


def _usd(tier: Mapping[str, Any]) -> float:
    return float(tier.get("pricePerUnit", {}).get("USD") or 0)


def _listed(api: AwsApi, call: Call, usage: str) -> Price | None:
    listed = api.send(call, scope=HOME).get("PriceList", [])
    found = {offer.usd: offer for offer in offers(listed) if offer.usage == usage and offer.unit == "Hrs"}
    if len(found) != 1:
        return None
    offer = next(iter(found.values()))
    source = f"AWS Price List API ({offer.attributes.get('usagetype')})"
    return Price(amount=offer.usd, unit="hour", as_of=offer.as_of, source=source)


def _spot(api: AwsApi, instance_type: str, location: str, now: datetime) -> Price | None:
    """The newest spot price of a zone, or the dearest zone's of a region."""
    parameters: dict[str, Any] = {
        "InstanceTypes": [instance_type],
        "ProductDescriptions": ["Linux/UNIX"],
        "StartTime": now,
    }
    if location[-1:].isalpha():
        parameters["AvailabilityZone"] = location
    history = api.send(Call("ec2", "DescribeSpotPriceHistory", parameters), scope=Scope(location))
    newest: dict[str, Mapping[str, Any]] = {}
    for row in sorted(history.get("SpotPriceHistory", []), key=lambda row: row["Timestamp"]):
        if float(row["SpotPrice"]) > 0:
            newest[row["AvailabilityZone"]] = row
    if not newest:
        return None
    zone, row = max(newest.items(), key=lambda item: float(item[1]["SpotPrice"]))
    basis = "spot" if len(newest) == 1 else f"spot, dearest of {len(newest)} zones"
    source = f"EC2 spot price history ({zone})"
    return Price(amount=float(row["SpotPrice"]), unit="hour", as_of=f"{now:%Y-%m-%d}", source=source, basis=basis)
