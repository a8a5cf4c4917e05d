"""Every recorded or documented answer of AWS is one that botocore's own models allow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from typing import Any

import botocore.session
import pytest
from botocore.model import OperationModel, ServiceModel
from botocore.validate import ParamValidator

from clouds.aws.taps import typed
from clouds.replay import Answer, Fixture, load
from tests.clouds.aws.recorded import FIXTURES, build
from tests.clouds.aws.simulator.shapes import wrong_output

SCENARIOS = sorted(path.parent for path in FIXTURES.rglob("origin.json"))
USUAL = [
    folder
    for place, folder in enumerate(SCENARIOS)
    if place % 9 == 0 or "waste" not in folder.parts or os.environ.get("MODELRIG_ALL") == "1"
]
"""Of the waste scenarios, which the scans themselves replay, one in nine; MODELRIG_ALL=1 holds every one."""


ENDPOINT = {
    "EndpointName": "g",
    "EndpointArn": "arn:aws:sagemaker:us-east-2:111122223333:endpoint/g",
    "CreationTime": "2026-11-29",
    "LastModifiedTime": "2026-11-29",
}


@cache
def session() -> botocore.session.Session:
    return build()


@cache
def service_model(name: str) -> ServiceModel:
    found: ServiceModel = session().get_service_model(name)
    return found


def operation(fixture: Fixture) -> OperationModel:
    found: OperationModel = service_model(fixture.service).operation_model(fixture.operation)
    return found


def unknown(shape: Any, value: Any, path: str = "") -> Iterator[str]:
    """Parameters that the operation does not take; a wildcard stands for anything."""
    if shape is None or value == "*":
        return
    if shape.type_name == "structure":
        for key, item in value.items():
            if key in shape.members:
                yield from unknown(shape.members[key], item, f"{path}.{key}")
            else:
                yield f"{path}.{key}"
    elif shape.type_name == "list":
        for item in value:
            yield from unknown(shape.member, item, f"{path}[]")


def findings(fixture: Fixture) -> list[str]:
    """What the real API could not have sent or been asked."""
    model = operation(fixture)
    wrong = [f"asks {name}" for name in unknown(model.input_shape, fixture.parameters or {})]
    body = fixture.answer.body
    if fixture.answer.status < 300 and body is not None and model.output_shape is not None:
        answer = typed(model.output_shape, body)
        report = ParamValidator().validate(answer, model.output_shape)
        return wrong + ([report.generate_report()] if report.has_errors() else wrong_output(model, answer))
    if fixture.answer.status < 300:
        return wrong
    return wrong + ([] if set(body) == {"Error"} and set(body["Error"]) == {"Code", "Message"} else ["no Error"])


def test_there_are_fixtures() -> None:
    assert len(SCENARIOS) >= 20


def test_every_fixture_fits_the_service_model() -> None:
    wrong = {
        f"{folder.relative_to(FIXTURES)}/{item.name}": found
        for folder in USUAL
        for item in load(folder).fixtures
        if (found := findings(item))
    }
    assert wrong == {}


def test_every_scenario_has_its_whole_expected_result() -> None:
    assert [str(folder) for folder in SCENARIOS if not (folder / "expected.json").is_file()] == []


@pytest.mark.parametrize(
    ("operation", "body", "finding"),
    [
        ("DescribeEndpoint", {"EndpointName": "g"}, "Missing required parameter"),
        ("DescribeEndpoint", {"Nonsense": 1}, "Unknown parameter"),
        ("ListEndpoints", {"Endpoints": [ENDPOINT | {"EndpointStatus": "Sleeping"}]}, "enum value set"),
        ("ListEndpoints", {"Endpoints": "none"}, "Invalid type"),
    ],
)
def test_the_validator_bites(operation: str, body: Any, finding: str) -> None:
    found = findings(Fixture("01", "sagemaker", operation, Answer(body=body)))
    assert any(finding in line for line in found), found


def test_the_validator_bites_on_what_is_asked() -> None:
    fixture = Fixture("01", "ec2", "DescribeVolumes", Answer(body={}), parameters={"Filter": [], "MaxResults": "*"})
    assert findings(fixture) == ["asks .Filter"]
