"""A volume is backed up and deleted through the real SDK, in an account that changes while that is done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clouds.aws.checks import PACK
from clouds.aws.prices import AwsPrices
from clouds.base import Cloud, Missing
from clouds.replay import Answer, Request
from tests.clouds.aws.checks.stage import NOW, REGION, Somebody
from tests.clouds.aws.recorded import on_stage
from tools.cleanup import planning
from tools.cleanup.applying import Outcome, Run
from tools.cleanup.journal import Journal
from tools.cleanup.waiting import Clock
from tools.ledger import Book
from tools.progress import CallProgress
from tools.waste.scan import Wanted, scan

DENIED = Answer(403, {"Error": {"Code": "UnauthorizedOperation", "Message": "not authorized to delete"}})
SENT = ["CreateSnapshot", "DeleteVolume"]


class Disk:
    """One volume that nothing uses, and its snapshot, whose states come one after the other."""

    def __init__(self, *states: str) -> None:
        self.volume: dict[str, Any] | None = {
            "VolumeId": "vol-0aaa1111bbbb2222c", "Size": 100, "VolumeType": "gp3", "State": "available",
            "Attachments": [], "CreateTime": "2025-01-01T00:00:00Z", "Iops": 3000,
        }  # fmt: skip
        self.states = list(states)
        self.snapshot = False
        self.sent: list[str] = []
        self.refuses: dict[str, Answer] = {}

    def before(self, request: Request) -> Answer:
        name = request.operation
        if name in SENT:
            self.sent.append(name)
        if name in self.refuses:
            return self.refuses.pop(name)
        if name == "DescribeRegions":
            return Answer(200, {"Regions": [{"RegionName": REGION, "OptInStatus": "opt-in-not-required"}]})
        if name == "CreateSnapshot":
            self.snapshot = True
            return Answer(200, {"SnapshotId": "snap-1", "State": "pending"})
        if name == "DescribeSnapshots":
            state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
            return Answer(200, {"Snapshots": [{"SnapshotId": "snap-1", "State": state}] if self.snapshot else []})
        if name == "DeleteVolume":
            assert self.states == ["completed"], "the volume was deleted before its backup was complete"
            self.volume = None
            return Answer(200, {})
        return Answer(200, {"Volumes": [self.volume] if self.volume else []})

    def after(self, request: Request, answer: Answer) -> None:
        raise AssertionError(f"{request} reached the network")


class Awake(CallProgress):
    """A progress that does not sleep."""

    def sleep(self, seconds: float) -> None:
        del seconds


def applied(disk: Disk, home: Path, change: Callable[[Disk], None] = lambda _disk: None, runs: int = 1) -> Outcome:
    """Scan, plan, let something happen, apply."""
    prices = AwsPrices(None, home)
    cloud = Cloud("aws", Somebody(), {}, Missing(""), Missing(""), prices, on_stage(disk), waste_pack=lambda: PACK)
    wanted = Wanted(scopes=(REGION,), checks=("ebs-unattached",))
    found = scan({"aws": cloud}, wanted, (), NOW, Awake(), "scan-1").findings
    plan = planning.make("scan-1", found, lambda _name: cloud, (), NOW, Awake())
    change(disk)
    time = iter(range(0, 100_000, 15))
    for _ in range(runs):
        run = Run(
            plan, lambda _name: cloud, Journal(Book(home), plan.id), Awake(), lambda: NOW, Clock(lambda: next(time))
        )
        (outcome,) = run.run()
    return outcome


def test_the_volume_goes_when_its_snapshot_is_complete_and_not_before(tmp_path: Path) -> None:
    disk = Disk("pending", "pending", "completed")
    assert applied(disk, tmp_path).ended == "done"
    assert disk.sent == SENT
    assert disk.volume is None


def test_a_snapshot_that_fails_keeps_the_volume_and_is_said_to_be_there(tmp_path: Path) -> None:
    disk = Disk("pending", "error")
    outcome = applied(disk, tmp_path)
    assert (outcome.ended, disk.sent) == ("failed", ["CreateSnapshot"])
    assert outcome.detail.endswith("it is error")
    assert [each.split(":")[0] for each in outcome.stands] == ["asked for", "not done"]


@pytest.mark.parametrize(
    "change",
    [
        {"State": "in-use", "Attachments": [{"InstanceId": "i-1", "State": "attached"}]},
        {"Tags": [{"Key": "modelrig-keep", "Value": "2027-01-01 needed"}]},
        {"Size": 200},
    ],
    ids=["in use", "kept", "grown"],
)
def test_a_volume_that_changed_since_the_plan_is_refused_before_anything_is_sent(
    change: dict[str, Any], tmp_path: Path
) -> None:
    disk = Disk("completed")
    assert applied(disk, tmp_path, lambda it: it.volume.update(change)).ended == "refused"  # type: ignore[union-attr]
    assert disk.sent == []


def test_a_deletion_that_is_denied_goes_on_later_with_the_same_snapshot(tmp_path: Path) -> None:
    disk = Disk("pending", "completed")
    disk.refuses["DeleteVolume"] = DENIED
    outcome = applied(disk, tmp_path, runs=2)
    assert outcome.ended == "done"
    assert disk.sent == ["CreateSnapshot", "DeleteVolume", "DeleteVolume"]


def test_what_the_cloud_refused_is_not_said_to_be_under_way(tmp_path: Path) -> None:
    disk = Disk("completed")
    disk.refuses["DeleteVolume"] = DENIED
    outcome = applied(disk, tmp_path)
    assert outcome.ended == "failed"
    assert [each.split(":")[0] for each in outcome.stands] == ["done", "asked for, failed"]


class Address:
    """An Elastic IP that belongs to nothing, and whether the NAT gateways that may hold it can be read."""

    def __init__(self) -> None:
        self.readable = True
        self.sent: list[str] = []

    def before(self, request: Request) -> Answer:
        name = request.operation
        if name == "DescribeRegions":
            return Answer(200, {"Regions": [{"RegionName": REGION, "OptInStatus": "opt-in-not-required"}]})
        if name == "DescribeNatGateways":
            return Answer(200, {"NatGateways": []}) if self.readable else DENIED
        if name == "DescribeAddresses":
            return Answer(200, {"Addresses": [{"PublicIp": "203.0.113.9", "AllocationId": "eipalloc-1"}]})
        self.sent.append(name)
        return Answer(200, {})

    def after(self, request: Request, answer: Answer) -> None:
        raise AssertionError(f"{request} reached the network")


def test_what_is_not_to_be_removed_any_more_for_what_stands_beside_it_is_refused(tmp_path: Path) -> None:
    address = Address()
    cloud = Cloud(
        "aws", Somebody(), {}, Missing(""), Missing(""), AwsPrices(None, tmp_path), on_stage(address),
        waste_pack=lambda: PACK,
    )  # fmt: skip
    wanted = Wanted(scopes=(REGION,), checks=("eip-unassociated",))
    found = scan({"aws": cloud}, wanted, (), NOW, Awake(), "scan-1").findings
    plan = planning.make("scan-1", found, lambda _name: cloud, (), NOW, Awake())
    assert [step.text for step in plan.findings[0].steps] == ["release 203.0.113.9: the address goes back to AWS"]
    address.readable = False
    run = Run(plan, lambda _name: cloud, Journal(Book(tmp_path), plan.id), Awake(), lambda: NOW, Clock(lambda: 0.0))
    (outcome,) = run.run()
    assert (outcome.ended, outcome.detail) == ("refused", "not all that may hold it could be read")
    assert address.sent == []
