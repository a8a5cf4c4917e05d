"""The tenants that the sign-in reaches, and the subscriptions in each. One that fails does not stop the others."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Any

from clouds.azure import session
from clouds.azure.words import bounded
from clouds.errors import (
    CloudError,
    CredentialExpired,
    InvalidInput,
    NotFound,
    NotSignedIn,
    PermissionMissing,
    Unexpected,
)
from clouds.models import Call, Scope

if TYPE_CHECKING:
    from clouds.azure.api import AzureApi

TENANTS = Call("tenants", "list")
SUBSCRIPTIONS = Call("subscriptions", "list")
EVERY = "*"
"""As `tenant` of a call that lists subscriptions: those of every tenant that the sign-in reaches."""
UNLISTED = "unlisted"
"""Stands for the tenants of a list that was not answered."""
AGAIN = 30.0
"""Seconds after which a tenant that refused the sign-in is asked again."""
CHOICE = ("MODELRIG_AZURE_SUBSCRIPTION", "AZURE_SUBSCRIPTION_ID")


@dataclass(frozen=True)
class Subscription:
    """One subscription: its state is Azure's word, `managed_by` the tenants that manage it for its owner."""

    id: str
    name: str
    tenant: str
    state: str
    managed_by: tuple[str, ...] = ()

    @property
    def enabled(self) -> bool:
        """Whether anything can be read in it; another state may still cost money."""
        return self.state.lower() in ("enabled", "warned", "pastdue")


@dataclass(frozen=True)
class Tenant:
    """One tenant, what is in it for us, or the error that it answered."""

    id: str
    name: str
    category: str
    subscriptions: tuple[Subscription, ...] = ()
    problem: CloudError | None = None


class Directory:
    """What is known of tenants and subscriptions; read once, at the first question that needs all of it."""

    def __init__(self, api: AzureApi, signed_in: Callable[[], Sequence[Mapping[str, Any]]]) -> None:
        """`signed_in` lists what the Azure CLI knows of, over all of its identities."""
        self._api, self._signed_in = api, signed_in
        self._tenants: tuple[Tenant, ...] | None = None
        self._of: dict[str, str] | None = None
        self._read_at = (0.0, 0)
        self._lock = RLock()

    def tenant_of(self, subscription: str) -> str:
        """The tenant of a subscription as far as it is known, "" for the one that the sign-in is set to."""
        return self._known().get(subscription.lower(), "") if subscription else ""

    def learn(self, subscription: str, tenant: str) -> None:
        """Keep what an answer said about a subscription."""
        if subscription:
            self._known()[subscription.lower()] = tenant

    def _known(self) -> dict[str, str]:
        with self._lock:
            if self._of is None:
                rows = self._signed_in()
                self._of = {str(row["id"]).lower(): str(row["tenantId"]).lower() for row in rows}
            return self._of

    def tenants(self, *, again: bool = False) -> tuple[Tenant, ...]:
        """Every tenant with its subscriptions. Raises NotSignedIn when there is no sign-in at all.

        A tenant that did not answer is asked again the next time; one that refused the sign-in after a while, or when
        somebody signed in.
        """
        with self._lock:
            known = self._tenants
            if again or known is None or any(tenant.id == UNLISTED for tenant in known):
                known = self._read()
            elif self._due(known):
                seen = {each.id for tenant in known for each in tenant.subscriptions}
                known = tuple(
                    each if each.problem is None else self._tenant(each.id, each.name, each.category, seen)
                    for each in known
                )
            else:
                return known
            self._tenants, self._read_at = known, (self._api.clock(), session.stamp())
            return known

    def _due(self, known: tuple[Tenant, ...]) -> bool:
        """Whether those that did not answer are asked again: each question may be a process that takes seconds."""
        problems = [tenant.problem for tenant in known if tenant.problem is not None]
        refused = all(isinstance(each, NotSignedIn | CredentialExpired | PermissionMissing) for each in problems)
        at, stamp = self._read_at
        return bool(problems) and (not refused or stamp != session.stamp() or self._api.clock() - at >= AGAIN)

    def subscriptions(self) -> tuple[Subscription, ...]:
        """Every subscription of every tenant that answered, each once. Raises CloudError when no tenant did."""
        return tuple(each for tenant in self.tenants() for each in tenant.subscriptions)

    def listing(self) -> dict[str, Any]:
        """The subscriptions of every tenant as one answer of ARM's form, to look into all of them.

        A tenant that did not answer stands there by its own id, in the state "Unread": whoever looks into that place
        gets the tenant's error, so that it is not taken for a tenant with nothing in it.
        """
        rows = []
        for tenant in self.tenants():
            if tenant.problem is not None:
                self.learn(tenant.id, tenant.id)
                rows.append({"subscriptionId": tenant.id, "displayName": tenant.name, "state": "Unread"})
            rows += [
                {"subscriptionId": each.id, "displayName": each.name, "state": each.state}
                for each in tenant.subscriptions
            ]
        return {"value": rows}

    def default(self) -> str:
        """The subscription that is used where none is named. Raises InvalidInput where it is not clear which."""
        named = next((os.environ[name] for name in CHOICE if os.environ.get(name)), "")
        if named:
            return named.lower() if guid(named) else self._by_name(named)
        rows = [row for row in self._signed_in() if row["id"] != row["tenantId"]]  # a tenant without a subscription
        chosen = [str(row["id"]).lower() for row in rows if row.get("isDefault")]
        if len(chosen) == 1:
            return chosen[0]
        found = [each for each in self.subscriptions() if each.enabled]
        if len(found) == 1:
            return found[0].id
        if not found:
            raise NotFound("looking for a subscription", answered="the sign-in sees no enabled subscription",
                           fix="Run `az login` with an identity that has one.")  # fmt: skip
        raise InvalidInput(
            "account",
            f"{len(found)} subscriptions are there and none is chosen",
            fix=f"Run `az account set --subscription ID`, or set {CHOICE[0]}.",
            allowed=tuple(each.id for each in found[:10]),
        )

    def _by_name(self, name: str) -> str:
        """The id of a subscription by its name. Raises InvalidInput where none or several have it."""
        known = self.subscriptions()
        found = [each for each in known if each.name.lower() == name.lower()]
        if len(found) == 1:
            return found[0].id
        raise InvalidInput(
            "azure_subscription",
            f"{len(found) or 'no'} subscription{'s are' if found else ' is'} named {name[:60]!r}",
            fix="Name one by its id (`az account list --all` shows them).",
            allowed=tuple(each.id for each in (found or known)[:10]),
        )

    def _read(self) -> tuple[Tenant, ...]:
        found: dict[str, tuple[str, str]] = {}
        failure: CloudError | None = None
        try:
            for row in told(self._api.send(TENANTS, scope=Scope())["value"], "tenantId"):
                name = str(row.get("displayName") or row.get("defaultDomain") or "")
                found[str(row["tenantId"]).lower()] = (name, str(row.get("tenantCategory") or "Home"))
        except CloudError as error:
            failure = error
        for row in self._signed_in():
            found.setdefault(str(row["tenantId"]).lower(), ("", "signed in"))
        if not found and failure is not None:
            raise failure
        seen: set[str] = set()
        read = [self._tenant(each, name, category, seen) for each, (name, category) in found.items()]
        if failure is not None:  # those of the CLI's own list were read; others may be there
            read.append(Tenant(UNLISTED, "tenants that could not be listed", "unknown", problem=failure))
        return tuple(read)

    def _tenant(self, tenant: str, name: str, category: str, seen: set[str]) -> Tenant:
        try:
            listing = self._api.send(Call("subscriptions", "list", {"tenant": tenant}), scope=Scope())
            rows = told(listing["value"], "subscriptionId")
        except CloudError as error:
            return Tenant(tenant, name, category, problem=error)
        inside = []
        for row in rows:
            key = str(row["subscriptionId"]).lower()
            self.learn(key, tenant)
            if key in seen:
                continue  # managed for another tenant: it is listed under both
            seen.add(key)
            managed = tuple(
                str(each.get("tenantId", "")) for each in row.get("managedByTenants") or () if isinstance(each, Mapping)
            )
            words = str(row.get("displayName") or ""), str(row.get("state") or "unknown")
            inside.append(Subscription(key, words[0], tenant, words[1], managed))
        return Tenant(tenant, name, category, tuple(inside))


def told(rows: Sequence[Any], *names: str) -> Sequence[Mapping[str, Any]]:
    """The rows of an answer that is read before any other. Raises Unexpected for one without what tells it apart."""
    for row in rows:
        if not isinstance(row, Mapping) or not all(isinstance(row.get(name), str) and row[name] for name in names):
            raise Unexpected(
                f"reading a list for its {' and '.join(names)}",
                answered=f"a row without {' or '.join(names)}: {bounded(str(row), 80)}",
                fix="Repeat this call; if it stays so, report it as a bug of modelrig.",
            )
    return rows


def guid(text: str) -> bool:
    """Whether a text is an id as Azure writes them."""
    return bool(re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", text))
