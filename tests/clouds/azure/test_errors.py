from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clouds.azure.deepest import Said, said
from clouds.azure.errors import constraints, kind_of, quota_words, told
from clouds.errors import (
    ApiDisabled,
    CloudError,
    Conflict,
    InvalidInput,
    NoCapacity,
    NotFound,
    NotOffered,
    NotSignedIn,
    PermissionMissing,
    QuotaTooSmall,
    Throttled,
    Unexpected,
)
from tests.clouds.azure.rig import problem

EXAMPLES = Path(__file__).parents[4] / "shared" / "recordings" / "azure-rest-api-examples" / "_errors.json"
QUOTA = (
    "Operation could not be completed as it results in exceeding approved standardDASv5Family Cores quota. Additional "
    "details - Deployment Model: Resource Manager, Location: eastus, Current Limit: 100, Current Usage: 96, Additional "
    "Required: 64, (Minimum) New Limit Required: 160."
)
TIGHT = (
    "Allocation failed. VM(s) with the following constraints cannot be allocated, because the condition is too "
    "restrictive. Please remove some constraints and try again. Constraints applied are:\n  - Availability Zone\n  - "
    "VM Size\n"
)


@pytest.mark.parametrize(
    ("status", "body", "kind", "code", "fix"),
    [
        (
            409,
            problem("OperationNotAllowed", QUOTA),
            QuotaTooSmall,
            "OperationNotAllowed",
            "limit of 160 on standardDA",
        ),
        (409, problem("OperationNotAllowed", "The VM is being deleted"), Conflict, "OperationNotAllowed", "Look at"),
        (409, problem("SkuNotAvailable", "not available in location"), NoCapacity, "SkuNotAvailable", "restricted"),
        (409, problem("AllocationFailed", "Allocation failed."), NoCapacity, "AllocationFailed", "another location"),
        (
            409,
            problem(
                "ResourceOperationFailure",
                "terminal state",
                details=[{"code": "OverconstrainedZonalAllocationRequest", "message": TIGHT, "target": "11"}],
            ),
            NoCapacity,
            "OverconstrainedZonalAllocationRequest",
            "Availability Zone; VM Size",
        ),
        (
            409,
            problem(
                "MissingSubscriptionRegistration",
                "must be registered to use namespace 'Microsoft.App'",
                details=[{"code": "MissingSubscriptionRegistration", "target": "Microsoft.App", "message": "x"}],
            ),
            ApiDisabled,
            "MissingSubscriptionRegistration",
            "az provider register --namespace Microsoft.App --subscription sub-1",
        ),
        (
            400,
            {"code": "VMSizeNotSupported", "message": "Virtual Machine size: 'X' is not supported for subscription"},
            NotOffered,
            "VMSizeNotSupported",
            "check_capacity",
        ),
        (429, problem("429", "Too many requests. Please retry."), Throttled, "429", "Wait"),
        (
            403,
            problem("AuthorizationFailed", "does not have authorization to perform action 'Microsoft.App/x/read' over"),
            PermissionMissing,
            "AuthorizationFailed",
            "the action `Microsoft.App/x/read`",
        ),
        (403, problem("RequestDisallowedByPolicy", "policy"), PermissionMissing, "RequestDisallowedByPolicy", "policy"),
        (409, problem("ScopeLocked", "cannot delete"), Conflict, "ScopeLocked", "remove the lock"),
        (404, problem("ResourceNotFound", "not found"), NotFound, "ResourceNotFound", "List what is there"),
        (404, None, NotFound, "HTTP 404", "List what is there"),
        (404, "<html>nothing</html>", Unexpected, "HTTP 404", "Repeat"),
        (404, problem("InvalidResourceType", "could not be found"), Unexpected, "InvalidResourceType", "nothing about"),
        (
            400,
            problem("NoRegisteredProviderFound", "not supported"),
            Unexpected,
            "NoRegisteredProviderFound",
            "retired",
        ),
        (401, problem("InvalidAuthenticationToken", "bad"), NotSignedIn, "InvalidAuthenticationToken", "az login"),
        (
            400,
            problem("ContainerAppInvalid", "Maximum Allowed Cores exceeded for the Managed Environment"),
            QuotaTooSmall,
            "ContainerAppInvalid",
            "Ask for more",
        ),
        (500, None, Unexpected, "HTTP 500", "Repeat"),
        (200, {"error": "oops", "message": "words"}, Unexpected, "oops", "Repeat"),
    ],
)
def test_every_answer_is_worded_by_its_deepest_code(
    status: int, body: Any, kind: type[CloudError], code: str, fix: str
) -> None:
    error = told(status, body, "trying", subscription="sub-1")
    assert type(error) is kind
    assert (error.code, fix in error.fix) == (code, True), error.fix


def test_a_wrong_field_is_named_and_the_answer_is_kept() -> None:
    error = told(400, problem("InvalidParameter", "too long", target="properties.name"), "trying")
    assert isinstance(error, InvalidInput)
    assert (error.field, error.answered, error.sent) == ("name", "too long", True)


def test_a_code_that_stands_inside_the_words_is_found() -> None:
    body = problem("QuotaExceeded", f'Code="OperationNotAllowed" Message="{QUOTA}"')
    assert said(body) == (
        Said("QuotaExceeded", f'Code="OperationNotAllowed" Message="{QUOTA}"'),
        Said("OperationNotAllowed", QUOTA),
    )
    assert type(told(200, body, "trying")) is QuotaTooSmall


def test_json_inside_the_words_is_read_too() -> None:
    inner = json.dumps(problem("SkuNotAvailable", "not here"))
    assert told(409, problem("DeploymentFailed", inner), "trying").code == "SkuNotAvailable"


def test_an_inner_error_is_deeper() -> None:
    body = problem("BadRequest", "outer", innererror={"code": "InsufficientQuota", "message": "inner"})
    error = told(400, body, "trying")
    assert (type(error), error.code, error.answered) == (QuotaTooSmall, "InsufficientQuota", "inner")


def test_a_deeper_code_that_nobody_knows_does_not_hide_the_one_that_is_known() -> None:
    body = problem("QuotaExceeded", "outer", details=[{"code": "Details", "message": "inner"}])
    assert told(409, body, "trying").code == "QuotaExceeded"


def test_an_error_without_end_is_read_to_a_bound() -> None:
    body: dict[str, Any] = {"code": "X", "message": "m"}
    for _ in range(50):
        body = {"code": "X", "message": "m", "details": [body]}
    assert len(said({"error": body})) == 9


def test_words_from_outside_are_bounded_and_on_one_line() -> None:
    error = told(500, problem("X", "a\n\x00b" + "c" * 5000), "trying")
    assert (len(error.answered), "\n" in error.answered) == (600, False)


def test_the_four_numbers_of_a_quota_are_read() -> None:
    assert quota_words(QUOTA) == {
        "name": "standardDASv5Family Cores",
        "limit": "100",
        "used": "96",
        "asked": "64",
        "needed": "160",
    }
    assert quota_words("no quota") is None


def test_the_constraints_are_listed() -> None:
    assert constraints(TIGHT) == ("Availability Zone", "VM Size")


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("InUseSubnetCannotBeDeleted", Conflict),
        ("VaultNotFound", NotFound),
        ("CoreQuotaExceeded", QuotaTooSmall),
        ("InvalidVaultName", InvalidInput),
        ("SomethingNew", Unexpected),
    ],
)
def test_a_code_that_is_in_no_table_is_read_by_its_ending(code: str, kind: type[CloudError]) -> None:
    assert kind_of(code, "") is kind


def test_every_published_example_is_told_apart() -> None:
    if not EXAMPLES.is_file():
        pytest.skip("the published examples are not beside this checkout")
    read = json.loads(EXAMPLES.read_text("utf-8"))
    kinds = {
        name: type(told(each.get("status", 409), each.get("body") or {"error": each["error"]}, "trying")).__name__
        for name, each in read.items()
        if isinstance(each, dict) and ("body" in each or "error" in each)
    }
    assert kinds == {
        "MissingSubscriptionRegistration": "ApiDisabled",
        "OperationNotAllowed_family_quota": "QuotaTooSmall",
        "QuotaExceeded_low_priority": "QuotaTooSmall",
        "SkuNotAvailable": "NoCapacity",
        "AllocationFailed": "NoCapacity",
        "ZonalAllocationFailed": "NoCapacity",
        "OverconstrainedZonalAllocationRequest": "NoCapacity",
        "VMSizeNotSupported_flat": "NotOffered",
        "CostManagement429": "Throttled",
    }
