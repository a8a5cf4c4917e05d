"""A resource that Azure names without its properties: what is not said of it is not taken for what is not there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clouds.azure.checks import PACK
from clouds.azure.checks.reads import INDEXES
from clouds.models.waste import WasteCheck
from clouds.replay import Answer, Fixture
from tests.clouds.azure.checks.stage import Account, loaded, waste_scenario
from tests.clouds.azure.checks.test_unknown import changed, listing, operations
from tests.clouds.rows import some

BY_TAGS_ALONE = "own-expired"
"""What is ours and when it ends stands in tags, which are no properties."""
CHECKS = [check for check in PACK.checks if check.id != BY_TAGS_ALONE]


def bare(each: Fixture) -> Fixture:
    """The same rows, of which nothing is said but what they are called."""
    body = each.answer.body
    if "value" in body:
        said = {**body, "value": [{**row, "properties": None} if "id" in row else row for row in body["value"]]}
    else:
        said = {**body, "properties": None}
    return replace(each, answer=Answer(each.answer.status, said))


def listed(each: Fixture) -> bool:
    return each.operation in ("list", "list_in", "get") and each.service not in {
        *INDEXES,
        "Microsoft.Insights/metrics",
    }


@pytest.mark.parametrize("check", some(CHECKS, 4), ids=lambda check: check.id)
def test_resources_without_properties_are_never_found_to_be_unused(check: WasteCheck, account: Account) -> None:
    scenario = loaded(waste_scenario(check.id))
    assert len(account.known(waste_scenario(check.id)).scan.findings) == 1
    for operation in operations(scenario):
        scenario = changed(scenario, operation, lambda each: bare(each) if listed(each) else each)
    assert _removable(account.scan(check.id, scenario).findings, check) == []


def _removable(findings: Any, check: WasteCheck) -> list[str]:
    """What was found; an age alone that came bare keeps the finding and not its removal."""
    indexed = listing(check).service in INDEXES
    return [each.name for each in findings if each.removable or not indexed]


@pytest.mark.parametrize("check", ["elastic-pool-empty", "empty-container-apps-environment"])
def test_a_user_without_properties_may_be_one_of_this_very_resource(check: str, account: Account) -> None:
    users = {
        "elastic-pool-empty": "Microsoft.Sql/servers/databases.list_in",
        "empty-container-apps-environment": "Microsoft.App/jobs.list",
    }
    scenario = loaded(waste_scenario(check))
    said = {
        "value": [{"id": f"{account.known(waste_scenario(check)).scan.findings[0].resource}/x/y", "properties": None}]
    }
    result = account.scan(
        check, changed(scenario, users[check], lambda each: replace(each, answer=Answer(200, said), parameters=None))
    )
    assert (result.findings, result.complete) == ((), False)
    assert "without its properties" in result.unresolved[0].reason
