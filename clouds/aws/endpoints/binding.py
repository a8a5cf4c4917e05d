"""Puts the ledger's id and the real end into the calls of a plan: everything else is sent exactly as it was shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from clouds.aws.endpoints import tags
from clouds.errors import InvalidInput
from clouds.models import Call, DeploymentPlan, PlanStep

_TIMES = re.compile(
    r"(?<=at\()\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?=\))|(?<=OnCalendar=)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?= UTC)"
)
"""The moments that a plan's calls hold: of schedules, and of the timer on a machine."""


def planned_end(plan: DeploymentPlan) -> datetime:
    """The end that the plan's own tags name. Raises InvalidInput for a plan that is not ours."""
    for step in plan.steps:
        for tag in _tags(step.call.parameters):
            if tag.get("Key") == tags.EXPIRES and (end := tags.moment(str(tag.get("Value")))):
                return end
    raise InvalidInput("plan", "has no end in its tags", fix="Make the plan again.")


def bind(plan: DeploymentPlan, end: datetime) -> tuple[PlanStep, ...]:
    """The steps with the deployment's id in place of the placeholder, and every moment moved with the end."""
    before = planned_end(plan)
    old, new = tags.stamp(before), tags.stamp(end)

    def put(value: Any) -> Any:
        if isinstance(value, str):
            text = value.replace(tags.PLACEHOLDER, plan.deployment).replace(old, new)
            return _TIMES.sub(lambda found: _moved(found[0], before, end), text)
        if isinstance(value, Mapping):
            return {key: put(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [put(item) for item in value]
        return value

    return tuple(
        replace(step, call=Call(step.call.service, step.call.operation, put(step.call.parameters)))
        for step in plan.steps
    )


def _moved(text: str, before: datetime, end: datetime) -> str:
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC) + (end - before)
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S" if "T" in text else "%Y-%m-%d %H:%M:%S")


def _tags(parameters: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    plain = list(parameters.get("Tags", []))
    return plain + [tag for spec in parameters.get("TagSpecifications", []) for tag in spec["Tags"]]
