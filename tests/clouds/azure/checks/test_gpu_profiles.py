"""A serverless GPU of any name is a GPU: it is never priced at the idle rate of CPU and memory."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from clouds.azure.checks.containerapps import gpu
from clouds.replay import Answer, Scenario
from tests.clouds.azure.checks.stage import FIXTURES, Account
from tests.clouds.azure.checks.test_unknown import changed, loaded

WARM = FIXTURES / "gpu-container-app-warm" / "an_a100_app_at_min_replicas_1"


@pytest.mark.parametrize(
    ("profile", "named"),
    [
        ("Consumption-GPU-NC24-A100", "a100"),
        ("Consumption-GPU-NC8as-T4", "t4"),
        ("consumption-gpu-nc24-a100", "a100"),
        ("Consumption-GPU-NC40-B200", "b200"),
        ("Consumption-GPU-L40S", "l40s"),
        ("Consumption-GPU", "gpu"),
        ("Consumption", ""),
        ("D4", ""),
        ("NC24-A100", ""),
    ],
)
def test_the_gpu_of_a_profile(profile: str, named: str) -> None:
    assert gpu(profile) == named


def on(profile: str) -> Scenario:
    """The warm app on another profile."""

    def other(body: Any) -> Any:
        body = copy.deepcopy(body)
        for row in body["value"]:
            for each in row["properties"]["workloadProfiles"]:
                each["workloadProfileType"] = profile
        return body

    return changed(
        loaded(WARM),
        "Microsoft.App/managedEnvironments.list",
        lambda each: type(each)(each.name, each.service, each.operation, Answer(200, other(each.answer.body))),
    )


@pytest.mark.parametrize("profile", ["Consumption-GPU-NC40-B200", "Consumption-GPU-L40S"])
def test_a_gpu_without_a_known_rate_is_found_at_least_at_what_is_known_and_never_as_idle_cpu(
    profile: str, account: Account
) -> None:
    found = account.scan("gpu-container-app-warm", on(profile)).findings
    assert [(each.bound, each.meters[0].usd_per_unit) for each in found] == [("at least", None)]
    assert account.scan("idle-container-app", on(profile)).findings == ()


def test_an_app_whose_dapr_is_null_is_judged(account: Account) -> None:
    scenario = loaded(FIXTURES / "idle-container-app" / "half_a_cpu_always_on")

    def without(body: Any) -> Any:
        body = copy.deepcopy(body)
        for row in body["value"]:
            row["properties"]["configuration"]["dapr"] = None
        return body

    said = changed(
        scenario,
        "Microsoft.App/containerApps.list",
        lambda each: type(each)(each.name, each.service, each.operation, Answer(200, without(each.answer.body))),
    )
    assert [each.usd_per_month for each in account.scan("idle-container-app", said).findings] == [
        each.usd_per_month for each in account.scan("idle-container-app", scenario).findings
    ]
