"""The bundled table and a refreshed one beside it: dated rows, and no answer where there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clouds.azure.prices import BUNDLED, AzurePrices, refreshed_path
from clouds.pricetable import rows_of


@pytest.mark.parametrize(
    ("key", "location", "hours", "month"),
    [
        ("public-ip/standard-static-ipv4", "eastus", 730, 3.65),
        ("nat-gateway/standard", "eastus", 730, 32.85),
        ("load-balancer/standard-first-5-rules", "eastus", 730, 18.25),
        ("aks/cluster-standard", "eastus", 730, 73.00),
        ("dedicated-host/dsv3type3", "eastus", 730, 3_084.25),
        ("disk/P10-LRS", "eastus", 1, 19.71),
        ("disk/S4-LRS", "eastus", 1, 1.54),
        ("disk/P10-ZRS", "eastus", 1, 29.57),
        ("ptu/regional", "eastus", 15 * 730, 21_900.0),
        ("ptu/global", "eastus", 730, 730.0),
        ("container-apps/dedicated-management", "East US", 730, 73.0),
        ("vm/Standard_D2s_v3/on-demand", "eastus", 1, 0.10),
    ],
)
def test_the_bundled_table_gives_the_articles_figures(key: str, location: str, hours: int, month: float) -> None:
    found = AzurePrices(None, Path("nowhere")).price(key, location)
    assert found is not None
    assert round(found.amount * hours, 2) == month


@pytest.mark.parametrize(("key", "location"), [("vm/Standard_None/on-demand", "eastus"), ("disk/P10-LRS", "nowhere")])
def test_what_no_table_has_is_unknown(key: str, location: str) -> None:
    assert AzurePrices(None, Path("nowhere")).price(key, location) is None


def test_a_suspect_row_never_answers() -> None:
    assert [row.suspect for row in rows_of(BUNDLED) if row.key == "sql-storage/hyperscale" and row.location == "eastus"]
    assert AzurePrices(None, Path("nowhere")).price("sql-storage/hyperscale", "eastus") is None


def test_the_newer_of_two_tables_answers(tmp_path: Path) -> None:
    table = refreshed_path(tmp_path)
    table.parent.mkdir(parents=True)
    row = ["nat-gateway/standard", "hour", "global", 0.05, "2026-11-01", 0]
    table.write_text(json.dumps({"sources": ["refreshed"], "rows": [row]}))
    found = AzurePrices(None, tmp_path).price("nat-gateway/standard", "eastus")
    assert found is not None
    assert (found.amount, found.source) == (0.05, "refreshed")


def test_every_row_of_the_table_has_a_date_a_source_and_a_price() -> None:
    rows = rows_of(BUNDLED)
    assert len(rows) > 4_000
    assert [row for row in rows if not (row.usd > 0 and len(row.as_of) == 10 and row.source)] == []
    assert len({(row.key, row.location, bool(row.suspect)) for row in rows}) == len(rows)
