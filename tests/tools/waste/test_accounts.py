from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clouds.errors import ApiDisabled, InvalidInput
from tests.tools.waste import toy
from tests.tools.waste.projects import BOTH, PACK, Projects, disk
from tools.progress import CallProgress
from tools.waste import grouping, probing, report
from tools.waste.records import Scan
from tools.waste.scan import Wanted, scan
from tools.waste.scanning import result


def look(network: Projects, pack: Any = PACK, wanted: Wanted = toy.EVERYTHING) -> Scan:
    return scan({"toy": toy.cloud(network, pack)}, wanted, (), toy.NOW, CallProgress(), "2026-11-29T120000-toy-1")


TWO = {
    "shop": {"ListDisks": {"disks": [disk("d1"), disk("d2", "z2")]}},
    "lab": {"ListDisks": {"disks": [disk("d1")]}},
}


def test_a_finding_carries_its_own_project_and_its_own_zone() -> None:
    found = look(Projects(TWO))
    assert sorted((each.account, each.location, each.resource) for each in found.findings) == [
        ("lab", "z1", "//toy/projects/lab/zones/z1/disks/d1"),
        ("shop", "z1", "//toy/projects/shop/zones/z1/disks/d1"),
        ("shop", "z2", "//toy/projects/shop/zones/z2/disks/d2"),
    ]
    assert len({each.id for each in found.findings}) == 3


def test_scopes_and_their_sums_are_those_of_projects() -> None:
    found = look(Projects(TWO))
    assert [(each.account, each.location, each.findings, each.usd_per_month) for each in found.scopes] == [
        ("lab", "lab", 1, 10.0),
        ("shop", "shop", 2, 20.0),
    ]
    assert {word: each.usd_per_month for word, each in found.totals.by_scope.items()} == {
        "toy/shop": 20.0,
        "toy/lab": 10.0,
    }


def test_a_project_that_cannot_be_read_is_named_and_stops_no_other() -> None:
    network = Projects({**TWO, "shut": {"ListDisks": toy.denied()}, "off": {"ListDisks": ApiDisabled("x", fix="")}})
    found = look(network)
    assert {each.location: each.ended for each in found.scopes} == {
        "lab": "done", "shop": "done", "shut": "denied", "off": "skipped",
    }  # fmt: skip
    assert [(gap.account, gap.location) for gap in found.unread] == [("shut", "shut")]
    assert not found.complete


def test_equal_disks_of_two_projects_are_not_grouped_and_a_row_names_the_project(tmp_path: Any) -> None:
    found = look(Projects(TWO))
    assert len(grouping.groups(found.findings)) == 3
    assert {row.where for row in result(found, {}, 10).rows} == {"toy lab z1", "toy shop z1", "toy shop z2"}
    page = report.write(tmp_path, found)["html"].read_text("utf-8")
    assert "<small>toy shop</small>" in page


def test_where_places_are_locations_a_row_names_no_account() -> None:
    found = toy.look({"north": {"ListDisks": {"disks": [toy.disk("d1")]}, "ListTags": {"tags": []}}})
    assert [row.where for row in result(found, {}, 10).rows] == ["toy north"]


def test_an_unknown_project_is_refused_before_any_is_read() -> None:
    network = Projects(TWO)
    with pytest.raises(InvalidInput, match="is not a project"):
        look(network, wanted=Wanted(scopes=("shpo",)))
    assert {operation for _, operation in network.sent} == {"ListPlaces"}


def test_what_an_answer_says_it_could_not_read_makes_the_scan_incomplete_and_the_rest_counts() -> None:
    network = Projects({"shop": {"ListDisks": {"disks": [disk("d1")], "unreachable": ["zones/z9"]}}})
    found = look(network)
    assert [each.name for each in found.findings] == ["d1"]
    assert [gap.reason for gap in found.unread] == ["the answer is not whole: zones/z9"]
    assert not found.complete


def test_permissions_are_tried_in_the_project_that_is_signed_in_to() -> None:
    network = Projects({"42": {"ListDisks": {}}})
    tried = probing.probe(toy.cloud(network, PACK), CallProgress())
    assert tried is not None
    assert (tried.place, tried.denied, network.asked("ListDisks")) == ("42", (), ["42"])


ENGINES = {"ListZones": {"zones": ["z1", "z2"]}, "ListEngines": {"engines": [disk("e1")]}, **TWO["lab"]}


def row(project: str, sort: str = "toy/Project", zone: str = "") -> dict[str, str]:
    looked = f"n-{project}" if sort == "toy/Project" else ""
    return {"looked": looked, "number": f"n-{project}", "sort": sort, "zone": zone}


def test_what_an_inventory_of_all_projects_does_not_name_is_not_asked_for() -> None:
    network = Projects(dict.fromkeys(("shop", "lab", "new"), ENGINES))
    network.found = {
        "results": [row("shop"), row("lab"), row("shop", "toy/Disk", "z1"), row("lab", "toy/Engine", "z2")]
    }
    found = look(network, BOTH)
    assert network.asked("Search") == ["42"]
    assert network.asked("ListDisks") == ["new", "shop"]
    assert network.asked("ListZones") == ["lab", "new"]
    assert network.asked("ListEngines") == ["lab", "new", "new"]
    assert found.complete
    assert found.coverage.pairs_judged == 6


@pytest.mark.parametrize("found", [toy.denied("toy:Search"), {"results": ["odd"]}, {}], ids=["denied", "odd", "empty"])
def test_an_inventory_that_does_not_answer_costs_nothing_but_requests(found: Any) -> None:
    network = Projects(dict.fromkeys(("shop", "lab"), ENGINES), found)
    seen = look(network, BOTH)
    assert network.asked("ListDisks") == ["lab", "shop"]
    assert network.asked("ListEngines") == ["lab", "lab", "shop", "shop"]
    assert seen.complete


def test_a_single_project_is_read_in_full() -> None:
    network = Projects({"shop": ENGINES, "lab": ENGINES}, {"results": [row("shop")]})
    look(network, BOTH, Wanted(scopes=("shop",)))
    assert network.asked("Search") == []
    assert network.asked("ListDisks") == ["shop"]


def test_the_reads_of_the_inventory_are_on_the_read_only_list() -> None:
    assert {"toy.ListOrganizations", "toy.Search"} <= BOTH.reads
    assert not {"toy.ListOrganizations", "toy.Search"} & replace(BOTH, inventory=None).reads


def test_a_service_that_is_off_in_all_of_its_places_does_not_apply() -> None:
    off = ApiDisabled("x", fix="", code="Off")
    found = look(Projects({"shop": {"ListZones": {"zones": ["z1", "z2"]}, "ListEngines": off}}), BOTH)
    assert found.complete
    assert [(gap.check, gap.location) for gap in found.not_applicable] == [("engine-free", "shop")]


def test_a_service_that_is_off_in_one_of_its_places_and_answers_in_another_is_unread_there() -> None:
    answers = iter([{"engines": [disk("e1")]}, ApiDisabled("x", fix="", code="Off")])
    network = Projects({"shop": {"ListZones": {"zones": ["z1", "z2"]}, "ListEngines": lambda _: next(answers)}})
    found = look(network, BOTH)
    assert [each.name for each in found.findings] == ["e1"]
    assert not found.complete


class Shut(Projects):
    """The projects cannot be listed."""

    def send(self, call: Any, *, scope: Any) -> Any:
        if call.operation == "ListPlaces":
            raise toy.denied("toy:ListPlaces")
        return super().send(call, scope=scope)


def test_where_projects_cannot_be_listed_our_own_is_looked_at_and_the_others_are_unread() -> None:
    found = look(Shut({"42": {"ListDisks": {"disks": [disk("d1")]}}}))
    assert [each.account for each in found.findings] == ["42"]
    assert not found.complete
    assert [(gap.call, gap.reason.split(":")[0]) for gap in found.unread] == [
        ("toy.ListPlaces", "other accounts are not known")
    ]


def test_our_own_project_is_looked_at_although_no_list_shows_it() -> None:
    network = Projects({"42": {"ListDisks": {"disks": [disk("d1")]}}})
    network.listed = ()
    assert [each.account for each in look(network).findings] == ["42"]


def test_a_zone_and_its_region_are_one_place_of_an_inventory() -> None:
    network = Projects({name: {**ENGINES, "ListZones": {"zones": ["r1", "r2", "r3"]}} for name in ("shop", "lab")})
    network.found = {"results": [row("shop"), row("lab"), row("shop", "toy/Engine", "r1-a"), row("lab", "toy/Engine")]}
    look(network, BOTH)
    assert network.asked("ListEngines") == ["lab", "lab", "lab", "shop"]
