"""Unknown is never "no": what happens to every check when one of its reads fails, says nothing, or is not there.

Made from the scenarios in which each check finds waste: one answer is replaced, everything else stays. By default the
read that every third check lists by is denied; all the others with MODELRIG_ALL=1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from clouds.azure.checks import PACK
from clouds.azure.checks.usage import DEFINITIONS, METRICS
from clouds.models.waste import Listing, Metric, WasteCheck
from clouds.replay import Answer, Fixture, Scenario, load
from tests.clouds.azure.checks.stage import FIXTURES, NOW, SUBSCRIPTION, Account, loaded, waste_scenario
from tests.clouds.rows import ALL, some

CHECKS = {check.id: check for check in PACK.checks}
FOUND_BY_TAGS = "own-expired"
"""What is ours stays found by its tags alone, without a price where nobody may look at it (test_own.py)."""
DENIED = Answer(
    403,
    {
        "error": {
            "code": "AuthorizationFailed",
            "message": "The client 'ana' does not have authorization to perform action 'x' over scope 'y'.",
        }
    },
)


def operations(scenario: Scenario) -> list[str]:
    return sorted({f"{each.service}.{each.operation}" for each in scenario.fixtures})


def changed(scenario: Scenario, operation: str, change: Callable[[Fixture], Fixture]) -> Scenario:
    """The scenario with every answer of one operation changed."""
    fixtures = tuple(
        change(each) if f"{each.service}.{each.operation}" == operation else each for each in scenario.fixtures
    )
    return replace(scenario, fixtures=fixtures)


def denied(each: Fixture) -> Fixture:
    return replace(each, answer=DENIED, parameters=None)


def listing(check: WasteCheck) -> Listing:
    read = check.kind.of
    while not isinstance(read, Listing):
        read = read.of
    return read


def first_operation(check: WasteCheck) -> str:
    read = listing(check)
    return f"{read.service}.{read.operation}"


PRICED = ("Microsoft.Network/publicIPAddresses.list", "Microsoft.Compute/disks.list")
HOLDERS = (
    "deallocated-vm", "idle-nat-gateway", "idle-load-balancer", "idle-vpn-gateway", "appgw-no-backend",
    "idle-firewall", "idle-bastion", "orphaned-nic",
)  # fmt: skip
"""What is idle by itself; what hangs on it and is priced with it: unread, the price is at least that of the rest."""
EVERY = [(check, each) for check in CHECKS for each in operations(loaded(waste_scenario(check)))]
FEW = [(check, each) for check, each in EVERY if each == first_operation(CHECKS[check]) or METRICS in each]


@pytest.mark.parametrize(("check", "operation"), EVERY if ALL else FEW[::3])
def test_one_read_that_is_denied_makes_the_scan_incomplete_and_is_named(
    check: str, operation: str, account: Account
) -> None:
    result = account.scan(check, changed(loaded(waste_scenario(check)), operation, denied))
    assert not result.complete
    assert operation in {gap.call for gap in result.unread}
    assert "AuthorizationFailed" in str([gap.reason for gap in result.unread])
    if check in HOLDERS and operation in PRICED:
        assert [each.bound for each in result.findings] == ["at least"]
    elif operation == "Microsoft.Resources/resources.list":  # an age alone: what is found is shown, and stays
        assert [each.name for each in result.findings if each.removable] == []
    elif check == FOUND_BY_TAGS:
        assert [(each.billing, each.removable) for each in result.findings] == [("unpriced", False)]
    else:
        assert result.findings == ()


@pytest.mark.parametrize(
    ("check", "operation", "words"),
    [
        ("idle-nat-gateway", PRICED[0], "it holds public addresses that could not be read"),
        ("deallocated-vm", PRICED[1], "what bills on: disks that could not be read, 1 public address"),
    ],
)
def test_what_is_idle_by_itself_is_found_without_what_hangs_on_it(
    check: str, operation: str, words: str, account: Account
) -> None:
    (found,) = account.scan(check, changed(loaded(waste_scenario(check)), operation, denied)).findings
    assert (found.bound, words in found.reason) == ("at least", True), found.reason


@pytest.fixture(scope="module")
def nothing_registered() -> Scenario:
    return load(FIXTURES / "account" / "nothing_registered")


def emptied(each: Fixture) -> Fixture:
    return replace(each, answer=Answer(200, {"value": []}), parameters=None)


def always_there(check: WasteCheck) -> bool:
    return listing(check).service.startswith("Microsoft.Resources/")


@pytest.mark.parametrize(
    "check", some([each for each in CHECKS.values() if not always_there(each)], 4), ids=lambda each: each.id
)
def test_an_empty_page_of_a_provider_that_is_not_registered_is_not_applicable(
    check: WasteCheck, account: Account, nothing_registered: Scenario
) -> None:
    scenario = loaded(waste_scenario(check.id))
    for operation in operations(scenario):
        scenario = changed(scenario, operation, emptied)
    result = account.scan(check.id, scenario, base=nothing_registered)
    assert result.findings == ()
    assert [(gap.check, gap.location) for gap in result.not_applicable] == [(check.id, SUBSCRIPTION)]
    assert "NotRegistered" in result.not_applicable[0].reason
    assert result.complete


@pytest.mark.parametrize("code", ["NoRegisteredProviderFound", "InvalidResourceType", "InvalidApiVersionParameter"])
def test_a_retired_api_version_is_an_error_and_never_nothing_there(code: str, account: Account) -> None:
    body = {"error": {"code": code, "message": "The api-version '2019-01-01' is not supported."}}
    scenario = changed(
        loaded(waste_scenario("unattached-disk")),
        "Microsoft.Compute/disks.list",
        lambda each: replace(each, answer=Answer(404 if code == "InvalidResourceType" else 400, body)),
    )
    result = account.scan("unattached-disk", scenario)
    assert not result.complete
    assert result.not_applicable == ()
    assert code in result.unread[0].reason


MEASURED = [
    check
    for check in CHECKS.values()
    if any(isinstance(read, Metric) and read.service == METRICS for read in check.reads)
]


def silent(each: Fixture) -> Fixture:
    """The same metrics, with no series."""
    value = [{**metric, "timeseries": []} for metric in each.answer.body["value"]]
    return replace(each, answer=Answer(200, {**each.answer.body, "value": value}))


def broken(each: Fixture) -> Fixture:
    """Azure Monitor answers 200, and says of every metric that it failed."""
    value = [{**metric, "timeseries": [], "errorCode": "InternalServerError"} for metric in each.answer.body["value"]]
    return replace(each, answer=Answer(200, {**each.answer.body, "value": value}))


def undefined(each: Fixture) -> Fixture:
    return replace(each, answer=Answer(200, {"value": [{"name": {"value": "SomethingElse"}}]}))


@pytest.mark.parametrize("check", some(MEASURED, 3), ids=lambda check: check.id)
def test_an_old_resource_without_a_series_is_what_its_check_declares(check: WasteCheck, account: Account) -> None:
    scenario = changed(loaded(waste_scenario(check.id)), f"{METRICS}.list_in", silent)
    result = account.scan(check.id, scenario)
    meant = {read.absent for read in check.reads if isinstance(read, Metric)}
    if meant == {"zero"}:
        assert (len(result.findings), result.complete) == (1, True)
    else:
        assert (result.findings, result.complete) == ((), False)
        assert sum(gap.resources for gap in result.unresolved) == 1


@pytest.mark.parametrize("check", some(MEASURED, 4, 1), ids=lambda check: check.id)
def test_a_series_that_could_not_be_read_is_unread_and_never_zero(check: WasteCheck, account: Account) -> None:
    result = account.scan(check.id, changed(loaded(waste_scenario(check.id)), f"{METRICS}.list_in", broken))
    assert (result.findings, result.complete) == ((), False)
    assert {gap.call for gap in result.unread} == {f"{METRICS}.list_in"}


@pytest.mark.parametrize("check", some(MEASURED, 4, 2), ids=lambda check: check.id)
def test_a_metric_that_its_type_does_not_define_refuses_its_check(check: WasteCheck, account: Account) -> None:
    result = account.scan(check.id, changed(loaded(waste_scenario(check.id)), f"{DEFINITIONS}.list_in", undefined))
    assert (result.findings, result.complete) == ((), False)
    assert "among the metrics that this type defines" in result.unresolved[0].reason


@pytest.mark.parametrize("check", some(MEASURED, 4, 3), ids=lambda check: check.id)
def test_a_check_that_reads_metrics_is_refused_where_the_metrics_provider_is_not_registered(
    check: WasteCheck, account: Account
) -> None:
    without = changed(
        account.base,
        "providers.list",
        lambda each: replace(
            each,
            answer=Answer(
                200,
                {
                    "value": [
                        {**row, "registrationState": "NotRegistered"}
                        if row["namespace"] == "microsoft.insights"
                        else row
                        for row in each.answer.body["value"]
                    ]
                },
            ),
        ),
    )
    result = account.scan(check.id, loaded(waste_scenario(check.id)), base=without)
    assert (result.findings, result.complete) == ((), False)
    assert "Microsoft.Insights is not registered" in result.unresolved[0].reason


AGED = [check for check in CHECKS.values() if check.kind.created is not None and check.age > timedelta(0)]


@pytest.mark.parametrize("check", some(AGED, 4, 1), ids=lambda check: check.id)
def test_nothing_younger_than_its_check_asks_for_is_reported(check: WasteCheck, account: Account) -> None:
    scenario = loaded(waste_scenario(check.id))
    found = account.known(waste_scenario(check.id)).scan.findings[0]
    if not found.created:
        assert check.kind.name == "resource group"  # Azure does not say when a group was made
        return
    assert NOW - datetime.fromisoformat(found.created) >= check.age
    result = account.scan(check.id, scenario, now=datetime.fromisoformat(found.created) + check.age / 2)
    assert result.findings == ()


@pytest.mark.parametrize(
    ("check", "operation", "field"),
    [
        ("idle-app-service-plan", "Microsoft.Web/serverfarms.list", "numberOfSites"),
        ("unused-dns-zone", "Microsoft.Network/dnsZones.list", "numberOfRecordSets"),
        ("private-dns-zone-unlinked", "Microsoft.Network/privateDnsZones.list", "numberOfVirtualNetworkLinks"),
        ("aks-idle-cluster", "Microsoft.ContainerService/managedClusters.list", "agentPoolProfiles"),
        ("unattached-disk", "Microsoft.Compute/disks.list", "diskState"),
    ],
)
def test_a_field_that_decides_and_is_not_given_is_unresolved_and_not_a_zero(
    check: str, operation: str, field: str, account: Account
) -> None:
    def without(each: Fixture) -> Fixture:
        value = [
            {**row, "properties": {key: one for key, one in row["properties"].items() if key != field}}
            for row in each.answer.body["value"]
        ]
        return replace(each, answer=Answer(200, {"value": value}))

    result = account.scan(check, changed(loaded(waste_scenario(check)), operation, without))
    assert (result.findings, result.complete) == ((), False)
    assert "not given" in result.unresolved[0].reason
