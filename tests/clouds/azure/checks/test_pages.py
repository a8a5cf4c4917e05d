"""What is behind an empty first page is found: by every check (by default every sixth; all with MODELRIG_ALL=1)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clouds.azure.checks import CHECKS
from clouds.models.waste import WasteCheck
from clouds.replay import Answer, Fixture, Scenario
from tests.clouds.azure.checks.stage import SUBSCRIPTION, Account
from tests.clouds.azure.checks.test_unknown import first_operation, loaded, waste_scenario
from tests.clouds.rows import some

NEXT = f"https://management.azure.com/subscriptions/{SUBSCRIPTION}/providers/x?api-version=2020-01-01&$skiptoken=2"


def paged(scenario: Scenario, operation: str, link: str) -> Scenario:
    """The listing in two pages, of which the first one is empty."""
    fixtures: list[Fixture] = []
    for each in scenario.fixtures:
        if f"{each.service}.{each.operation}" == operation:
            first = replace(each, answer=Answer(200, {"value": [], "nextLink": link}))
            fixtures += [first, replace(each, parameters={**(each.parameters or {}), "nextLink": link})]
        else:
            fixtures.append(each)
    return replace(scenario, fixtures=tuple(fixtures))


def whole(check: WasteCheck, account: Account) -> Scenario:
    """The scenario with what it needs of the subscription, where that is the listing itself."""
    scenario = loaded(waste_scenario(check.id))
    return replace(scenario, fixtures=(*scenario.fixtures, *account.base.fixtures))


@pytest.mark.parametrize("check", some(CHECKS, 6), ids=lambda check: check.id)
def test_a_check_finds_what_is_behind_an_empty_first_page(check: WasteCheck, account: Account) -> None:
    scenario = paged(whole(check, account), first_operation(check), NEXT)
    result = account.scan(check.id, scenario)
    assert (len(result.findings), result.complete) == (1, True)


def test_a_next_page_on_a_foreign_host_is_refused_and_makes_the_scan_incomplete(account: Account) -> None:
    check = next(each for each in CHECKS if each.id == "unattached-disk")
    scenario = paged(whole(check, account), first_operation(check), NEXT.replace("management.azure.com", "example.com"))
    result = account.scan(check.id, scenario)
    assert (result.findings, result.complete) == ((), False)
    assert account.stage.replay.operations.count("Microsoft.Compute/disks.list") == 1


def test_a_page_that_comes_again_is_an_error_and_not_an_endless_reading(account: Account) -> None:
    check = next(each for each in CHECKS if each.id == "unattached-disk")
    scenario = paged(whole(check, account), first_operation(check), NEXT)
    again = tuple(
        replace(each, answer=Answer(200, {"value": [], "nextLink": NEXT}))
        if "nextLink" in (each.parameters or {})
        else each
        for each in scenario.fixtures
    )
    result = account.scan(check.id, replace(scenario, fixtures=again))
    assert (result.findings, result.complete) == ((), False)
    assert "the same page twice" in result.unread[0].reason
