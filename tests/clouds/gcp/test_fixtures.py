"""Every recorded or documented answer of Google's is one that its own documents allow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clouds.errors import InvalidInput
from clouds.gcp import methods
from clouds.models import Call
from clouds.replay import Answer, Fixture, load
from tests.clouds.gcp.recorded import FIXTURES
from tests.clouds.gcp.schemas import wrong, wrong_answer

SCENARIOS = sorted(path.parent for path in FIXTURES.rglob("origin.json"))


def findings(fixture: Fixture) -> list[str]:
    """What the real API could not have sent or been asked. A registry's digest is none of Google's answers."""
    if fixture.service == "registry":
        return [] if str(fixture.answer.body.get("digest", "")).startswith("sha256:") else ["is no digest"]
    try:
        method = methods.method(Call(fixture.service, fixture.operation))
    except InvalidInput as error:
        return [str(error)]
    asked = fixture.parameters or {}
    known = {*method.in_path, *method.in_query, *(("body",) if method.body else ())}
    found = [f"asks {name}" for name in sorted(asked.keys() - known)]
    if isinstance(asked.get("body"), dict):
        found += wrong(fixture.service, method.body, asked["body"])
    if fixture.answer.status < 300 and fixture.answer.body is not None:
        found += wrong_answer(fixture.service, fixture.operation, fixture.answer.body)
    elif fixture.answer.body is not None and "error" not in fixture.answer.body:
        found.append("is an error without an error")
    return found


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_a_fixture_is_one_that_google_could_have_sent(scenario: Path) -> None:
    assert {fixture.name: found for fixture in load(scenario).fixtures if (found := findings(fixture))} == {}


@pytest.mark.parametrize(
    ("service", "operation", "more", "says"),
    [
        ("tpu", "projects.locations.nodes.get", {"body": {"stat": "READY"}}, "Node.stat is not in the document"),
        ("tpu", "projects.locations.nodes.get", {"body": {"state": "RUNNING"}}, "Node.state is 'RUNNING'"),
        ("compute", "instances.get", {"body": {"disks": {}}}, "Instance.disks is dict, not array"),
        ("compute", "instances.get", {"body": {"id": "a"}}, "Instance.id is 'a', not a number"),
        ("compute", "instances.get", {"parameters": {"vm": "x"}, "body": {}}, "asks vm"),
        ("compute", "instances.got", {"body": {}}, "is not among the operations"),
        ("registry", "manifests.get", {"body": {"tag": "latest"}}, "is no digest"),
        ("compute", "instances.get", {"status": 404, "body": {}}, "is an error without an error"),
    ],
)
def test_an_invented_fixture_is_found(service: str, operation: str, more: dict[str, Any], says: str) -> None:
    answer = Answer(more.get("status", 200), more["body"])
    fixture = Fixture("x", service, operation, answer, parameters=more.get("parameters"))
    assert says in "; ".join(findings(fixture))
