"""What the project's file says is kept when a plan is carried out, though it said nothing when that was made."""

from __future__ import annotations

from pathlib import Path

import pytest

from clouds.errors import InvalidInput
from tests.tools.cleanup.world import Ticking, World, disks
from tests.tools.waste.test_tools import Desk
from tools.cleanup.answers import Applied
from tools.cleanup.tools import apply_cleanup, plan_cleanup
from tools.progress import CallProgress


def carried_out(world: World, home: Path, exceptions: str) -> Applied:
    """A plan for the only disk, carried out after the exceptions were written."""
    desk = Desk(home, world)
    desk.scan()
    plan = plan_cleanup(desk.clouds, desk.settings, desk.book, CallProgress(), checks=("disk-free",))
    (home / "modelrig.toml").write_text(exceptions, "utf-8")
    return apply_cleanup(desk.clouds, desk.settings, desk.book, Ticking(), plan.plan)


def keep(resource: str) -> str:
    return f'[[waste.keep]]\nresource = "{resource}"\nreason = "drill"\nexpires = 2027-03-31\n'


def test_an_exception_that_came_after_the_plan_keeps_what_it_names(tmp_path: Path) -> None:
    world = World(disks("disk-1"))
    result = carried_out(world, tmp_path, keep("disk-1"))
    assert [(each.ended, each.detail) for each in result.rows] == [("refused", "kept by modelrig.toml: drill")]
    assert world.writes == []


def test_an_exception_for_another_one_keeps_nothing(tmp_path: Path) -> None:
    world = World(disks("disk-1"))
    assert carried_out(world, tmp_path, keep("disk-2")).done == 1
    assert world.disks == {}


def test_exceptions_that_cannot_be_read_stop_a_cleanup_before_it_begins(tmp_path: Path) -> None:
    world = World(disks("disk-1"))
    with pytest.raises(InvalidInput, match="cannot be read"):
        carried_out(world, tmp_path, "[[waste.keep]\n")
    assert world.writes == []
