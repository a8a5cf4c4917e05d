"""EventBridge Scheduler: one target a schedule, one-time and rate, calling the very operations of the simulator.

How the real one retries a call that its target refused is not documented plainly; `retries` switches between the two
readings, and what must end has to end under both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from tests.clouds.aws.simulator.account import Account
from tests.clouds.aws.simulator.seam import Refused

Params = Mapping[str, Any]
RETRY_AFTER = 60.0


def _exists(account: Account, region: str, name: str) -> dict[str, Any]:
    found = account[region].schedules.get(name)
    if found is None:
        raise Refused("ResourceNotFoundException", f"Schedule {name} does not exist.", 404)
    return found


def _arn(account: Account, region: str, name: str) -> str:
    return account.arn("scheduler", region, f"schedule/default/{name}")


def create(account: Account, region: str, params: Params) -> dict[str, Any]:
    name = params["Name"]
    if name in account[region].schedules:
        same = account[region].schedules[name].get("ClientToken") == params.get("ClientToken")
        if not same or params.get("ClientToken") is None:
            raise Refused("ConflictException", f"Schedule {name} already exists.", 409)
        return {"ScheduleArn": _arn(account, region, name)}
    _arm(account, region, params)
    return {"ScheduleArn": _arn(account, region, name)}


def update(account: Account, region: str, params: Params) -> dict[str, Any]:
    _exists(account, region, params["Name"])
    _arm(account, region, params)
    return {"ScheduleArn": _arn(account, region, params["Name"])}


def _arm(account: Account, region: str, params: Params) -> None:
    if not account.role_settled(params["Target"]["RoleArn"], "scheduler.amazonaws.com"):
        raise Refused(
            "ValidationException",
            "The execution role you provide must allow AWS EventBridge Scheduler to assume the role.",
        )
    first, every = _moments(account, params)
    row = {**params, "made": account.now()}
    account[region].schedules[params["Name"]] = row
    account.clock.at(first, partial(_fire, account, region, row, every, first))


def _moments(account: Account, params: Params) -> tuple[datetime, timedelta | None]:
    text = params["ScheduleExpression"]
    if once := re.fullmatch(r"at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)", text):
        when = datetime.fromisoformat(once[1]).replace(tzinfo=UTC)
        if when <= account.now():
            raise Refused(
                "ValidationException", "Invalid Schedule Expression at(...). Schedule expression time is in the past."
            )
        return when, None
    if rate := re.fullmatch(r"rate\((\d+) minutes?\)", text):
        every = timedelta(minutes=int(rate[1]))
        return account.now() + every, every
    raise Refused("ValidationException", f"Invalid Schedule Expression {text}.")


def _fire(account: Account, region: str, row: dict[str, Any], every: timedelta | None, since: datetime) -> None:
    if account[region].schedules.get(row["Name"]) is not row:
        return
    service, action = row["Target"]["Arn"].removeprefix("arn:aws:scheduler:::aws-sdk:").split(":")
    operation = account.operations[f"{service}.{action[0].upper()}{action[1:]}"]
    try:
        operation(account, region, json.loads(row["Target"]["Input"]))
        refused = False
    except Refused:
        refused = True
    policy = row["Target"].get("RetryPolicy", {})
    age = timedelta(seconds=policy.get("MaximumEventAgeInSeconds", 86400))
    if every is not None:
        end = row.get("EndDate")
        if end is None or account.now() + every <= end:
            account.clock.at(account.now() + every, partial(_fire, account, region, row, every, account.now() + every))
            return
    elif (
        refused
        and account.scheduler_retries
        and policy.get("MaximumRetryAttempts", 185)
        and account.now() - since < age
    ):
        account.clock.later(RETRY_AFTER, partial(_fire, account, region, row, None, since))
        return
    if row.get("ActionAfterCompletion") == "DELETE":
        del account[region].schedules[row["Name"]]


def get(account: Account, region: str, params: Params) -> dict[str, Any]:
    row = _exists(account, region, params["Name"])
    keys = (
        "Name",
        "Description",
        "ScheduleExpression",
        "ScheduleExpressionTimezone",
        "FlexibleTimeWindow",
        "Target",
        "ActionAfterCompletion",
        "EndDate",
    )
    return {"Arn": _arn(account, region, row["Name"]), "State": "ENABLED", **{k: row[k] for k in keys if k in row}}


def delete(account: Account, region: str, params: Params) -> None:
    _exists(account, region, params["Name"])
    del account[region].schedules[params["Name"]]


def list_schedules(account: Account, region: str, params: Params) -> dict[str, Any]:
    prefix = params.get("NamePrefix", "")
    rows = [
        {"Name": name, "Arn": _arn(account, region, name), "GroupName": "default", "State": "ENABLED"}
        for name in sorted(account[region].schedules)
        if name.startswith(prefix)
    ]
    return {"Schedules": rows}


OPERATIONS = {
    "scheduler.CreateSchedule": create,
    "scheduler.UpdateSchedule": update,
    "scheduler.GetSchedule": get,
    "scheduler.DeleteSchedule": delete,
    "scheduler.ListSchedules": list_schedules,
}
