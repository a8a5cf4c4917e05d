from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from clouds.aws.meters import BASE, METERS, UNMETERED, maker, without_rate
from clouds.aws.prices import AwsPrices, refreshed_path
from clouds.aws.refresh import Refreshed, refresh
from clouds.errors import Unexpected
from clouds.pricetable import rows_of
from tests.clouds.aws.meters.offers import OFFERS, Offered, PriceList
from tests.clouds.aws.recorded import FIXTURES, bundled_rows, on_stage

NEW = tuple(meter for meter in METERS if meter not in BASE)
TABLE = [["ebs/gp3-iops", "IOPS-month", "us-east-1", 0.005, "2026-09-01", 0]]


def run(path: Path, prices: PriceList) -> Refreshed:
    table = refreshed_path(path)
    table.parent.mkdir(parents=True, exist_ok=True)
    table.write_text(json.dumps({"sources": ["a table"], "rows": TABLE}))
    return refresh(on_stage(prices), path, meters=NEW)


@pytest.fixture(scope="module")
def refreshed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Refreshed, PriceList]:
    prices = PriceList()
    return run(tmp_path_factory.mktemp("data"), prices), prices


def test_every_documented_offer_becomes_its_row_and_no_twin_becomes_one(
    refreshed: tuple[Refreshed, PriceList],
) -> None:
    done, _ = refreshed
    found = {row.key: row.usd for row in rows_of(done.path)}
    assert found == {key: pytest.approx(usd) for *_, key, usd in OFFERS if key}


def test_every_meter_has_an_offer_that_it_takes_and_its_service_one_that_it_leaves(
    refreshed: tuple[Refreshed, PriceList],
) -> None:
    done, _ = refreshed
    assert done.empty == ()
    twins = {offered[0] for offered in OFFERS if not offered[6]}
    assert {meter.service for meter in NEW} - twins == set()


def test_what_several_meters_read_is_asked_once(refreshed: tuple[Refreshed, PriceList]) -> None:
    _, prices = refreshed
    assert [question for question, times in Counter(prices.asked).items() if times > 1] == []


def test_a_meter_that_finds_nothing_and_had_nothing_is_named_and_the_rest_is_written(tmp_path: Path) -> None:
    done = run(tmp_path, PriceList([each for each in OFFERS if each[0] != "AmazonMQ"]))
    assert done.empty == ("mq/{kind}/{engine}",)
    read = {row.key for row in rows_of(done.path)}
    assert not [key for key in read if key.startswith("mq/")]
    assert "eks/cluster" in read


def test_a_meter_that_lost_the_row_it_had_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unexpected, match=r"refreshing ebs/\{kind\}-iops from AmazonEC2: 0 of 1 known rows came back"):
        run(tmp_path, PriceList([each for each in OFFERS if each[2] != "EBS:VolumeP-IOPS.gp3"]))
    assert json.loads(refreshed_path(tmp_path).read_text())["rows"] == TABLE


def test_two_prices_of_one_thing_leave_it_unpriced(tmp_path: Path) -> None:
    other: Offered = ("AmazonES", "", "USE1-IndexingOCU", "OCU-Hours", 0.3, {}, "", 0.0)
    run(tmp_path, PriceList([*OFFERS, other]))
    assert AwsPrices(None, tmp_path).price("opensearch-serverless/ocu", "us-east-1") == AwsPrices(
        None, tmp_path / "empty"
    ).price("opensearch-serverless/ocu", "us-east-1")
    assert "opensearch-serverless/ocu" not in {row.key for row in rows_of(refreshed_path(tmp_path))}


@pytest.mark.parametrize(
    ("key", "by"),
    [
        ("ebs/gp3", "ebs/{kind}"),
        ("ebs/gp3-iops", "ebs/{kind}-iops"),
        ("ebs/io2-iops-tier2", "ebs/io2-iops-{tier}"),
        ("ebs/gp3-throughput", "ebs/gp3-throughput"),
        ("rds/db.r6g.large/aurora-mysql/single", "rds/{kind}/{engine}/{zones}"),
        ("rds/db.r6g.large/aurora-mysql/io-optimized", "rds/{kind}/{engine}/io-optimized"),
        ("aurora-serverless/aurora-mysql/standard", "aurora-serverless/{engine}/standard"),
    ],
)
def test_a_row_belongs_to_the_meter_that_says_most_of_its_key(key: str, by: str) -> None:
    meter = maker(key, METERS)
    assert meter is not None
    assert meter.key == by


@pytest.mark.parametrize(
    "key",
    [
        "rds/db.m5.large/oracle-ee/single",
        "rds/db.m5.large/postgres/io-optimized",
        "rds/db.m5.large/postgres/cluster",
        "aurora-serverless/postgres/standard",
        "rds-licensed/db.m5.large/oracle-ee/single",
    ],
)
def test_a_key_with_a_word_that_no_offer_becomes_belongs_to_no_meter(key: str) -> None:
    assert maker(key, METERS) is None


def test_every_key_that_a_check_counted_with_is_in_the_table_or_fetched_or_named_as_neither() -> None:
    keys = {
        meter["key"]
        for path in (FIXTURES / "waste").rglob("expected.json")
        for finding in json.loads(path.read_text("utf-8")).get("findings", ())
        for meter in finding.get("meters", ())
    }
    table = {row.key for row in bundled_rows()}
    nowhere = {key for key in keys - table if maker(key, METERS) is None and not key.startswith(tuple(UNMETERED))}
    assert len(keys) > 70
    assert nowhere == set()


def test_what_is_named_as_not_fetched_is_not() -> None:
    assert [word for word in UNMETERED if any(meter.covers(word.rstrip("/") + "/x") for meter in METERS)] == []


def test_a_key_without_a_rate_says_what_would_give_it_one_or_why_nothing_does() -> None:
    fetched = "not in the bundled table for this place; `server.py refresh-prices aws` asks AWS for it"
    assert without_rate("ec2-host/m5") == fetched
    assert without_rate("mq/mq.m5.large/rabbitmq") == fetched
    assert without_rate("fargate/vcpu-windows") == "not priced: its licence is billed apart"
    assert without_rate("ec2/m5.large/windows/on-demand").startswith("not priced: the table knows machines with Linux")
    assert without_rate("kendra/enterprise") == fetched
    assert without_rate("kendra/developer").startswith("not priced: no usage type of it")
    assert without_rate("rds/db.r6g.large/aurora-mysql/io-optimized") == fetched
    assert without_rate("aurora-serverless/aurora-mysql/standard") == fetched
    assert without_rate("rds-licensed/db.m5.large/sqlserver-se/single").startswith(
        "not priced: AWS lists it by edition"
    )
    assert without_rate("rds-cluster/db.m5d.large/postgres").startswith("not priced: AWS lists Multi-AZ clusters apart")
    assert without_rate("anything/else") == "not priced: no source with a date lists it"


def test_every_unpriced_line_of_every_scenario_has_a_reason() -> None:
    lines = [
        meter["key"]
        for path in (FIXTURES / "waste").rglob("expected.json")
        for finding in json.loads(path.read_text("utf-8")).get("findings", ())
        for meter in finding.get("meters", ())
        if meter["usd_per_unit"] is None
    ]
    assert len(lines) > 10
    assert {key for key in lines if without_rate(key) == without_rate("anything/else")} == set()
