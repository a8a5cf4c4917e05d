"""Every price has its date and source; the article's tables come out of the bundled one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from clouds.gcp.prices import BUNDLED, GcpPrices, per_million, refreshed_path
from clouds.gcp.shapes import shape
from clouds.pricetable import Row, rows_of, written
from tests.clouds.gcp.recorded import Recorded

FACTS = Path(__file__).parents[4] / "shared/prices/gcp.json"
ARTICLE = {  # "Inference on Google Cloud", 2026-10-25: $ per chip-hour
    "v5e": {"on-demand": 1.20, "flex-start": 0.60, "calendar": 0.84, "cud-1yr": 0.84, "cud-3yr": 0.54, "spot": 0.58},
    "v6e": {"on-demand": 2.70, "flex-start": 1.35, "calendar": 1.89, "cud-1yr": 1.89, "cud-3yr": 1.22, "spot": 1.40},
    "v5p": {"on-demand": 4.20, "flex-start": 2.10, "calendar": 2.94, "cud-1yr": 2.94, "cud-3yr": 1.89},
    "tpu7x": {"on-demand": 12.0, "flex-start": 6.0, "calendar": 8.4, "cud-1yr": 8.4, "cud-3yr": 5.4},
}


@pytest.fixture
def prices(tmp_path: Path) -> GcpPrices:
    return GcpPrices(None, tmp_path)


def amount(prices: GcpPrices, key: str, place: str) -> float | None:
    found = prices.price(key, place)
    return None if found is None else round(found.amount, 6)


def test_the_table_of_the_article_comes_out_of_the_bundled_one(prices: GcpPrices) -> None:
    found = {
        chip: {market: amount(prices, f"tpu/{chip}/{market}", "unstated") for market in row}
        for chip, row in ARTICLE.items()
    }
    assert found == ARTICLE


@pytest.mark.parametrize(
    ("tokens_per_second", "market", "usd"),
    [(1283, "flex-start", 0.29), (668, "flex-start", 0.56), (1283, "on-demand", 0.64), (668, "on-demand", 1.23)],
)
def test_what_a_million_tokens_cost_in_the_article(
    prices: GcpPrices, tokens_per_second: float, market: str, usd: float
) -> None:
    price = prices.price(f"gce/ct6e-standard-1t/{market}", "europe-west4-a")
    assert price is not None
    assert per_million(price.amount, tokens_per_second) == pytest.approx(usd, abs=0.0051)  # its rates are rounded


@pytest.mark.parametrize(
    ("key", "place", "usd", "unit", "as_of"),
    [
        ("tpu/v5e/flex-start", "us-west4-a", 0.60, "chip-hour", "2026-08-06"),
        ("tpu/v5litepod-1/flex-start", "us-west4-a", 0.60, "hour", "2026-08-06"),
        ("tpu/v5litepod-8/on-demand", "us-west4", 9.60, "hour", "2026-08-06"),
        ("gce/ct6e-standard-4t/flex-start", "us-east5", 5.40, "hour", "2026-08-10"),
        ("tpu/v6e/on-demand", "asia-southeast1", 2.97, "chip-hour", "2026-07-09"),
        ("tpu/v5p/on-demand", "us-east5", 4.20, "chip-hour", "2026-07-09"),
        ("tpu/v5p-8/on-demand", "us-east5", 16.80, "hour", "2026-07-09"),
        ("gce/g2-standard-4/on-demand", "us-central1-a", 0.706824, "hour", "2026-07-09"),
        ("gce/g2-standard-8/on-demand", "us-central1", 0.853608, "hour", "2026-07-09"),
        ("gce/g2-standard-4/on-demand", "us-east1", 0.708, "hour", "2026-09-06"),
        ("gce/a2-highgpu-1g/spot", "us-central1", 1.92802, "hour", "2026-07-09"),
        ("gce/a3-highgpu-1g/on-demand", "us-east4", 10.979, "hour", "2026-07-09"),
        ("gke/cluster-management", "us-east1", 0.10, "hour", "2026-09-21"),
        ("gce/g2-standard-4/on-demand", "us-west1-a", 0.706832, "hour", "2025-04-01"),
        ("gce/a3-highgpu-8g/on-demand", "us-central1", 87.832469, "hour", "2025-04-01"),
        ("gce/a2-ultragpu-1g/on-demand", "europe-west4", 5.535709, "hour", "2025-04-01"),
        ("gce/n2-standard-8/on-demand", "us-central1-a", 0.388472, "hour", "2026-10-13"),
        ("gce/n2-standard-8/on-demand", "europe-west2-c", 0.500496, "hour", "2025-04-01"),
        ("gce/e2-micro/on-demand", "us-central1", 0.008376, "hour", "2025-04-01"),
        ("gce/n1-highmem-16/on-demand", "us-west4", 1.065864, "hour", "2025-04-01"),
        ("gce/m1-ultramem-40/on-demand", "us-central1", 6.2931, "hour", "2025-04-01"),
        ("gce/t2d-standard-4/on-demand", "asia-east1", 0.195664, "hour", "2025-04-01"),
        ("gce/n2-standard-8/on-demand", "us-east1", 0.3885, "hour", "2026-09-06"),
    ],
)
def test_a_chip_a_machine_and_its_parts(
    prices: GcpPrices, key: str, place: str, usd: float, unit: str, as_of: str
) -> None:
    found = prices.price(key, place)
    assert found is not None
    assert (round(found.amount, 3), found.unit, found.as_of) == (round(usd, 3), unit, as_of)
    assert found.source


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("gce/g2-standard-4/spot", "us-central1"),
        ("gce/g2-standard-4/on-demand", "africa-south1"),
        ("tpu/v6e/on-demand", "africa-south1"),
        ("gce/a3-highgpu-8g/on-demand", "us-east1"),
        ("snapshot/standard", "us-east5"),
        ("gce/n9-standard-4/on-demand", "us-central1"),
        ("gce/n2-custom-4-8192/on-demand", "us-central1"),
        ("cloud-run/cpu-instance-based", "europe-west2"),
        ("gce/c3-standard-8-lssd/on-demand", "us-central1"),
        ("gce/n2-standard-8/spot", "us-central1"),
        ("gce/n2-standard-8/on-demand", "africa-south1"),
        ("nonsense", "us-central1"),
    ],
)
def test_what_is_not_known_whole_or_is_suspect_is_unknown_and_not_zero(prices: GcpPrices, key: str, place: str) -> None:
    assert prices.price(key, place) is None


def test_neither_spot_nor_flex_start_is_always_the_cheaper_one(prices: GcpPrices) -> None:
    spot, flex = amount(prices, "tpu/v6e/spot", "us-east5"), amount(prices, "tpu/v6e/flex-start", "us-east5")
    assert (spot, flex) == (1.4033, 1.35)
    assert amount(prices, "tpu/v6e/spot", "us-central1") == 0.592665


def test_spot_carries_the_day_on_which_it_was_read(prices: GcpPrices) -> None:
    found = prices.price("tpu/v5e/spot", "us-west4")
    assert found is not None
    assert (found.amount, found.as_of, found.basis) == (0.607, "2026-08-11", "spot")


def test_a_refreshed_table_answers_where_it_is_newer(tmp_path: Path) -> None:
    path = refreshed_path(tmp_path)
    path.parent.mkdir()
    rows = [
        Row("tpu/v6e/spot", "chip-hour", "us-east5", 0.9, "2026-11-28", "Cloud Billing Catalog API"),
        Row("tpu/v6e/on-demand", "chip-hour", "us-east5", 9.9, "2026-01-01", "old"),
    ]
    path.write_text(written(rows), "utf-8")
    prices = GcpPrices(None, tmp_path)
    assert amount(prices, "gce/ct6e-standard-4t/spot", "us-east5-a") == 3.6
    assert amount(prices, "tpu/v6e/on-demand", "us-east5") == 2.7
    path.write_text(written([Row("tpu/v6e/spot", "chip-hour", "us-east5", 0.8, "2026-11-29", "later")]), "utf-8")
    os.utime(path, ns=(1, 1))
    assert amount(prices, "tpu/v6e/spot", "us-east5") == 0.8


def test_the_live_price_is_the_catalogues_and_is_read_once(tmp_path: Path) -> None:
    recorded = Recorded("prices/catalogue/chips_beside_their_decoys")
    prices = GcpPrices(recorded.api, tmp_path)
    found = prices.live("gce/ct6e-standard-4t/spot", "us-east5-b")
    assert found is not None
    assert (found.amount, found.as_of) == (5.6132, "2026-11-01")
    assert prices.live("tpu/v6e/on-demand", "asia-northeast1") is None  # two rates of one name: neither
    assert prices.current("tpu/v6e/on-demand", "asia-northeast1") == prices.price(
        "tpu/v6e/on-demand", "asia-northeast1"
    )
    assert prices.many(("gce/g2-standard-4/on-demand",), "us-central1")["gce/g2-standard-4/on-demand"] == (
        prices.live("gce/g2-standard-4/on-demand", "us-central1")
    )
    assert len(recorded.replay.sent) == 2


def test_the_current_price_is_the_tables_where_the_catalogue_cannot_be_read(tmp_path: Path) -> None:
    recorded = Recorded("identity/caller/a_person_in_a_project")
    assert amount(GcpPrices(recorded.api, tmp_path), "tpu/v6e/on-demand", "us-east5") == 2.7
    found = GcpPrices(recorded.api, tmp_path).current("tpu/v6e/on-demand", "us-east5")
    assert found is not None
    assert found.amount == 2.7


def test_every_row_has_a_price_a_unit_a_date_and_a_source() -> None:
    rows = rows_of(BUNDLED)
    assert len(rows) > 600
    assert [row for row in rows if not (row.usd > 0 and row.unit and len(row.as_of) == 10 and row.source)] == []
    assert {row.location for row in rows if row.suspect} == {"us-east1", "us-east5"}


def test_the_bundled_table_holds_the_collected_facts() -> None:
    if not FACTS.is_file():
        pytest.skip("the collected price facts are not beside this checkout")
    facts: list[dict[str, Any]] = json.loads(FACTS.read_text("utf-8"))["rows"]
    newest: dict[tuple[str, str], dict[str, Any]] = {}
    for fact in sorted(facts, key=lambda fact: str(fact["as_of"])):
        if "[suspect" not in fact["source"]:
            newest[fact["key"], fact["location"]] = fact
    bundled = {(row.key, row.location): row for row in rows_of(BUNDLED) if not row.suspect}
    assert {place: fact["usd"] for place, fact in newest.items()}.items() <= {
        place: row.usd for place, row in bundled.items()
    }.items()


FAMILIES = ("e2", "n1", "n2", "n2d", "n4", "c2d", "c3", "c3d", "c4", "c4a", "m1", "m3")
MAIN = (
    *("us-central1", "us-east1", "us-east4", "us-east5", "us-west1", "us-west4", "europe-west1", "europe-west2"),
    *("europe-west4", "asia-east1", "asia-northeast1", "asia-southeast1"),
)


def test_a_machine_of_a_main_region_costs_0_95_to_1_75_times_what_it_does_in_iowa() -> None:
    rows = [row for row in rows_of(BUNDLED) if row.key.startswith(("gce-core/", "gce-ram/"))]
    plain = [row for row in rows if row.key.split("/")[1] in FAMILIES]
    iowa = {row.key: row.usd for row in plain if row.location == "us-central1"}
    assert {key.split("/")[1] for key in iowa} == set(FAMILIES)
    assert [row for row in plain if not 0.95 <= row.usd / iowa[row.key] <= 1.75] == []
    assert {row.location for row in plain} >= set(MAIN)


def test_what_is_summed_in_iowa_is_what_googles_page_lists_there() -> None:
    listed = [row for row in rows_of(BUNDLED) if row.key.startswith("gce/") and row.as_of == "2026-10-13"]
    rates = {row.key: row.usd for row in rows_of(BUNDLED) if row.location == "us-central1"}
    assert len(listed) == 15
    for row in listed:
        kind = shape(row.key.split("/")[1])
        assert kind is not None
        core, ram = rates[f"gce-core/{kind.family}/on-demand"], rates[f"gce-ram/{kind.family}/on-demand"]
        assert kind.vcpus * core + kind.memory_gib * ram == pytest.approx(row.usd, rel=1e-4)


def test_cloud_run_costs_the_same_in_every_region_of_its_first_tier(prices: GcpPrices) -> None:
    for part, usd in (("cpu", 1.8e-05), ("memory", 2e-06)):
        key = f"cloud-run/{part}-instance-based"
        assert {amount(prices, key, place) for place in ("us-central1", "europe-west1", "asia-northeast1")} == {usd}


def test_a_host_that_is_refreshed_in_its_parts_is_priced_by_them(tmp_path: Path) -> None:
    path = refreshed_path(tmp_path)
    path.parent.mkdir()
    rows = [
        Row("gce-core/g2/on-demand", "vCPU-hour", "us-west1", 1.0, "2026-11-28", "Cloud Billing Catalog API"),
        Row("gce-ram/g2/on-demand", "GiB-hour", "us-west1", 0.1, "2026-11-28", "Cloud Billing Catalog API"),
    ]
    path.write_text(written(rows), "utf-8")
    assert amount(GcpPrices(None, tmp_path), "gce/g2-standard-4/on-demand", "us-west1-a") == 0.56004 + 4 + 1.6
    path.write_text(written(rows[:1]), "utf-8")
    os.utime(path, ns=(1, 1))  # the index goes by the time of the change
    assert amount(GcpPrices(None, tmp_path), "gce/g2-standard-4/on-demand", "us-west1-a") == 0.706832
