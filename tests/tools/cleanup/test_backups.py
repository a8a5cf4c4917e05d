"""A backup stays when its resource is gone, and bills: it is named, counted and priced before and after."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clouds.errors import Conflict
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Meter
from tests.tools.cleanup.world import Ticking, World, disks
from tests.tools.waste import toy
from tests.tools.waste.test_tools import Desk
from tools.cleanup.answers import Applied, Planned
from tools.cleanup.backups import bill
from tools.cleanup.store import load
from tools.cleanup.tools import apply_cleanup, as_script, plan_cleanup
from tools.progress import CallProgress

PRICED = {**toy.RATES, "backup": (0.05, "GiB-month")}


def planned_at(desk: Desk) -> Planned:
    desk.scan()
    return plan_cleanup(desk.clouds, desk.settings, desk.book, CallProgress(), checks=("disk-free",))


def carried_out(desk: Desk, plan: str) -> Applied:
    return apply_cleanup(desk.clouds, desk.settings, desk.book, Ticking(), plan)


def test_a_plan_and_its_script_say_what_the_backups_will_bill_at_most(tmp_path: Path) -> None:
    desk = Desk(tmp_path, World(disks("d1", "d2")), rates=PRICED)
    plan = planned_at(desk)
    assert plan.headline.endswith("2 backups bill at most $10.00 a month until they are deleted.")
    assert (plan.backups, plan.backups_usd_per_month) == (2, 10.0)
    assert plan.steps[0] == "back up d1: can be undone, bills at most $5.00 a month until it is deleted"
    header = Path(plan.script).read_text("utf-8").splitlines()
    assert (
        "# Findings: 2. Saves $20.00 a month. 2 backups bill at most $10.00 a month until they are deleted." in header
    )


def test_what_was_made_is_listed_by_id_with_what_it_bills(tmp_path: Path) -> None:
    desk = Desk(tmp_path, World(disks("d1")), rates=PRICED)
    plan = planned_at(desk)
    result = carried_out(desk, plan.plan)
    assert result.headline == (
        "1 of 1 finding removed and read back, $10.00 a month saved; "
        "1 backup bills at most $5.00 a month until it is deleted."
    )
    assert [(each.backup, each.backup_usd_per_month) for each in result.rows] == [("b-d1", 5.0)]
    assert plan.plan in result.next
    assert "scan_waste" in result.next


def test_a_backup_without_a_rate_is_counted_and_never_zero(tmp_path: Path) -> None:
    desk = Desk(tmp_path, World(disks("d1")))
    plan = planned_at(desk)
    assert plan.headline.endswith("1 backup bills an unknown amount until it is deleted.")
    assert plan.steps[0] == "back up d1: can be undone"
    result = carried_out(desk, plan.plan)
    assert [(each.backup, each.backup_usd_per_month) for each in result.rows] == [("b-d1", None)]
    assert "$0.00" not in result.text()


def _with_a_last_copy(doomed: Doomed) -> tuple[CleanupStep, ...]:
    assert not isinstance(toy.FREE_DISK.remove, str)
    *_, delete = toy.FREE_DISK.remove(doomed)
    return (replace(delete, makes=f"last-{doomed.name}", bills=(Meter("backup", "GiB-month", 10),)),)


def test_what_a_deletion_makes_by_itself_is_counted_and_named_like_a_backup(tmp_path: Path) -> None:
    check = replace(toy.FREE_DISK, remove=_with_a_last_copy)
    desk = Desk(tmp_path, World(disks("d1")), rates=PRICED, pack=replace(toy.PACK, checks=(check,)))
    plan = planned_at(desk)
    assert (plan.backups, plan.backups_usd_per_month) == (1, 0.5)
    assert plan.steps == ("delete d1: can be undone, bills at most $0.50 a month until it is deleted",)
    result = carried_out(desk, plan.plan)
    assert [(each.backup, each.backup_usd_per_month) for each in result.rows] == [("last-d1", 0.5)]


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ((5.0,), "1 backup bills at most $5.00 a month until it is deleted"),
        ((5.0, None), "2 backups bill at most $5.00 a month, and 1 of them an unknown amount, until they are deleted"),
        ((None, None), "2 backups bill an unknown amount until they are deleted"),
    ],
)
def test_the_words_add_up(costs: tuple[float | None, ...], words: str) -> None:
    assert str(bill(costs)) == words


def test_what_stands_of_a_finding_that_failed_is_listed_too_and_found_by_the_next_run(tmp_path: Path) -> None:
    world = World(disks("d1"))
    desk = Desk(tmp_path, world, rates=PRICED)
    plan = planned_at(desk)
    world.fails["DeleteDisk"] = Conflict("deleting", answered="in use by m9", code="InUse", fix="")
    failed = carried_out(desk, plan.plan)
    assert (failed.failed, failed.backups, failed.rows[0].backup) == (1, 1, "b-d1")
    world.fails.clear()
    again = carried_out(desk, plan.plan)
    assert (again.done, again.backups, again.rows[0].backup) == (1, 1, "b-d1")


def test_a_backup_whose_answer_was_lost_may_have_been_made(tmp_path: Path) -> None:
    world = World(disks("d1"))
    desk = Desk(tmp_path, world, rates=PRICED)
    plan = planned_at(desk)
    world.lost_answers.add("CreateBackup")
    with pytest.raises(ConnectionError):
        carried_out(desk, plan.plan)
    world.disks["d1"]["machine"] = "m1"
    result = carried_out(desk, plan.plan)
    assert (result.refused, result.backups, result.rows[0].backup) == (1, 1, "? (may have been made)")


def test_a_refused_finding_has_no_backup(tmp_path: Path) -> None:
    world = World(disks("d1"))
    desk = Desk(tmp_path, world, rates=PRICED)
    plan = planned_at(desk)
    world.disks["d1"]["machine"] = "m1"
    result = carried_out(desk, plan.plan)
    assert (result.refused, result.backups, result.rows[0].backup) == (1, 0, "")
    assert "backup" not in result.headline


def test_all_rows_of_many_findings_are_in_a_file(tmp_path: Path) -> None:
    desk = Desk(tmp_path, World(disks(*(f"d{number:02}" for number in range(21)))), rates=PRICED)
    plan = planned_at(desk)
    result = carried_out(desk, plan.plan)
    assert (result.showing, result.backups, result.backups_usd_per_month) == ("20 of 21", 21, 105.0)
    file = Path(result.notes[0].removeprefix("All 21 rows: "))
    assert all(f"b-d{number:02}" in file.read_text("utf-8") for number in range(21))


def test_the_script_prints_the_same_for_a_plan_that_was_read_again(tmp_path: Path) -> None:
    desk = Desk(tmp_path, World(disks("d1")), rates=PRICED)
    plan = planned_at(desk)
    assert Path(plan.script).read_text("utf-8") == as_script(load(tmp_path, plan.plan), desk.clouds)
