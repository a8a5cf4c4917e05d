from __future__ import annotations

import botocore.exceptions as its
import pytest
from botocore.exceptions import ClientError

from clouds.aws.errors import KINDS, bounded, kind_of, told
from clouds.errors import (
    ApiDisabled,
    CloudError,
    Conflict,
    CredentialExpired,
    InvalidInput,
    NoCapacity,
    NotFound,
    NotInstalled,
    NotOffered,
    NotSignedIn,
    PermissionMissing,
    QuotaTooSmall,
    Throttled,
    Unexpected,
    Unreachable,
)

# What AWS wrote in the articles of 2026-09-26 and in its error references, word for word where it was seen.
LIMIT = (
    "The account-level service limit 'ml.g6.2xlarge for endpoint usage' is 1 Instances, with current utilization of 1 "
    "Instances and a request delta of 1 Instances."
)
ARN = "arn:aws:sagemaker:us-east-2:111122223333:endpoint/g"
SEEN: tuple[tuple[str, str, int, type[CloudError]], ...] = (
    (
        "ResourceLimitExceeded",
        LIMIT,
        400,
        QuotaTooSmall,
    ),
    ("VcpuLimitExceeded", "You have requested more vCPU capacity than your current vCPU limit", 400, QuotaTooSmall),
    ("MaxSpotInstanceCountExceeded", "Max spot instance count exceeded", 400, QuotaTooSmall),
    (
        "InsufficientInstanceCapacity",
        "We currently do not have sufficient g6.xlarge capacity in the Availability Zone you requested (us-east-1a).",
        500,
        NoCapacity,
    ),
    (
        "ValidationException",
        "Unable to provision requested ML compute capacity due to InsufficientInstanceCapacity error.",
        400,
        NoCapacity,
    ),
    (
        "Unsupported",
        "Your requested instance type (g6.xlarge) is not supported in your requested Availability Zone (us-east-1e).",
        400,
        NotOffered,
    ),
    ("ValidationException", f'Cannot update in-progress endpoint "{ARN}".', 400, Conflict),
    ("ValidationException", f'Cannot create already existing endpoint "{ARN}".', 400, Conflict),
    ("ValidationException", f'Could not find endpoint "{ARN}".', 400, NotFound),
    (
        "ValidationException",
        "1 validation error detected: Value 'a b' at 'endpointName' failed to satisfy",
        400,
        InvalidInput,
    ),
    ("EntityAlreadyExists", "Role with name r already exists.", 409, Conflict),
    ("NoSuchEntity", "The role with name r cannot be found.", 404, NotFound),
    ("InvalidInstanceID.NotFound", "The instance ID 'i-1' does not exist", 400, NotFound),
    ("DBInstanceNotFoundFault", "no", 404, NotFound),
    ("InvalidGroup.Duplicate", "The security group 'g' already exists", 400, Conflict),
    ("DependencyViolation", "resource sg-1 has a dependent object", 400, Conflict),
    ("UnauthorizedOperation", "You are not authorized to perform this operation.", 403, PermissionMissing),
    ("OptInRequired", "You are not subscribed to this service.", 403, ApiDisabled),
    ("TooManyRequestsException", "Rate exceeded", 429, Throttled),
    ("RequestLimitExceeded", "Request limit exceeded.", 503, Throttled),
    ("ExpiredTokenException", "The security token included in the request is expired", 403, CredentialExpired),
    ("RequestExpired", "Request has expired.", 400, CredentialExpired),
    ("UnrecognizedClientException", "The security token included in the request is invalid.", 400, NotSignedIn),
    ("AuthFailure", "AWS was not able to validate the provided access credentials", 401, NotSignedIn),
    ("SomethingNew", "who knows", 403, PermissionMissing),
    ("SomethingNew", "who knows", 500, Unexpected),
    ("InternalFailure", "An internal error has occurred.", 500, Unexpected),
    ("500", "<html>", 500, Unexpected),
)


@pytest.mark.parametrize(("code", "message", "status", "kind"), SEEN)
def test_a_code_and_its_words_are_one_kind(code: str, message: str, status: int, kind: type[CloudError]) -> None:
    assert kind_of(code, message, status) is kind


def test_no_code_stands_in_two_rows_of_the_table() -> None:
    from clouds.aws.errors import _CODES

    assert sum(len(codes.split()) for codes in _CODES.values()) == len(KINDS)


def answered(code: str, message: str, status: int = 400, **headers: str) -> ClientError:
    about = {"HTTPStatusCode": status, "HTTPHeaders": headers}
    return ClientError({"Error": {"Code": code, "Message": message}, "ResponseMetadata": about}, "Operation")  # type: ignore[typeddict-item]


def test_an_error_says_what_was_tried_what_aws_answered_and_what_to_do() -> None:
    error = told(answered(*SEEN[0][:2]), "sagemaker.CreateEndpoint in us-east-2", "us-east-2")
    assert (error.tried, error.code, error.answered, error.fix, error.sent) == (
        "sagemaker.CreateEndpoint in us-east-2",
        "ResourceLimitExceeded",
        SEEN[0][1],
        "Ask for more in Service Quotas for us-east-2, or use another region or instance type.",
        True,
    )


def test_a_missing_permission_is_named() -> None:
    words = "User: arn:aws:iam::1:user/dev is not authorized to perform: sagemaker:CreateModel because no policy"
    error = told(answered("AccessDeniedException", words), "sagemaker.CreateModel in us-east-2", "us-east-2")
    assert error.fix.startswith("Ask whoever runs the account for the permission `sagemaker:CreateModel`;")


def test_a_refused_value_names_its_field_and_was_sent() -> None:
    words = "1 validation error detected: Value 'a b' at 'variants.1.member.modelName' failed to satisfy constraint"
    error = told(answered("ValidationException", words), "sagemaker.CreateModel in us-east-2", "us-east-2")
    assert isinstance(error, InvalidInput)
    assert (error.field, error.code, error.answered, error.sent) == ("modelName", "ValidationException", words, True)


def test_throttling_keeps_the_wait_that_aws_asked_for() -> None:
    error = told(answered("ThrottlingException", "Rate exceeded", **{"retry-after": "7"}), "x", "")
    assert (type(error), error.retry_after) == (Throttled, 7.0)


URL = "https://sagemaker.us-east-2.amazonaws.com/"


@pytest.mark.parametrize(
    ("error", "kind", "sent"),
    [
        (its.EndpointConnectionError(endpoint_url=URL), Unreachable, False),
        (its.ConnectTimeoutError(endpoint_url=URL), Unreachable, False),
        (its.ReadTimeoutError(endpoint_url=URL), Unreachable, True),
        (its.ConnectionClosedError(endpoint_url=URL), Unreachable, True),
        (its.NoCredentialsError(), NotSignedIn, False),
        (its.LoginRefreshRequired(), CredentialExpired, False),
        (its.LoginTokenLoadError(error_msg="Please reauthenticate with 'aws login'"), CredentialExpired, False),
        (its.UnauthorizedSSOTokenError(), CredentialExpired, False),
        (its.CredentialRetrievalError(provider="custom-process", error_msg="x"), CredentialExpired, False),
        (its.MissingDependencyException(msg="Missing Dependency: botocore[crt]"), NotInstalled, False),
        (its.ProfileNotFound(profile="work"), InvalidInput, False),
        (its.ParamValidationError(report="Missing required parameter"), InvalidInput, False),
        (its.InvalidRegionError(region_name="us east"), InvalidInput, False),
        (its.PaginationError(message="The same next token was received twice"), Unexpected, True),
    ],
)
def test_what_botocore_raises_itself_is_one_of_our_kinds(error: Exception, kind: type[CloudError], sent: bool) -> None:
    ours = told(error, "sagemaker.ListEndpoints in us-east-2", "us-east-2")
    assert (type(ours), ours.sent) == (kind, sent)
    assert ours.fix


def test_words_from_outside_are_one_bounded_line_without_control_characters() -> None:
    assert bounded("a\n\x1b[31mb" + "c" * 1000) == "a [31mb" + "c" * 592 + "…"
