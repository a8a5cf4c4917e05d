"""A cleanup that was stopped says how much of it was carried out: what was deleted is not nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from clouds.errors import Cancelled
from tests.tools.cleanup.world import Ticking, World, apply, disks, planned
from tools.faults import fault


class Stopping(Ticking):
    """Asked to stop once so many findings were begun."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after = after

    def report(self, message: str, done: float | None = None, total: float | None = None) -> None:
        if message.startswith("finding ") and (done or 0) >= self.after:
            raise Cancelled
        super().report(message, done, total)


def test_what_was_sent_before_the_stop_is_counted(tmp_path: Path) -> None:
    world = World(disks("d1", "d2"))
    plan = planned(world)
    with pytest.raises(Cancelled) as caught:
        apply(world, plan, tmp_path, Stopping(after=1))
    assert world.writes == ["CreateBackup d1", "CreateBackup d2", "DeleteDisk d1"]
    assert fault(caught.value)["next"] == (
        "3 of 4 steps had been sent and stay as they are; the same plan goes on from there."
    )
    assert [each.ended for each in apply(world, plan, tmp_path)] == ["done", "done"]


def test_where_nothing_was_sent_nothing_was_left(tmp_path: Path) -> None:
    class AtOnce(Ticking):
        def report(self, message: str, done: float | None = None, total: float | None = None) -> None:
            raise Cancelled

        def check(self) -> None:
            raise Cancelled

    world = World(disks("d1"))
    plan = planned(world)
    with pytest.raises(Cancelled) as caught:
        apply(world, plan, tmp_path, AtOnce())
    assert world.writes == []
    assert fault(caught.value)["next"].startswith("Nothing half-made was left")
