"""Sentences of this cloud that more than one file says."""

from __future__ import annotations

import os
from collections.abc import Mapping

REMEDIES: Mapping[str, str] = {
    "api_disabled": "Sign the account up for this service in the AWS console, then repeat this call.",
    "throttled": "Wait a little and repeat this call; AWS limits how often an account may ask.",
    "quota_too_small": "Ask for more in Service Quotas for {region}, or use another region or instance type.",
    "no_capacity": "Try another region, zone or instance type, or later; quota does not reserve a machine.",
    "not_offered": "Use a region, zone or instance type that offers it (check_capacity shows where).",
    "conflict": "Look at what is there under that name (get_endpoint), then change, wait or take another name.",
    "not_found": "List what is there; the name or the region may be another one.",
    "invalid_input": "Correct what AWS names here.",
    "unreachable": "Check this machine's network, proxy and the region's name, then repeat this call.",
    "answer_lost": "It may or may not have happened: look at what is there before repeating this call.",
    "unexpected": "Repeat this call once; if AWS answers the same, look at its health dashboard.",
}


def profile_named(environ: Mapping[str, str] | None = None) -> str:
    """The profile that was named for us or for the AWS tools; empty for the default one."""
    environ = os.environ if environ is None else environ
    return environ.get("MODELRIG_AWS_PROFILE", "") or environ.get("AWS_PROFILE", "")


def about_signing_in(region: str = "") -> str:
    """The one thing to do when there is no usable credential."""
    from clouds.aws import session

    if session.token_in_environment() and not session.token_set_aside():
        return (
            "Unset AWS_SESSION_TOKEN and the AWS_* keys beside it, which outrank your login and cannot renew, or set "
            f"{session.IGNORE}=1; then repeat this call."
        )
    profile = profile_named()
    command = f"aws login --profile {profile}" if profile else "aws login"
    maybe = f" If other regions work, {region} is not enabled for this account." if region else ""
    return f"Run `{command}` in a terminal, then repeat this call.{maybe}"
