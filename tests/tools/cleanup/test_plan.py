"""What a plan holds, what it refuses, and the script that is printed from it."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from clouds.errors import InvalidInput, NotFound
from clouds.models.removal import ANYTHING
from clouds.models.waste import Meter, Waste
from tests.tools.cleanup.world import Ticking, World, connect, disks, planned, scanned
from tests.tools.waste import toy
from tools.cleanup import planning, script, store
from tools.waste.exceptions import Keep

BASH = shutil.which("bash") or "/bin/bash"


def printed(plan: object) -> str:
    pack = toy.PACK
    return script.render(plan, {"toy": pack.command}, {"toy": pack.query}, {"toy": pack.account_line})  # type: ignore[arg-type]


def test_a_plan_shows_every_step_in_order_with_what_can_be_undone() -> None:
    plan = planned(World(disks("d1")))
    assert plan.steps == ("back up d1: can be undone", "delete d1: can be undone")
    assert (plan.usd_per_month, plan.unpriced, plan.refused) == (10.0, 0, ())


def test_planning_changes_nothing() -> None:
    world = World(disks("d1", "d2"))
    planned(world)
    assert world.writes == []


def test_what_is_in_use_again_is_refused_and_is_no_saving() -> None:
    world = World(disks("d1", "d2"))
    scan = scanned(world)
    world.disks["d1"]["machine"] = "m1"
    plan = planned(world, scan)
    assert [each.name for each in plan.findings] == ["d2"]
    assert [(each.name, each.reason) for each in plan.refused] == [("d1", "in use now")]
    assert plan.usd_per_month == 10.0


def test_what_is_gone_is_refused_as_gone() -> None:
    world = World(disks("d1"))
    scan = scanned(world)
    world.disks.clear()
    assert [each.reason for each in planned(world, scan).refused] == ["gone"]


def test_what_cannot_be_read_again_is_refused_in_the_clouds_words() -> None:
    world = World(disks("d1"))
    scan = scanned(world)
    world.fails["ListDisks"] = toy.denied()
    assert [each.reason for each in planned(world, scan).refused] == ["unread: permission missing: Denied: no"]


def test_a_deployment_of_ours_is_refused_with_the_call_that_takes_it_down() -> None:
    scan = scanned(World(disks("d1")))
    ours = replace(
        scan.findings[0], removable=False, stays="delete_endpoint takes it down", category="own",
        evidence={"endpoint": "aws:ec2:us-east-1:gemma"},
    )  # fmt: skip
    told = 'delete_endpoint takes it down: `delete_endpoint("aws:ec2:us-east-1:gemma")`'
    others = replace(ours, category="ai"), replace(ours, evidence={})
    for each, reason in ((ours, told), (others[0], ours.stays), (others[1], ours.stays)):
        plan = planning.make(scan.id, (each,), connect(World({})), (), toy.NOW, Ticking())
        assert [row.reason for row in plan.refused] == [reason]


def test_what_somebody_keeps_is_refused_with_the_reason() -> None:
    world = World(disks("d1"))
    scan = scanned(world)
    keep = Keep("d1", "", "audit", date(2027, 1, 1))
    plan = planning.make(scan.id, scan.findings, connect(world), (keep,), toy.NOW, Ticking())
    assert [each.reason for each in plan.refused] == ["kept by modelrig.toml: audit"]


def test_a_check_without_a_cleanup_says_why() -> None:
    world = toy.Network({"north": {"ListMachines": {"machines": [toy.machine("m1")]}, "ReadMetric": {"points": {}}}})
    scan = toy.look({}, network=world)
    plan = planning.make(scan.id, scan.findings, connect(world), (), toy.NOW, Ticking())  # type: ignore[arg-type]
    assert [(each.name, each.reason) for each in plan.refused] == [("m1", "whoever owns it stops it")]


def test_what_holds_others_goes_first() -> None:
    last = replace(toy.FREE_DISK, id="a-last", order=90)
    world = World(disks("d1"))
    pack = replace(toy.PACK, checks=(last, toy.FREE_DISK))
    one = toy.cloud(world, pack)
    scan = toy.look({}, network=world, pack=pack)  # type: ignore[arg-type]
    both = [replace(scan.findings[0], check=check, id=check) for check in ("a-last", "disk-free")]
    plan = planning.make(scan.id, both, lambda name: one, (), toy.NOW, Ticking())
    assert [each.check for each in plan.findings] == ["disk-free", "a-last"]


def test_a_plan_survives_the_disk_as_it_was(tmp_path: Path) -> None:
    plan = planned(World(disks("d1")))
    store.save(tmp_path, plan)
    again = store.load(tmp_path, plan.id)
    assert again == plan
    assert again.digest == plan.digest


def test_a_plan_that_is_not_there_or_no_plan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        store.load(tmp_path, "c-000000")
    for name in ("../../etc/passwd", "c-00000", "C-000000"):
        with pytest.raises(InvalidInput):
            store.load(tmp_path, name)
    store.path(tmp_path, "c-00000a").parent.mkdir()
    store.path(tmp_path, "c-00000a").write_text('{"id": "c-00000a"}')
    with pytest.raises(InvalidInput):
        store.load(tmp_path, "c-00000a")


def test_the_script_says_the_same_calls_waits_for_the_backup_and_passes_its_id_on(tmp_path: Path) -> None:
    plan = planned(World(disks("d1")))
    text = printed(plan)
    lines = [line for line in text.splitlines() if "toy " in line or line.startswith("wait_until ")]
    assert lines == [
        (
            '[[ "$(toy whoami)" == 42 ]] || '
            "{ echo 'Stopped: this shell is not signed in to 42. Nothing was changed.' >&2; exit 1; }"
        ),
        (
            f'f1_backup_backup_id="$(toy CreateBackup --disk d1 --mark {plan.id}-{plan.findings[0].id[:6]} '
            '--place north --query backup.id)"'
        ),
        'wait_until 60 complete error toy GetBackup --id "$f1_backup_backup_id" --place north --query state',
        "toy DeleteDisk --disk d1 --place north",
        "wait_until 60 gone '' toy GetDisk --disk d1 --place north --query id",
    ]
    assert "READ EVERY LINE BEFORE RUNNING THIS." in text
    assert "--yes" not in text


def test_names_from_outside_cannot_end_a_comment_or_a_command(tmp_path: Path) -> None:
    name = "x; rm -rf ~ $(reboot) `id` '\"\nrm -rf /"
    world = World({name: toy.disk(name)})
    text = printed(planned(world))
    assert _runs(text, tmp_path)
    assert not any(line.startswith("rm ") for line in text.splitlines())


def _runs(text: str, folder: Path) -> bool:
    """The script with a `toy` that writes down what it was called with: nothing else may run."""
    folder.joinpath("toy").write_text(
        "#!/usr/bin/env bash\n"
        f'printf "%q " "$@" >> {folder}/calls; echo >> {folder}/calls\n'
        'case "$1" in whoami) echo 42 ;; CreateBackup) echo b-1 ;; GetBackup) echo complete ;;'
        " GetDisk) echo NotFound >&2; exit 1 ;; esac\n"
    )
    folder.joinpath("toy").chmod(0o755)
    file = folder / "cleanup.sh"
    file.write_text(text)
    environment = {"PATH": f"{folder}:/usr/bin:/bin"}
    done = subprocess.run([BASH, str(file)], env=environment, capture_output=True, text=True, timeout=20, check=False)
    calls = (folder / "calls").read_text().splitlines()
    operations = [line.split(" ")[0] for line in calls]
    return done.returncode == 0 and operations == ["whoami", "CreateBackup", "GetBackup", "DeleteDisk", "GetDisk"]


def test_the_script_runs_as_it_says(tmp_path: Path) -> None:
    assert _runs(printed(planned(World(disks("d1")))), tmp_path)


def test_the_script_waits_for_anything_where_the_plan_does(tmp_path: Path) -> None:
    plan = planned(World(disks("d1")))
    told = replace(
        plan,
        findings=tuple(
            replace(each, steps=tuple(
                replace(step, wait=replace(step.wait, done=ANYTHING)) if step.wait and step.backup else step
                for step in each.steps
            ))
            for each in plan.findings
        ),
    )  # fmt: skip
    text = printed(told)
    assert "wait_until 60 '*' error" in text
    assert _runs(text, tmp_path)


def test_the_script_stops_in_another_account(tmp_path: Path) -> None:
    text = printed(planned(World(disks("d1")))).replace("== 42", "== 43")
    assert not _runs(text, tmp_path)
    assert (tmp_path / "calls").read_text().split() == ["whoami"]
    done = subprocess.run(
        [BASH, str(tmp_path / "cleanup.sh")], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, text=True,
        timeout=20, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "Stopped: this shell is not signed in to 42. Nothing was changed.\n"


def test_a_script_whose_saving_is_not_known_does_not_say_zero() -> None:
    made = planned(World(disks("d1", "d2")))
    known = made.findings[0]
    unknown = replace(made, findings=tuple(replace(each, usd_per_month=None) for each in made.findings))
    assert "What it saves is not known." in printed(unknown)
    assert "$0.00" not in printed(unknown)
    partly = replace(made, findings=(known, replace(made.findings[1], usd_per_month=None)))
    assert f"Saves ${known.usd_per_month:,.2f} a month, besides 1 without a price." in printed(partly)


def test_the_script_is_valid_for_bash_and_shellcheck(tmp_path: Path) -> None:
    files = [tmp_path / "cleanup.sh", tmp_path / "nothing.sh"]
    for file, world in zip(files, (World(disks("d1", "d2")), World({})), strict=True):
        file.write_text(printed(planned(world)))
        assert subprocess.run([BASH, "-n", str(file)], check=False).returncode == 0
    shellcheck = shutil.which("shellcheck")
    if shellcheck is None:
        pytest.skip("shellcheck is not installed")
    done = subprocess.run([shellcheck, *map(str, files)], capture_output=True, text=True, check=False)
    assert done.stdout == ""


def test_what_would_take_something_along_that_is_kept_is_refused() -> None:
    holding = replace(
        toy.FREE_DISK,
        judge=lambda row, _seen: Waste("free", (Meter("disk", "GiB-month", 1),), holds=("toy://address/a1",)),
    )
    world, pack = World(disks("d1")), replace(toy.PACK, checks=(holding,))
    cloud = toy.cloud(world, pack)
    scan = toy.look({}, network=world, pack=pack)  # type: ignore[arg-type]
    keeps = (Keep("toy://address/*", "", "partners allow it", date(2099, 1, 1)),)
    plan = planning.make(scan.id, scan.findings, lambda _name: cloud, keeps, toy.NOW, Ticking())
    assert plan.findings == ()
    assert [each.reason for each in plan.refused] == [
        "it holds toy://address/a1, which is kept by modelrig.toml: partners allow it"
    ]
    assert planning.make(scan.id, scan.findings, lambda _name: cloud, (), toy.NOW, Ticking()).refused == ()
