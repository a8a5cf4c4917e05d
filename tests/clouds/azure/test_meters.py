"""Rates that only the waste checks need: each is one that a check asks for, and reads the row that it is meant for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clouds.azure.meters import ALL, WASTE
from clouds.azure.prices import BUNDLED, rows_of
from clouds.azure.retail import offers, rows
from tests.clouds.azure.checks.stage import FIXTURES, NOW

ASKED = {
    (meter["key"], meter["unit"])
    for path in FIXTURES.rglob("expected.json")
    for finding in json.loads(Path(path).read_text("utf-8")).get("findings", ())
    for meter in finding.get("meters", ())
}


def test_every_rate_is_one_that_a_check_asks_for_in_the_same_unit() -> None:
    unused = {rate.key for rate in WASTE if not any(rate.covers(key) and unit == rate.unit for key, unit in ASKED)}
    assert {key for key in unused if "standard-v2" not in key} == set()


def test_no_two_rates_make_one_key_and_none_makes_a_key_of_the_bundled_table() -> None:
    keys = {key for key, _ in ASKED} | {row.key for row in rows_of(BUNDLED)}
    assert [key for key in keys if sum(rate.covers(key) for rate in ALL) > 1] == []


def listed(**more: Any) -> dict[str, Any]:
    plain = {"type": "Consumption", "currencyCode": "USD", "armRegionName": "eastus", "tierMinimumUnits": 0.0}
    return {**plain, "unitOfMeasure": "1 Hour", "isPrimaryMeterRegion": True, **more}


SAMPLES = (
    ("firewall/standard", "hour", 1.25, {"productName": "Azure Firewall", "meterName": "Standard Deployment"}),
    ("bastion/standard", "hour", 1.25, {"productName": "Azure Bastion", "meterName": "Standard Gateway"}),
    ("vpn-gateway/vpngw1az", "hour", 1.25, {"productName": "VPN Gateway", "meterName": "VpnGw1AZ"}),
    (
        "application-gateway/waf-v2-fixed", "hour", 1.25,
        {"productName": "Application Gateway WAF v2", "meterName": "Standard Fixed Cost"},
    ),
    (
        "ai-search/standard", "unit-hour", 1.25,
        {"productName": "Azure AI Search", "meterName": "Standard S1 Unit"},
    ),
    (
        "disk-iops/PremiumV2_LRS", "IOPS-month", 912.5,
        {"productName": "Azure Premium SSD v2", "meterName": "Premium LRS Provisioned IOPS", "unitOfMeasure": "1/Hour"},
    ),
)  # fmt: skip


@pytest.mark.parametrize(
    ("key", "unit", "usd", "row"), SAMPLES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_row_of_the_price_list_becomes_the_row_that_a_check_asks_for(
    key: str, unit: str, usd: float, row: dict[str, Any]
) -> None:
    offered = list(offers([listed(retailPrice=1.25, **row)], NOW))
    found = [each for rate in WASTE for each in rows(rate, offered) if rate.covers(key)]
    assert [(each.key, each.unit, each.usd, each.location) for each in found] == [(key, unit, usd, "eastus")]
