"""What botocore sends without complaint and AWS refuses is refused by us first, by the argument's own name."""

from __future__ import annotations

from typing import Any

import pytest

from clouds.aws.endpoints import shapes
from clouds.errors import InvalidInput
from clouds.models import Call


def config(**changes: Any) -> Call:
    variant = {"VariantName": "AllTraffic", "ModelName": "m", "InitialInstanceCount": 1, "InstanceType": "ml.g6.xlarge"}
    return Call(
        "sagemaker", "CreateEndpointConfig", {"EndpointConfigName": "m", "ProductionVariants": [{**variant, **changes}]}
    )


def pools(*types: str, priority: int = 1) -> list[dict[str, Any]]:
    return [{"InstanceType": kind, "Priority": priority} for kind in types]


def test_a_sound_call_passes() -> None:
    shapes.check(config())
    shapes.check(config(InstancePools=pools("ml.g6.xlarge", "ml.g6.2xlarge")))


# each of these was accepted by botocore 1.44.8 (facts of 2026-11-29), except the last three
WRONG = [
    (
        "a start-up time-out above the maximum",
        config(ContainerStartupHealthCheckTimeoutInSeconds=4000),
        "4000 is more than",
    ),
    ("an instance type that does not exist", config(InstanceType="ml.g99.huge"), "is none of"),
    ("six pools", config(InstancePools=pools(*["ml.g6.xlarge"] * 6)), "has 6 items, AWS takes 5"),
    ("a priority of nine", config(InstancePools=pools("ml.g6.xlarge", priority=9)), "9 is more than 5"),
    (
        "a name with a space",
        Call("sagemaker", "CreateEndpoint", {"EndpointName": "a b", "EndpointConfigName": "c"}),
        "match",
    ),
    ("a start-up time-out below the minimum", config(ContainerStartupHealthCheckTimeoutInSeconds=30), "Invalid"),
    ("no instance", config(InitialInstanceCount=0), "Invalid"),
    ("a member that does not exist", config(Colour="red"), "Colour"),
]


@pytest.mark.parametrize(("why", "call", "words"), WRONG, ids=[row[0] for row in WRONG])
def test_what_aws_would_refuse_is_refused_first(why: str, call: Call, words: str) -> None:
    with pytest.raises(InvalidInput) as told:
        shapes.check(call, {"EndpointName": "name"})
    assert words in str(told.value)
    assert told.value.sent is False


def test_the_error_names_the_argument_that_set_the_value() -> None:
    with pytest.raises(InvalidInput) as told:
        shapes.check(Call("sagemaker", "DeleteEndpoint", {"EndpointName": "a b"}), {"EndpointName": "name"})
    assert told.value.field == "name"


def test_enums_and_bounds_are_those_of_the_model() -> None:
    assert "ml.g6.xlarge" in shapes.allowed("sagemaker", "ProductionVariantInstanceType")
    assert shapes.bounds("sagemaker", "ProductionVariantContainerStartupHealthCheckTimeoutInSeconds") == (60, 3600)
    assert shapes.bounds("sagemaker", "VariantInstanceProvisionTimeoutInSeconds") == (300, 3600)
