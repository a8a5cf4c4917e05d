"""One word for what an endpoint is, from AWS's status, its failure reason, its log and our own tags.

While an endpoint waits for capacity AWS says Creating, as it does while a model loads. The difference is a log stream
newer than this endpoint: none means that no instance was placed and nothing bills. A log group alone proves nothing, it
outlives its endpoint and a reused name shares it (article of 2026-09-26).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clouds.errors import CloudError, NoCapacity, QuotaTooSmall, Unexpected
from clouds.models import State

UPDATING = frozenset({"Updating", "SystemUpdating", "RollingBack"})
IN_PROGRESS = frozenset({"Creating", "Deleting", *UPDATING})


@dataclass(frozen=True)
class Standing:
    """Our word, whether it bills (None: nobody knows), and why."""

    state: State
    billing: bool | None
    reason: str = ""


def standing(answer: Mapping[str, Any], *, logged: bool | None, generated: bool, words: str = "") -> Standing:
    """`logged`: a log stream newer than the endpoint exists (None: could not be read). `generated`: it gave a token."""
    status, placed, why = str(answer["EndpointStatus"]), instances(answer), str(answer.get("FailureReason", ""))
    if status == "Creating":
        return _creating(logged=True if placed else logged, words=words)
    if status == "InService":
        return _in_service(placed, generated=generated)
    if status in UPDATING:
        return Standing("updating", True, why)
    known: dict[str, Standing] = {
        "Failed": Standing("failed", False, why),
        "Deleting": Standing("deleting", None),
        "OutOfService": Standing("stopped", None, why),
        "UpdateRollbackFailed": Standing("failed", True, why or "it still serves with what it had"),
    }
    return known.get(status, Standing("unknown", None, f"AWS says {status[:40]!r}, which is new"))


def _in_service(placed: int | None, *, generated: bool) -> Standing:
    if placed == 0:
        return Standing("stopped", False, "scaled to zero instances")
    if generated:
        return Standing("ready", True)
    return Standing("loading", True, "AWS says InService; no token has been seen from it yet")


def _creating(*, logged: bool | None, words: str) -> Standing:
    if logged is None:
        return Standing("creating", None, "its log could not be read, so nobody knows whether an instance was placed")
    if not logged:
        return Standing("waiting_for_capacity", False, "no instance has been placed yet; nothing bills")
    return Standing("loading", True, words or "an instance was placed; the model is being loaded")


def instances(answer: Mapping[str, Any]) -> int | None:
    """How many instances the first variant has now; None when AWS does not say (while Creating)."""
    variants = answer.get("ProductionVariants") or []
    count = variants[0].get("CurrentInstanceCount") if variants else None
    pools = sum(
        int(pool.get("CurrentInstanceCount", 0)) for variant in variants for pool in variant.get("InstancePools", [])
    )
    if count is None and not pools:
        return None
    found = max(int(count or 0), pools)
    return found if found or answer["EndpointStatus"] == "InService" else None


def placed_type(answer: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """The instance type that was placed: the pool with an instance, or the only type there is. Empty when unknown."""
    for variant in answer.get("ProductionVariants") or []:
        for pool in variant.get("InstancePools", []):
            if int(pool.get("CurrentInstanceCount", 0)) >= 1:
                return str(pool["InstanceType"])
    asked = asked_types(config)
    return asked[0] if len(asked) == 1 else ""


def asked_types(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The types that a configuration allows, first choice first."""
    for variant in config.get("ProductionVariants") or []:
        pools = sorted(variant.get("InstancePools", []), key=lambda pool: pool.get("Priority", 0))
        return tuple(str(pool["InstanceType"]) for pool in pools) or (str(variant.get("InstanceType", "")),)
    return ()


def image_digest(answer: Mapping[str, Any]) -> str:
    """The image that really runs, by digest."""
    for variant in answer.get("ProductionVariants") or []:
        for image in variant.get("DeployedImages", []):
            return str(image.get("ResolvedImage", ""))
    return ""


def failure(answer: Mapping[str, Any], region: str, said: tuple[str, ...] = ()) -> CloudError:
    """Why an endpoint is Failed, as the error of its kind. `said` are the last error lines of its log."""
    reason, name = str(answer.get("FailureReason", "")), answer.get("EndpointName", "")
    tried = f"starting {name} in {region}"
    if "InsufficientInstanceCapacity" in reason or "Insufficient capacity" in reason:
        return NoCapacity(
            tried, answered=reason, code="InsufficientInstanceCapacity",
            fix="Name more regions or types; quota does not reserve a machine.",
        )  # fmt: skip
    if "ResourceLimitExceeded" in reason or "service limit" in reason:
        return QuotaTooSmall(
            tried, answered=reason, code="ResourceLimitExceeded", fix=f"Ask for more quota in {region}."
        )
    quoted = f" Its log ends with: {' | '.join(said)}" if said else ""
    return Unexpected(
        tried,
        answered=f"{reason}{quoted}",
        code="Failed",
        fix="Correct what its log says (get_endpoint_logs), then deploy again.",
    )
