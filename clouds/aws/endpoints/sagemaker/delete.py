"""Finds everything that belongs to an endpoint, from AWS first and the ledger second, and takes it away."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from clouds.aws.api import AwsApi
from clouds.aws.endpoints import parts, roles, tags
from clouds.aws.endpoints.sagemaker import schedule, view
from clouds.errors import CloudError, Conflict, NotFound
from clouds.models import Call, EndpointRef, Scope

LONGEST = timedelta(hours=3, minutes=10)
"""For how long an endpoint can be Creating at most: an hour each for the instance, the download and the start."""
_SCHEDULE = (
    "Name",
    "Description",
    "ScheduleExpression",
    "ScheduleExpressionTimezone",
    "FlexibleTimeWindow",
    "ActionAfterCompletion",
    "Target",
)


@dataclass
class Belongings:
    """The creating calls of what was found, as `removal.remove` takes them."""

    deployment: str = ""
    calls: list[Call] = field(default_factory=list)
    settle: timedelta = LONGEST


def find(api: AwsApi, ref: EndpointRef) -> Belongings:
    """Read what exists of an endpoint. Raises Conflict for an endpoint that modelrig did not make."""
    found, scope = Belongings(), Scope(ref.location)
    _endpoint(api, ref, found)
    role = roles.EXECUTION
    for config in _named(api, scope, "EndpointConfig", ref.name):
        if _claim(api, ref, config["EndpointConfigArn"], found):
            call = {"EndpointConfigName": config["EndpointConfigName"]}
            found.calls.append(Call("sagemaker", "CreateEndpointConfig", call))
            found.settle = _settle(api, scope, call) or found.settle
    for model in _named(api, scope, "Model", ref.name):
        if _claim(api, ref, model["ModelArn"], found):
            call = {"ModelName": model["ModelName"]}
            found.calls.append(Call("sagemaker", "CreateModel", call))
            held = api.send(Call("sagemaker", "DescribeModel", call), scope=scope)
            role = str(held.get("ExecutionRoleArn", role)).rsplit("/", 1)[-1]
    for part in schedule.TARGETS:
        if (made := schedule_of(api, ref, part)) is not None:
            found.calls.append(made)
            mine = parts.tags_of_description(str(made.parameters.get("Description", "")))
            found.deployment = found.deployment or mine.get(tags.DEPLOYMENT, "")
    _policy(api, scope, role, f"modelrig-{ref.name}", found)
    return found


def _endpoint(api: AwsApi, ref: EndpointRef, found: Belongings) -> None:
    try:
        answer = view.describe(api, ref.location, ref.name)
    except NotFound:
        return
    mine = view.tags_of(api, ref.location, str(answer["EndpointArn"]))
    if not mine.get(tags.DEPLOYMENT):
        raise Conflict(
            f"deleting {ref}", answered="modelrig did not make this endpoint (it has no tag of ours)",
            fix="Delete it where it was made; scan_waste tells whether anybody uses it.",
        )  # fmt: skip
    found.deployment = mine[tags.DEPLOYMENT]
    found.calls.append(Call("sagemaker", "CreateEndpoint", {"EndpointName": ref.name}))


def _named(api: AwsApi, scope: Scope, noun: str, name: str) -> list[Mapping[str, Any]]:
    """Configurations or models of that name, and of the names that updates give (NAME-u1)."""
    answer = api.send(Call("sagemaker", f"List{noun}s", {"NameContains": name}), scope=scope)
    own = re.compile(rf"{re.escape(name)}(-u\d+)?")
    return [row for row in answer.get(f"{noun}s", []) if own.fullmatch(str(row[f"{noun}Name"]))]


def _claim(api: AwsApi, ref: EndpointRef, arn: str, found: Belongings) -> bool:
    """Whether a part is of the same deployment; the first one found says which that is when no endpoint does."""
    whose = view.tags_of(api, ref.location, arn).get(tags.DEPLOYMENT, "")
    found.deployment = found.deployment or whose
    return bool(whose) and whose == found.deployment


def _settle(api: AwsApi, scope: Scope, call: Mapping[str, Any]) -> timedelta | None:
    config = api.send(Call("sagemaker", "DescribeEndpointConfig", call), scope=scope)
    variant = config["ProductionVariants"][0]
    names = (
        "VariantInstanceProvisionTimeoutInSeconds",
        "ContainerStartupHealthCheckTimeoutInSeconds",
        "ModelDataDownloadTimeoutInSeconds",
    )
    seconds = [int(variant[name]) for name in names if variant.get(name)]
    return timedelta(seconds=sum(seconds) + 600) if len(seconds) == len(names) else None


def schedule_of(api: AwsApi, ref: EndpointRef, part: str) -> Call | None:
    """A schedule as the call that would make it; None when there is none."""
    call = Call("scheduler", "GetSchedule", {"Name": schedule.name_of(ref.name, part)})
    try:
        answer = api.send(call, scope=Scope(ref.location))
    except NotFound:
        return None
    return Call("scheduler", "CreateSchedule", {key: answer[key] for key in _SCHEDULE if key in answer})


def _policy(api: AwsApi, scope: Scope, role: str, name: str, found: Belongings) -> None:
    """The inline policy that only this deployment needed, when there is one."""
    try:
        answer = api.send(Call("iam", "GetRolePolicy", {"RoleName": role, "PolicyName": name}), scope=scope)
    except CloudError:
        return
    document = answer["PolicyDocument"]
    text = document if isinstance(document, str) else json.dumps(document)
    found.calls.append(roles.put(role, name, text))
