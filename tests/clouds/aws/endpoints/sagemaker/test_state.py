"""One word for what an endpoint is: AWS's status, its log and our tags decide, and unknown is never no."""

from __future__ import annotations

from typing import Any

import pytest

from clouds.aws.endpoints.sagemaker import state
from clouds.errors import CloudError, NoCapacity, QuotaTooSmall, Unexpected


def answer(
    status: str, count: int | None = None, pools: dict[str, int] | None = None, reason: str = ""
) -> dict[str, Any]:
    variant: dict[str, Any] = {"VariantName": "AllTraffic"}
    if count is not None:
        variant["CurrentInstanceCount"] = count
    if pools is not None:
        variant["InstancePools"] = [{"InstanceType": k, "CurrentInstanceCount": n} for k, n in pools.items()]
    found: dict[str, Any] = {"EndpointName": "gemma", "EndpointStatus": status}
    if count is not None or pools is not None:
        found["ProductionVariants"] = [variant]
    return {**found, "FailureReason": reason} if reason else found


STANDINGS = [
    ("waits for an instance", answer("Creating"), False, False, ("waiting_for_capacity", False)),
    ("its log has begun", answer("Creating"), True, False, ("loading", True)),
    ("its log cannot be read", answer("Creating"), None, False, ("creating", None)),
    (
        "AWS shows an instance before the log",
        answer("Creating", 0, {"ml.g6.xlarge": 1}),
        False,
        False,
        ("loading", True),
    ),
    (
        "AWS shows no instance yet",
        answer("Creating", 0, {"ml.g6.xlarge": 0}),
        False,
        False,
        ("waiting_for_capacity", False),
    ),
    ("serves and gave a token", answer("InService", 1), True, True, ("ready", True)),
    ("serves and gave none yet", answer("InService", 1), True, False, ("loading", True)),
    ("scaled to nothing", answer("InService", 0), True, True, ("stopped", False)),
    ("changes", answer("Updating", 1), True, True, ("updating", True)),
    ("is patched by AWS", answer("SystemUpdating", 1), True, True, ("updating", True)),
    ("goes back", answer("RollingBack", 1), True, True, ("updating", True)),
    ("could not go back but serves", answer("UpdateRollbackFailed", 1), True, True, ("failed", True)),
    ("failed", answer("Failed"), False, False, ("failed", False)),
    ("is going", answer("Deleting"), True, True, ("deleting", None)),
    ("is out of service", answer("OutOfService"), True, True, ("stopped", None)),
    ("a status of tomorrow", answer("Hibernating"), True, True, ("unknown", None)),
]


@pytest.mark.parametrize(
    ("why", "said", "logged", "generated", "expected"), STANDINGS, ids=[row[0] for row in STANDINGS]
)
def test_a_state_is_one_word_and_whether_it_bills(
    why: str, said: dict[str, Any], logged: bool | None, generated: bool, expected: tuple[str, bool | None]
) -> None:
    found = state.standing(said, logged=logged, generated=generated)
    assert (found.state, found.billing) == expected


def test_why_it_failed_is_aws_s_own_sentence() -> None:
    assert state.standing(answer("Failed", reason="It broke."), logged=True, generated=False).reason == "It broke."


def test_the_placed_type_is_the_pool_with_an_instance_else_the_only_one_there_is() -> None:
    pooled = answer("InService", 1, {"ml.g6.xlarge": 0, "ml.g6.2xlarge": 1})
    two = {
        "ProductionVariants": [
            {"InstancePools": [{"InstanceType": "b", "Priority": 2}, {"InstanceType": "a", "Priority": 1}]}
        ]
    }
    one = {"ProductionVariants": [{"InstanceType": "ml.g6.xlarge"}]}
    assert state.placed_type(pooled, two) == "ml.g6.2xlarge"
    assert state.placed_type(answer("InService", 1), one) == "ml.g6.xlarge"
    assert state.placed_type(answer("Creating"), two) == ""
    assert state.asked_types(two) == ("a", "b")
    assert state.asked_types({}) == ()


FAILURES: list[tuple[str, type[CloudError]]] = [
    ("Unable to provision requested ML compute capacity due to InsufficientInstanceCapacity error.", NoCapacity),
    ("ResourceLimitExceeded: The account-level service limit ...", QuotaTooSmall),
    ("The primary container for production variant AllTraffic did not pass the ping health check.", Unexpected),
    ("CannotStartContainerError. Please ensure the model container can be started.", Unexpected),
    ("", Unexpected),
]


@pytest.mark.parametrize(("reason", "kind"), FAILURES)
def test_capacity_quota_and_a_broken_container_are_told_apart(reason: str, kind: type[CloudError]) -> None:
    error = state.failure(answer("Failed", reason=reason), "us-east-2", ("OSError: no such model",))
    assert type(error) is kind
    assert reason in error.answered
    assert ("OSError" in error.answered) == (kind is Unexpected)
