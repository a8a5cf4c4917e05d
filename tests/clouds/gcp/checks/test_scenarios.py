"""Every scenario of every check gives exactly what is expected of it, through the real api.

UPDATE_EXPECTED=1 pytest tests/clouds/gcp/checks/test_scenarios.py    writes them anew; read the difference before
committing it.
"""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from clouds.gcp.checks import CHECKS
from clouds.models.waste import Detail, Listing, WasteCheck
from tests.clouds.gcp.checks.stage import FIXTURES, OFF, SERIES, Account, Scenario, scenarios, seen, waste
from tests.clouds.gcp.schemas import wrong_answer
from tests.clouds.rows import some


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_every_scenario_of_a_check_gives_exactly_what_is_expected_of_it(check: WasteCheck, account: Account) -> None:
    found = {name: seen(account.known(check.id, name).scan) for name in scenarios(check.id)}
    if os.environ.get("UPDATE_EXPECTED"):
        file = FIXTURES / f"{check.id}.scenarios"
        content = json.loads(file.read_text("utf-8"))
        for name, result in found.items():
            content["scenarios"][name]["expected"] = result
        file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
        return
    assert found == {name: each.expected for name, each in scenarios(check.id).items()}


def test_every_check_has_a_waste_and_a_healthy_twin_made_of_fields_that_exist() -> None:
    wrong: dict[str, list[str]] = {}
    for check in CHECKS:
        every = list(scenarios(check.id).values())
        said = [] if len(every[0].expected["findings"]) == 1 else ["the first is not one waste"]
        if not any(not each.expected["findings"] and each.expected["complete"] for each in every[1:]):
            said.append("no healthy twin")
        for each in every:
            for operation, body in each.answers.items():
                service, _, name = operation.partition(".")
                said += wrong_answer(service, name, body)
        if said:
            wrong[check.id] = said
    assert wrong == {}


def listing(check: WasteCheck) -> tuple[str, list[str]]:
    """The operation at the start of a check's chain, and those of its own rows."""
    read, chain = check.kind.of, []
    while isinstance(read, Detail):
        chain.append(f"{read.service}.{read.operation}")
        read = read.of
    assert isinstance(read, Listing)
    return f"{read.service}.{read.operation}", [*chain, f"{read.service}.{read.operation}"]


@pytest.mark.parametrize("check", some(CHECKS, 4, 2), ids=lambda check: check.id)
def test_an_api_that_is_not_enabled_does_not_apply_and_the_scan_is_complete(
    check: WasteCheck, account: Account
) -> None:
    first, _ = listing(check)
    result = account.scan(check.id, waste(check.id).but(**{first: OFF}))
    assert result.findings == ()
    assert result.complete, result.unread
    assert [gap.check for gap in result.not_applicable] == [check.id]


PAGED = [
    check for check in CHECKS if listing(check)[1][0].split(".")[0] not in ("appengine", "container", "storage-media")
]


@pytest.mark.parametrize("check", some(PAGED, 4, 3), ids=lambda check: check.id)
def test_what_is_behind_an_empty_first_page_is_found(check: WasteCheck, account: Account) -> None:
    own = listing(check)[1][0]
    scenario = waste(check.id)
    one = account.known(check.id).scan
    pages: list[Any] = [{"nextPageToken": "more"}, scenario.answers[own]]
    served = iter(pages)
    two = account.scan(
        check.id, Scenario({**scenario.answers, own: lambda _: next(served, pages[1])}, scenario.metrics)
    )
    assert [each.resource for each in two.findings] == [each.resource for each in one.findings]
    assert account.stage.sent[-1].parameters is not None
    assert sum(request.name == own for request in account.stage.sent) >= 2


@pytest.mark.parametrize(
    "check", some([check for check in CHECKS if listing(check)[0].endswith("aggregatedList")], 4), ids=lambda c: c.id
)
def test_a_zone_that_does_not_answer_is_named_and_the_rest_is_found(check: WasteCheck, account: Account) -> None:
    own, scenario = listing(check)[0], waste(check.id)
    partly = {**scenario.answers[own], "unreachables": ["projects/shop-prod/zones/us-east1-b"]}
    result = account.scan(check.id, scenario.but(**{own: partly}))
    assert not result.complete
    assert "us-east1-b" in result.unread[0].reason
    assert SERIES not in {gap.call for gap in result.unread}
