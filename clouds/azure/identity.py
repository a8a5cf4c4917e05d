"""Who we are on Azure, in every tenant that the sign-in reaches. No token is read into a result.

A tenant that fails is named with its reason, and the others are read all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clouds.azure import session
from clouds.azure.claims import Who, who
from clouds.azure.tenants import SUBSCRIPTIONS, TENANTS, Subscription, Tenant
from clouds.azure.words import bounded
from clouds.errors import CloudError, InvalidInput
from clouds.models import Identity

if TYPE_CHECKING:
    from clouds.azure.api import AzureApi

READS = (TENANTS, SUBSCRIPTIONS)
SHOWN = 5
_RENEWS = {
    "Azure CLI": "renews itself through the Azure CLI until its sign-in ends",
    "environment": "renews itself as long as the credential that the environment names is good",
    "recorded answers": "is not needed: nothing is sent",
}


class AzureIdentity:
    """The identity reader of Azure."""

    def __init__(self, api: AzureApi) -> None:
        """Nothing is read before the first question."""
        self._api = api

    def read(self) -> Identity:
        """Raises NotSignedIn or CredentialExpired with the one thing to do, where no tenant answers at all."""
        tenants = self._api.directory.tenants(again=True)
        if tenants and all(tenant.problem is not None for tenant in tenants):
            raise next(tenant.problem for tenant in tenants if tenant.problem is not None)
        account, problem = self._account()
        home = self._home(tenants, account)
        holder = self._who(home)
        details = {
            "sign-in": self._source(),
            "subscription": account or problem,
            **{f"tenant {_title(tenant)}": self._words(tenant) for tenant in tenants},
        }
        inside = [each for tenant in tenants for each in tenant.subscriptions]
        broken = [tenant for tenant in tenants if tenant.problem is not None]
        details["subscriptions"] = f"{len(inside)} in {len(tenants) - len(broken)} of {len(tenants)} tenants"
        if broken:
            details["not read"] = f"{len(broken)} tenant(s): {', '.join(_title(tenant) for tenant in broken)}"
        return Identity(
            principal=holder.name or "unknown",
            account=account,
            kind=self._kinds(holder, home, tenants),
            renews=_RENEWS[self._source()],
            location=home,
            details=details,
        )

    def _kinds(self, holder: Who, home: str, tenants: tuple[Tenant, ...]) -> str:
        """The kind of account that is used, who we are in the other tenants, and which of them could not be read."""
        said = [holder.kind]
        for tenant in tenants:
            if tenant.problem is not None:
                said.append(f"tenant {_title(tenant)} could NOT be read ({_why(tenant.problem)}): {tenant.problem.fix}")
            elif tenant.id != home and not self._api.recorded:
                other = self._who(tenant.id)
                said.append(f"{' '.join(part for part in (other.kind, other.name) if part)} in {_title(tenant)}")
        return bounded("; ".join(said), 600)

    def _source(self) -> str:
        return "recorded answers" if self._api.recorded else session.source()

    def _account(self) -> tuple[str, str]:
        try:
            return self._api.directory.default(), ""
        except CloudError as error:
            more = f" ({', '.join(error.allowed)})" if isinstance(error, InvalidInput) and error.allowed else ""
            return "", bounded(f"{error}{more}. {error.fix}", 400)

    def _home(self, tenants: tuple[Tenant, ...], account: str) -> str:
        """The tenant of the subscription that is used, else the first that answered."""
        found = self._api.directory.tenant_of(account)
        return found or next((tenant.id for tenant in tenants if tenant.problem is None), "")

    def _who(self, tenant: str) -> Who:
        if self._api.recorded:
            return Who("recorded answers", "recorded")
        return who(self._api.tokens.get(tenant))

    def _words(self, tenant: Tenant) -> str:
        """One line: id, who is signed in there as what, and its subscriptions, or why it could not be read."""
        if tenant.problem is not None:
            return f"{tenant.id}; could NOT be read: {_why(tenant.problem)}. {tenant.problem.fix}"
        holder = self._who(tenant.id)
        signed = f"signed in as {holder.name}, {holder.kind}" if holder.name else holder.kind
        if holder.object_id:
            signed += f", object {holder.object_id}"
        shown = [_subscription(each) for each in tenant.subscriptions[:SHOWN]]
        more = len(tenant.subscriptions) - len(shown)
        shown += [f"and {more} more"] if more else []
        count = f"{len(tenant.subscriptions)} subscription(s)"
        return f"{tenant.id}; {signed}; {': '.join(part for part in (count, ', '.join(shown)) if part)}"


def _why(error: CloudError) -> str:
    said = ": ".join(part for part in (error.code, error.answered) if part)
    return bounded(said or str(error), 200).rstrip(".")


def _title(tenant: Tenant) -> str:
    """A name that two tenants of one name do not share."""
    return bounded(f"{tenant.name} {tenant.id[:8]}" if tenant.name else tenant.id, 80)


def _subscription(each: Subscription) -> str:
    words = f"{bounded(each.name, 60)} {each.id}"
    if not each.enabled or each.state.lower() != "enabled":
        words += f" [{bounded(each.state, 30)}; may still cost money]"
    return words + (f" [managed by {len(each.managed_by)} other tenant(s)]" if each.managed_by else "")
