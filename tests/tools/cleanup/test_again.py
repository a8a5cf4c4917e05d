"""A plan that was carried out, in part or as a whole, is not offered or counted again; and one at a time is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from clouds.errors import Conflict, Throttled
from tests.tools.cleanup.test_backups import PRICED, carried_out, planned_at
from tests.tools.cleanup.world import Ticking, World, disks
from tests.tools.waste import toy
from tests.tools.waste.test_tools import Desk
from tools import calling
from tools.calling import Outcome, Question, Ready
from tools.cleanup import APPLY_CLEANUP
from tools.cleanup.tools import HOLD, apply_cleanup
from tools.context import Clouds


def test_the_preview_of_a_plan_that_is_half_done_has_the_other_half(tmp_path: Path) -> None:
    world = World(disks("d1", "d2"))
    desk = Desk(tmp_path, world, rates=PRICED)
    plan = planned_at(desk)
    world.before["GetDisk"] = lambda: world.fails.update(DeleteDisk=Throttled("deleting", fix=""))
    assert carried_out(desk, plan.plan).done == 1
    asked = calling.prepare(APPLY_CLEANUP, {"plan": plan.plan}, desk.session)
    assert isinstance(asked, Question)
    assert asked.preview.steps == ("d2 (north): delete d2: can be undone",)
    assert asked.preview.headline == (
        f"Plan {plan.plan}: 1 step (of 4; the others were carried out) for 1 finding, $10.00 a month; "
        "every step can be undone or recovered."
    )
    world.fails.clear()
    result = carried_out(desk, plan.plan)
    assert (result.done, result.done_before, result.saved_usd_per_month) == (1, 1, 10.0)
    assert "1 were done before ($10.00 a month)" in result.headline
    assert result.backups == 2
    assert not result.is_error


def test_a_token_for_steps_that_were_carried_out_meanwhile_is_refused(tmp_path: Path) -> None:
    world = World(disks("d1", "d2"))
    desk = Desk(tmp_path, world)
    plan = planned_at(desk)
    world.before["GetDisk"] = lambda: world.fails.update(DeleteDisk=Throttled("deleting", fix=""))
    carried_out(desk, plan.plan)
    answer = calling.prepare(APPLY_CLEANUP, {"plan": plan.plan, "confirm": plan.confirm}, desk.session)
    assert isinstance(answer, Outcome)
    assert "the steps are others now" in answer.text
    assert f"Confirming apply_cleanup of {plan.plan} with token {plan.confirm[:4]}" in answer.text


def test_a_finished_plan_says_when_and_is_neither_asked_about_nor_saved_twice(tmp_path: Path) -> None:
    world = World(disks("d1", "d2"))
    desk = Desk(tmp_path, world, rates=PRICED)
    plan = planned_at(desk)
    carried_out(desk, plan.plan)
    sent = len(world.log)
    ready = calling.prepare(APPLY_CLEANUP, {"plan": plan.plan}, desk.session)
    assert isinstance(ready, Ready)  # nothing is to be confirmed
    nobody = Clouds(("toy",), ("toy",), tmp_path, lambda name, where: pytest.fail("nobody has to be signed in"))
    result = apply_cleanup(nobody, desk.settings, desk.book, Ticking(), **ready.values)
    assert result.headline == (
        "Nothing is left to do: 2 of 2 findings were removed and read back before, the last at 2026-11-29 12:00 UTC "
        "($20.00 a month); nothing was changed now; 2 backups bill at most $10.00 a month until they are deleted."
    )
    assert (result.done, result.done_before, result.saved_usd_per_month, result.is_error) == (0, 2, 0.0, False)
    assert [each.backup for each in result.rows] == ["b-d1", "b-d2"]
    assert len(world.log) == sent


def working(desk: Desk, plan: str, pid: int) -> str:
    """Another apply_cleanup that holds the work, in the process of that pid."""
    operation = desk.book.operations.add("apply_cleanup", {"plan": plan}, flags=(), cwd="/").id
    assert desk.book.operations.claim(operation, pid) is not None
    desk.book.journal.operation = operation
    assert desk.book.holds.take(HOLD, plan) is None
    desk.book.journal.operation = ""
    return operation


@pytest.mark.parametrize("other", ["the same plan", "c-ffffff"])
def test_while_one_works_another_is_refused_by_name_before_anything_is_sent(tmp_path: Path, other: str) -> None:
    world = World(disks("d1"))
    desk = Desk(tmp_path, world)
    plan = planned_at(desk)
    operation = working(desk, plan.plan if other == "the same plan" else other, os.getpid())
    sent = len(world.log)
    what = "it" if other == "the same plan" else other
    with pytest.raises(Conflict, match=f"{operation} is working on {what}"):
        carried_out(desk, plan.plan)
    answer = calling.prepare(APPLY_CLEANUP, {"plan": plan.plan, "confirm": plan.confirm}, desk.session)
    assert isinstance(answer, Outcome)
    assert f"{operation} is working on {what}" in answer.text
    assert len(world.log) == sent
    desk.book.operations.finish(operation, os.getpid(), "done", result={"x": 1})
    ready = calling.prepare(APPLY_CLEANUP, {"plan": plan.plan, "confirm": plan.confirm}, desk.session)
    assert isinstance(ready, Ready)  # the token was not used up
    assert carried_out(desk, plan.plan).done == 1


def test_a_worker_that_died_holds_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path, World(disks("d1")))
    plan = planned_at(desk)
    working(desk, plan.plan, 2**22 + 1)
    assert carried_out(desk, plan.plan).done == 1


def test_a_plan_of_another_account_is_still_refused_while_anything_is_left(tmp_path: Path) -> None:
    desk = Desk(tmp_path, World(disks("d1")))
    plan = planned_at(desk)
    other = toy.cloud(World(disks("d1")), who=toy.Somebody("43"))
    clouds = Clouds(("toy",), ("toy",), tmp_path, lambda name, where: other)
    with pytest.raises(Exception, match="was made in account 42"):
        apply_cleanup(clouds, desk.settings, desk.book, Ticking(), plan.plan)
