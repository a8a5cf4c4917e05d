"""Many projects in one scan, with and without an organization-wide inventory."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from clouds.gcp.checks import PACK
from clouds.replay import Answer, Request
from tests.clouds.gcp.checks.stage import DENIED, NOW, OFF, Account, Scenario, waste
from tests.clouds.gcp.schemas import wrong_answer
from tools.progress import CallProgress
from tools.waste.records import Scan
from tools.waste.scan import Wanted, scan

NAMES = ("shop-prod", "shop-test", "lab")
PROJECTS = {"projects": [{"name": f"projects/{number}", "projectId": name, "state": "ACTIVE"}
                         for number, name in enumerate(NAMES, 101)]}  # fmt: skip
DYING = {"name": "projects/999", "projectId": "gone-soon", "state": "DELETE_REQUESTED"}
ORGANIZATIONS = {"organizations": [{"name": "organizations/1", "displayName": "example.com"}]}
DISKS, ENDPOINTS = "compute.disks.aggregatedList", "aiplatform.projects.locations.endpoints.list"
LOCATIONS = "aiplatform.projects.locations.list"
PLACES = {"locations": [{"name": f"l/{each}", "locationId": each} for each in ("us-central1", "europe-west4")]}


def asset(number: int, kind: str, location: str = "global") -> dict[str, str]:
    return {"assetType": kind, "project": f"projects/{number}", "location": location}


PROJECT_ASSETS = [asset(101, "cloudresourcemanager.googleapis.com/Project"),
                  asset(102, "cloudresourcemanager.googleapis.com/Project")]  # fmt: skip
FOUND = {
    "results": [
        *PROJECT_ASSETS,
        asset(101, "compute.googleapis.com/Disk", "us-central1-a"),
        asset(102, "aiplatform.googleapis.com/Endpoint", "europe-west4"),
    ]
}


def own(body: Any) -> Any:
    """An answer that each project gives of its own resources."""
    return lambda request: json.loads(json.dumps(body).replace("shop-prod", request.account))


def answers(inventory: Any) -> Scenario:
    disk, endpoint = waste("disk-unattached"), waste("vertex-endpoint-idle")
    return Scenario(
        {
            **{name: own(body) for name, body in {**disk.answers, **endpoint.answers}.items()}, LOCATIONS: PLACES,
            "cloudresourcemanager.projects.search": {"projects": [*PROJECTS["projects"], DYING]},
            "cloudresourcemanager.organizations.search": ORGANIZATIONS,
            "cloudasset.v1.searchAllResources": inventory,
        },
        endpoint.metrics,
    )  # fmt: skip


def look(account: Account, scenario: Scenario, *checks: str) -> Scan:
    account.stage.put_on(scenario)
    return scan({"gcp": account.cloud}, Wanted(checks=checks), (), NOW, CallProgress(), "scan")


def asked(account: Account, operation: str) -> Counter[str]:
    return Counter(request.account for request in account.stage.sent if request.name == operation)


def test_the_answers_of_these_tests_are_made_of_fields_that_exist() -> None:
    assert wrong_answer("cloudasset", "v1.searchAllResources", FOUND) == []
    assert wrong_answer("cloudresourcemanager", "organizations.search", ORGANIZATIONS) == []
    assert wrong_answer("cloudresourcemanager", "projects.search", PROJECTS) == []


def test_every_active_project_is_looked_at_and_one_that_is_being_deleted_is_not(account: Account) -> None:
    result = look(account, answers(DENIED), "disk-unattached")
    assert [each.location for each in result.scopes] == sorted(NAMES)
    assert {each.account for each in result.findings} == set(NAMES)


def test_one_search_of_the_organization_says_which_projects_and_places_are_asked(account: Account) -> None:
    result = look(account, answers(FOUND), "disk-unattached", "vertex-endpoint-idle")
    assert asked(account, "cloudasset.v1.searchAllResources").total() == 1
    assert asked(account, DISKS) == {"shop-prod": 1, "lab": 1}
    # shop-test is asked where the inventory knows an endpoint; lab, of which it says nothing, everywhere
    assert asked(account, ENDPOINTS) == {"shop-test": 1, "lab": 2}
    assert result.coverage.pairs_judged == 6
    assert {gap.call for gap in result.unread} == set()


def test_the_search_asks_for_sorts_that_the_search_knows_and_only_for_what_it_needs(account: Account) -> None:
    look(account, answers(FOUND), "disk-unattached")
    search = next(each for each in account.stage.sent if each.name == "cloudasset.v1.searchAllResources")
    assert search.parameters["assetTypes"] == [
        "cloudresourcemanager.googleapis.com/Project",
        "compute.googleapis.com/Disk",
    ]
    every = {sort for check in PACK.checks for read in check.all_reads for sort in getattr(read, "assets", ())}
    # in the search, an address, a disk or a rule of the whole world goes under the name of its regional sort
    assert not {sort.rsplit("/", 1)[1] for sort in every} & {"RegionDisk", "GlobalAddress", "GlobalForwardingRule"}


@pytest.mark.parametrize("answer", [DENIED, OFF, {}, Answer(500, {"error": {"code": 500, "message": "x"}})])
def test_without_an_inventory_every_project_is_read_in_full(answer: Any, account: Account) -> None:
    result = look(account, answers(answer), "disk-unattached", "vertex-endpoint-idle")
    assert asked(account, DISKS) == dict.fromkeys(NAMES, 1)
    assert asked(account, ENDPOINTS) == dict.fromkeys(NAMES, 2)
    assert {each.check for each in result.findings} == {"disk-unattached", "vertex-endpoint-idle"}


def test_no_listing_is_sent_twice_in_a_scan_of_every_check(account: Account) -> None:
    every: dict[str, Any] = {}
    metrics: dict[str, Any] = {}
    for check in PACK.checks:
        for operation, body in waste(check.id).answers.items():
            every.setdefault(operation, own(body))
        metrics.update(waste(check.id).metrics)
    scenario = Scenario(
        {**every, **{key: value for key, value in answers(FOUND).answers.items() if "cloud" in key}}, metrics
    )
    result = look(account, scenario)
    sent = Counter(
        f"{request.name} {request.account} {sorted(request.parameters.items(), key=str)}"
        for request in account.stage.sent
    )
    assert [each for each, count in sent.items() if count > 1] == []
    assert result.coverage.pairs_judged == len(PACK.checks) * 3
    assert len({each.resource for each in result.findings}) == len(result.findings)


def test_a_request_in_a_project_counts_for_that_project(account: Account) -> None:
    look(account, answers(DENIED), "disk-unattached")
    sent: list[Request] = account.stage.sent
    assert {request.account for request in sent if request.name == DISKS} == set(NAMES)
