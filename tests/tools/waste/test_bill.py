"""What the bill shows beside a scan: services that cost and that no check looks at. One query, its cost said first."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

from clouds.base import Cloud
from clouds.errors import PermissionMissing
from clouds.models import Call, Scope
from clouds.models.waste import Charge
from clouds.models.waste_pack import Bill
from tests.tools.waste import toy
from tools.context import Clouds
from tools.progress import CallProgress
from tools.waste import bill
from tools.waste.records import Scan
from tools.waste.scan import Wanted, scan

COSTS = {"Toy Disks": 70.0, "Toy Cables": 12.345, "Toy Dust": 0.004}


def _ask(now: datetime, _at: Scope) -> Call:
    return Call("toy", "GetBill", {"end": now.date().isoformat()})


PACK = replace(
    toy.PACK,
    bill=Bill(
        ask=_ask,
        charge=Charge(0.01, "request", "2026-11-29", "made up"),
        lines=lambda answer: answer["lines"],
        days=30,
        covered={"Toy Disks": ("disk",)},
        permission="toy:GetBill",
    ),
)


def one(cloud: Cloud) -> Clouds:
    return Clouds(("toy",), ("toy",), Path(), lambda _name, _home: cloud)


def billed(answer: object) -> tuple[Scan, toy.Network, Clouds]:
    network = toy.Network({"north": {"GetBill": answer}})
    clouds = one(toy.cloud(network, PACK))
    found = scan({"toy": clouds.get("toy")}, Wanted(), (), toy.NOW, CallProgress(), "one")
    return bill.added(found, clouds, ("toy",), toy.NOW), network, clouds


def test_what_no_check_looks_at_is_named_with_what_it_cost() -> None:
    found, network, _ = billed({"lines": COSTS})
    assert found.bill is not None
    assert [(line.service, line.usd) for line in found.bill.not_covered] == [("Toy Cables", 12.35)]
    assert (found.bill.usd, found.bill.covered_usd, found.bill.days) == (82.35, 70.0, 30)
    assert network.operations().count("GetBill") == 1


def test_the_query_is_paid_and_counted_with_the_scan() -> None:
    found, _, clouds = billed({"lines": COSTS})
    assert found.bill is not None
    assert (found.bill.usd_of_query, found.effort.usd) == (0.01, 0.01)
    assert bill.cost_words(clouds, ("toy",)) == "toy $0.01 a request"


def test_a_bill_that_cannot_be_read_is_named_and_the_scan_stays_as_it_was() -> None:
    denied = PermissionMissing("GetBill", answered="no", code="AccessDenied", fix="Ask.")
    found, _, _ = billed(denied)
    assert found.bill is not None
    assert found.bill.problem == "toy: permission missing: AccessDenied: no"
    assert (found.bill.usd, found.effort.usd, found.complete) == (0.0, 0.0, True)


def test_a_cloud_without_a_bill_says_so() -> None:
    clouds = one(toy.cloud(toy.Network({})))
    assert bill.cost_words(clouds, ("toy",)) == "no cloud named has one that can be asked"


def test_an_account_s_bill_is_asked_once_however_many_places_were_looked_at() -> None:
    network = toy.Network({"north": {"GetBill": {"lines": COSTS}}, "south": {"GetBill": {"lines": COSTS}}})
    clouds = one(toy.cloud(network, PACK))
    found = bill.added(
        scan({"toy": clouds.get("toy")}, Wanted(), (), toy.NOW, CallProgress(), "one"), clouds, ("toy",), toy.NOW
    )
    assert len(found.scopes) > 1
    assert network.operations().count("GetBill") == 1
