from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clouds.gcp import meters
from clouds.gcp.checks import CHECKS
from clouds.gcp.prices import WASTE, GcpPrices
from clouds.gcp.table import rows_of
from clouds.models.waste import Meter
from tests.clouds.gcp.checks.stage import Account
from tools.waste.price import months

BOOK = GcpPrices(None, Path("nowhere"))


def usd(lines: tuple[Meter, ...]) -> float:
    """US dollars a month of lines that all have a price."""
    total = 0.0
    for line in lines:
        price = BOOK.price(line.key, line.location)
        assert price is not None, line
        assert price.unit == line.unit
        total += price.amount * line.quantity * (months(line.unit) or 0)
    return round(total, 2)


@pytest.mark.parametrize(
    ("machine", "place", "model", "accelerators", "month"),
    [
        ("g2-standard-4", "us-central1-a", "on-demand", (), 515.98),
        ("ct6e-standard-1t", "us-east5-a", "flex-start", (), 985.50),
        ("ct6e-standard-4t", "europe-west4-a", "on-demand", (), 8672.40),
        ("a2-highgpu-1g", "us-central1-f", "on-demand", (), 2681.57),
        ("n2-standard-8", "us-east1-b", "on-demand", (), 283.61),
    ],
)
def test_a_machine_is_priced_with_all_that_belongs_to_it(
    machine: str, place: str, model: str, accelerators: Any, month: float
) -> None:
    assert usd(meters.machine(machine, place, model, accelerators)) == pytest.approx(month, abs=0.02)


@pytest.mark.parametrize(
    ("row", "version", "chips"),
    [
        ({"acceleratorType": "v5litepod-8"}, "v5e", 8),
        ({"acceleratorType": "v6e-4"}, "v6e", 4),
        ({"acceleratorType": "v5p-8"}, "v5p", 4),
        ({"acceleratorType": "v3-8"}, "v3", 4),
        ({"acceleratorConfig": {"type": "V6E", "topology": "2x4"}}, "v6e", 8),
        ({"acceleratorConfig": {"type": "V5P", "topology": "2x2x2"}}, "v5p", 8),
    ],
)
def test_the_chips_of_a_node_are_counted_from_its_type_or_its_shape(row: Any, version: str, chips: int) -> None:
    assert meters.chips_of(row) == (version, chips)


def test_one_cloud_run_instance_with_an_l4_costs_what_the_article_says() -> None:
    limits = {"cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "1"}
    assert usd(meters.run(limits, 1, "us-central1", "nvidia-l4")) == 1037.27


def test_amounts_of_cpu_and_memory_are_read_in_all_their_spellings() -> None:
    assert [meters.cores(each) for each in ("8", "500m", None)] == [8.0, 0.5, 1.0]
    assert [meters.gib_of(each) for each in ("32Gi", "512Mi", None)] == [32.0, 0.5, 0.5]
    with pytest.raises(ValueError, match="no amount"):
        meters.gib_of("much")


@pytest.mark.parametrize(
    ("size", "tier", "key"),
    [(1, "BASIC", "redis/basic-m1"), (5, "BASIC", "redis/basic-m2"), (5, "STANDARD_HA", "redis/standard-m2"),
     (300, "STANDARD_HA", "redis/standard-m5")],
)  # fmt: skip
def test_a_redis_instance_is_priced_by_tier_and_band(size: int, tier: str, key: str) -> None:
    (line,) = meters.redis({"memorySizeGb": size, "tier": tier}, "europe-west2")
    assert (line.key, line.quantity) == (key, size)


def test_a_regional_database_has_rates_of_its_own_and_an_odd_tier_none() -> None:
    zonal = {"region": "us-central1", "settings": {"tier": "db-custom-2-8192"}}
    regional = {"region": "us-central1", "settings": {"tier": "db-custom-2-8192", "availabilityType": "REGIONAL"}}
    assert usd(meters.sql(regional)) == pytest.approx(2 * usd(meters.sql(zonal)), abs=0.01)
    (odd,) = meters.sql({"region": "us-central1", "settings": {"tier": "db-perf-optimized-N-8"}})
    assert BOOK.price(odd.key, odd.location) is None


@pytest.mark.parametrize(
    ("region", "availability", "key", "exact"),
    [("us-east1", "ZONAL", "cloudsql-disk/ssd", True), ("us-central1", "REGIONAL", "cloudsql-disk/ssd-regional", True),
     ("us-east1", "REGIONAL", "cloudsql-storage/ssd", False), ("europe-west1", "ZONAL", "cloudsql-storage/ssd", False)],
)  # fmt: skip
def test_storage_of_a_database_has_the_rate_of_its_availability_or_one_that_is_no_lower(
    region: str, availability: str, key: str, exact: bool
) -> None:
    row = {"region": region, "settings": {"availabilityType": availability, "dataDiskSizeGb": "10"}}
    line, known = meters.sql_disk(row)
    assert (line.key, line.quantity, known) == (key, 10.0, exact)
    assert BOOK.price(line.key, line.location) is not None


def test_a_model_of_provisioning_is_read_from_the_schedule() -> None:
    words: list[Any] = [
        {"provisioningModel": "FLEX_START"},
        {"provisioningModel": "SPOT"},
        {"preemptible": True},
        {},
        None,
    ]
    assert [meters.model_of(each) for each in words] == ["flex-start", "spot", "spot", "on-demand", "on-demand"]


def test_every_rate_of_the_waste_table_has_a_date_a_source_and_is_above_zero() -> None:
    rows = rows_of(WASTE)
    assert len(rows) >= 20
    assert [row for row in rows if row.usd <= 0 or len(row.as_of) != 10 or "2026" not in row.source] == []
    assert len({(row.key, row.location) for row in rows}) == len(rows)


def test_most_checks_that_cost_are_priced_in_their_scenario(account: Account) -> None:
    billing = {check.id: account.known(check.id).scan.findings[0].billing for check in CHECKS}
    priced = [check for check, word in billing.items() if word in ("billed", "saving")]
    unpriced = [check for check, word in billing.items() if word == "unpriced"]
    assert len(priced) >= 35, sorted(unpriced)
