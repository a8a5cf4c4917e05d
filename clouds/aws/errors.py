"""Turns what botocore raises into our tree of errors, by AWS's own codes.

AWS uses one code for several things (`ValidationException` for a missing, a taken and a badly named endpoint alike) and
several codes for one. The tables are by code; where a code is not enough, its words decide. Codes from botocore's
models (1.44.8), the EC2 error reference and the articles of 2026-09-26, read 2026-11-29.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from clouds.aws.words import REMEDIES, about_signing_in
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
    packages,
)

Kind = type[CloudError]

_CODES: Mapping[Kind, str] = {
    PermissionMissing: """AccessDenied AccessDeniedException UnauthorizedOperation AuthorizationError NotAuthorized
        UnauthorizedAccess AuthorizationErrorException UnauthorizedException ForbiddenException""",
    ApiDisabled: "OptInRequired SubscriptionRequiredException SubscriptionRequired PendingVerification",
    CredentialExpired: "ExpiredToken ExpiredTokenException RequestExpired TokenRefreshRequired",
    NotSignedIn: """InvalidClientTokenId UnrecognizedClientException InvalidAccessKeyId AuthFailure
        SignatureDoesNotMatch InvalidSignatureException IncompleteSignature MissingAuthenticationToken
        MissingAuthenticationTokenException""",
    Throttled: """Throttling ThrottlingException ThrottledException RequestLimitExceeded TooManyRequestsException
        RequestThrottled RequestThrottledException EC2ThrottledException SlowDown PriorRequestNotComplete
        ProvisionedThroughputExceededException BandwidthLimitExceeded ClientLimitExceededException""",
    QuotaTooSmall: """ResourceLimitExceeded VcpuLimitExceeded InstanceLimitExceeded MaxSpotInstanceCountExceeded
        LimitExceeded LimitExceededException ServiceQuotaExceededException QuotaExceededException
        VolumeLimitExceeded AddressLimitExceeded SecurityGroupLimitExceeded RulesPerSecurityGroupLimitExceeded
        MaxConfigLimitExceededException SnapshotLimitExceeded""",
    NoCapacity: """InsufficientInstanceCapacity InsufficientCapacity InsufficientHostCapacity CapacityError
        InsufficientReservedInstanceCapacity ReservationCapacityExceeded InsufficientAddressCapacity
        InsufficientFreeAddressesInSubnet SpotMaxPriceTooLow UnfulfillableCapacity InsufficientCapacityException""",
    NotOffered: "Unsupported UnsupportedOperation UnsupportedOperationException UnsupportedInstanceAttribute",
    Conflict: """EntityAlreadyExists ResourceInUse ResourceInUseException ConflictException DeleteConflict
        ResourceAlreadyExistsException ResourceExistsException AlreadyExistsException InvalidGroup.Duplicate
        InvalidKeyPair.Duplicate InvalidPermission.Duplicate DependencyViolation IncorrectState VolumeInUse
        IncorrectInstanceState InvalidSnapshot.InUse InvalidDBInstanceState InvalidClusterState
        IdempotentParameterMismatch ConcurrentModification OperationNotPermitted OperationNotPermittedException
        OperationAborted ConcurrentModificationException""",
    NotFound: """NoSuchEntity ResourceNotFound ResourceNotFoundException NotFoundException ParameterNotFound
        RepositoryNotFoundException ImageNotFoundException NoSuchBucket NoSuchKey NoSuchResourceException""",
    InvalidInput: """ValidationException ValidationError InvalidParameter InvalidParameterValue MissingParameter
        InvalidParameterCombination InvalidParameterException InvalidParameterValueException InvalidInput
        InvalidRequest InvalidRequestException MalformedPolicyDocument InvalidAMIID.Malformed InvalidNextToken
        InvalidNextTokenException InvalidPaginationTokenException IllegalArgumentException UnknownParameter
        InvalidUserData.Malformed InvalidInstanceID.Malformed BadRequestException""",
}
KINDS: Mapping[str, Kind] = {code: kind for kind, codes in _CODES.items() for code in codes.split()}

# One code, several meanings: its words decide, and come first.
_WORDS: tuple[tuple[re.Pattern[str], Kind], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), kind)
    for pattern, kind in (
        (r"could not find (endpoint|model|requested|the)|does not exist|was not found", NotFound),
        (r"cannot create already existing|already exists", Conflict),
        (r"cannot update in-progress|in-progress endpoint|is in use", Conflict),
        (r"insufficient ?instance ?capacity|insufficient capacity", NoCapacity),
        (r"account-level service limit|more vcpu capacity than your current", QuotaTooSmall),
        (r"security token included in the request is expired|token has expired", CredentialExpired),
        (r"is not authorized to perform", PermissionMissing),
        (r"rate exceeded", Throttled),
    )
)
_VAGUE = frozenset(
    {"ValidationException", "ValidationError", "InvalidParameterValue", "ClientException", "Unsupported"}
)


def told(error: Exception, tried: str, region: str) -> CloudError:
    """The error of our tree for anything that botocore raised. `tried` is a clause."""
    from botocore.exceptions import ClientError

    if isinstance(error, ClientError):
        return _answered(error.response, tried, region)
    return _unanswered(error, tried)


def kind_of(code: str, message: str, status: int = 400) -> Kind:
    """Which error a code and its words are."""
    if code in _VAGUE or code not in KINDS:
        for pattern, kind in _WORDS:
            if pattern.search(message):
                return kind
    if code in KINDS:
        return KINDS[code]
    if re.search(r"NotFound(Exception|Fault)?$|^NoSuch|\.NotFound", code):
        return NotFound
    if code.endswith(("LimitExceeded", "LimitExceededException", "QuotaExceeded")):
        return QuotaTooSmall
    if re.search(r"\.Malformed$|^Invalid.*(Value|Parameter|Format)", code):
        return InvalidInput
    return {401: NotSignedIn, 403: PermissionMissing, 404: NotFound, 429: Throttled}.get(status, Unexpected)


def _answered(response: Mapping[str, Any], tried: str, region: str) -> CloudError:
    error, about = response.get("Error", {}), response.get("ResponseMetadata", {})
    code, message = str(error.get("Code", "")), bounded(str(error.get("Message", "")))
    kind = kind_of(code, message, int(about.get("HTTPStatusCode", 400)))
    if kind is InvalidInput:
        wrong = InvalidInput(_field(message) or "request", f"AWS refused it: {message}", fix=REMEDIES["invalid_input"])
        wrong.tried, wrong.answered, wrong.code, wrong.sent = f"{wrong.tried} ({tried})", message, code, True
        return wrong
    wait = about.get("HTTPHeaders", {}).get("retry-after", "")
    return kind(
        tried,
        answered=message,
        code=code,
        fix=_fix(kind, message, region),
        retry_after=float(wait) if str(wait).isdigit() else None,
    )


def _fix(kind: Kind, message: str, region: str) -> str:
    if kind in (NotSignedIn, CredentialExpired):
        return about_signing_in(region if kind is NotSignedIn else "")
    if kind is PermissionMissing:
        action = re.search(r"perform:? ([a-z0-9-]+:[A-Za-z*]+)", message)
        need = f"the permission `{action[1]}`" if action else "the missing permission"
        if "service control policy" in message:
            return f"Leave {region} out: your organisation's policy denies {need} there, and only it can allow it."
        return f"Ask whoever runs the account for {need}; what modelrig needs is in policy/aws-*.json."
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
    return REMEDIES[name].format(region=region or "this region")


def _unanswered(error: Exception, tried: str) -> CloudError:
    from botocore import exceptions as its

    words, name = bounded(str(error)), type(error).__name__
    if isinstance(error, its.MissingDependencyException):
        return NotInstalled(
            tried, answered=words, code=name, sent=False,
            fix=f"The sign-in of `aws login` needs botocore[crt]: {packages('aws')}",
        )  # fmt: skip
    if isinstance(error, its.ParamValidationError):
        return InvalidInput("request", f"{tried}: {words}", fix="Correct what the message names; nothing was sent.")
    if isinstance(error, its.ProfileNotFound):
        return InvalidInput("aws_profile", words, fix="Name a profile that `aws configure list-profiles` shows.")
    if isinstance(error, its.NoRegionError | its.InvalidRegionError):
        return InvalidInput("region", words, fix="Name an AWS region, for example us-east-2.")
    if isinstance(error, its.NoCredentialsError | its.PartialCredentialsError):
        return NotSignedIn(tried, answered=words, code=name, sent=False, fix=about_signing_in())
    ended = (its.LoginError, its.SSOError, its.TokenRetrievalError, its.CredentialRetrievalError, its.NoAuthTokenError)
    if isinstance(error, ended):
        return CredentialExpired(tried, answered=words, code=name, sent=False, fix=about_signing_in())
    if isinstance(error, its.EndpointConnectionError | its.ConnectTimeoutError | its.ProxyConnectionError):
        return Unreachable(tried, answered=words, code=name, sent=False, fix=REMEDIES["unreachable"])
    if isinstance(error, its.HTTPClientError):
        return Unreachable(tried, answered=words, code=name, fix=REMEDIES["answer_lost"])
    return Unexpected(tried, answered=words, code=name, fix=REMEDIES["unexpected"])


def bounded(text: str, limit: int = 600) -> str:
    """Words from outside on one line, cut where they get long."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _field(message: str) -> str:
    found = re.search(r"at '([A-Za-z0-9.]{1,80})' failed", message)
    return found[1].rsplit(".", 1)[-1] if found else ""
