"""What is not there: a service that an account does not have, and a row that is gone when it is asked about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from clouds.errors import ApiDisabled, CloudError, NotOffered
from clouds.models.waste import Detail, Listing, Meter, Row, Seen, Waste, WasteCheck
from tests.tools.waste import toy
from tests.tools.waste.toy import disk, machine
from tools.waste.scan import Wanted

REFUSALS = [
    ApiDisabled("ListMachines", answered="subscribe first", code="OptInRequired", fix="Subscribe."),
    NotOffered("ListMachines", answered="not here", code="UnsupportedOperation", fix="Look elsewhere."),
]
OTHERS = Listing("fleet", "ListMachines", "machines")
RACKS = Listing("toy", "ListRacks", "racks")
PARTS = Detail(RACKS, "toy", "ListParts", lambda rows, _at: {"rack": rows[0]["id"]}, rows="parts")
SHARED = Detail(toy.DISKS, "toy", "ListShares", lambda rows, _at: {"disk": rows[0]["id"]}, rows="shares")


def _disks_of(row: Row) -> Iterable[Any]:
    yield from row.get("disks", ())


def check(read: Listing) -> WasteCheck:
    """A disk that no machine of a listing has is waste."""

    def free(row: Row, seen: Seen) -> Waste | None:
        return None if row["id"] in seen.index(read, _disks_of) else Waste("free", (Meter("disk", "GiB-month", 1),))

    return WasteCheck(
        id="disk-free", title="", kind=toy.DISK, reads=(read,), judge=free, why="", remove="", recovery="",
        reversal="can be undone",
    )  # fmt: skip


def pack(one: WasteCheck) -> Any:
    return replace(toy.PACK, checks=(one,))


DISKS = {"disks": [disk("d1")]}


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.code)
def test_one_read_that_its_service_does_not_offer_while_it_answers_others_is_unread(refusal: CloudError) -> None:
    found = toy.look({"north": {"ListDisks": DISKS, "ListMachines": refusal}}, pack=pack(check(toy.MACHINES)))
    assert (found.findings, found.complete) == ((), False)
    assert [gap.call for gap in found.unread] == ["toy.ListMachines"]


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.code)
def test_a_service_that_answers_nothing_here_has_nothing_here(refusal: CloudError) -> None:
    found = toy.look({"north": {"ListDisks": DISKS, "ListMachines": refusal}}, pack=pack(check(OTHERS)))
    assert ([each.name for each in found.findings], found.complete) == (["d1"], True)


def test_a_detail_that_its_service_does_not_offer_for_any_row_is_unread() -> None:
    one = replace(check(toy.MACHINES), reads=(SHARED,), judge=lambda row, seen: None if seen.of(SHARED, row) else FREE)
    found = toy.look({"north": {"ListDisks": DISKS, "ListShares": REFUSALS[0]}}, pack=pack(one))
    assert (found.findings, found.complete) == ((), False)


FREE = Waste("free", (Meter("disk", "GiB-month", 1),))


def test_a_row_that_is_gone_when_it_is_asked_about_is_no_waste_and_no_gap() -> None:
    one = replace(check(toy.MACHINES), reads=(SHARED,), judge=lambda row, seen: None if seen.of(SHARED, row) else FREE)
    shares = {"d1": toy.missing(), "d2": {"shares": []}}
    places = {
        "north": {"ListDisks": {"disks": [disk("d1"), disk("d2")]}, "ListShares": lambda ask: shares[ask["disk"]]}
    }
    found = toy.look(places, pack=pack(one))
    assert ([each.name for each in found.findings], found.complete) == (["d2"], True)


def test_what_hangs_on_another_row_that_is_gone_cannot_be_judged() -> None:
    def free(row: Row, seen: Seen) -> Waste | None:
        del row
        return None if any(seen.of(PARTS, rack) for rack in seen.rows(RACKS)) else FREE

    one = replace(check(toy.MACHINES), reads=(RACKS, PARTS), judge=free)
    places: dict[str, Any] = {"ListDisks": DISKS, "ListRacks": {"racks": [{"id": "r1"}]}, "ListParts": toy.missing()}
    found = toy.look({"north": places}, pack=pack(one))
    assert (found.findings, found.complete) == ((), False)
    assert "toy.ListParts: not found" in found.unresolved[0].reason


def test_what_is_asked_before_of_a_row_that_is_gone_decides_nothing() -> None:
    last = replace(SHARED, operation="ListLast", after=(PARTS,), needed=lambda row, seen: bool(seen.of(PARTS, RACK)))
    one = replace(check(toy.MACHINES), reads=(RACKS, PARTS, last), judge=lambda row, seen: None)
    places: dict[str, Any] = {"ListDisks": DISKS, "ListRacks": {"racks": [RACK]}, "ListParts": toy.missing()}
    network = toy.Network({"north": places})
    toy.look({}, pack=pack(one), network=network, wanted=Wanted())
    assert "ListLast" in network.operations("north")


RACK = {"id": "r1"}


def test_tags_of_a_row_that_is_gone_are_not_known() -> None:
    places = {"north": {"ListDisks": DISKS, "ListMachines": {"machines": []}, "ListTags": toy.missing()}}
    (found,) = toy.look(places, wanted=Wanted(checks=("disk-free",))).findings
    assert found.stays.startswith("its tags could not be read")


def test_a_machine_that_says_nothing_of_disks_spares_none() -> None:
    places = {"north": {"ListDisks": DISKS, "ListMachines": {"machines": [machine("m1")]}}}
    assert [each.name for each in toy.look(places, pack=pack(check(toy.MACHINES))).findings] == ["d1"]
