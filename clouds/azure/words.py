"""Sentences of this cloud that more than one file says."""

from __future__ import annotations

import os
from collections.abc import Mapping

CHAIN = ("AZURE_TOKEN_CREDENTIALS", "AZURE_CLIENT_ID")
"""Variables that say that the environment names a credential, which then outranks the sign-in of the Azure CLI."""

REMEDIES: Mapping[str, str] = {
    "api_disabled": "Run `az provider register --namespace {provider} --subscription {subscription}`, wait until it "
    "says Registered, then repeat this call.",
    "throttled": "Wait a little and repeat this call; Azure limits how often a subscription may be asked.",
    "quota_too_small": "Ask for more under Quotas in the Azure portal, or take another location or size.",
    "no_capacity": "Try another location, zone or size, or later; quota does not reserve a machine.",
    "not_offered": "Take a location, zone or size that offers it (check_capacity shows where).",
    "conflict": "Look at what is there under that name (get_endpoint), then change, wait or take another name.",
    "not_found": "List what is there; the name, group, subscription or tenant may be another one.",
    "invalid_input": "Correct what Azure names here.",
    "unreachable": "Check this machine's network and proxy, then repeat this call.",
    "answer_lost": "It may or may not have happened: look at what is there before repeating this call.",
    "unexpected": "Repeat this call once; if Azure answers the same, look at https://status.azure.com.",
    "retired": "This says nothing about what is there. The API version in modelrig's table is wrong or retired: update "
    "modelrig, or report it as a bug.",
    "restricted": "Take another location or size: an Azure policy of this organisation does not allow this one.",
}


def about_signing_in(tenant: str = "") -> str:
    """The one thing to do when there is no usable credential."""
    if named := next((name for name in CHAIN if os.environ.get(name)), ""):
        return (
            f"{named} is set, so the credential is the one that this server's environment names: mend or renew that "
            "one, or unset the AZURE_* variables and run `az login`."
        )
    where = f" --tenant {tenant}" if tenant else ""
    return f"Run `az login{where}` in a terminal, then repeat this call."


def bounded(text: str, limit: int = 600) -> str:
    """Words from outside on one line, cut where they get long."""
    plain = text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)
    line = " ".join(plain.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
