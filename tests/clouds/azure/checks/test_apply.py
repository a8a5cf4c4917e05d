"""A plan carried out against a subscription in memory: the snapshot is complete first, what is deleted is read back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2

from clouds.azure.api import AzureApi
from clouds.azure.checks import PACK
from clouds.azure.prices import AzurePrices
from clouds.base import Cloud, Missing
from clouds.replay import load
from tests.clouds.azure.checks.stage import FIXTURES, NOW, SUBSCRIPTION, Somebody
from tests.clouds.azure.rig import Clock as Time
from tests.clouds.azure.rig import Credential
from tests.tools.cleanup.world import Ticking
from tools.cleanup import planning
from tools.cleanup.applying import Outcome, Run
from tools.cleanup.journal import Journal
from tools.cleanup.waiting import Clock
from tools.ledger import Book
from tools.progress import CallProgress
from tools.waste.scan import Wanted, scan

GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/lab"
DISK = f"{GROUP}/providers/Microsoft.Compute/disks/zrs"


class Subscription(httpx2.BaseTransport):
    """One unattached disk; snapshots that take `needs` looks; every write is written down."""

    def __init__(self, ends: str = "Succeeded", needs: int = 2) -> None:
        folder = FIXTURES / "unattached-disk" / "a_zone_redundant_premium_disk"
        self.disks = {DISK: load(folder).fixtures[0].answer.body["value"][0]}
        self.snapshots: dict[str, dict[str, Any]] = {}
        self.looks, self.ends, self.needs = 0, ends, needs
        self.log: list[str] = []
        self.happens: Callable[[], None] | None = None

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        path, body = request.url.path, request.read()
        status, answer = self._answer(request.method, path, json.loads(body) if body else None)
        return httpx2.Response(status, json=answer) if answer is not None else httpx2.Response(status)

    def _answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        if method != "GET":
            self.log.append(f"{method} {path.rsplit('/', 2)[-2]}/{path.rsplit('/', 1)[-1].split('-c-', maxsplit=1)[0]}")
        if path == "/tenants":
            return 200, {"value": [{"tenantId": "t", "displayName": "Contoso"}]}
        if path == "/subscriptions":
            return 200, {"value": [{"subscriptionId": SUBSCRIPTION, "state": "Enabled"}]}
        if path.endswith("/providers/Microsoft.Compute/disks"):
            return 200, {"value": list(self.disks.values())}
        if "/snapshots/" in path:
            return self._snapshot(method, path, body)
        if path == DISK:
            return self._disk(method)
        listing = {"/locks": {"value": []}, "/resourceGroups": {"value": [{"id": GROUP, "name": "lab"}]}}
        found = next((answer for tail, answer in listing.items() if path.endswith(tail)), None)
        if found is None and path.endswith("/providers"):
            names = ("Microsoft.Compute", "Microsoft.Authorization")
            found = {"value": [{"namespace": each, "registrationState": "Registered"} for each in names]}
        assert found is not None, f"nobody answers {method} {path}"
        return 200, found

    def _snapshot(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        if method == "PUT":
            self.snapshots[path] = {**body, "id": path, "properties": {"provisioningState": "Updating"}}
            return 202, self.snapshots[path]
        self.looks += 1
        if self.looks >= self.needs:
            self.snapshots[path]["properties"]["provisioningState"] = self.ends
            if self.happens:
                self.happens()
        return 200, self.snapshots[path]

    def _disk(self, method: str) -> tuple[int, Any]:
        missing = {"error": {"code": "ResourceNotFound", "message": "The Resource was not found."}}
        if DISK not in self.disks:
            return 404, missing
        if method == "DELETE":
            del self.disks[DISK]
            return 202, None
        return 200, self.disks[DISK]


def carried_out(azure: Subscription, home: Path) -> Outcome:
    time = Time()
    api = AzureApi(
        credential=lambda: Credential(time), inner=azure, clock=time, sleep=time.sleep, signed_in=lambda: (), attempts=2
    )
    cloud = Cloud(
        "azure", Somebody(), {}, Missing(""), Missing(""), AzurePrices(None, home), api, waste_pack=lambda: PACK
    )
    found = scan({"azure": cloud}, Wanted(checks=("unattached-disk",)), (), NOW, CallProgress(), "scan")
    plan = planning.make(found.id, found.findings, lambda _name: cloud, (), NOW, CallProgress())
    assert [step.name for step in plan.findings[0].steps] == ["snapshot", "delete"]
    plan = replace(plan, id="c-abcdef")
    ticking = Ticking()
    with Book(home) as book:
        run = Run(plan, lambda _name: cloud, Journal(book, plan.id), ticking, lambda: NOW, Clock(lambda: ticking.at))
        return run.run()[0]


def test_the_snapshot_is_complete_before_the_disk_is_deleted_and_the_disk_is_read_back(tmp_path: Path) -> None:
    azure = Subscription()
    outcome = carried_out(azure, tmp_path)
    assert (outcome.ended, outcome.detail) == ("done", "done and read back")
    assert azure.log == ["PUT snapshots/zrs", "DELETE disks/zrs"]
    assert azure.looks >= 2
    assert azure.disks == {}
    made = next(iter(azure.snapshots.values()))
    assert made["tags"]["modelrig-cleanup"].startswith("c-")


def test_a_snapshot_that_fails_deletes_nothing(tmp_path: Path) -> None:
    azure = Subscription(ends="Failed")
    outcome = carried_out(azure, tmp_path)
    assert outcome.ended == "failed"
    assert "it is Failed" in outcome.detail
    assert azure.log == ["PUT snapshots/zrs"]
    assert list(azure.disks) == [DISK]


def test_a_disk_that_is_attached_while_its_snapshot_is_taken_is_read_again_and_not_deleted(tmp_path: Path) -> None:
    azure = Subscription(needs=12)

    def attach() -> None:
        azure.disks[DISK] = {**azure.disks[DISK], "managedBy": f"{GROUP}/providers/Microsoft.Compute/virtualMachines/w"}

    azure.happens = attach
    outcome = carried_out(azure, tmp_path)
    assert (outcome.ended, outcome.detail) == ("refused", "in use now")
    assert azure.log == ["PUT snapshots/zrs"]
