"""A refresh rebuilds what the catalogue lists, keeps the rest, and writes nothing when it lost a section."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import CloudError, NotFound, PermissionMissing, Unexpected
from clouds.gcp import catalogue
from clouds.gcp.catalogue import money, read
from clouds.gcp.prices import GcpPrices, refreshed_path
from clouds.gcp.refresh import refresh, serving
from clouds.gcp.skus import SERVING, STORED
from clouds.pricetable import Row, Section, rows_of, written
from tests.clouds.gcp.recorded import Recorded
from tests.clouds.gcp.server import Google

SKUS = "cloudbilling.services.skus.list"
OLD = (
    Row("tpu/v6e/on-demand", "chip-hour", "us-east5", 2.7, "2026-08-10", "an article"),
    Row("tpu/v6e/on-demand", "chip-hour", "unstated", 2.7, "2026-10-25", "an article"),
    Row("tpu/v6e/spot", "chip-hour", "us-east5", 0.2, "2026-08-10", "an article"),
    Row("disk/pd-standard", "GiB-month", "us-central1", 0.04, "2026-09-21", "a table"),
    Row("nat/ip", "hour", "global", 0.005, "2026-09-21", "a table"),
)


def sku(words: str, usd: float, usage: str = "OnDemand", unit: str = "h", region: str = "us-east5") -> dict[str, Any]:
    price = {"units": str(int(usd)), "nanos": round((usd - int(usd)) * 1e9)}
    expression = {"usageUnit": unit, "tieredRates": [{"startUsageAmount": 0, "unitPrice": price}]}
    return {
        "description": words,
        "category": {"usageType": usage, "resourceGroup": "TPU"},
        "serviceRegions": [region],
        "pricingInfo": [{"effectiveTime": "2026-11-28T00:00:00Z", "pricingExpression": expression}],
    }


USUAL = (
    sku("TpuV6e running in Columbus", 2.7),
    sku("TpuV6e attached to Spot Preemptible VMs running in Columbus", 1.4, "Preemptible"),
    sku("Storage PD Capacity", 0.05, unit="GiBy.mo", region="us-central1"),
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = refreshed_path(tmp_path)
    path.parent.mkdir()
    path.write_text(written(OLD), "utf-8")
    return tmp_path


def refreshed(google: Google, home: Path, skus: Iterable[dict[str, Any]]) -> Any:
    google.on(SKUS, {"skus": list(skus)})
    return refresh(google.api(), home)


def test_the_catalogue_as_it_was_read() -> None:
    recorded = Recorded("prices/catalogue/chips_beside_their_decoys")
    recorded.check(serving(recorded.api))


def test_what_is_listed_is_rebuilt_and_what_is_not_stays_with_its_own_date(google: Google, home: Path) -> None:
    done = refreshed(google, home, USUAL)
    table = {(row.key, row.location): (row.usd, row.as_of) for row in rows_of(done.path)}
    assert table == {
        ("tpu/v6e/on-demand", "us-east5"): (2.7, "2026-11-28"),
        ("tpu/v6e/on-demand", "unstated"): (2.7, "2026-10-25"),
        ("tpu/v6e/spot", "us-east5"): (1.4, "2026-11-28"),
        ("disk/pd-standard", "us-central1"): (0.05, "2026-11-28"),
        ("nat/ip", "global"): (0.005, "2026-09-21"),
    }
    assert (done.rows, done.changed, done.new, done.suspect) == (5, 2, 0, ())
    assert done.kept == ("nat",)
    assert done.sections == (Section("disk", 1, 1, 1), Section("nat", 1, 0, 1), Section("tpu", 3, 2, 3))


def test_a_price_that_jumps_is_suspect_and_the_old_one_answers(google: Google, home: Path) -> None:
    skus = [sku("TpuV6e running in Columbus", 27.0), *USUAL[1:]]
    done = refreshed(google, home, skus)
    assert done.suspect == ("tpu/v6e/on-demand us-east5: 27 against 2.7 on 2026-08-10",)
    found = GcpPrices(None, home).price("tpu/v6e/on-demand", "us-east5")
    assert found is not None
    assert found.amount == 2.7


def test_a_table_that_lost_a_section_is_not_written(google: Google, home: Path) -> None:
    before = refreshed_path(home).read_text("utf-8")
    with pytest.raises(Unexpected, match="0 of 1 known rows came back; missing tpu/v6e/on-demand in us-east5"):
        refreshed(google, home, [sku("Renamed V6e running in Columbus", 2.7), *USUAL[1:]])
    assert refreshed_path(home).read_text("utf-8") == before


def test_a_catalogue_that_may_not_be_read_writes_nothing(google: Google, home: Path) -> None:
    google.on(SKUS, (403, {"error": {"code": 403, "status": "PERMISSION_DENIED", "message": "no"}}))
    before = refreshed_path(home).read_text("utf-8")
    with pytest.raises(PermissionMissing):
        refresh(google.api(), home)
    assert refreshed_path(home).read_text("utf-8") == before


def test_a_service_whose_id_changed_is_found_by_its_name(google: Google, home: Path) -> None:
    gone = (404, {"error": {"code": 404, "status": "NOT_FOUND", "message": "no such service"}})
    google.on(SKUS, lambda asked: {"skus": list(USUAL)} if "NEW-ID" in asked.parameters["parent"] else gone)
    google.on(
        "cloudbilling.services.list", {"services": [{"name": "services/NEW-ID", "displayName": "Compute Engine"}]}
    )
    assert refresh(google.api(), home).rows == 5


def test_a_service_that_is_gone_is_an_error(google: Google, home: Path) -> None:
    google.on(SKUS, (404, {"error": {"code": 404, "status": "NOT_FOUND", "message": "no such service"}}))
    google.on("cloudbilling.services.list", {"services": []})
    with pytest.raises(NotFound):
        refresh(google.api(), home)


def test_a_target_of_its_own_leaves_the_data_directory_alone(google: Google, tmp_path: Path) -> None:
    google.on(SKUS, {"skus": list(USUAL)})
    target = tmp_path / "other.json"
    target.write_text(written(OLD), "utf-8")
    heard: list[str] = []
    assert refresh(google.api(), tmp_path, target=target, report=heard.append).path == target
    assert heard == ["Compute Engine"]
    assert not refreshed_path(tmp_path).exists()


@pytest.mark.parametrize(
    ("words", "usage", "key"),
    [
        ("TpuV5e running in Las Vegas", "OnDemand", "tpu/v5e/on-demand"),
        ("DWS Defined Duration V5e running in Las Vegas", "OnDemand", "tpu/v5e/flex-start"),
        ("TpuV6e attached to Spot Preemptible VMs running in Tokyo", "Preemptible", "tpu/v6e/spot"),
        ("Reserved V6e TPU in Columbus in Calendar Mode", "OnDemand", "tpu/v6e/calendar"),
        ("Commitment v1: TpuV6e running in Columbus for 1 Year", "Commit1Yr", "tpu/v6e/cud-1yr"),
        ("Commitment v1: TpuV6e running in Columbus for 3 Year", "Commit3Yr", "tpu/v6e/cud-3yr"),
        ("Nvidia Tesla A100 80GB GPU running in Americas", "OnDemand", "gce-gpu/a100-80gb/on-demand"),
        ("Nvidia Tesla A100 GPU running in Americas", "OnDemand", "gce-gpu/a100-40gb/on-demand"),
        ("Nvidia L4 GPU attached to DWS Defined Duration VMs running in Iowa", "OnDemand", "gce-gpu/l4/flex-start"),
        ("DWS Defined Duration A2 Core running in Iowa", "OnDemand", "gce-core/a2/flex-start"),
        ("Spot Preemptible G2 Instance Core running in Iowa", "Preemptible", "gce-core/g2/spot"),
        ("N1 Predefined Instance Core running in Americas", "OnDemand", "gce-core/n1/on-demand"),
        ("N2 Instance Core running in Americas", "OnDemand", "gce-core/n2/on-demand"),
        ("N2D AMD Instance Core running in Americas", "OnDemand", "gce-core/n2d/on-demand"),
        ("Compute optimized Core running in Americas", "OnDemand", "gce-core/c2/on-demand"),
        ("Spot Preemptible E2 Instance Core running in Americas", "Preemptible", "gce-core/e2/spot"),
        ("N2 Custom Instance Core running in Americas", "OnDemand", ""),
        ("N2 Sole Tenancy Instance Core running in Americas", "OnDemand", ""),
        ("N2D AMD Custom Instance Core running in Americas", "OnDemand", ""),
        ("Capacity Optimized TpuV6e running in Columbus", "OnDemand", ""),
        ("Reserved V6e TPU in Columbus", "OnDemand", ""),
        ("TpuV6e running in Columbus", "Preemptible", ""),
        ("DWS Flex Start H4D Core running in Iowa", "OnDemand", ""),
        ("G2 Custom Instance Core running in Iowa", "OnDemand", ""),
        ("Sole Tenancy Instance Core running in Iowa", "OnDemand", ""),
    ],
)
def test_which_sku_is_which_row(words: str, usage: str, key: str) -> None:
    found = read(sku(words, 1.0, usage))
    assert found is not None
    assert [meter.key for meter in (*SERVING, *STORED) if meter.takes(found)] == ([key] if key else [])


@pytest.mark.parametrize(
    ("words", "key"),
    [
        ("Storage PD Capacity", "disk/pd-standard"),
        ("Storage PD Capacity in Tokyo", "disk/pd-standard"),
        ("SSD backed PD Capacity in Hong Kong", "disk/pd-ssd"),
        ("Regional Balanced PD Capacity", "disk/regional-pd-balanced"),
        ("Regional SSD backed PD Capacity", "disk/regional-pd-ssd"),
        ("Asynchronous Replication SSD backed PD Capacity", ""),
        ("Storage PD Capacity Snapshot", ""),
    ],
)
def test_which_disk_is_which_row(words: str, key: str) -> None:
    found = read(sku(words, 1.0, unit="GiBy.mo"))
    assert found is not None
    assert [meter.key for meter in STORED if meter.takes(found)] == ([key] if key else [])


def test_a_row_of_zero_is_no_price_and_the_first_paid_tier_is() -> None:
    assert read(sku("Reserved A100", 0.0)) is None
    tiers = [
        {"startUsageAmount": 30, "unitPrice": {"nanos": 40000000}},
        {"startUsageAmount": 0, "unitPrice": {"units": "0"}},
    ]
    row = sku("Storage PD Capacity", 1.0)
    row["pricingInfo"][0]["pricingExpression"]["tieredRates"] = tiers
    found = read(row)
    assert found is not None
    assert (found.usd, found.free) == (0.04, 30.0)
    assert read({"description": "x", "pricingInfo": []}) is None


@pytest.mark.parametrize(
    ("price", "usd"),
    [({"units": "1", "nanos": 350000000}, 1.35), ({"nanos": 24988000}, 0.024988), ({"units": "12"}, 12.0), ({}, 0.0)],
)
def test_amounts_are_whole_units_as_text_and_billionths(price: dict[str, Any], usd: float) -> None:
    assert money(price) == usd


def test_a_name_that_was_only_guessed_loses_nothing_where_it_finds_nothing(google: Google, home: Path) -> None:
    guessed = Row("gce-gpu/h100/spot", "GPU-hour", "us-east5", 3.0, "2026-07-09", "a table")
    refreshed_path(home).write_text(written((*OLD, guessed)), "utf-8")
    done = refreshed(google, home, USUAL)
    assert guessed in rows_of(done.path)
    assert [meter.key for meter in SERVING if not meter.seen and meter.key.startswith("tpu/v6e")] == []


def test_every_meter_makes_a_key_of_its_own() -> None:
    keys = [meter.key for meter in (*SERVING, *STORED)]
    assert len(keys) == len(set(keys))


def test_every_service_of_a_meter_has_an_id() -> None:
    assert {meter.service for meter in (*SERVING, *STORED)} <= set(catalogue.SERVICES)


def test_the_command_says_what_changed(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    from clouds.gcp import refresh as module
    from clouds.replay import VARIABLE
    from tests.clouds.gcp.recorded import FIXTURES

    monkeypatch.setenv(VARIABLE, str(FIXTURES / "prices" / "catalogue"))
    with pytest.raises(CloudError, match="known rows came back"):
        module.command(home.parent / "other", bundled=False, report=lambda _: None)
    rows = [row for row in OLD if row.key != "disk/pd-standard"]
    refreshed_path(home).write_text(written(rows), "utf-8")
    lines = module.command(home, bundled=False, report=lambda _: None)
    assert lines[0].startswith("17 rows in")
    assert "nothing asks for nat: kept with their own dates" in lines
