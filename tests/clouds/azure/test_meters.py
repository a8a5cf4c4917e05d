"""Rates that only the waste checks need: each is one that a check asks for, and reads the row that it is meant for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clouds.azure.meters import ALL, WASTE
from clouds.azure.prices import BUNDLED
from clouds.azure.retail import offers, rows
from clouds.pricetable import rows_of
from tests.clouds.azure.checks.stage import FIXTURES, NOW

ASKED = {
    (meter["key"], meter["unit"])
    for path in FIXTURES.rglob("expected.json")
    for finding in json.loads(Path(path).read_text("utf-8")).get("findings", ())
    for meter in finding.get("meters", ())
}


def test_every_rate_is_of_a_kind_that_a_check_asks_for_in_the_same_unit() -> None:
    asked = {(key.split("/")[0], unit) for key, unit in ASKED}
    assert {rate.key for rate in WASTE if (rate.section, rate.unit) not in asked} == set()


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
        "sql-elastic-pool/standardpool", "unit-hour", 0.052083,
        {
            "productName": "SQL Database Elastic Pool - Standard", "meterName": "eDTUs", "skuName": "1 DTU",
            "unitOfMeasure": "1/Day",
        },
    ),
    (
        "postgres-flexible/storage", "GiB-month", 1.25,
        {
            "productName": "Azure Database for PostgreSQL Flex Server Storage",
            "meterName": "Storage Data Stored",
            "unitOfMeasure": "1 GiB/Month",
            "serviceName": "Azure Database for PostgreSQL",
        },
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


LISTED = (
    ("cosmos/manual-100-ru", 0.008, "Azure Cosmos DB", "100 RU/s", "RUs", 0.008, False),
    (None, 0.0, "Azure Cosmos DB", "100 RU/s", "Free Tier", 0.0, True),
    ("cosmos/multi-write-100-ru", 0.016, "Azure Cosmos DB", "100 Multi-master RU/s", "mRUs", 0.016, False),
    (None, 0.0, "Azure Cosmos DB", "100 Multi-master RU/s", "Free Tier", 0.0, True),
    ("cosmos/autoscale-100-ru", 0.012, "Azure Cosmos DB autoscale", "AP1 100 RUs", "AP1", 0.012, True),
    (None, 0.0, "Azure Cosmos DB autoscale", "AP1 Entry Price", "AP1", 0.032, True),
    (None, 0.0, "Azure Redis Cache Standard", "C2 Cache", "C2", 0.225, False),
    ("redis/standard-c2", 0.112, "Azure Redis Cache Standard", "C2 Cache Instance", "C2", 0.112, True),
    ("redis/basic-c2", 0.09, "Azure Redis Cache Basic", "C2 Cache", "C2", 0.09, False),
    ("redis/premium-p1", 0.277, "Azure Redis Cache Premium", "P1 Cache Instance", "P1", 0.277, True),
    (None, 0.0, "Azure Redis Cache Enterprise", "E1 Internal Cache", "E1 Internal", 0.0156, True),
    ("redis-enterprise/enterprise_e10", 0.481, "Azure Redis Cache Enterprise", "E10 Cache", "E10", 0.481, True),
    (
        "redis-enterprise/balanced_b5", 0.156,
        "Azure Managed Redis - Balanced", "B5 Cache Instance", "B5", 0.156, True,
    ),
    (
        "sql-elastic-pool/bc_gen5", 0.304435,
        "SQL Database Single/Elastic Pool Business Critical - Compute Gen5", "vCore", "1 vCore", 0.304435, True,
    ),
    (
        None, 0.0,
        "SQL Database Single/Elastic Pool General Purpose - Compute Gen5", "vCore", "4 vCore", 0.608868, False,
    ),
    (
        "sql-elastic-pool/gp_gen5-zones", 0.09133, "SQL Database Single/Elastic Pool General Purpose - Compute Gen5",
        "Zone Redundancy vCore", "1 vCore Zone Redundancy", 0.09133, True,
    ),
    ("synapse/100-dwu", 1.2, "Azure Synapse Analytics Dedicated SQL Pool", "100 DWUs", "DW100c", 1.2, True),
    (None, 0.0, "Azure Synapse Analytics Dedicated SQL Pool", "100 DWUs", "DW400c", 4.8, False),
    (None, 0.0, "Azure Synapse Analytics SQL Provisioned DWU", "100 DWU", "DWU", 1.2, True),
    ("api-management/premium", 3.829, "API Management", "Premium Unit", "Premium", 3.829, False),
    ("api-management/premium-further", 1.9145, "API Management", "Secondary Unit", "Secondary", 1.9145, False),
    ("api-management/standardv2", 0.9589, "API Management", "Standard v2 Unit", "Standard v2", 0.9589, True),
    (
        "api-management/standardv2-further", 0.68493,
        "API Management", "Standard v2 Secondary Unit", "Standard v2", 0.68493, True,
    ),
    (None, 0.0, "API Management", "Workspace Gateway Premium Unit", "Workspace Gateway Premium", 1.91781, True),
    (
        "application-gateway/v1/standard-medium", 0.07,
        "Basic Application Gateway", "Medium Gateway", "Medium", 0.07, True,
    ),
    ("application-gateway/v1/waf-medium", 0.126, "WAF Application Gateway", "Medium Gateway", "Medium", 0.126, True),
    (None, 0.0, "Application Gateway WAF v2 - Discounted", "Standard Fixed Cost", "Standard", 0.2, True),
    (
        "expressroute-gateway/ultraperformance", 1.87,
        "ExpressRoute Ultra High Performance Gateway", "Ultra High Performance Gateway", "Ultra High Performance",
        1.87, False,
    ),
    ("vpn-gateway/basic", 0.036, "VPN Gateway", "Basic Gateway", "Basic", 0.036, False),
    (None, 0.0, "VPN Gateway", "S2S Connection", "VpnGw1", 0.015, False),
    ("event-hubs/premium-unit", 1.027, "Event Hubs", "Premium Processing Unit", "Premium", 1.027, True),
    (None, 0.0, "Azure AI Search", "Standard S1 CC Unit", "Standard S1 CC", 0.3696, True),
)  # fmt: skip
"""Rows of eastus2 in public copies of the list of 2026: key, our price, product, meter, SKU, price, primary."""
SERVICES = {"Cosmos": "cosmos", "Redis": "redis", "Synapse": "synapse", "API": "api-", "Application": "application-"}
SERVICES |= {
    "SQL Database": "sql-elastic",
    "ExpressRoute": "expressroute",
    "VPN": "vpn",
    "Event": "event-hubs",
    "Search": "ai-search",
}


def test_of_the_rows_of_a_service_only_those_count_that_are_meant() -> None:
    for word, section in SERVICES.items():
        own = [row for row in LISTED if word in row[2]]
        offered = list(
            offers(
                [
                    listed(
                        productName=product, meterName=meter, skuName=sku, retailPrice=usd, isPrimaryMeterRegion=own_
                    )
                    for _, _, product, meter, sku, usd, own_ in own
                ],
                NOW,
            )
        )
        mine = [rate for rate in WASTE if rate.key.startswith(section)]
        found = {each.key: each.usd for rate in mine for each in rows(rate, offered)}
        assert found == {key: usd for key, usd, *_ in own if key is not None}, word
