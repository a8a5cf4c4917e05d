"""Puts the ledger's id and the real end into the calls of a plan: everything else is sent exactly as it was shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from clouds.azure.endpoints import tags
from clouds.errors import InvalidInput
from clouds.models import Call, DeploymentPlan, PlanStep


def planned_end(plan: DeploymentPlan) -> datetime:
    """The end that the plan's own tags name. Raises InvalidInput for a plan that is not ours."""
    for step in plan.steps:
        body = step.call.parameters.get("body")
        held = tags.read(body) if isinstance(body, Mapping) else {}
        if end := tags.moment(held.get(tags.EXPIRES, "")):
            return end
    raise InvalidInput("plan", "has no end in its tags", fix="Make the plan again.")


def bind(plan: DeploymentPlan, end: datetime) -> tuple[PlanStep, ...]:
    """The steps with the deployment's id in place of the placeholder, and the end moved where it is named."""
    before = tags.stamp(planned_end(plan))

    def put(value: Any) -> Any:
        if isinstance(value, str):
            text = value.replace(tags.PLACEHOLDER, plan.deployment).replace(tags.GUID, guid(plan.deployment))
            return text.replace(before, tags.stamp(end))
        if isinstance(value, Mapping):
            return {key: put(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [put(item) for item in value]
        return value

    return tuple(
        replace(step, call=Call(step.call.service, step.call.operation, put(step.call.parameters)))
        for step in plan.steps
    )


def guid(deployment: str) -> str:
    """The name of a deployment's role assignment, which has to be a GUID and carries no tags."""
    return str(uuid5(NAMESPACE_URL, f"modelrig/{deployment}"))
