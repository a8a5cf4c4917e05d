"""Turns what Azure answers into our tree of errors, by its own codes.

Azure uses one code for several things (`OperationNotAllowed` for a quota and for a state) and several codes for one.
The tables are by code; where a code is not enough, its words decide. Sources: the ARM reference, karpenter-provider-
azure and public issues, read 2026-11-29.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from clouds.azure.deepest import Said, deepest
from clouds.azure.words import REMEDIES, about_signing_in, bounded
from clouds.errors import (
    ApiDisabled,
    CloudError,
    Conflict,
    CredentialExpired,
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

Kind = type[CloudError]

# A wrong or retired type or version. Never "nothing there", whatever the status.
RETIRED = frozenset(
    {
        "InvalidResourceType",
        "NoRegisteredProviderFound",
        "InvalidApiVersionParameter",
        "InvalidResourceNamespace",
        "MissingApiVersionParameter",
        "UnsupportedApiVersion",
    }
)
_CODES: Mapping[Kind, str] = {
    PermissionMissing: """AuthorizationFailed LinkedAuthorizationFailed Forbidden RBACAccessDenied AccessDenied
        DenyAssignmentAuthorizationFailed RequestDisallowedByPolicy UserNotAuthorized Unauthorized
        AuthorizationPermissionMismatch InsufficientPermissions LinkedAccessCheckFailed ReadOnlyDisabledSubscription""",
    ApiDisabled: "MissingSubscriptionRegistration SubscriptionNotRegistered MissingRegistrationForLocation",
    CredentialExpired: "ExpiredAuthenticationToken",
    NotSignedIn: """InvalidAuthenticationToken AuthenticationFailed InvalidAuthenticationTokenTenant
        InvalidAuthenticationTokenAudience AuthenticationFailedMissingToken AuthenticationFailedInvalidHeader
        InvalidAuthenticationInfo""",
    Throttled: """TooManyRequests RateLimiting RateLimitExceeded ResourceRequestsThrottled OperationThrottled
        SubscriptionRequestsThrottled TooManyRequestsException ServerTooBusy 429""",
    QuotaTooSmall: """QuotaExceeded InsufficientQuota ResourceQuotaExceeded OutOfQuota QuotaLimitExceeded
        MaxNumberOfRegionalEnvironmentsInSubExceeded MaxNumberOfGlobalEnvironmentsInSubExceeded
        MaxStorageAccountsCountPerSubscriptionExceeded PublicIPCountLimitReached SubscriptionQuotaExceeded
        MaximumResourceCountExceeded BatchAccountQuotaReached""",
    NoCapacity: """SkuNotAvailable AllocationFailed ZonalAllocationFailed OverconstrainedAllocationRequest
        OverconstrainedZonalAllocationRequest OutOfCapacity InsufficientCapacity CapacityNotAvailable
        NotEnoughCapacity ManagedEnvironmentCapacityHeavyUsageError AksCapacityHeavyUsage""",
    NotOffered: """VMSizeNotSupported LocationNotAvailableForResourceType NoRegisteredLocation InvalidVMSize
        NotAvailableForSubscription SkuNotSupported InvalidSku UnsupportedSku RegionNotSupported
        LocationNotSupported NotSupportedLocation DeploymentModelNotSupported""",
    Conflict: """Conflict AnotherOperationInProgress OperationPreempted ResourceExists ResourceAlreadyExists
        ScopeLocked NameUnavailable AccountNameAlreadyTaken CustomDomainInUse ResourceGroupBeingDeleted
        ResourceNotEmpty StorageAccountAlreadyTaken AlreadyExists ConflictingConcurrentWriteNotAllowed
        FlagMustBeSetForRestore PreconditionFailed InvalidResourceLocation""",
    NotFound: """ResourceNotFound ResourceGroupNotFound SubscriptionNotFound ParentResourceNotFound NotFound
        EntityNotFound TenantNotFound InvalidSubscriptionId DeploymentNotFound""",
    InvalidInput: """InvalidParameter InvalidRequestContent BadRequest InvalidRequestFormat ValidationError
        InvalidTemplate LocationRequired InvalidRequest InvalidRequestBody InvalidPropertyValue
        InvalidResourceName InvalidDatabaseAccount InvalidFilterInQueryString ReservedResourceName""",
}
KINDS: Mapping[str, Kind] = {
    **{code: kind for kind, codes in _CODES.items() for code in codes.split()},
    **dict.fromkeys(RETIRED, Unexpected),
}
# One code, several meanings: its words decide, and come first.
_WORDS: tuple[tuple[re.Pattern[str], Kind], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), kind)
    for pattern, kind in (
        (r"exceeding approved .{0,80}quota|quota .{0,40}(exceeded|limit)|exceeds? .{0,60}quota", QuotaTooSmall),
        (r"maximum allowed cores exceeded|not enough quota|insufficient quota|out of quota", QuotaTooSmall),
        (r"sufficient capacity|out of capacity|allocation failed|no capacity", NoCapacity),
        (r"not available for subscription|not supported for subscription", NotOffered),
        (r"does not have authorization to perform", PermissionMissing),
        (r"already exists|is in use|another operation .{0,40}in progress", Conflict),
        (r"was not found|could not be found|does not exist", NotFound),
    )
)
# Codes that say so little that their words come first.
VAGUE = frozenset({"OperationNotAllowed", "BadRequest", "Conflict", "ValidationError", "InvalidParameter", "Forbidden"})
_QUOTA = re.compile(
    r"exceeding approved (?P<name>.{1,80}?) quota.*?Current Limit: (?P<limit>\d+), Current Usage: (?P<used>\d+), "
    r"Additional Required: (?P<asked>\d+), \(Minimum\) New Limit Required: (?P<needed>\d+)",
    re.DOTALL | re.IGNORECASE,
)
_ACTION = re.compile(r"perform action '([A-Za-z0-9./*-]{3,160})'")
_NAMESPACE = re.compile(r"namespace '([A-Za-z0-9.]{3,80})'")


def told(status: int, body: Any, tried: str, *, retry_after: float | None = None, subscription: str = "") -> CloudError:
    """The error of our tree for an answer of Azure's. `tried` is a clause."""
    what = deepest(body, lambda code: code in KINDS)
    message = bounded(what.message) or (bounded(body) if isinstance(body, str) else "")
    kind = kind_of(what.code, message, status)
    if kind is InvalidInput:
        field = what.target.rsplit(".", 1)[-1] if re.fullmatch(r"[A-Za-z0-9_.\[\]-]{1,80}", what.target) else "request"
        wrong = InvalidInput(field, f"Azure refused it: {message}", fix=REMEDIES["invalid_input"])
        wrong.tried, wrong.answered, wrong.code, wrong.sent = f"{wrong.tried} ({tried})", message, what.code, True
        return wrong
    answered = message or f"HTTP {status}"
    return kind(
        tried,
        answered=answered,
        code=what.code or f"HTTP {status}",
        fix=_fix(kind, what, message, subscription),
        retry_after=retry_after,
    )


def kind_of(code: str, message: str, status: int = 400) -> Kind:
    """Which error a code and its words are."""
    if code in RETIRED:
        return Unexpected
    if code in VAGUE or code not in KINDS:
        for pattern, kind in _WORDS:
            if pattern.search(message):
                return kind
    if code in KINDS:
        return KINDS[code]
    for ending, kind in (
        (r"NotFound$", NotFound),
        (r"Quota(Exceeded|Reached)$|LimitExceeded$|LimitReached$", QuotaTooSmall),
        (r"InUse|NotEmpty|AlreadyExists|InProgress|CannotBeDeleted$|CannotDelete", Conflict),
        (r"^Invalid.*(Value|Parameter|Format|Name|Body)$", InvalidInput),
    ):
        if re.search(ending, code):
            return kind
    by_status: Mapping[int, Kind] = {
        401: NotSignedIn,
        403: PermissionMissing,
        404: NotFound if code or not message else Unexpected,
        409: Conflict,
        412: Conflict,
        429: Throttled,
    }
    return by_status.get(status, Unexpected)


def quota_words(message: str) -> Mapping[str, str] | None:
    """Name, limit, used, asked and needed of a quota that Azure says was exceeded; None where it does not say."""
    found = _QUOTA.search(message)
    return found.groupdict() if found else None


def constraints(message: str) -> tuple[str, ...]:
    """What an overconstrained allocation lists as its constraints: which of them to relax."""
    return tuple(line.strip(" -") for line in message.splitlines() if line.strip().startswith("- "))


def _fix(kind: Kind, what: Said, message: str, subscription: str) -> str:
    if kind in (NotSignedIn, CredentialExpired):
        return about_signing_in()
    if what.code in RETIRED:
        return REMEDIES["retired"]
    if what.code == "RequestDisallowedByPolicy":
        return REMEDIES["restricted"]
    if what.code == "ScopeLocked":
        return "A lock protects it: remove the lock if it may go (`az lock list`), then repeat this call."
    if kind is PermissionMissing:
        action = _ACTION.search(message)
        need = f"the action `{action[1]}`" if action else "the missing permission"
        return f"Ask whoever runs the subscription for {need}; what modelrig needs is in policy/azure-*.json."
    if kind is ApiDisabled:
        named = _NAMESPACE.search(message)
        provider = what.target or (named[1] if named else "NAMESPACE")
        return REMEDIES["api_disabled"].format(provider=bounded(provider, 80), subscription=subscription or "ID")
    if kind is QuotaTooSmall and (figures := quota_words(message)):
        return f"Ask for a limit of {figures['needed']} on {figures['name']} (it is {figures['limit']}), or take less."
    if relax := constraints(what.message):
        return f"Relax one of these and try again: {'; '.join(bounded(each, 60) for each in relax[:6])}."
    if what.code == "SkuNotAvailable":
        return "check_capacity says whether it is restricted for this subscription; else try another zone, or later."
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
    return REMEDIES[name]
