"""Turns what Google answers into our tree of errors.

Google uses one code for several things: RESOURCE_EXHAUSTED (8, 429) is a stockout, a used-up quota and a rate limit
alike, and 403 is a missing permission, a disabled API and a used-up quota. So reasons of ErrorInfo come first, then
codes of Compute Engine's operations, then the words, then the status. Texts from public reports and Google's discovery
documents, read 2026-11-29.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

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
    Unreachable,
)
from clouds.gcp.words import REMEDIES, fix_for

Kind = type[CloudError]

_REASONS: Mapping[str, Kind] = {
    "SERVICE_DISABLED": ApiDisabled,
    "accessNotConfigured": ApiDisabled,
    "CONSUMER_INVALID": PermissionMissing,
    "USER_PROJECT_DENIED": PermissionMissing,
    "IAM_PERMISSION_DENIED": PermissionMissing,
    "BILLING_DISABLED": ApiDisabled,
    "ACCESS_TOKEN_EXPIRED": CredentialExpired,
    "ACCESS_TOKEN_SCOPE_INSUFFICIENT": PermissionMissing,
    "insufficientPermissions": PermissionMissing,
    "CREDENTIALS_MISSING": NotSignedIn,
    "stockout": NoCapacity,
    "resource_availability": NoCapacity,
    "quotaExceeded": QuotaTooSmall,
    "limitExceeded": QuotaTooSmall,
    "rateLimitExceeded": Throttled,
    "userRateLimitExceeded": Throttled,
    "RATE_LIMIT_EXCEEDED": Throttled,
    "resourceInUseByAnotherResource": Conflict,
    "alreadyExists": Conflict,
}
_CODES: Mapping[str, Kind] = {
    "ZONE_RESOURCE_POOL_EXHAUSTED": NoCapacity,
    "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS": NoCapacity,
    "RESOURCE_POOL_EXHAUSTED": NoCapacity,
    "QUOTA_EXCEEDED": QuotaTooSmall,
    "LIMIT_EXCEEDED": QuotaTooSmall,
    "RESOURCE_ALREADY_EXISTS": Conflict,
    "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE": Conflict,
    "RESOURCE_NOT_READY": Conflict,
    "RESOURCE_NOT_FOUND": NotFound,
    "PERMISSIONS_ERROR": PermissionMissing,
    "RATE_LIMIT_EXCEEDED": Throttled,
    "UNSUPPORTED_OPERATION": NotOffered,
}
"""Codes of the operations of Compute Engine (`error.errors[].code`)."""
_WORDS: tuple[tuple[re.Pattern[str], Kind], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), kind)
    for pattern, kind in (
        (r"no more capacity|insufficient reserved capacity|does not have enough resources|stockout", NoCapacity),
        (r"currently unavailable in the \S+ zone", NoCapacity),
        (r"provisioning model is not supported|requested zone \"?\S+ is not supported", NotOffered),
        (r"not allowed to use the machine type|accelerator type \S+ (is )?not (found|supported|available)", NotOffered),
        (r"machine type .* does not exist in zone|is not available in (zone|location|region)", NotOffered),
        (r"quota (metric|exceeded for quota metric).*per minute|qps/|requests? per (minute|second)", Throttled),
        (r"quota limit '.*' has been exceeded|quota '.*' (exceeded|exhausted)|quota exceeded for total", QuotaTooSmall),
        (r"exceed quota limits|insufficient (regional |zonal |global )?quota to satisfy", QuotaTooSmall),
        (r"exceeded its quota limit|\w+PerProject(Per)?(Region|Zone)\w* requested", QuotaTooSmall),
        (r"has not been used in project .* before or it is disabled|api .*is not enabled", ApiDisabled),
        (r"already exists", Conflict),
        (r"permission '?[\w.]+'? denied|does not have permission|lacks permission", PermissionMissing),
    )
)
_STATUSES: Mapping[int | str, Kind] = {
    400: InvalidInput, 401: CredentialExpired, 403: PermissionMissing, 404: NotFound, 409: Conflict, 412: Conflict,
    429: Throttled, 3: InvalidInput, 5: NotFound, 6: Conflict, 7: PermissionMissing, 8: Throttled, 9: Conflict,
    10: Conflict, 16: CredentialExpired, 14: Unreachable, 408: Unreachable, 503: Unreachable, 504: Unreachable,
}  # fmt: skip
"""HTTP statuses, and the codes of google.rpc below 17."""
_EXHAUSTED = 8


@dataclass(frozen=True)
class Said:
    """What an error answer holds, whatever its form."""

    status: int
    code: str = ""
    message: str = ""
    reasons: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    retry_after: float | None = None


def of_answer(status: int, body: Any, headers: Mapping[str, str], tried: str) -> CloudError:
    """The error of an HTTP answer that is not a success."""
    error = body.get("error") if isinstance(body, Mapping) else None
    if isinstance(error, str):  # an OAuth answer: {"error": "invalid_grant", "error_description": ...}
        return _made(CredentialExpired, Said(status, error, str(body.get("error_description", ""))), tried)
    if not isinstance(error, Mapping):
        text = re.sub(r"<[^>]*>", " ", body) if isinstance(body, str) else ""
        said = Said(status, str(status), text, retry_after=_wait(headers, ()))
        kind = Unreachable if status >= 500 else _STATUSES.get(status, Unexpected)
        return _made(kind, said, tried)
    said = _read(status, error, headers)
    return _made(kind_of(said), said, tried)


def of_operation(operation: Mapping[str, Any], tried: str) -> CloudError | None:
    """The error of a finished operation of any of the APIs, or None when it has none.

    Compute Engine says `error.errors[]` and `httpErrorStatusCode`; the others say a google.rpc.Status.
    """
    error = operation.get("error")
    if not isinstance(error, Mapping) or not error:
        return None
    status = int(operation.get("httpErrorStatusCode") or 0) or int(error.get("code") or 0)
    said = _read(status, error, {})
    return _made(kind_of(said), said, tried)


def of_status(error: Mapping[str, Any], tried: str) -> CloudError:
    """The error of a google.rpc.Status, such as a queued resource's `failedData.error`."""
    said = _read(int(error.get("code") or 0), error, {})
    return _made(kind_of(said), said, tried)


def kind_of(said: Said) -> Kind:
    """Which error it is: by reason, by code, by words, then by status."""
    for name in (*said.reasons, said.code):
        kind = _REASONS.get(name) or _CODES.get(name)
        # a rate limit's reason is told for quotas of things too, whose words name them; 8 and 429 are all three
        if kind is not None and not (kind in (Throttled, QuotaTooSmall) and _worded(said.message)):
            return kind
    worded = _worded(said.message)
    if worded is not None:
        return worded
    if (said.code == "RESOURCE_EXHAUSTED" or said.status == _EXHAUSTED) and re.search(
        r"\bquota\b", said.message, re.IGNORECASE
    ):
        return QuotaTooSmall
    if said.status >= 500:
        return _STATUSES.get(said.status, Unexpected)
    return _STATUSES.get(said.status, Unexpected)


def elsewhere(error: CloudError) -> tuple[str, ...]:
    """The zones that a stockout's answer itself says have some now."""
    facts: Mapping[str, str] = getattr(error, "facts", {})
    return tuple(zone.strip() for zone in facts.get("zonesAvailable", "").split(",") if zone.strip())


def permission(error: CloudError) -> str:
    """The IAM permission that was missing, as Google names it; empty when it does not."""
    facts: Mapping[str, str] = getattr(error, "facts", {})
    found = re.search(r"ermission '?([a-z][\w]*(?:\.\w+)+)'?", error.answered)
    return facts.get("permission", "") or (found[1] if found else "")


def bounded(text: str, limit: int = 600) -> str:
    """Words from outside on one line, cut where they get long."""
    plain = text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)
    line = " ".join(plain.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _worded(message: str) -> Kind | None:
    return next((kind for pattern, kind in _WORDS if pattern.search(message)), None)


def _read(status: int, error: Mapping[str, Any], headers: Mapping[str, str]) -> Said:
    inner = [each for each in error.get("errors") or () if isinstance(each, Mapping)]
    details = [each for each in error.get("details") or () if isinstance(each, Mapping)]
    for each in inner:
        details += [detail for detail in each.get("errorDetails") or () if isinstance(detail, Mapping)]
    reasons, facts = [], dict[str, str]()
    for detail in details:
        info = detail.get("errorInfo") if isinstance(detail.get("errorInfo"), Mapping) else detail
        if isinstance(info, Mapping) and info.get("reason"):
            reasons.append(str(info["reason"]))
            facts.update(_texts(info.get("metadatas") or info.get("metadata") or {}))
        quota = detail.get("quotaInfo")
        if isinstance(quota, Mapping):
            facts.update({"limitName": str(quota.get("limitName", "")), "limit": str(quota.get("limit", ""))})
            facts.update({f"dimension {k}": v for k, v in _texts(quota.get("dimensions") or {}).items()})
    reasons += [str(each["reason"]) for each in inner if each.get("reason")]
    codes = [str(each["code"]) for each in inner if each.get("code")]
    message = str(error.get("message") or "; ".join(str(each.get("message", "")) for each in inner))
    code = codes[0] if codes else str(error.get("status") or (reasons[0] if reasons else error.get("code") or status))
    return Said(status, code, message, tuple(reasons), facts, _wait(headers, details))


def _texts(values: Any) -> dict[str, str]:
    return {str(k): bounded(str(v), 200) for k, v in values.items()} if isinstance(values, Mapping) else {}


def _wait(headers: Mapping[str, str], details: Iterable[Mapping[str, Any]]) -> float | None:
    given = {key.lower(): value for key, value in headers.items()}.get("retry-after", "")
    if given.isdigit():
        return float(given)
    for detail in details:
        found = re.fullmatch(r"(\d+(?:\.\d+)?)s", str(detail.get("retryDelay", "")))
        if found:
            return float(found[1])
    return None


def _made(kind: Kind, said: Said, tried: str) -> CloudError:
    answered, fix = bounded(said.message), fix_for(kind, said.facts, said.message)
    code = said.code or str(said.status)
    if kind is InvalidInput:
        made: CloudError = InvalidInput("request", f"Google refused it: {answered}", fix=REMEDIES["invalid_input"])
        made.tried, made.answered, made.code, made.sent = f"{made.tried} ({tried})", answered, code, True
    else:
        made = kind(tried, answered=answered, code=code, fix=fix, retry_after=said.retry_after)
    made.facts = dict(said.facts)  # type: ignore[attr-defined] # read by `elsewhere` and `permission`
    return made
