"""The calls of one region: what is planned, printed, written down and sent is this same value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from clouds.aws.endpoints import roles, shapes, tags
from clouds.aws.endpoints.sagemaker import container, schedule
from clouds.aws.endpoints.sagemaker.settings import Chosen
from clouds.models import Call

VARIANT = "AllTraffic"
MOST_POOLS = 5
"""Instance types of one variant (botocore 1.44.8: InstancePools, 1 to 5)."""
_FIELDS = {
    "EndpointName": "name",
    "EndpointConfigName": "name",
    "ModelName": "name",
    "Name": "name",
    "Image": "image",
    "InferenceAmiVersion": "ami",
}


@dataclass(frozen=True)
class Build:
    """All that the calls of one region are made from."""

    name: str
    model: str
    region: str
    account: str
    owner: str
    end: datetime
    image: str
    types: Sequence[str]
    accelerators: int
    chosen: Chosen
    deployment: str = tags.PLACEHOLDER
    suffix: str = ""
    image_words: str = ""
    """The image as a person reads it: version, tag, the beginning of its digest."""

    @property
    def pairs(self) -> list[dict[str, str]]:
        """The tags of every part."""
        return tags.make(self.deployment, self.end, self.owner)

    @property
    def part(self) -> str:
        """The name of model and configuration; an update gives them another one."""
        return self.name + self.suffix

    @property
    def settle(self) -> timedelta:
        """The longest for which the endpoint can stay Creating."""
        start, download = container.time_outs(self.model, self.chosen)
        return timedelta(seconds=self.chosen.capacity_wait_seconds + start + download + 600)


def create_model(build: Build) -> Call:
    """Image, environment and role."""
    role = build.chosen.role or roles.arn(roles.EXECUTION, build.account, build.region)
    return Call(
        "sagemaker",
        "CreateModel",
        {
            "ModelName": build.part,
            "ExecutionRoleArn": role,
            "PrimaryContainer": container.definition(build.model, build.image, build.chosen, build.accelerators),
            "Tags": build.pairs,
        },
    )


def create_config(build: Build) -> Call:
    """Which types in which order, and how long each part of a start may take."""
    startup, download = container.time_outs(build.model, build.chosen)
    variant: dict[str, Any] = {
        "VariantName": VARIANT,
        "ModelName": build.part,
        "InitialInstanceCount": 1,
        "InstancePools": [{"InstanceType": kind, "Priority": place} for place, kind in enumerate(build.types, 1)],
        "VariantInstanceProvisionTimeoutInSeconds": build.chosen.capacity_wait_seconds,
        "ContainerStartupHealthCheckTimeoutInSeconds": startup,
        "ModelDataDownloadTimeoutInSeconds": download,
    }
    if build.chosen.ami:
        variant["InferenceAmiVersion"] = build.chosen.ami
    return Call(
        "sagemaker",
        "CreateEndpointConfig",
        {"EndpointConfigName": build.part, "ProductionVariants": [variant], "Tags": build.pairs},
    )


def create_endpoint(build: Build) -> Call:
    """The call from which something may bill."""
    return Call(
        "sagemaker",
        "CreateEndpoint",
        {"EndpointName": build.name, "EndpointConfigName": build.part, "Tags": build.pairs},
    )


def create_schedules(build: Build) -> tuple[Call, ...]:
    """The deletions, made before the endpoint: nothing ever runs without its end."""
    named = {"endpoint": build.name, "again": build.name, "config": build.part, "model": build.part}
    return tuple(
        schedule.create(
            build.name, part, named[part], when, account=build.account, region=build.region, pairs=build.pairs
        )
        for part, when in schedule.moments(build.end, build.settle).items()
    )


def in_order(build: Build) -> tuple[Call, ...]:
    """All calls of a region, checked against the API's own limits. Raises InvalidInput with the argument's name."""
    found = (create_model(build), create_config(build), *create_schedules(build), create_endpoint(build))
    for call in found:
        shapes.check(call, _FIELDS)
    return found
