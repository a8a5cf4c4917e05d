"""Where a deployment may be: the subscriptions that the sign-in sees, and what is found in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from clouds.azure.api import AzureApi
from clouds.azure.endpoints import tags, values
from clouds.errors import ApiDisabled, CloudError, Conflict, InvalidInput, NotFound, Unexpected
from clouds.models import Call, EndpointRef, Read, Scope, Unread

T = TypeVar("T")
AT_ONCE = 8


def asked(api: AzureApi, scope: Scope) -> tuple[Sequence[str], tuple[Unread, ...]]:
    """The subscriptions of a scope, and the tenants that could not be looked at. Raises NotSignedIn."""
    if scope.account:
        return (scope.account.lower(),), ()
    found, unread = list[str](), list[Unread]()
    tenants = api.directory.tenants()
    if any(tenant.problem is not None for tenant in tenants):
        tenants = api.directory.tenants(again=True)  # what failed once may have passed
    for tenant in tenants:
        if tenant.problem is not None:
            unread.append(missed(Call("subscriptions", "list"), tenant.name or tenant.id, tenant.problem))
        found += [each.id for each in tenant.subscriptions if each.enabled]
    return tuple(dict.fromkeys(found)), tuple(unread)


def usual(api: AzureApi) -> str:
    """The subscription in which is looked first; empty where it is not clear which, and then all are searched."""
    try:
        return api.directory.default()
    except (InvalidInput, NotFound):
        return ""


def in_all(subscriptions: Sequence[str], read: Callable[[str], Read[T]]) -> Read[T]:
    """The same question in every subscription, joined."""
    with ThreadPoolExecutor(max(1, min(AT_ONCE, len(subscriptions)))) as pool:
        found = list(pool.map(read, subscriptions))
    return Read(
        found=tuple(item for one in found for item in one.found),
        unread=tuple(word for one in found for word in one.unread),
        not_applicable=tuple(word for one in found for word in one.not_applicable),
    )


def rows(api: AzureApi, call: Call, subscription: str) -> Read[Mapping[str, Any]]:
    """A listing; one that is refused is `unread`, one whose provider is not registered does not apply."""
    try:
        answer = api.send(call, scope=Scope(account=subscription))
    except ApiDisabled as error:
        return Read(not_applicable=(missed(call, subscription, error),))
    except CloudError as error:
        return Read(unread=(missed(call, subscription, error),))
    return Read(found=tuple((answer or {}).get("value", [])))


def missed(call: Call, where: str, error: CloudError) -> Unread:
    """What could not be looked at, and why."""
    return Unread(call=str(call), scope=where, reason=f"{error.kind}: {error.code or error.answered}"[:300])


def only(found: Sequence[Mapping[str, Any]], ref: EndpointRef, unread: Sequence[Unread] = ()) -> Mapping[str, Any]:
    """The one resource of a ref. Raises NotFound, and Conflict where several have its name: never a guess."""
    named = [row for row in found if str(row.get("name", "")).lower() == ref.name.lower() and _there(row, ref)]
    ours = [row for row in named if tags.deployment_of(row)] or named
    if len(ours) == 1:
        return ours[0]
    if ours:
        raise Conflict(
            f"looking for {ref}",
            answered=f"{len(ours)} have this name: {'; '.join(str(row['id']) for row in ours[:3])}",
            fix="Delete or rename all but one; the name alone does not say which is meant.",
        )
    if unread:
        raise Unexpected(
            f"looking for {ref}",
            answered=f"it is not where we could look, and {len(unread)} could not be read: {unread[0].reason}",
            fix="Sign in where it may be, then ask again.",
        )
    raise NotFound(f"looking for {ref}", answered="nothing of that name is there", fix="list_endpoints shows what is.")


def _there(row: Mapping[str, Any], ref: EndpointRef) -> bool:
    return values.place(str(row.get("location") or ref.location)) == ref.location
