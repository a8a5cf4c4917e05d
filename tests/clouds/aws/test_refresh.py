from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clouds.aws.meters import BASE
from clouds.aws.prices import BUNDLED, AwsPrices, refreshed_path
from clouds.aws.refresh import refresh
from clouds.errors import PermissionMissing, Unexpected
from clouds.pricetable import Refreshed, rows_of, written
from tests.clouds.aws.recorded import Recorded, bundled_rows

OLD = [
    ["sagemaker-hosting/ml.g6.xlarge/on-demand", "hour", "us-east-2", 1.1267, "2026-09-26", 0],
    ["ec2/g6.xlarge/on-demand", "hour", "us-east-1", 0.8048, "2026-09-06", 0],
    ["ec2/g6.xlarge/spot", "hour", "use2-az1", 0.2321, "2026-07-09", 0],
    ["ebs/gp3", "GiB-month", "us-east-1", 0.08, "2026-09-21", 0],
    ["ebs/gp3", "GiB-month", "us-east-2", 0.08, "2026-09-21", 0],
    ["ebs/io1", "GiB-month", "us-east-2", 0.125, "2026-09-21", 0],
    ["ebs/standard", "GiB-month", "us-east-2", 0.05, "2026-09-21", 0],
    ["ebs-snapshot/standard", "GiB-month", "us-east-2", 0.027, "2026-09-21", 0, "differs from its siblings"],
    ["nat-gateway/hour", "hour", "us-east-1", 0.045, "2026-09-21", 0],
    ["elb/alb", "hour", "us-east-1", 0.0225, "2026-09-21", 0],
    ["elb/nlb", "hour", "us-east-1", 0.0225, "2026-09-21", 0],
    ["elb/classic", "hour", "us-east-1", 0.025, "2026-09-21", 0],
    ["vpc-endpoint/interface", "hour", "us-east-1", 0.01, "2026-09-21", 0],
    ["ecr/storage", "GB-month", "us-east-1", 0.1, "2026-09-21", 0],
    ["efs/standard", "GB-month", "us-east-1", 0.3, "2026-09-21", 0],
    ["cloudwatch-logs/storage", "GB-month", "us-east-1", 0.03, "2026-09-21", 0],
    ["s3/standard", "GB-month", "us-east-1", 0.023, "2026-09-21", 0],
    ["dynamodb/read-capacity-unit", "unit-hour", "us-east-1", 0.00013, "2026-09-21", 0],
    ["dynamodb/write-capacity-unit", "unit-hour", "us-east-1", 0.00065, "2026-09-21", 0],
    ["lightsail/disk", "GB-month", "us-east-1", 0.1, "2026-09-21", 0],
]


def home(path: Path) -> Path:
    table = refreshed_path(path)
    table.parent.mkdir(parents=True)
    table.write_text(json.dumps({"sources": ["a table"], "rows": OLD}))
    return path


def run(scenario: str, path: Path) -> tuple[Recorded, Refreshed]:
    recorded = Recorded(f"prices/refresh/{scenario}")
    return recorded, refresh(recorded.api, home(path), meters=BASE)


def summary(done: Refreshed) -> dict[str, Any]:
    return {
        "table": [[r.key, r.unit, r.location, r.usd, r.as_of, r.source, r.suspect] for r in rows_of(done.path)],
        "rows": done.rows,
        "changed": done.changed,
        "new": done.new,
        "suspect": list(done.suspect),
        "kept": list(done.kept),
        "sections": {section.name: [section.before, section.read, section.after] for section in done.sections},
    }


@pytest.mark.parametrize("scenario", ["a_price_rose_and_a_region_is_new", "a_price_jumped_tenfold"])
def test_the_table_is_rebuilt_from_the_pages_of_the_price_list(scenario: str, tmp_path: Path) -> None:
    recorded, done = run(scenario, tmp_path)
    recorded.check(summary(done))


def test_the_new_table_answers_at_once(tmp_path: Path) -> None:
    _, done = run("a_price_rose_and_a_region_is_new", tmp_path)
    price = AwsPrices(None, tmp_path).price("sagemaker-hosting/ml.g6.xlarge/on-demand", "us-east-2")
    assert done.path == refreshed_path(tmp_path)
    assert price is not None
    assert (price.amount, price.as_of, price.source) == (1.2, "2026-11-20", "AWS Price List API")


def test_a_section_that_came_back_empty_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    scenario = Recorded("prices/refresh/one_section_came_back_empty")
    with pytest.raises(Unexpected) as refused:
        refresh(scenario.api, home(tmp_path), meters=BASE)
    scenario.check_error(refused.value)
    assert json.loads(refreshed_path(tmp_path).read_text())["rows"] == OLD
    assert [path.name for path in refreshed_path(tmp_path).parent.iterdir()] == ["prices.json"]


def test_a_section_that_lost_most_of_its_rows_is_refused_too(tmp_path: Path) -> None:
    recorded = Recorded("prices/refresh/a_price_rose_and_a_region_is_new")
    with pytest.raises(Unexpected, match=r"refreshing sagemaker-hosting.*2 of \d+ known rows|1 of \d+ known rows"):
        refresh(recorded.api, tmp_path, meters=BASE)
    assert not refreshed_path(tmp_path).exists()


def test_a_price_that_jumped_does_not_answer_until_a_person_looked(tmp_path: Path) -> None:
    run("a_price_jumped_tenfold", tmp_path)
    price = AwsPrices(None, tmp_path).price("sagemaker-hosting/ml.g6.xlarge/on-demand", "us-east-2")
    assert price is not None
    assert price.amount == 1.1267


def test_a_price_list_that_is_denied_changes_nothing(tmp_path: Path) -> None:
    from clouds.replay import Answer, Request
    from tests.clouds.aws.recorded import on_stage

    class Denied:
        def before(self, request: Request) -> Answer:
            return Answer(400, {"Error": {"Code": "AccessDeniedException", "Message": "no"}})

        def after(self, request: Request, answer: Answer) -> None: ...

    with pytest.raises(PermissionMissing):
        refresh(on_stage(Denied()), home(tmp_path))
    assert json.loads(refreshed_path(tmp_path).read_text())["rows"] == OLD


def test_it_says_what_it_is_reading(tmp_path: Path) -> None:
    said: list[str] = []
    recorded = Recorded("prices/refresh/a_price_rose_and_a_region_is_new")
    refresh(recorded.api, home(tmp_path), meters=BASE, report=said.append)
    assert said == [f"{meter.service}: {meter.key}" for meter in BASE]


def test_the_bundled_table_is_written_as_a_refresh_would_write_it() -> None:
    assert written(bundled_rows()) == BUNDLED.read_text("utf-8")


def test_every_meter_finds_its_rows_in_the_bundled_table() -> None:
    keys = {row.key for row in bundled_rows()}
    assert [meter.key for meter in BASE if not any(meter.covers(key) for key in keys)] == []
