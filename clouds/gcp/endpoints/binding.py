"""Puts the ledger's id and the real end into the calls of a plan: everything else is sent exactly as it was shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from clouds.errors import InvalidInput
from clouds.gcp.endpoints import labels as tags
from clouds.models import Call, DeploymentPlan, PlanStep

REQUEST = "request-id-"
"""Stands before a number in a plan's calls where a request id will be: the same for every try of one deployment, so
that a repeated call is answered with the first one's operation."""
_CRON = re.compile(r"(\d{1,2}) (\d{1,2}) (\d{1,2}) (\d{1,2}) \*")
_PLACES = re.compile(rf"{REQUEST}\d+")


def cron(moment: datetime) -> str:
    """One minute of one day, as Cloud Scheduler takes it (it comes again after a year)."""
    at = moment.astimezone(UTC)
    return f"{at.minute} {at.hour} {at.day} {at.month} *"


def planned_end(plan: DeploymentPlan) -> datetime:
    """The end that the plan's own labels name. Raises InvalidInput for a plan that is not ours."""
    for step in plan.steps:
        found = re.search(rf"{tags.EXPIRES}['\"]?[:=]\s*['\"]?(\d{{8}}t\d{{6}}z)", str(step.call.parameters))
        if found and (end := tags.moment(found[1])):
            return end
    raise InvalidInput("plan", "has no end in its labels", fix="Make the plan again.")


def bind(plan: DeploymentPlan, end: datetime) -> tuple[PlanStep, ...]:
    """The steps with the deployment's id in place of the placeholder, and every moment moved with the end."""
    before = planned_end(plan)
    old, new = cron(before), cron(end)

    def put(value: Any) -> Any:
        if isinstance(value, str):
            text = value.replace(tags.PLACEHOLDER, plan.deployment).replace(tags.stamp(before), tags.stamp(end))
            text = new if _CRON.fullmatch(text) and text == old else text
            return _PLACES.sub(lambda found: _id(plan.deployment, found[0], end), text)
        if isinstance(value, Mapping):
            return {key: put(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [put(item) for item in value]
        return value

    return tuple(
        replace(step, call=Call(step.call.service, step.call.operation, put(step.call.parameters)))
        for step in plan.steps
    )


def _id(deployment: str, number: str, end: datetime) -> str:
    return str(uuid5(NAMESPACE_URL, f"modelrig/{deployment}/{number}/{tags.stamp(end)}"))
