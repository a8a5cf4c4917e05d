"""One word for what an endpoint is, from the endpoint, its deployment, its log and our own tags.

The endpoint is free and says Succeeded before it has anything. A deployment bills from when it gets a machine, which
Azure ML does not say: a log of its container is the proof that it has one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clouds.azure.endpoints import tags
from clouds.azure.endpoints.parts import BAD
from clouds.models import State

MAY_BILL = "a failed deployment keeps the machine that it got, and bills: delete it"


@dataclass(frozen=True)
class Standing:
    """Our word, whether it bills (None: nobody knows), and why."""

    state: State
    billing: bool | None
    reason: str = ""


def state_of(resource: Mapping[str, Any] | None) -> str:
    """Azure's own word for an endpoint or a deployment; empty for none."""
    return str(((resource or {}).get("properties") or {}).get("provisioningState") or "")


def standing(
    endpoint: Mapping[str, Any], deployment: Mapping[str, Any] | None, *, logged: bool | None, words: str = ""
) -> Standing:
    """`deployment` None: there is none. `logged`: its container has said something (None: could not be read)."""
    if state_of(endpoint).lower() == "deleting":
        return Standing("deleting", None if deployment else False)
    if deployment is None:
        if state_of(endpoint).lower() in BAD:
            return Standing("failed", False, "the endpoint was not made, and has no deployment: nothing bills")
        return Standing("creating", False, "the endpoint has no deployment yet: nothing bills")
    word = state_of(deployment).lower()
    if word == "succeeded":
        return _served(endpoint, deployment)
    if word == "creating":
        return _creating(logged=logged, words=words)
    if word in BAD:
        return Standing("failed", True if logged else None, "; ".join(part for part in (words, MAY_BILL) if part))
    known: dict[str, Standing] = {
        "updating": Standing("updating", True),
        "scaling": Standing("updating", True),
        "deleting": Standing("deleting", None),
    }
    return known.get(word, Standing("unknown", None, f"Azure says {word[:40]!r}, which is new"))


def _served(endpoint: Mapping[str, Any], deployment: Mapping[str, Any]) -> Standing:
    traffic = (endpoint.get("properties") or {}).get("traffic") or {}
    quiet = "" if traffic.get(deployment.get("name")) else "no traffic goes to it; it bills all the same"
    if tags.moment(tags.read(endpoint).get(tags.READY, "")) is not None:
        return Standing("ready", True, quiet)
    return Standing("loading", True, quiet or "Azure says Succeeded; no token has been seen from it yet")


def _creating(*, logged: bool | None, words: str) -> Standing:
    if logged:
        return Standing("loading", True, words or "it has a machine; the model is being loaded")
    unknown = "Azure ML does not say whether it has a machine yet, and bills from then on"
    return Standing("waiting_for_capacity" if logged is False else "creating", None, unknown)
