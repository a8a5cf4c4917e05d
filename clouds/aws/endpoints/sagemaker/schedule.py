"""The end of a deployment, kept by EventBridge Scheduler, so that a closed laptop ends nothing late.

One-time schedules, one target each: the endpoint first, then its configuration and its model, which cost nothing. How
the scheduler retries a call that its target refused is not verified (2026-11-29), and an endpoint still Creating
refuses. So the endpoint is asked a second time, after the longest time for which it can be Creating.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from clouds.aws.endpoints import parts, roles, tags
from clouds.models import Call

TARGETS = {
    "endpoint": ("deleteEndpoint", "EndpointName"),
    "again": ("deleteEndpoint", "EndpointName"),
    "config": ("deleteEndpointConfig", "EndpointConfigName"),
    "model": ("deleteModel", "ModelName"),
}
"""By the last word of a schedule's name: what it calls, and the parameter that it names."""
RETRIES = {"MaximumRetryAttempts": 185, "MaximumEventAgeInSeconds": 86400}
"""As often and as long as the scheduler takes (botocore 1.44.8)."""
FEW_RETRIES = {"MaximumRetryAttempts": 5, "MaximumEventAgeInSeconds": 900}
"""For what usually is gone by then: a schedule that asks on would stay for a day."""
LONGEST_NAME = 46
"""Characters of a deployment's name: `modelrig-NAME-endpoint` has to fit into a schedule's 64."""
_DELETING = timedelta(minutes=15)


def name_of(deployment_name: str, part: str) -> str:
    """`modelrig-gemma-4-e2b-endpoint`."""
    return f"modelrig-{deployment_name}-{part}"


def moments(end: datetime, settle: timedelta) -> dict[str, datetime]:
    """When each part goes. `settle`: the longest for which a new endpoint can stay Creating."""
    again = end + settle
    return {
        "endpoint": end,
        "again": again,
        "config": again + _DELETING,
        "model": again + _DELETING + timedelta(minutes=5),
    }


def create(
    deployment_name: str,
    part: str,
    resource: str,
    when: datetime,
    *,
    account: str,
    region: str,
    pairs: list[dict[str, str]],
) -> Call:
    """The one-time schedule that deletes one part."""
    return Call(
        "scheduler", "CreateSchedule", _body(deployment_name, part, resource, _at(when), account, region, pairs)
    )


def moved(call: Call, when: datetime, pairs: list[dict[str, str]]) -> Call:
    """The same schedule at another time."""
    body = {**call.parameters, "ScheduleExpression": _at(when), "Description": parts.description(pairs)}
    return Call("scheduler", "UpdateSchedule", body)


def when_settled(call: Call, now: datetime, settle: timedelta) -> Call:
    """The endpoint's schedule turned into a question every minute, until it is answered with yes.

    It does not rest on how refused calls are retried; it ends when an endpoint can no longer be Creating.
    """
    body = {**call.parameters, "ScheduleExpression": "rate(1 minutes)", "EndDate": now + settle + _DELETING}
    return Call("scheduler", "UpdateSchedule", body)


def _at(when: datetime) -> str:
    return f"at({when.astimezone(UTC).strftime('%Y-%m-%dT%H:%M:%S')})"


def _body(
    deployment_name: str,
    part: str,
    resource: str,
    expression: str,
    account: str,
    region: str,
    pairs: list[dict[str, str]],
) -> dict[str, Any]:
    action, parameter = TARGETS[part]
    return {
        "Name": name_of(deployment_name, part),
        "Description": parts.description(pairs),
        "ScheduleExpression": expression,
        "ScheduleExpressionTimezone": "UTC",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "ActionAfterCompletion": "DELETE",
        "Target": {
            "Arn": f"arn:{roles.partition(region)}:scheduler:::aws-sdk:sagemaker:{action}",
            "RoleArn": roles.arn(roles.SCHEDULER, account, region),
            "Input": json.dumps({parameter: resource}),
            "RetryPolicy": RETRIES if part == "endpoint" else FEW_RETRIES,
        },
    }


def end_of(expression: str) -> datetime | None:
    """The moment of a one-time schedule; None for any other."""
    text = expression.removeprefix("at(").removesuffix(")")
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC) if expression.startswith("at(") else None
    except ValueError:
        return None


def tags_for(deployment: str, end: datetime, owner: str) -> list[dict[str, str]]:
    """The tags of a schedule's description."""
    return tags.make(deployment, end, owner)
