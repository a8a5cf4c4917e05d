"""What another finding of a plan takes along gets no steps of its own: in the plan, its script, and applied."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clouds.models.waste import Meter, Waste, WasteCheck
from tests.tools.cleanup.world import Ticking, World, disks
from tests.tools.waste import toy
from tools.cleanup import planning, script
from tools.cleanup.applying import Run
from tools.cleanup.journal import Journal
from tools.cleanup.records import CleanupPlan
from tools.cleanup.waiting import Clock
from tools.ledger import Book
from tools.waste.booking import finding_id
from tools.waste.records import Finding


def holding(check: str, order: int, holds: dict[str, str]) -> WasteCheck:
    """A check of disks of which some hold others."""

    def judge(row: toy.Row, _seen: object) -> Waste:
        held = holds.get(row["id"], "")
        ids = (f"toy://42/north/disk/{held}",) if held else ()
        return Waste("free", (Meter("disk", "GiB-month", 1),), holds=ids)

    return replace(toy.FREE_DISK, id=check, order=order, judge=judge)


def planned(check: WasteCheck, world: World, **checks: WasteCheck) -> CleanupPlan:
    pack = replace(toy.PACK, checks=(check, *checks.values()))
    cloud = toy.cloud(world, pack)
    scan = toy.look({}, network=world, pack=pack)  # type: ignore[arg-type]
    every: list[Finding] = list(scan.findings)
    for other in checks.values():  # a scan books a resource once: the same ones again, by another check
        every += [replace(each, check=other.id, id=finding_id(other.id, each.resource)) for each in scan.findings]
    return planning.make(scan.id, every, lambda _name: cloud, (), toy.NOW, Ticking())


def test_a_held_resource_goes_along_and_is_neither_printed_nor_touched(tmp_path: Path) -> None:
    world = World(disks("d1", "d2", "d3"))
    plan = planned(holding("a", 20, {"d2": "d1"}), world)
    assert [each.name for each in plan.findings] == ["d2", "d3"]
    holder = next(each for each in plan.findings if each.name == "d2")
    assert [(each.name, each.reason) for each in plan.refused] == [("d1", f"goes along with d2 ({holder.id})")]
    pack = toy.PACK
    text = script.render(plan, {"toy": pack.command}, {"toy": pack.query}, {"toy": pack.account_line})
    assert "--disk d1" not in text
    cloud = toy.cloud(world, replace(pack, checks=(holding("a", 20, {"d2": "d1"}),)))
    with Book(tmp_path) as book:
        ticking = Ticking()
        clock = Clock(lambda: ticking.at)
        run = Run(plan, lambda _name: cloud, Journal(book, plan.id), ticking, lambda: toy.NOW, clock)
        assert [each.ended for each in run.run()] == ["done", "done"]
    assert list(world.disks) == ["d1"]


def test_it_goes_along_whichever_check_comes_first() -> None:
    world = World(disks("d1", "d2"))
    later = holding("b", 90, {"d2": "d1"})
    plan = planned(holding("a", 20, {}), world, later=later)
    assert sorted((each.check, each.name) for each in plan.findings) == [("a", "d2"), ("b", "d2")]
    assert sorted((each.check, each.name) for each in plan.refused) == [("a", "d1"), ("b", "d1")]


@pytest.mark.parametrize("holds", [{"d1": "d1"}, {"d1": "gone"}, {}], ids=["itself", "what has no finding", "nothing"])
def test_what_holds_nothing_of_the_plan_takes_nothing_along(holds: dict[str, str]) -> None:
    plan = planned(holding("a", 20, holds), World(disks("d1", "d2")))
    assert [each.name for each in plan.findings] == ["d1", "d2"]
    assert plan.refused == ()


def test_of_two_that_hold_each_other_one_keeps_its_steps() -> None:
    plan = planned(holding("a", 20, {"d1": "d2", "d2": "d1"}), World(disks("d1", "d2")))
    assert [each.name for each in plan.findings] == ["d1"]
    assert [each.name for each in plan.refused] == ["d2"]


def test_where_the_holder_is_kept_the_held_one_is_planned() -> None:
    world = World(disks("d1", "d2"))
    check = holding("a", 20, {"d2": "d1"})
    pack = replace(toy.PACK, checks=(check,))
    cloud = toy.cloud(world, pack)
    scan = toy.look({}, network=world, pack=pack)  # type: ignore[arg-type]
    world.disks["d2"]["manager"] = "backup"
    plan = planning.make(scan.id, scan.findings, lambda _name: cloud, (), toy.NOW, Ticking())
    assert [each.name for each in plan.findings] == ["d1"]
