"""Where nothing could be read again nothing is planned, and that is an error with its reason: not "nothing to do"."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clouds.errors import NotSignedIn
from clouds.models import Call, Scope
from tests.tools.cleanup.world import World, disks
from tests.tools.waste import toy
from tests.tools.waste.test_tools import Desk
from tools.cleanup.answers import Planned
from tools.cleanup.tools import plan_cleanup
from tools.context import Clouds
from tools.progress import CallProgress


class Nobody:
    def read(self) -> object:
        raise NotSignedIn("reading who is signed in", answered="no credentials", fix="Run toy login.")


def planned(desk: Desk, clouds: Clouds | None = None) -> Planned:
    return plan_cleanup(clouds or desk.clouds, desk.settings, desk.book, CallProgress(), checks=("disk-free",))


def test_without_a_sign_in_it_is_an_error_that_says_so_and_how_to_go_on(tmp_path: Path) -> None:
    world = World(disks("d1", "d2"))
    desk = Desk(tmp_path, world)
    desk.scan()
    signed_out = toy.cloud(world, who=Nobody())
    plan = planned(desk, Clouds(("toy",), ("toy",), tmp_path, lambda name, where: signed_out))
    assert plan.is_error
    assert plan.headline == (
        "Nothing could be planned: 2 of 2 findings could not be read again (not signed in: no credentials)."
    )
    assert plan.next.startswith("Run toy login. plan_cleanup again")
    assert plan.confirm == ""
    assert world.writes == []


@pytest.mark.parametrize("operation", ["ListDisks", "ListTags"])
def test_what_is_denied_is_an_error_too(tmp_path: Path, operation: str) -> None:
    world = World(disks("d1"))
    desk = Desk(tmp_path, world)
    desk.scan()
    world.fails[operation] = toy.denied(f"toy:{operation}")
    plan = planned(desk)
    assert plan.is_error
    assert "Denied" in plan.headline
    assert "check_setup" in plan.next


def test_what_was_read_and_is_in_use_is_a_refusal_and_no_error(tmp_path: Path) -> None:
    world = World(disks("d1"))
    desk = Desk(tmp_path, world)
    desk.scan()
    world.disks["d1"]["machine"] = "m1"
    plan = planned(desk)
    assert not plan.is_error
    assert plan.headline == "Nothing to clean up: 1 of 1 findings were refused."


class Partly(World):
    """One disk's tags are denied."""

    def send(self, call: Call, *, scope: Scope) -> Any:
        if call.operation == "ListTags" and call.parameters["disk"] == "d1" and self.needs == 9:
            raise toy.denied("toy:ListTags")
        return super().send(call, scope=scope)


def test_where_something_could_be_planned_it_is_no_error(tmp_path: Path) -> None:
    world = Partly(disks("d1", "d2"))
    desk = Desk(tmp_path, world)
    desk.scan()
    world.needs = 9
    plan = planned(desk)
    assert (plan.is_error, plan.findings, plan.refused) == (False, 1, 1)
    assert "tags could not be read" in plan.refusals[0].reason
