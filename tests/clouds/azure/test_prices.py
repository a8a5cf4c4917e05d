from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from clouds.azure.api import AzureApi
from clouds.azure.prices import EXCLUDES, AzurePrices
from clouds.errors import Throttled, Unexpected
from clouds.models import Price
from tests.clouds.azure.recorded import Recorded
from tests.clouds.azure.rig import Answer, Network, problem, rig

LIST = "GET /api/retail/prices"
A100 = "Standard_NC24ads_A100_v4"
NOW = datetime(2026, 11, 29, tzinfo=UTC)


def item(meter: str, price: float, unit: str = "1 Hour", **more: Any) -> dict[str, Any]:
    """One row of the price list as Azure publishes it."""
    return {
        "currencyCode": "USD",
        "tierMinimumUnits": 0.0,
        "retailPrice": price,
        "unitPrice": price,
        "armRegionName": "eastus",
        "location": "US East",
        "effectiveStartDate": "2026-01-01T00:00:00Z",
        "meterName": meter,
        "productName": "Virtual Machines",
        "skuName": meter,
        "serviceName": "Virtual Machines",
        "unitOfMeasure": unit,
        "type": "Consumption",
        "isPrimaryMeterRegion": True,
        "armSkuName": "",
    } | more


def listed(*items: dict[str, Any], following: str | None = None) -> Answer:
    return (200, {"BillingCurrency": "USD", "Items": list(items), "NextPageLink": following, "Count": len(items)})


def book(*answers: Answer, home: Path = Path("nowhere")) -> tuple[AzurePrices, Network]:
    api, network, _ = rig({LIST: list(answers)})
    return AzurePrices(api, home, now=lambda: NOW), network


def live(key: str, *items: dict[str, Any], location: str = "eastus") -> Price | None:
    return book(listed(*items))[0].live(key, location)


def machine(price: float, **more: Any) -> dict[str, Any]:
    product = "NCads A100 v4 Series Linux"
    return item("NC24ads_A100_v4", price, armSkuName=A100, productName=product, skuName=A100) | more


def test_trap_1_a_reservation_and_a_dev_test_rate_are_not_pay_as_you_go() -> None:
    found = live(
        f"vm/{A100}/on-demand",
        machine(21_000.0, type="Reservation", reservationTerm="1 Year"),
        machine(2.9, type="DevTestConsumption"),
        machine(3.673),
    )
    assert found == Price(
        amount=3.673, unit="hour", as_of="2026-01-01", source="Azure Retail Prices API (NC24ads_A100_v4)"
    )
    _, network = book(listed())
    assert network.sent == []


def test_trap_1_is_asked_away_too() -> None:
    prices, network = book(listed(machine(3.673)))
    prices.live(f"vm/{A100}/on-demand", "eastus")
    assert network.sent[0].query == {
        "$filter": "priceType eq 'Consumption' and serviceName eq 'Virtual Machines' and armRegionName eq 'eastus' and "
        f"armSkuName eq '{A100}'"
    }
    assert network.sent[0].token == ""


def test_trap_2_the_first_tier_that_charges_whatever_the_order() -> None:
    meter = "Standard vCPU Active Usage"
    tiers = (item(meter, 0.000024, "1 Second", tierMinimumUnits=180_000.0), item(meter, 0.0, "1 Second"))
    for order in (tiers, tiers[::-1]):
        found = live("container-apps/active-vcpu", *order)
        assert found is not None
        assert (found.amount, found.unit) == (0.0864, "vCPU-hour")


def test_trap_2_a_zone_beyond_the_first_25_costs_the_marginal_tier() -> None:
    rows = (
        item("Public Zone", 0.1, "1", tierMinimumUnits=25.0, armRegionName="", location="Zone 1"),
        item("Public Zone", 0.5, "1", armRegionName="", location="Zone 1"),
    )
    first, beyond = live("dns/public-zone/first-25", *rows), live("dns/public-zone/beyond-25", *rows)
    assert first is not None
    assert beyond is not None
    assert (first.amount, beyond.amount) == (0.5, 0.1)


def test_trap_3_the_whole_name_of_a_meter_since_three_share_a_sku() -> None:
    disk = {"productName": "Premium SSD Managed Disks", "skuName": "P80 LRS", "serviceName": "Storage"}
    found = live(
        "disk/P80-LRS",
        item("P80 LRS Disk Mount", 219.0, "1/Month", **disk),
        item("P80 LRS Disk Operations", 0.0005, "10K", **disk),
        item("P80 LRS Disk", 3604.11, "1/Month", **disk),
        item("P80 LRS Disk", 3604.11, "1/Month", **(disk | {"productName": "Premium Page Blob"})),
    )
    assert found is not None
    assert (found.amount, found.unit) == (3604.11, "disk-month")


@pytest.mark.parametrize("windows", ["NCads A100 v4 Series Windows", "NCads A100 v4 Srs Win"])
def test_trap_3_windows_is_spelt_in_two_ways(windows: str) -> None:
    found = live(f"vm/{A100}/on-demand", machine(7.777, productName=windows), machine(3.673))
    assert found is not None
    assert found.amount == 3.673


def test_trap_3_a_machine_whose_name_begins_with_win_is_no_windows() -> None:
    found = live(f"vm/{A100}/on-demand", machine(3.673, productName="Winter Series"))
    assert found is not None


def test_trap_4_some_meters_belong_to_no_region() -> None:
    for region in ("Global", "global", ""):
        gateway = item("Standard Gateway", 0.045, armRegionName=region, location=region, productName="NAT Gateway")
        found = live("nat-gateway/standard", gateway, location="westeurope")
        assert found is not None
        assert found.amount == 0.045


def test_trap_4_is_not_asked_for_with_a_region() -> None:
    prices, network = book(listed())
    prices.live("nat-gateway/standard", "westeurope")
    assert "armRegionName" not in network.sent[0].query["$filter"]


def test_spot_and_low_priority_are_other_prices() -> None:
    rows = (
        machine(3.673),
        machine(0.68, skuName=f"{A100} Spot", meterName="NC24ads_A100_v4 Spot"),
        machine(0.735, skuName=f"{A100} Low Priority", meterName="NC24ads_A100_v4 Low Priority"),
    )
    found = [live(f"vm/{A100}/{market}", *rows) for market in ("on-demand", "spot", "low-priority")]
    assert [(each.amount, each.basis) for each in found if each] == [
        (3.673, "on demand"),
        (0.68, "spot"),
        (0.735, "low priority"),
    ]


@pytest.mark.parametrize(
    "rows",
    [
        (),
        (machine(0.0),),
        (machine(3.673), machine(4.0)),
        (machine(3.673, effectiveStartDate="2027-01-01T00:00:00Z"),),
        (machine(3.673, currencyCode="EUR"),),
        (machine(3.673, unitOfMeasure="1 Day"),),
        (machine(3.673, armSkuName="Standard_Other"),),
        (machine(3.673, armRegionName="westus"),),
        (machine(3.673, productName="NCads A100 v4 Series Dedicated Host"),),
        (machine(3.673, productName="NCads A100 v4 Series Cloud Services"),),
    ],
)
def test_a_price_that_is_not_clear_is_unknown_and_never_zero(rows: tuple[dict[str, Any], ...]) -> None:
    assert live(f"vm/{A100}/on-demand", *rows) is None


def test_a_row_for_a_meters_other_region_gives_way_to_its_own() -> None:
    found = live(f"vm/{A100}/on-demand", machine(3.9, isPrimaryMeterRegion=False), machine(3.673))
    assert found is not None
    assert found.amount == 3.673


def test_a_gpu_of_container_apps_is_told_by_its_meter() -> None:
    apps = {"productName": "Azure Container Apps", "skuName": "Standard", "serviceName": "Azure Container Apps"}
    rows = (
        item("Standard NC T4 v3 GPU Usage", 0.000073, "1 Second", **apps),
        item("Standard NC A100 v4 GPU Usage", 0.000529, "1 Second", **apps),
    )
    t4, a100 = live("container-apps/gpu-t4", *rows), live("container-apps/gpu-a100", *rows)
    assert t4 is not None
    assert a100 is not None
    assert (t4.amount, a100.amount, a100.unit) == (0.2628, 1.9044, "GPU-hour")


def test_a_place_that_is_none_is_not_put_into_the_question() -> None:
    prices, network = book(listed(machine(3.673)))
    assert prices.live(f"vm/{A100}/on-demand", "eastus' or 1 eq 1 or 'x' eq 'x") is None
    assert network.sent == []


def test_all_pages_are_read_with_their_own_query() -> None:
    link = "https://prices.azure.com/api/retail/prices?$filter=x&$skip=1000"
    api, network, _ = rig({f"GET {link}": listed(machine(3.673)), LIST: listed(following=link)})
    assert AzurePrices(api, Path("nowhere"), now=lambda: NOW).live(f"vm/{A100}/on-demand", "eastus") is not None
    assert [each.token for each in network.sent] == ["", ""]
    assert network.sent[1].query == {"$filter": "x", "$skip": "1000"}


def test_a_next_page_on_another_host_is_not_read() -> None:
    prices, _ = book(listed(following="https://management.azure.com/api/retail/prices?$skip=1000"))
    with pytest.raises(Unexpected, match=r"not on prices\.azure\.com"):
        prices.live(f"vm/{A100}/on-demand", "eastus")


def test_it_is_asked_once_a_process_and_again_when_it_throttles() -> None:
    prices, network = book((429, None, {"Retry-After": "4"}), listed(machine(3.673)))
    assert prices.live(f"vm/{A100}/on-demand", "eastus") == prices.live(f"vm/{A100}/on-demand", "eastus")
    assert len(network.sent) == 2


def test_what_is_about_to_be_created_takes_the_live_price_else_the_tables(tmp_path: Path) -> None:
    prices, _ = book((429, problem("TooManyRequests"), {"Retry-After": "600"}), home=tmp_path)
    with pytest.raises(Throttled):
        prices.live("nat-gateway/standard", "eastus")
    found = prices.current("nat-gateway/standard", "eastus")
    assert found is not None
    assert (found.amount, found.as_of) == (0.045, "2026-09-24")


def test_what_a_list_price_leaves_out_is_said() -> None:
    assert {"savings plans and reserved instances", "Azure Hybrid Benefit", "free tier and credits"} <= set(EXCLUDES)


def test_a_price_needs_no_sign_in() -> None:
    api = AzureApi(
        credential=lambda: (_ for _ in ()).throw(AssertionError), inner=Network({LIST: listed(machine(3.673))})
    )
    assert AzurePrices(api, Path("nowhere"), now=lambda: NOW).live(f"vm/{A100}/on-demand", "eastus") is not None


@pytest.mark.parametrize(
    ("scenario", "key", "location"),
    [
        (
            "machine/pay_as_you_go_on_the_second_page_among_reservations_windows_and_spot",
            f"vm/{A100}/on-demand",
            "eastus",
        ),
        ("container_apps/the_first_tier_is_free_and_comes_last", "container-apps/active-vcpu", "eastus"),
        ("disk/three_meters_of_one_sku", "disk/P80-LRS", "eastus"),
        ("nat_gateway/a_meter_of_no_region", "nat-gateway/standard", "westeurope"),
    ],
)
def test_each_trap_of_the_article_is_a_recorded_answer_too(scenario: str, key: str, location: str) -> None:
    recorded = Recorded(f"prices/{scenario}")
    recorded.check(AzurePrices(recorded.api, Path("nowhere"), now=lambda: NOW).live(key, location))
