"""What is carried out: backups first and waited for, everything read again, and a stop at the first failure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clouds.errors import Conflict, Throttled, Unreachable
from tests.tools.cleanup.world import Ticking, World, apply, disks, planned, scanned
from tests.tools.waste import toy


def test_the_backup_is_complete_before_the_disk_is_deleted_and_both_are_read_back(tmp_path: Path) -> None:
    world = World(disks("d1"))
    plan = planned(world)
    world.log.clear()
    outcomes = apply(world, plan, tmp_path)
    assert [(each.ended, each.detail) for each in outcomes] == [("done", "done and read back")]
    steps = [line for line in world.log if not line.startswith("List")]
    assert steps == ["CreateBackup d1", "GetBackup b-d1", "GetBackup b-d1", "DeleteDisk d1", "GetDisk d1"]
    assert world.disks == {}


def test_a_backup_that_fails_deletes_nothing_and_says_what_stands(tmp_path: Path) -> None:
    world = World(disks("d1"), backup_state="error")
    outcomes = apply(world, planned(world), tmp_path)
    assert [(each.ended, each.detail) for each in outcomes] == [("failed", "back up d1: it is error")]
    assert outcomes[0].stands == ("not done: delete d1",) or "not done: delete d1" in outcomes[0].stands
    assert "DeleteDisk d1" not in world.log
    assert "d1" in world.disks


def test_a_backup_that_is_never_complete_deletes_nothing(tmp_path: Path) -> None:
    world = World(disks("d1"), needs=10_000)
    outcomes = apply(world, planned(world), tmp_path)
    assert outcomes[0].ended == "failed"
    assert "still pending after 60 s" in outcomes[0].detail
    assert world.writes == ["CreateBackup d1"]


def test_backups_of_all_findings_run_side_by_side(tmp_path: Path) -> None:
    world = World(disks("d1", "d2"))
    apply(world, planned(world), tmp_path)
    assert world.writes == ["CreateBackup d1", "CreateBackup d2", "DeleteDisk d1", "DeleteDisk d2"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"machine": "m1"}, "in use now"),
        ({"size": 200}, "it has changed since the plan was made"),
        ({"manager": "backup"}, "managed by backup"),
    ],
    ids=["in use", "another size", "managed"],
)
def test_what_has_changed_since_the_plan_is_refused(tmp_path: Path, change: dict[str, object], words: str) -> None:
    world = World(disks("d1", "d2"))
    plan = planned(world)
    world.disks["d1"].update(change)
    outcomes = apply(world, plan, tmp_path)
    assert [(each.finding.name, each.ended, each.detail) for each in outcomes] == [
        ("d1", "refused", words),
        ("d2", "done", "done and read back"),
    ]
    assert "d1" in world.disks
    assert "CreateBackup d1" not in world.log


def test_a_change_while_the_backup_is_made_stops_the_deletion(tmp_path: Path) -> None:
    world = World(disks("d1"), needs=40)
    plan = planned(world)
    plan = replace(
        plan,
        findings=tuple(
            replace(each, steps=tuple(
                replace(step, wait=replace(step.wait, seconds=1000.0)) if step.wait and step.backup else step
                for step in each.steps
            ))
            for each in plan.findings
        ),
    )  # fmt: skip
    world.before["GetBackup"] = lambda: world.disks["d1"].update(machine="m1")
    outcomes = apply(world, plan, tmp_path)
    assert [(each.ended, each.detail) for each in outcomes] == [("refused", "in use now")]
    assert "d1" in world.disks
    assert outcomes[0].stands == ("done: back up d1", "not done: delete d1")


def test_a_change_while_a_quick_backup_is_made_stops_the_deletion_too(tmp_path: Path) -> None:
    world = World(disks("d1"), needs=1)
    plan = planned(world)
    world.before["GetBackup"] = lambda: world.disks["d1"].update(machine="m1")
    outcomes = apply(world, plan, tmp_path)
    assert [(each.ended, each.detail) for each in outcomes] == [("refused", "in use now")]
    assert world.writes == ["CreateBackup d1"]


@pytest.mark.parametrize(
    ("seconds", "ends"), [(3.0, ["done", "done"]), (30.0, ["done", "refused"])], ids=["this moment", "a while ago"]
)
def test_what_has_no_backup_is_read_again_unless_that_was_this_moment(
    seconds: float, ends: list[str], tmp_path: Path
) -> None:
    world, ticking = World(disks("d1", "d2")), Ticking()
    plan = planned(world)
    plan = replace(plan, findings=tuple(replace(each, steps=each.steps[1:]) for each in plan.findings))

    def happens() -> None:
        ticking.at += seconds
        world.disks["d2"].update(machine="m1")

    world.before["DeleteDisk"] = happens
    assert [each.ended for each in apply(world, plan, tmp_path, ticking)] == ends


def test_a_field_that_moves_by_itself_is_no_change(tmp_path: Path) -> None:
    world = World(disks("d1", size_used=1))
    plan = planned(world)
    world.disks["d1"]["size_used"] = 2
    assert [each.ended for each in apply(world, plan, tmp_path)] == ["done"]


def test_a_tag_to_keep_that_came_after_the_plan_is_a_change(tmp_path: Path) -> None:
    world = World(disks("d1"))
    plan = planned(world)
    world.tags["d1"] = [{"key": "modelrig-keep", "value": "2027-01-01 needed"}]
    assert [each.ended for each in apply(world, plan, tmp_path)] == ["refused"]


def test_tags_that_cannot_be_read_again_refuse(tmp_path: Path) -> None:
    world = World(disks("d1"))
    plan = planned(world)
    world.fails["ListTags"] = toy.denied("toy:ListTags")
    outcomes = apply(world, plan, tmp_path)
    assert outcomes[0].ended == "refused"
    assert "tags could not be read again" in outcomes[0].detail


def test_the_first_failure_stops_its_finding_and_not_the_others(tmp_path: Path) -> None:
    world = World(disks("d1", "d2"))
    plan = planned(world)
    world.fails["DeleteDisk"] = Conflict("deleting", answered="in use by m9", code="InUse", fix="")
    outcomes = apply(world, plan, tmp_path)
    assert [each.ended for each in outcomes] == ["failed", "failed"]
    assert outcomes[0].detail == "delete d1: conflict: InUse: in use by m9"
    assert (
        outcomes[0].stands == ("done: back up d1", "asked for: delete d1") or "done: back up d1" in outcomes[0].stands
    )
    assert set(world.disks) == {"d1", "d2"}


def test_a_second_run_goes_on_where_the_first_ended_and_makes_no_second_backup(tmp_path: Path) -> None:
    world = World(disks("d1"))
    plan = planned(world)
    world.fails["DeleteDisk"] = Throttled("deleting", fix="")
    assert [each.ended for each in apply(world, plan, tmp_path)] == ["failed"]
    world.fails.clear()
    assert [each.ended for each in apply(world, plan, tmp_path)] == ["done"]
    assert world.writes == ["CreateBackup d1", "DeleteDisk d1", "DeleteDisk d1"]
    assert [(each.ended, each.detail) for each in apply(world, plan, tmp_path)] == [("done", "was done before")]


def test_a_deletion_whose_answer_was_lost_is_found_done_by_the_next_run(tmp_path: Path) -> None:
    world = World(disks("d1"))
    plan = planned(world)
    world.lost_answers.add("DeleteDisk")
    with pytest.raises(ConnectionError):
        apply(world, plan, tmp_path)
    assert world.disks == {}
    assert [(each.ended, each.detail) for each in apply(world, plan, tmp_path)] == [("done", "done and read back")]


def test_what_is_deleted_is_looked_at_until_it_is_gone(tmp_path: Path) -> None:
    world = World(disks("d1"))
    plan = planned(world)
    world.fails["GetDisk"] = Unreachable("reading", fix="")
    outcomes = apply(world, plan, tmp_path)
    assert outcomes[0].ended == "failed"
    assert "after 60 s" in outcomes[0].detail


def test_a_plan_that_was_changed_on_disk_sends_nothing_that_its_check_does_not_declare(tmp_path: Path) -> None:
    world = World(disks("d1"))
    plan = planned(world)
    evil = replace(plan.findings[0].steps[1].call, operation="DeleteEverything")
    finding = plan.findings[0]
    steps = (finding.steps[0], replace(finding.steps[1], call=evil))
    changed = replace(plan, findings=(replace(finding, steps=steps),))
    assert changed.digest != plan.digest
    outcomes = apply(world, changed, tmp_path)
    assert outcomes[0].ended == "failed"
    assert "is no step of this check" in outcomes[0].detail
    assert "DeleteEverything" not in " ".join(world.log)


def test_waits_report_where_they_are(tmp_path: Path) -> None:
    world, ticking = World(disks("d1")), Ticking()
    apply(world, planned(world), tmp_path, ticking)
    assert "back up d1: pending (0 s)" in ticking.said


def test_a_check_that_is_not_known_any_more_is_refused(tmp_path: Path) -> None:
    world = World(disks("d1"))
    plan = planned(world)
    finding = replace(plan.findings[0], check="gone-check")
    outcomes = apply(world, replace(plan, findings=(finding,)), tmp_path)
    assert [each.ended for each in outcomes] == ["refused"]


def test_plans_of_the_same_world_have_the_same_steps() -> None:
    world = World(disks("d1"))
    scan = scanned(world)
    one, two = planned(world, scan), planned(world, scan)
    assert one.steps == two.steps
    assert one.digest != two.digest  # each plan is its own
