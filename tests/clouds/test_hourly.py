"""What an hour with an accelerator costs in each service comes from the tables, and is what a plan's own key says."""

from __future__ import annotations

from pathlib import Path

import pytest

import clouds
from clouds.hourly import cheapest
from clouds.models import Price


def price(amount: float) -> Price:
    return Price(amount=amount, unit="hour", as_of="2026-11-01", source="a test")


def test_the_cheapest_machine_and_place_answers_and_of_equals_the_first() -> None:
    table = {("big", "a"): price(3), ("small", "b"): price(1), ("small", "a"): price(1)}
    rows = list(cheapest("ec2", ["big", "small"], ["b", "a", "c"], lambda kind, place: table.get((kind, place))))
    assert [(row.machine, row.location, row.price.amount) for row in rows] == [("small", "a", 1)]


def test_a_service_without_any_rate_has_no_row_and_no_zero() -> None:
    assert list(cheapest("ec2", ["big"], ["a"], lambda *_: None)) == []


@pytest.mark.parametrize(
    ("name", "accelerator", "services"),
    [
        ("aws", "L4", {"sagemaker", "ec2"}),
        ("gcp", "L4", {"gce", "run"}),
        ("gcp", "A100-80GB", {"gce"}),
        ("azure", "T4", {"containerapps", "ml"}),
        ("azure", "v6e", set()),
        ("aws", "v6e", set()),
        ("gcp", "Inferentia2", set()),
        ("local", "L4", set()),
    ],
)
def test_each_service_that_deploys_it_has_one_row(
    name: str, accelerator: str, services: set[str], tmp_path: Path
) -> None:
    cloud = clouds.connect(name, tmp_path)
    rows = cloud.hourly(accelerator, 1)
    assert {row.service for row in rows} == services
    assert len(rows) == len(services)
    assert services <= set(cloud.endpoints)
    assert all(row.price.amount > 0 and row.price.unit == "hour" and row.location != "unstated" for row in rows)


def test_more_of_them_are_a_larger_machine(tmp_path: Path) -> None:
    cloud = clouds.connect("aws", tmp_path)
    one, four = cloud.hourly("L4", 1), cloud.hourly("L4", 4)
    assert [row.machine for row in four] == ["ml.g6.12xlarge", "g6.12xlarge"]
    assert four[1].price.amount > one[1].price.amount
    assert cloud.hourly("L4", 3) == ()
