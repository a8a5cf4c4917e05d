"""A plan over two projects is carried out through the real api: backed up, waited for, removed and read back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clouds.base import Cloud, Missing
from clouds.gcp.api import GcpApi
from clouds.gcp.checks import PACK
from clouds.gcp.prices import GcpPrices
from clouds.gcp.session import recorded
from clouds.replay import Answer, Request
from tests.clouds.gcp.checks.stage import NOW, Somebody, Stage, waste
from tests.clouds.gcp.schemas import wrong, wrong_answer
from tests.tools.cleanup.world import Ticking
from tools.cleanup import planning, reach
from tools.cleanup.applying import Outcome, Run
from tools.cleanup.journal import Journal
from tools.cleanup.records import CleanupPlan
from tools.cleanup.waiting import Clock
from tools.ledger import Book
from tools.progress import CallProgress
from tools.waste.scan import Wanted, scan

LIST = "compute.disks.aggregatedList"
GONE = Answer(404, {"error": {"code": 404, "message": "The resource was not found", "status": "NOT_FOUND"}})

IN_USE = Answer(
    400,
    {
        "error": {
            "code": 400,
            "message": "The disk is in use by 'web'",
            "errors": [{"reason": "resourceInUseByAnotherResource"}],
        }
    },
)


class World(Stage):
    """Two projects with a disk each; a snapshot is ready at the second look."""

    def __init__(self) -> None:
        super().__init__()
        self.disks: dict[str, bool] = {"shop-prod": True, "lab": True}
        self.looks: dict[str, int] = {}
        self.protected: set[str] = set()
        self.body = json.dumps(waste("disk-unattached").answers[LIST])

    def _found(self, request: Request) -> Any:
        project, name = request.account, request.name
        if name == "cloudresourcemanager.projects.search":
            return {
                "projects": [{"name": f"projects/{each}", "projectId": each, "state": "ACTIVE"} for each in self.disks]
            }
        answer = self._answered(project, name)
        if not isinstance(answer, Answer):
            service, _, operation = name.partition(".")
            assert wrong_answer(service, operation, answer) == []
        return answer

    def _answered(self, project: str, name: str) -> Any:
        match name:
            case "compute.disks.aggregatedList":
                text = self.body.replace("shop-prod", project)
                return json.loads(text) if self.disks[project] else {"items": {}}
            case "compute.disks.createSnapshot":
                self.looks[project] = 0
                return {"name": "operation-1", "status": "RUNNING", "targetId": "7"}
            case "compute.snapshots.get":
                self.looks[project] = self.looks.get(project, 0) + 1
                return {"name": "s", "status": "READY" if self.looks[project] > 1 else "CREATING"}
            case "compute.disks.delete":
                if project in self.protected:
                    return IN_USE
                self.disks[project] = False
                return {"name": "operation-2", "status": "RUNNING"}
            case "compute.disks.get":
                return {"name": "data", "status": "READY"} if self.disks[project] else GONE
        raise AssertionError(name)

    def bodies(self, operation: str) -> list[Mapping[str, Any]]:
        return [request.parameters["body"] for request in self.sent if request.name == operation]


def cloud_of(world: World, home: Path) -> Cloud:
    api = GcpApi(build=recorded, taps=(world,), attempts=1)
    prices = GcpPrices(None, home)
    return Cloud("gcp", Somebody(), {}, Missing(""), Missing(""), prices, api, waste_pack=lambda: PACK)


def plan_of(cloud: Cloud) -> CleanupPlan:
    found = scan({"gcp": cloud}, Wanted(checks=("disk-unattached",)), (), NOW, CallProgress(), "s")
    assert {each.account for each in found.findings} == {"shop-prod", "lab"}
    return planning.make("s", found.findings, lambda _: cloud, (), NOW, CallProgress())


def carried_out(cloud: Cloud, plan: CleanupPlan, home: Path) -> tuple[Outcome, ...]:
    ticking = Ticking()
    with Book(home) as book:
        run = Run(plan, lambda _: cloud, Journal(book, plan.id), ticking, lambda: NOW, Clock(lambda: ticking.at))
        return run.run()


def test_each_disk_is_snapshotted_in_its_own_project_before_it_is_deleted(tmp_path: Path) -> None:
    world = World()
    cloud = cloud_of(world, tmp_path)
    plan = plan_of(cloud)
    assert reach.problem(cloud, {each.account for each in plan.findings}, CallProgress()) == ""
    assert [each.ended for each in carried_out(cloud, plan, tmp_path)] == ["done", "done"]
    assert world.disks == {"shop-prod": False, "lab": False}
    for project in world.disks:
        mine = [request.name for request in world.sent if request.account == project]
        assert mine.index("compute.disks.createSnapshot") < mine.index("compute.disks.delete")
        assert mine.count("compute.disks.delete") == 1
    for body in world.bodies("compute.disks.createSnapshot"):
        assert wrong("compute", "Snapshot", body) == []
        assert body["name"].startswith("modelrig-c-")


def test_a_disk_that_comes_into_use_in_one_project_stays_and_the_other_one_goes(tmp_path: Path) -> None:
    world = World()
    cloud = cloud_of(world, tmp_path)
    plan = plan_of(cloud)
    world.protected.add("lab")
    ended = {each.finding.account: each for each in carried_out(cloud, plan, tmp_path)}
    assert {project: each.ended for project, each in ended.items()} == {"shop-prod": "done", "lab": "failed"}
    assert "in use" in ended["lab"].detail
    assert any(line.startswith("done: snapshot") for line in ended["lab"].stands)
    assert world.disks == {"shop-prod": False, "lab": True}


def test_a_project_that_is_no_longer_reached_stops_the_plan_before_anything_is_sent(tmp_path: Path) -> None:
    world = World()
    cloud = cloud_of(world, tmp_path)
    plan = plan_of(cloud)
    del world.disks["lab"]
    problem = reach.problem(cloud, {each.account for each in plan.findings}, CallProgress())
    assert problem == "was made for project lab, which these credentials do not reach"
