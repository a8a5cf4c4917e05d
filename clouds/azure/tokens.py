"""One token per tenant: cached, renewed before its end, and fetched once however many threads ask.

The credential of the Azure CLI caches nothing: twenty threads would start twenty processes (run with azure-identity
1.27.0, 2026-11-29).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from threading import Lock
from typing import Any, Protocol

from clouds.azure.claims import claims
from clouds.azure.words import about_signing_in, bounded
from clouds.errors import (
    CloudError,
    CredentialExpired,
    NotInstalled,
    NotSignedIn,
    PermissionMissing,
    Unreachable,
    packages,
)

ARM_SCOPE = "https://management.azure.com/.default"
SKEW = 300
"""A token that ends within so many seconds is renewed first, as MSAL does."""
LEAST = 30
"""A renewed token may end soon too (the CLI hands out its cached one); below this it is not used at all."""
_Key = tuple[str, str]


class Credential(Protocol):
    """What azure-identity's credentials are: `token` and `expires_on` (epoch seconds) come back."""

    def get_token(self, *scopes: str, tenant_id: str | None = None) -> Any:
        """A token for one scope."""


class Tokens:
    """The tokens of one sign-in. Safe to share between threads."""

    def __init__(self, build: Callable[[], Credential], clock: Callable[[], float] = time.time) -> None:
        """`build` makes the credential at the first need."""
        self._build, self._clock = build, clock
        self._credential: Credential | None = None
        self._held: dict[_Key, tuple[str, float]] = {}
        self._flights: dict[_Key, tuple[int, CloudError | None]] = {}
        self._locks: dict[_Key, Lock] = {}
        self._lock = Lock()
        self._turn = Lock()
        self.fetched = 0

    def get(self, tenant: str = "", scope: str = ARM_SCOPE) -> str:
        """A token of a tenant, "" for the one that the sign-in is set to. Raises NotSignedIn or CredentialExpired."""
        key = (tenant.lower(), scope)
        token = self._valid(key)
        if token:
            return token
        with self._lock:
            own = self._locks.setdefault(key, Lock())
            before, _ = self._flights.get(key, (0, None))
        with own:
            flights, failure = self._flights.get(key, (0, None))
            if flights > before and failure is not None:
                raise _again(failure)  # it was asked for us too, while we waited
            return self._valid(key) or self._fetch(key)

    def forget(self, tenant: str = "", scope: str = ARM_SCOPE) -> None:
        """Drop what is held of a tenant, under any of its names: it was refused."""
        token, _ = self._held.get((tenant.lower(), scope), ("", 0.0))
        for key in [key for key, (held, _) in list(self._held.items()) if held == token]:
            self._held.pop(key, None)

    def _valid(self, key: _Key) -> str:
        token, end = self._held.get(key, ("", 0.0))
        return token if end - self._clock() > SKEW else ""

    def _fetch(self, key: _Key) -> str:
        tenant, scope = key
        flights, _ = self._flights.get(key, (0, None))
        failure: CloudError | None = None
        try:
            answer = self._asked(scope, tenant)
            left = float(answer.expires_on) - self._clock()
            if left >= LEAST:
                # one with little life left is used for half of it, then asked for again
                end = float(answer.expires_on) if left > SKEW else self._clock() + SKEW + left / 2
                self._held[key] = (str(answer.token), end)
                if not tenant and (own := str(claims(str(answer.token)).get("tid") or "").lower()):
                    self._held.setdefault((own, scope), self._held[key])  # the same token by its tenant's name
                return str(answer.token)
            failure = CredentialExpired(
                _tried(tenant),
                answered="the token that came back has ended",
                fix=about_signing_in(tenant),
                sent=False,
            )
        except CloudError as error:
            failure = error
        finally:
            self._flights[key] = (flights + 1, failure)
        raise failure

    def _asked(self, scope: str, tenant: str) -> Any:
        try:
            with self._turn:  # one at a time: several `az` at once contend for its token cache (article of 2026-09-24)
                if self._credential is None:
                    self._credential = self._build()
                self.fetched += 1
                return self._credential.get_token(scope, tenant_id=tenant or None)
        except CloudError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a credential raises is worded here
            # nothing of the original is chained: its frames can hold a token
            raise told(error, tenant) from None


def _again(error: CloudError) -> CloudError:
    """An error for another thread: one exception object must not be raised in two."""
    return type(error)(error.tried, answered=error.answered, code=error.code, fix=error.fix, sent=error.sent)


def _tried(tenant: str) -> str:
    return f"signing in to {f'tenant {tenant}' if tenant else 'Azure'}"


def told(error: Exception, tenant: str) -> CloudError:
    """The error of our tree for what azure-identity raised. Its words are bounded, and no token stands in them."""
    words = bounded(re.sub(r"eyJ[A-Za-z0-9_.-]{10,}|(?i:bearer )\S+", "[token]", str(error)), 400)
    aadsts = re.search(r"AADSTS\d+", words)
    code, kind, fix = aadsts[0] if aadsts else type(error).__name__, NotSignedIn, about_signing_in(tenant)
    chosen: type[CloudError] = kind
    if isinstance(error, ImportError):
        chosen, fix = NotInstalled, packages("azure")
    elif "not found on path" in words:
        fix = "Install the Azure CLI (https://aka.ms/azure-cli), run `az login`, then repeat this call."
    elif "same username" in words:
        fix = "Give each identity its own folder: set AZURE_CONFIG_DIR, run `az login` there, restart this server."
    elif "Failed to invoke the Azure CLI" in words:
        chosen, fix = Unreachable, "Run `az account show` in a terminal; when that answers, repeat this call."
    elif re.search(r"AADSTS(53|50105|65001)", words):
        chosen = PermissionMissing
        fix = f"The tenant's own rules refuse this sign-in; ask whoever runs it, or sign in again: {fix}"
    elif aadsts or "expired" in words:
        chosen = CredentialExpired
    return chosen(_tried(tenant), answered=words, code=code, fix=fix, sent=False)
