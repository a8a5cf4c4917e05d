from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from clouds.aws.prices import AwsPrices, refreshed_path, zone_prefix
from clouds.errors import PermissionMissing
from clouds.models import Price
from tests.clouds.aws.recorded import NOW, Recorded, bundled_rows

L4 = "sagemaker-hosting/ml.g6.xlarge/on-demand"
G6 = "ec2/g6.xlarge/on-demand"


def now() -> datetime:
    return NOW


def tables(home: Path) -> AwsPrices:
    return AwsPrices(None, home)


def test_the_article_s_price_is_in_the_bundled_table_with_its_date_and_source(tmp_path: Path) -> None:
    assert tables(tmp_path).price(L4, "us-east-2") == Price(
        amount=1.1267,
        unit="hour",
        as_of="2026-09-26",
        source="AWS Price List API (USE2-Host:ml.g6.xlarge, 1.1267000000) quoted in an xbill DEV article, 2026-09-26",
    )


@pytest.mark.parametrize(
    ("tokens_per_second", "usd"),
    [(45.6, 6.86), (171.6, 1.82), (619.1, 0.51), (85.35, 3.67), (328.7, 0.95), (1077.25, 0.29)],
)
def test_the_article_s_cost_per_million_tokens_follows_from_that_price(
    tmp_path: Path, tokens_per_second: float, usd: float
) -> None:
    price = tables(tmp_path).price(L4, "us-east-2")
    assert price is not None
    assert round(price.amount / (tokens_per_second * 3600) * 1e6, 2) == usd


def test_an_unknown_place_or_key_is_none_and_never_zero(tmp_path: Path) -> None:
    book = tables(tmp_path)
    assert (book.price(L4, "us-west-1"), book.price("ec2/x9.huge/on-demand", "us-east-1")) == (None, None)


def test_a_rate_that_holds_everywhere_answers_for_every_region(tmp_path: Path) -> None:
    price = tables(tmp_path).price("vpc/public-ipv4", "eu-west-3")
    assert price is not None
    assert price.amount == 0.005


def test_a_suspect_row_never_answers_and_its_healthy_twin_does(tmp_path: Path) -> None:
    book = tables(tmp_path)
    suspect = [row for row in bundled_rows() if row.suspect]
    assert ("ebs-snapshot/standard", "us-east-2") in [(row.key, row.location) for row in suspect]
    sound = {(row.key, row.location) for row in bundled_rows() if not row.suspect}
    only = [row for row in suspect if (row.key, row.location) not in sound]
    assert ("rds-storage/multi/io1", "us-east-2") in [(row.key, row.location) for row in only]
    assert [book.price(row.key, row.location) for row in only] == [None] * len(only)
    replaced = book.price("ebs-snapshot/standard", "us-east-2")
    assert replaced is not None
    assert replaced.amount == 0.05
    healthy = book.price("ebs-snapshot/standard", "us-east-1")
    assert healthy is not None
    assert healthy.amount == 0.05


def test_spot_of_a_region_is_its_dearest_zone_and_of_a_zone_its_own(tmp_path: Path) -> None:
    book = tables(tmp_path)
    region, zone = book.price("ec2/g6.xlarge/spot", "us-east-2"), book.price("ec2/g6.xlarge/spot", "use2-az3")
    assert region is not None
    assert zone is not None
    assert (region.amount, region.basis) == (0.2321, "spot, dearest of 3 zones")
    assert (zone.amount, zone.basis) == (0.2133, "spot")


@pytest.mark.parametrize(
    ("region", "prefix"),
    [("us-east-1", "use1"), ("ap-southeast-2", "apse2"), ("eu-central-1", "euc1"), ("me-south-1", "mes1")],
)
def test_the_ids_of_zones_begin_with_their_region(region: str, prefix: str) -> None:
    assert zone_prefix(region) == prefix


def refreshed(home: Path, as_of: str, usd: float) -> None:
    path = refreshed_path(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    row = [L4, "hour", "us-east-2", usd, as_of, 0]
    path.write_text(json.dumps({"sources": ["AWS Price List API"], "rows": [row]}))


def test_of_two_tables_the_newer_row_answers(tmp_path: Path) -> None:
    refreshed(tmp_path, "2026-11-28", 1.2)
    book = tables(tmp_path)
    newer = book.price(L4, "us-east-2")
    refreshed(tmp_path, "2026-01-01", 1.31)
    older = book.price(L4, "us-east-2")
    assert newer is not None
    assert older is not None
    assert (newer.amount, older.amount) == (1.2, 1.1267)


def live(scenario: str) -> tuple[Recorded, AwsPrices]:
    recorded = Recorded(f"prices/{scenario}")
    return recorded, AwsPrices(recorded.api, Path("nowhere"), now=now)


@pytest.mark.parametrize(
    ("scenario", "key", "region"),
    [
        ("hosting/one_row_and_a_volume_row", L4, "us-east-2"),
        ("ec2/a_used_machine_among_a_capacity_block_row", G6, "us-east-1"),
        ("ec2/two_rows_that_differ", G6, "us-east-1"),
    ],
)
def test_the_live_price_is_the_one_row_that_the_filters_leave(scenario: str, key: str, region: str) -> None:
    recorded, book = live(scenario)
    recorded.check(book.live(key, region))


def test_the_live_spot_price_is_the_newest_of_a_zone() -> None:
    recorded, book = live("spot/two_zones")
    recorded.check([book.live("ec2/g6.xlarge/spot", place) for place in ("us-east-2", "us-east-2b")])


def test_a_live_price_is_asked_for_once() -> None:
    recorded, book = live("ec2/a_used_machine_among_a_capacity_block_row")
    assert book.live(G6, "us-east-1") == book.live(G6, "us-east-1") == book.current(G6, "us-east-1")
    assert len(recorded.replay.sent) == 1


def test_a_denied_price_list_is_an_error_and_the_table_stands_in_where_a_price_is_needed() -> None:
    recorded, book = live("ec2/denied")
    with pytest.raises(PermissionMissing) as denied:
        book.live(G6, "us-east-1")
    recorded.check_error(denied.value)
    assert book.current(G6, "us-east-1") == book.price(G6, "us-east-1")
    assert book.many([G6, "ec2/x9.huge/on-demand"], "us-east-1") == {
        G6: book.price(G6, "us-east-1"),
        "ec2/x9.huge/on-demand": None,
    }


def test_what_is_no_instance_type_is_never_asked_live() -> None:
    recorded, book = live("ec2/denied")
    assert book.live("ebs/gp3", "us-east-1") is None
    assert recorded.replay.sent == []


def test_the_bundled_table_has_every_row_dated_sourced_and_above_zero() -> None:
    rows = bundled_rows()
    assert len({(row.key, row.location, bool(row.suspect)) for row in rows}) == len(rows) > 1500
    assert [
        row for row in rows if not (row.usd > 0 and row.unit and row.source and datetime.fromisoformat(row.as_of))
    ] == []
    assert [row.source for row in rows if "find_string" in row.source] == []


@pytest.mark.parametrize(("key", "quantity", "usd"), [("ebs/gp3", 128, 10.24), ("nat-gateway/hour", 730, 32.85)])
def test_the_article_s_monthly_figures_of_one_disk_and_one_gateway_come_out(
    key: str, quantity: int, usd: float, tmp_path: Path
) -> None:
    price = tables(tmp_path).price(key, "us-east-1")
    assert price is not None
    assert round(price.amount * quantity, 2) == usd
