"""A plan says what its accelerator costs in the other services and clouds, cheapest first, and who is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clouds.base import Cloud, Missing
from clouds.errors import NotInstalled
from clouds.models import DeploymentPlan, DeploymentSpec, EndpointRef, Hardware, Hourly, Price
from tools.alternatives import alternatives, service_with
from tools.context import Clouds


def cloud(name: str, *rows: tuple[str, str, float], priced: bool = True) -> Cloud:
    """A cloud whose services have an L4 at a rate."""
    found = [
        Hourly(service, machine, "here-1", Price(amount=usd, unit="hour", as_of="2026-11-01", source="a test"))
        for service, machine, usd in rows
    ]
    no, some = Missing("not of this test"), object()
    ports: Any = {"identity": no, "endpoints": dict.fromkeys(["chips", *(row[0] for row in rows)]), "quotas": no}
    return Cloud(
        name=name, capacity=no, api=no, prices=some if priced else no,  # type: ignore[arg-type]
        hourly=lambda word, count: found if (word, count) == ("L4", 1) else [], **ports,
    )  # fmt: skip


def plan(*accelerators: str, usd: float = 1.1267) -> DeploymentPlan:
    spec = DeploymentSpec(cloud="aws", service="ec2", name="n", model="m")
    hardware = Hardware(accelerators=accelerators)
    price = Price(amount=usd, unit="hour", as_of="2026-11-01", source="a test")
    ref = EndpointRef("aws", "ec2", "here-1", "n")
    return DeploymentPlan(spec=spec, ref=ref, steps=(), hardware=hardware, price=price)


AWS = cloud("aws", ("sagemaker", "ml.g6.xlarge", 1.1267), ("ec2", "g6.xlarge", 0.8048))
THERE = {
    "aws": AWS, "gcp": cloud("gcp", ("gce", "g2-standard-4", 0.7068)), "azure": cloud("azure"),
    "local": cloud("local", priced=False),
}  # fmt: skip


def connect(name: str, _home: Path) -> Cloud:
    if name == "away":
        raise NotInstalled("away", fix="Install it.")
    return THERE[name]


def asked(home: Path, *names: str, of: DeploymentPlan, by: Cloud = AWS) -> tuple[str, ...]:
    return alternatives(Clouds(names, names, home, connect), by, of)[0]


def test_every_service_of_every_cloud_is_named_cheapest_first(tmp_path: Path) -> None:
    (said,) = asked(tmp_path, "local", "aws", "gcp", "azure", of=plan("L4"))
    assert said == (
        "1 x L4 by the hour in the cheapest place of each service, by the price tables here (2026-11-01; quota and "
        "free machines not looked at): gcp:gce $0.7068 (g2-standard-4 in here-1); aws:ec2 $0.8048 (g6.xlarge in "
        "here-1); aws:sagemaker $1.1267 (ml.g6.xlarge in here-1). Left out: azure (none with a rate)."
    )


def test_the_cheapest_one_has_its_call_where_it_is_another_and_costs_less(tmp_path: Path) -> None:
    def call(of: DeploymentPlan, *names: str) -> str:
        return alternatives(Clouds(names, names, tmp_path, connect), AWS, of)[1]

    cheapest = '`plan_deployment(cloud="gcp", service="gce", accelerator="L4")` plans the cheapest one.'
    assert call(plan("L4"), "aws", "gcp") == cheapest
    assert call(plan("L4"), "aws") == "", "it is the same service"
    assert call(plan("L4", usd=0.7), "aws", "gcp") == "", "what is planned costs less"


def test_a_cloud_whose_packages_are_missing_is_named(tmp_path: Path) -> None:
    assert asked(tmp_path, "aws", "away", of=plan("L4"))[0].endswith(" Left out: away (not installed).")


def test_without_accelerator_price_or_rate_nothing_is_compared(tmp_path: Path) -> None:
    assert asked(tmp_path, "aws", of=plan()) == ()
    assert asked(tmp_path, "aws", of=plan("a card of no name")) == ()
    assert asked(tmp_path, "aws", of=plan("L4", "L4")) == (), "there is no rate for two"
    assert asked(tmp_path, "aws", of=plan("L4"), by=THERE["local"]) == ()


def test_without_a_service_the_first_that_has_the_accelerator_is_taken() -> None:
    assert service_with(THERE["gcp"], "l4") == "gce"
    assert service_with(THERE["gcp"], "H100") == ""
    assert service_with(THERE["gcp"], "no such card") == ""
