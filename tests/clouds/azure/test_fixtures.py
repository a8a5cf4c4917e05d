"""Every documented or recorded answer of Azure is for a call that the table of versions has, in ARM's own shapes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from clouds.azure import versions
from clouds.replay import Answer, Fixture
from tests.clouds.azure.checks.stage import loaded
from tests.clouds.azure.recorded import FIXTURES

SCENARIOS = sorted(path.parent for path in FIXTURES.rglob("origin.json"))
VERBS = ("list", "list_in", "get", "put", "patch", "delete")
PARAMETERS = {"id", "parent", "query", "body", "tenant", "nextLink", "operation"}
_GUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"([0-9a-f])\1{7}-|0{8}-", re.IGNORECASE)


def findings(fixture: Fixture) -> Iterator[str]:
    """What Azure could not have answered or been asked."""
    row = versions.rows().get(fixture.service.lower())
    if row is None and fixture.service not in ("operations", "web"):  # web: registries and apps, which are not ARM's
        yield f"the table has no {fixture.service}"
    elif row is not None and row.type != fixture.service:
        yield f"{fixture.service} is spelt {row.type}"
    yield from (f"asks {name}" for name in sorted(set(fixture.parameters or {}) - PARAMETERS))
    yield from _body(fixture, fixture.answer)


def _body(fixture: Fixture, answer: Answer) -> Iterator[str]:
    body = answer.body
    if answer.status >= 300:
        error = body.get("error", body) if isinstance(body, dict) else None
        if body is not None and not (isinstance(error, dict) and {"code", "message"} <= set(error)):
            yield "an error without code and message"
    elif fixture.operation in ("list", "list_in") and fixture.service != "prices" and not isinstance(body, dict):
        yield "a listing that is no object"
    elif fixture.operation == "list" and fixture.service != "prices" and not isinstance(body.get("value"), list):
        yield "a listing without value"


def accounts(value: Any) -> set[str]:
    return {found for found in _GUID.findall(str(value)) if not _PLACEHOLDER.match(found)}


def test_there_are_fixtures() -> None:
    assert len(SCENARIOS) >= 10


def test_every_fixture_is_one_that_azure_could_have_given() -> None:
    wrong: dict[str, list[str]] = {}
    for folder in SCENARIOS:
        scenario = loaded(folder)
        said = [f"{each.name}: {word}" for each in scenario.fixtures for word in findings(each)]
        said += accounts([each.answer.body for each in scenario.fixtures])
        if said:
            wrong[str(folder.relative_to(FIXTURES))] = said
    assert wrong == {}


def test_every_scenario_has_its_whole_expected_result() -> None:
    assert [str(folder) for folder in SCENARIOS if not (folder / "expected.json").is_file()] == []


@pytest.mark.parametrize(
    ("service", "operation", "answer", "finding"),
    [
        ("Microsoft.Nothing/things", "list", Answer(body={"value": []}), "the table has no Microsoft.Nothing/things"),
        ("Microsoft.App/containerapps", "list", Answer(body={"value": []}), "is spelt Microsoft.App/containerApps"),
        ("Microsoft.App/containerApps", "list", Answer(body={"items": []}), "a listing without value"),
        ("Microsoft.App/containerApps", "get", Answer(403, {"message": "no"}), "an error without code"),
    ],
)
def test_the_validator_bites(service: str, operation: str, answer: Answer, finding: str) -> None:
    found = list(findings(Fixture("01", service, operation, answer)))
    assert any(finding in line for line in found), found


def test_the_validator_bites_on_what_is_asked_and_on_a_real_id() -> None:
    fixture = Fixture("01", "tenants", "list", Answer(body={"value": []}), parameters={"filter": 1})
    assert list(findings(fixture)) == ["asks filter"]
    assert accounts("3db3ce66-50b6-4d11-91ef-5950cf4039ed 00000000-0000-0000-0000-000000000001") == {
        "3db3ce66-50b6-4d11-91ef-5950cf4039ed"
    }
