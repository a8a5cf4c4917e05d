"""A refresh rebuilds what the waste checks ask for too, and writes neither table where one of the two lost rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clouds.errors import PermissionMissing, Unexpected
from clouds.gcp.api import GcpApi
from clouds.gcp.catalogue import SERVICES, read, rows, skus
from clouds.gcp.prices import WASTE, GcpPrices, refreshed_path, refreshed_waste_path
from clouds.gcp.refresh import refresh_both
from clouds.gcp.session import recorded
from clouds.gcp.skus import SERVING, STORED, WASTED
from clouds.pricetable import Row, rows_of, written
from clouds.replay import Replay, load
from tests.clouds.gcp.recorded import FIXTURES, Recorded
from tests.clouds.gcp.server import Google
from tests.clouds.gcp.test_refresh import OLD, SKUS, sku

RECORDED = FIXTURES / "prices" / "catalogue"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = refreshed_path(tmp_path)
    path.parent.mkdir()
    path.write_text(written(row for row in OLD if not row.key.startswith("disk/")), "utf-8")
    return tmp_path


def catalogue() -> GcpApi:
    scenarios = [load(RECORDED / name) for name in ("chips_beside_their_decoys", "waste_beside_its_decoys")]
    return GcpApi(build=recorded, taps=(Replay(scenarios),), attempts=1)


def test_the_catalogue_as_it_was_read() -> None:
    seen = Recorded("prices/catalogue/waste_beside_its_decoys")
    seen.check([row for meter in WASTED for row in rows(meter, skus(seen.api, meter.service))])


def test_both_tables_are_rebuilt_from_the_catalogue_as_it_is_listed(home: Path) -> None:
    heard: list[str] = []
    prices, waste = refresh_both(catalogue(), home, report=heard.append)
    assert (prices.path, waste.path) == (refreshed_path(home), refreshed_waste_path(home))
    assert heard == ["Compute Engine", "Cloud SQL", "Cloud Memorystore for Redis", "Networking"]
    assert (waste.suspect, waste.kept) == ((), ("vpn",))
    asked = {row.key for row in rows_of(waste.path) if row.as_of == "2026-11-01"}
    assert asked == {meter.key for meter in WASTED if meter.seen}


def test_each_row_of_the_bundled_table_is_listed_again_at_its_own_rate(home: Path) -> None:
    _, waste = refresh_both(catalogue(), home)
    now = {row.place: (row.unit, row.usd) for row in rows_of(waste.path)}
    assert {row.place: (row.unit, row.usd) for row in rows_of(WASTE)}.items() <= now.items()


def test_the_bundled_tables_are_rebuilt_where_they_lie(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    from clouds.gcp import refresh as module

    bundled = (home / "bundled.json", home / "bundled_waste.json")
    for name, path, like in zip(("BUNDLED", "WASTE"), bundled, (refreshed_path(home), WASTE), strict=True):
        path.write_text(like.read_text("utf-8"), "utf-8")
        monkeypatch.setattr(module, name, path)
    assert tuple(each.path for each in refresh_both(catalogue(), home, bundled=True)) == bundled
    assert not refreshed_waste_path(home).exists()


def test_the_price_book_answers_from_the_table_that_was_refreshed(home: Path) -> None:
    prices = GcpPrices(None, home)
    assert prices.price("cloudsql/vcpu", "us-west1") is None
    refresh_both(catalogue(), home)
    found = prices.price("cloudsql/vcpu", "us-west1")
    assert found is not None
    assert (found.amount, found.unit, found.source) == (0.0413, "vCPU-hour", "Cloud Billing Catalog API")


USUAL = (
    sku("TpuV6e running in Columbus", 2.7),
    sku("TpuV6e attached to Spot Preemptible VMs running in Columbus", 1.4, "Preemptible"),
)
GATEWAY = sku("Networking Cloud Nat Gateway Uptime", 0.05, region="global")


def listing(google: Google, **services: Any) -> GcpApi:
    ids = {SERVICES[name.replace("_", " ")]: answer for name, answer in services.items()}
    google.on(SKUS, lambda asked: ids.get(asked.parameters["parent"].split("/")[1], {"skus": []}))
    return google.api()


def left(home: Path) -> None:
    refreshed_waste_path(home).write_text(
        written(
            (
                Row("nat/gateway", "hour", "global", 0.044, "2026-08-01", "a table"),
                Row("vpn/tunnel", "hour", "us-central1", 0.05, "2026-08-01", "a table"),
            )
        ),
        "utf-8",
    )


def both(home: Path) -> tuple[str, ...]:
    return tuple(path(home).read_text("utf-8") for path in (refreshed_path, refreshed_waste_path))


def test_a_sku_that_nobody_saw_keeps_its_row_with_its_own_date(google: Google, home: Path) -> None:
    left(home)
    api = listing(google, Compute_Engine={"skus": list(USUAL)}, Networking={"skus": [GATEWAY]})
    _, waste = refresh_both(api, home)
    assert {row.key: (row.usd, row.as_of) for row in rows_of(waste.path)} == {
        "nat/gateway": (0.05, "2026-11-28"),
        "vpn/tunnel": (0.05, "2026-08-01"),
    }


def test_where_the_waste_rates_are_lost_the_other_table_is_not_written_either(google: Google, home: Path) -> None:
    left(home)
    before = both(home)
    api = listing(google, Compute_Engine={"skus": list(USUAL)}, Networking={"skus": [sku("Renamed", 0.05)]})
    with pytest.raises(Unexpected, match="missing nat/gateway in global"):
        refresh_both(api, home)
    assert both(home) == before


def test_where_one_service_may_not_be_read_neither_table_is_written(google: Google, home: Path) -> None:
    left(home)
    before = both(home)
    denied = (403, {"error": {"code": 403, "status": "PERMISSION_DENIED", "message": "no"}})
    api = listing(google, Compute_Engine={"skus": list(USUAL)}, Cloud_SQL=denied)
    with pytest.raises(PermissionMissing):
        refresh_both(api, home)
    assert both(home) == before


@pytest.mark.parametrize(
    ("words", "unit", "key"),
    [
        ("Cloud SQL for PostgreSQL: Zonal - vCPU in Delhi", "h", "cloudsql/vcpu"),
        ("Cloud SQL for MySQL: Regional - RAM in Americas", "GiBy.h", "cloudsql/memory-regional"),
        ("Cloud SQL for PostgreSQL: Zonal - Small instance in Delhi", "h", "cloudsql/db-g1-small"),
        ("Cloud SQL for MySQL: Regional - Standard storage in London", "GiBy.mo", "cloudsql-disk/ssd-regional"),
        ("Cloud SQL: Backups in Americas", "GiBy.mo", "cloudsql-backup/storage"),
        ("Redis Capacity Standard M5 London", "GiBy.h", "redis/standard-m5"),
        ("Redis Standard Node Capacity M2 London", "GiBy.h", "redis/standard-node-m2"),
        ("Networking Cloud Nat Gateway Uptime", "h", "nat/gateway"),
        ("Cloud SQL for PostgreSQL: Zonal - Enterprise Plus vCPU in London", "h", ""),
        ("Cloud SQL for PostgreSQL: Zonal - Enterprise Plus Standard Storage in Iowa", "GiBy.mo", ""),
        ("Cloud SQL for PostgreSQL: Zonal - Low cost storage in London", "GiBy.mo", ""),
        ("Cloud SQL for PostgreSQL: Zonal - Serverless Exports in Americas", "h", ""),
        ("Cloud SQL for SQL Server: Zonal - vCPU in London", "h", ""),
        ("Redis Cluster Node Default London", "h", ""),
        ("Networking Private Nat Gateway Uptime", "h", ""),
        ("Networking Cloud Nat Data Processing", "GiBy", ""),
    ],
)
def test_which_sku_is_which_row(words: str, unit: str, key: str) -> None:
    found = read(sku(words, 1.0, unit=unit))
    assert found is not None
    assert [meter.key for meter in WASTED if meter.takes(found)] == ([key] if key else [])


def test_every_meter_makes_a_key_of_its_own_and_asks_a_service_that_has_an_id() -> None:
    keys = [meter.key for meter in (*SERVING, *STORED, *WASTED)]
    assert len(keys) == len(set(keys))
    assert {meter.service for meter in WASTED} <= set(SERVICES)


def test_every_rate_that_no_meter_asks_for_is_known_to_be_so() -> None:
    meters = {meter.key for meter in WASTED}
    assert {row.key for row in rows_of(WASTE)} - meters == {"vpn/tunnel"}
