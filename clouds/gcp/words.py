"""Sentences of this cloud that more than one file says."""

from __future__ import annotations

import re
from collections.abc import Mapping

from clouds.errors import ApiDisabled, CloudError, NoCapacity, NotOffered, PermissionMissing, QuotaTooSmall

SIGN_IN = "Run `gcloud auth application-default login` in a terminal, then repeat this call."
REMEDIES: Mapping[str, str] = {
    "not_signed_in": SIGN_IN,
    "credential_expired": SIGN_IN,
    "throttled": "Wait a little and repeat this call; Google limits how often a project may ask.",
    "conflict": "Look at what is there under that name (get_endpoint), then change, wait or take another name.",
    "not_found": "List what is there; the name, the zone or the project may be another one.",
    "invalid_input": "Correct what Google names here.",
    "unreachable": "Check this machine's network and proxy, then repeat this call.",
    "answer_lost": "It may or may not have happened: look at what is there before repeating this call.",
    "unexpected": "Repeat this call once; if Google answers the same, look at its status page.",
}


def hourly(usd: float) -> str:
    """A rate in cents, with up to four decimals where it has them: `$0.60 an hour`, `$1.4033 an hour`."""
    exact = f"{usd:.4f}"
    return f"${exact[:-2]}{exact[-2:].rstrip('0')} an hour"


def fix_for(kind: type[CloudError], facts: Mapping[str, str], message: str) -> str:
    """The one thing to do next about an error; `facts` are what Google's answer carries beside its words."""
    if kind is ApiDisabled:
        service = facts.get("service", "") or _first(r"\b([a-z]+\.googleapis\.com)\b", message)
        project = facts.get("consumer", "").removeprefix("projects/")
        named = f" --project {project}" if project else ""
        return f"Enable it: `gcloud services enable {service or 'the API'}{named}`, wait a minute, repeat this call."
    if kind is PermissionMissing:
        need = facts.get("permission", "") or _first(r"ermission '?([a-z]\w*(?:\.\w+)+)'?", message)
        what = f"the permission `{need}`" if need else "the missing permission"
        return f"Ask whoever runs the project for {what}; what modelrig needs is in policy/gcp-*.json."
    if kind is QuotaTooSmall:
        limit = facts.get("limitName", "") or _first(r"[Qq]uota (?:limit )?'([^']+)'", message)
        what = f"the quota {limit}" if limit else "this quota"
        return (
            f"See check_quota; ask for more of {what} at console.cloud.google.com/iam-admin/quotas, delete dead queued "
            "resources that hold it, ask for fewer chips, or take another region."
        )
    if kind is NoCapacity:
        zones = facts.get("zonesAvailable", "")
        if zones:
            return f"Google says that {zones.replace(',', ', ')} may have some now: try there, or ask for fewer chips."
        return (
            "Try another zone, ask for fewer chips, or use flex-start, which waits; quota does not reserve a machine."
        )
    if kind is NotOffered:
        return "Use a zone, type or provisioning model that is offered there (check_capacity shows what is known)."
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
    return REMEDIES.get(name, REMEDIES["unexpected"])


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[1] if found else ""
