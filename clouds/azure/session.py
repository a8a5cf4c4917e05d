"""Which credential speaks for us: the sign-in of the Azure CLI, or what the environment names.

`DefaultAzureCredential` asks up to nine sources, one after the other, and logs the whole of every failure; it is used
only where the environment asks for it (azure-identity 1.27.0, run 2026-11-29).
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clouds.azure.words import CHAIN
from clouds.errors import NotSignedIn

if TYPE_CHECKING:
    from clouds.azure.tokens import Credential

CLI_TIMEOUT = 60
"""Seconds that one `az` may take; azure-identity's own default of 10 is short for a cold start behind a proxy."""


def source(environ: Mapping[str, str] | None = None) -> str:
    """What a sign-in comes from: "environment" where it names a credential, else "Azure CLI"."""
    environ = os.environ if environ is None else environ
    return "environment" if any(environ.get(name) for name in CHAIN) else "Azure CLI"


def nothing_to_sign_in_with() -> bool:
    """Whether there is neither a CLI nor a credential in the environment."""
    return source() == "Azure CLI" and shutil.which("az") is None


def no_sign_in() -> NotSignedIn:
    """What is said then."""
    return NotSignedIn(
        "signing in to Azure",
        answered="there is no Azure CLI on this machine, and the environment names no credential",
        fix="Install the Azure CLI (https://aka.ms/azure-cli), run `az login`, then repeat this call.",
        sent=False,
    )


def build() -> Credential:
    """The credential of this machine. azure-identity is imported here, at the first call that needs a token."""
    if nothing_to_sign_in_with():
        raise no_sign_in()
    logging.getLogger("azure.identity").setLevel(logging.ERROR)  # its warnings print whole failures on stderr
    if source() == "environment":
        from azure.identity import DefaultAzureCredential

        chain: Any = DefaultAzureCredential(additionally_allowed_tenants=["*"], process_timeout=CLI_TIMEOUT)
        return _AnyTenant(chain)
    from azure.identity import AzureCliCredential

    cli: Any = AzureCliCredential(additionally_allowed_tenants=["*"], process_timeout=CLI_TIMEOUT)
    return _AnyTenant(cli)


class _AnyTenant:
    """azure-identity's credential, asked for a tenant only where one is named."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def get_token(self, *scopes: str, tenant_id: str | None = None) -> Any:
        """A token. Raises azure-identity's own errors, which `tokens` words."""
        return self._inner.get_token(*scopes, **({"tenant_id": tenant_id} if tenant_id else {}))


def signed_in(environ: Mapping[str, str] | None = None) -> Sequence[Mapping[str, Any]]:
    """The subscriptions that the Azure CLI has listed over all of its identities; empty where it never signed in.

    An ARM token sees one tenant, so the CLI's own list is what reaches the tenants of a second identity.
    """
    environ = os.environ if environ is None else environ
    if source(environ) != "Azure CLI":
        return ()
    try:
        rows = json.loads(_profile(environ).read_text("utf-8-sig"))["subscriptions"]
    except (OSError, ValueError, KeyError, TypeError):
        return ()
    return [row for row in rows if isinstance(row, dict) and row.get("id") and row.get("tenantId")]


def stamp(environ: Mapping[str, str] | None = None) -> int:
    """When somebody last signed in with the Azure CLI or changed its choice; 0 where nobody ever did."""
    try:
        return _profile(os.environ if environ is None else environ).stat().st_mtime_ns
    except OSError:
        return 0


def _profile(environ: Mapping[str, str]) -> Path:
    folder = environ.get("AZURE_CONFIG_DIR") or os.path.expanduser("~/.azure")  # noqa: PTH111 - Path.home() may raise
    return Path(folder) / "azureProfile.json"
