"""A detail is asked for the rows that nothing read before it decides, and for all where that is not known."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from clouds.errors import PermissionMissing
from clouds.models.waste import Detail, Meter, Row, Seen, Waste, WasteCheck, Young
from tests.tools.waste import toy
from tests.tools.waste.toy import disk, machine


def _disks_of(row: Row) -> Iterable[Any]:
    yield from row.get("disks", ())


def _held(row: Row, seen: Seen) -> bool:
    return row["id"] in seen.index(toy.MACHINES, _disks_of)


SHARED = Detail(
    toy.DISKS,
    "toy",
    "ListShares",
    lambda rows, _at: {"disk": rows[0]["id"]},
    rows="shares",
    after=(toy.MACHINES,),
    needed=lambda row, seen: not _held(row, seen),
)


def _free(row: Row, seen: Seen) -> Waste | None:
    if _held(row, seen) or seen.of(SHARED, row):
        return None
    return Waste("nobody has it", (Meter("disk", "GiB-month", row["size"]),))


CHECK = WasteCheck(
    id="disk-free", title="Disk that nobody has", kind=toy.DISK, reads=(SHARED, toy.MACHINES), judge=_free, why="",
    remove="", recovery="", reversal="can be undone",
)  # fmt: skip
PACK = replace(toy.PACK, checks=(CHECK,))
MACHINES = {"machines": [machine("m1", disks=["held"])]}
DISKS = {"disks": [disk("held"), disk("shared"), disk("free")]}


def shares(parameters: Any) -> Any:
    return {"shares": ["a friend"] if parameters["disk"] == "shared" else []}


def asked(network: toy.Network) -> list[str]:
    return sorted(given["disk"] for _, operation, given in network.sent if operation == "ListShares")


@pytest.mark.parametrize("last", ["ListDisks", "ListMachines"])
def test_what_another_read_decides_is_not_asked_whichever_of_them_is_answered_last(last: str) -> None:
    answers: dict[str, Any] = {"ListDisks": DISKS, "ListMachines": MACHINES, "ListShares": shares}

    def late(_: Any) -> Any:
        time.sleep(0.05)
        return answers[last]

    network = toy.Network({"north": {**answers, last: late}})
    found = toy.look({}, pack=PACK, network=network)
    assert asked(network) == ["free", "shared"]
    assert ([each.name for each in found.findings], found.complete) == (["free"], True)


@pytest.mark.parametrize(
    "machines",
    [toy.denied("toy:ListMachines"), {"machines": [machine("m1", disks=7)]}],
    ids=["it was refused", "it has another form"],
)
def test_where_it_is_not_known_every_row_is_asked_and_none_is_judged(machines: PermissionMissing | Any) -> None:
    network = toy.Network({"north": {"ListDisks": DISKS, "ListMachines": machines, "ListShares": shares}})
    found = toy.look({}, pack=PACK, network=network)
    assert asked(network) == ["free", "held", "shared"]
    assert (found.findings, found.complete) == ((), False)


def test_a_decision_by_what_is_not_said_to_be_read_before_is_no_decision() -> None:
    hasty = replace(SHARED, after=())
    check = replace(CHECK, reads=(hasty, toy.MACHINES), judge=lambda row, seen: None)
    network = toy.Network({"north": {"ListDisks": DISKS, "ListMachines": MACHINES, "ListShares": shares}})
    toy.look({}, pack=replace(PACK, checks=(check,)), network=network)
    assert asked(network) == ["free", "held", "shared"]


def test_a_row_that_is_too_young_to_be_decided_is_asked_and_stops_nothing() -> None:
    def unsure(_row: Row, _seen: Seen) -> bool:
        raise Young

    network = toy.Network({"north": {"ListDisks": DISKS, "ListMachines": MACHINES, "ListShares": shares}})
    check = replace(CHECK, reads=(replace(SHARED, needed=unsure), toy.MACHINES), judge=lambda row, seen: None)
    found = toy.look({}, pack=replace(PACK, checks=(check,)), network=network)
    assert (asked(network), found.complete) == (["free", "held", "shared"], True)


def test_a_parent_that_could_not_be_read_leaves_nothing_to_ask() -> None:
    network = toy.Network({"north": {"ListDisks": toy.denied(), "ListMachines": MACHINES, "ListShares": shares}})
    found = toy.look({}, pack=PACK, network=network)
    assert (asked(network), found.findings, found.complete) == ([], (), False)


def test_no_row_leaves_nothing_to_ask_and_the_check_is_judged() -> None:
    network = toy.Network({"north": {"ListDisks": {"disks": []}, "ListMachines": MACHINES}})
    found = toy.look({}, pack=PACK, network=network)
    assert (asked(network), found.complete, found.coverage.pairs_judged) == ([], True, 1)
