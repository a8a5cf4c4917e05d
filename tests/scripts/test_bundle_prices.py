"""The bundled tables are made of collected facts and of rates that were found one by one; neither loses the other."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from clouds.pricetable import Row, rows_of
from scripts import bundle_prices
from scripts.bundle_prices import ADDED, ROOT, bundled, facts, main, target, written

CLOUDS = ("aws", "gcp", "azure")
TABLES = (*CLOUDS, "gcp-waste")
RENAMED = {"aws": {"sagemaker": "sagemaker-hosting"}}
FACTS = ROOT.parent / "shared" / "prices"


added = cache(bundle_prices.added)
"""Read once: nothing here changes a row."""


@cache
def listed(cloud: str) -> tuple[Row, ...]:
    return rows_of(target(cloud))


def table(path: Path, content: dict[str, Any]) -> tuple[Row, ...]:
    path.write_text(written(content), "utf-8")
    return rows_of(path)


@pytest.mark.parametrize("cloud", TABLES)
def test_a_table_that_is_bundled_anew_from_facts_without_them_holds_every_added_rate(cloud: str) -> None:
    collected = [
        {"key": "x/y", "unit": "hour", "location": "z", "usd": 1.0, "as_of": "2026-11-01", "source": "a collected fact"}
    ]
    found = bundled(collected, cloud, {})["rows"]
    assert {(key, location) for key, _, location, *_ in found} == {
        ("x/y", "z"),
        *((row["key"], row["location"]) for row in added(cloud)),
    }


def test_of_a_collected_and_an_added_rate_the_newer_one_is_bundled(tmp_path: Path) -> None:
    one = added("gcp")[0]
    for day, usd in (("2000-01-01", one["usd"]), ("2999-01-01", 9.0)):
        found = table(tmp_path / "prices.json", bundled([{**one, "usd": 9.0, "as_of": day}], "gcp", {}))
        assert next(row.usd for row in found if row.place == (one["key"], one["location"])) == usd


@pytest.mark.parametrize("cloud", TABLES)
def test_every_added_rate_is_in_the_bundled_table_or_a_newer_one_of_its_place_is(cloud: str) -> None:
    there = {row.place: row for row in listed(cloud) if not row.suspect}
    lost = [row for row in added(cloud) if row["as_of"] > there[row["key"], row["location"]].as_of]
    assert lost == []


@pytest.mark.parametrize("cloud", TABLES)
def test_every_added_rate_has_a_price_a_day_and_a_source_that_says_where_to_look(cloud: str) -> None:
    rows = added(cloud)
    assert [row for row in rows if not row["usd"] > 0 or date.fromisoformat(row["as_of"]) > date(2026, 11, 30)] == []
    assert [row["source"] for row in rows if len(row["source"]) < 40 or not re.search(r"20\d\d", row["source"])] == []
    assert [place for place, many in Counter((row["key"], row["location"]) for row in rows).items() if many > 1] == []


@pytest.mark.parametrize("cloud", TABLES)
def test_one_key_has_one_unit(cloud: str) -> None:
    units = {(row.key, row.unit) for row in listed(cloud)}
    assert [key for key, many in Counter(key for key, _ in units).items() if many > 1] == []


def test_a_cloud_without_added_rates_has_none() -> None:
    assert added("local") == []
    assert {path.stem for path in ADDED.glob("*.json")} == set(TABLES)


@pytest.mark.parametrize("cloud", CLOUDS)
def test_bundled_again_from_the_collected_facts_a_table_has_no_row_that_the_bundled_one_lacks(cloud: str) -> None:
    if not FACTS.is_dir():
        pytest.skip("the collected facts are not beside this checkout (../shared/prices)")
    collected = facts(FACTS / f"{cloud}.json")
    again = bundled(collected, cloud, RENAMED.get(cloud, {}))["rows"]
    there = {(*row.place, row.suspect): row.as_of for row in listed(cloud)}
    newer = [
        (key, location)
        for key, _, location, _, as_of, _, *doubt in again
        if as_of > there[key, location, "".join(doubt)]
    ]
    assert newer == []


@pytest.mark.parametrize("cloud", TABLES)
def test_a_table_that_is_bundled_from_itself_stays_as_it_is(cloud: str) -> None:
    assert written(bundled(facts(target(cloud)), cloud, {})) == target(cloud).read_text("utf-8")


def test_a_newer_rate_of_a_table_stays_and_an_added_one_of_another_place_comes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    one = added("gcp-waste")[0]
    listed = {**one, "usd": 9.0, "as_of": "2999-01-01", "source": "Cloud Billing Catalog API, read 2999-01-01"}
    path = tmp_path / "waste_prices.json"
    path.write_text(written(bundled([listed], "local", {})), "utf-8")
    monkeypatch.setattr("scripts.bundle_prices.OWN", {"gcp-waste": path})
    monkeypatch.setattr("scripts.bundle_prices.ROOT", tmp_path)
    main([str(path), "gcp-waste"])
    again = {row.place: row.usd for row in rows_of(path)}
    assert again.pop((one["key"], one["location"])) == 9.0
    assert again == {(row["key"], row["location"]): row["usd"] for row in added("gcp-waste")[1:]}


def test_a_suspect_row_of_a_table_is_suspect_when_it_is_bundled_again(tmp_path: Path) -> None:
    row = {"key": "x/y", "unit": "hour", "location": "z", "usd": 1.0, "as_of": "2026-11-01"}
    path = tmp_path / "prices.json"
    path.write_text(written(bundled([{**row, "source": "a fact [suspect: far off]"}], "local", {})), "utf-8")
    assert facts(path) == [{**row, "source": "a fact [suspect: far off]"}]
