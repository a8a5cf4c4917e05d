"""What the states of nodes and queued resources mean, together: which waits, which bills, which is only a husk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clouds.gcp.endpoints import labels as tags
from clouds.gcp.endpoints.machines.held import Held, Standing

_HELD = "its name and quota are held until it is deleted"
NODE: Mapping[str, Standing] = {
    "CREATING": Standing("creating", True, "the node is being made"),
    "READY": Standing("loading", True),
    "RESTARTING": Standing("creating", True, "the node restarts"),
    "REIMAGING": Standing("creating", True, "the node gets another runtime"),
    "REPAIRING": Standing("unknown", None, "Google repairs the node"),
    "STARTING": Standing("creating", True, "the node is being started"),
    "STOPPING": Standing("stopping", True, "the node is being stopped"),
    "STOPPED": Standing("stopped", False, f"the node is stopped; {_HELD}"),
    "DELETING": Standing("deleting", False, "the node is being deleted"),
    "PREEMPTED": Standing("stopped", False, f"Google took the node back; {_HELD}"),
    "TERMINATED": Standing("stopped", False, f"the node ended; {_HELD}"),
    "HIDING": Standing("stopped", False, "Google hides the node"),
    "HIDDEN": Standing("stopped", False, f"Google hid the node; {_HELD}"),
    "UNHIDING": Standing("creating", None, "Google brings the node back"),
}
QUEUE: Mapping[str, Standing] = {
    "CREATING": Standing("waiting_for_capacity", False, "the request is being written down"),
    "ACCEPTED": Standing("waiting_for_capacity", False, "the request waits; nothing bills meanwhile"),
    "WAITING_FOR_RESOURCES": Standing("waiting_for_capacity", False, "the request waits; nothing bills meanwhile"),
    "PROVISIONING": Standing("creating", True, "capacity was found; the node is being made"),
    "ACTIVE": Standing("loading", True),
    "FAILED": Standing("failed", False, f"the request failed; {_HELD}"),
    "SUSPENDING": Standing("stopping", None, "the node is being taken back"),
    "SUSPENDED": Standing("stopped", False, f"the node is gone, the queued resource is a husk; {_HELD}"),
    "DELETING": Standing("deleting", False, "it is being deleted"),
}
_ORPHAN = "its queued resource is gone, and with it what would have ended the node: only deleting ends it now"
_DEAD_NODES = frozenset({"PREEMPTED", "TERMINATED", "STOPPED", "STOPPING", "HIDDEN", "HIDING"})
_DEAD_QUEUE = frozenset({"FAILED", "SUSPENDED", "SUSPENDING"})


def held_of(node: Mapping[str, Any] | None, queued: Mapping[str, Any] | None, *, looked: bool = True) -> Held:
    """Pure: one endpoint from its node, its queued resource, or both.

    `looked` says that queued resources were read: only then is one that is not there gone.
    """
    request = queued or {}
    specs = request.get("tpu", {}).get("nodeSpec", [])
    spec: Mapping[str, Any] = specs[0] if specs else {}
    asked: Mapping[str, Any] = spec.get("node", {})
    row: Mapping[str, Any] = node if node is not None else asked
    full = str((node or {}).get("name") or request.get("name") or "")
    words = full.split("/")
    waits = str(request.get("state", {}).get("state", ""))
    runs = str((node or {}).get("state", ""))
    standing, status = _standing(runs, waits, request)
    if queued is None and looked and (node or {}).get("queuedResource") and standing.billing:
        standing = replace(standing, reason="; ".join(word for word in (standing.reason, _ORPHAN) if word))
    scheduling = (node or {}).get("schedulingConfig", {})
    ends = scheduling.get("terminationTimestamp")
    created = (node or {}).get("createTime") or request.get("createTime", "")
    name = str((node or {}).get("name", "")).rsplit("/", 1)[-1] or str(spec.get("nodeId", "")) or words[-1]
    return Held(
        name=name,
        zone=words[3] if len(words) > 3 else "",
        project=words[1] if len(words) > 1 else "",
        status=status,
        standing=standing,
        type=str(row.get("acceleratorType", "")),
        market=market(request, scheduling),
        labels=dict(row.get("labels", {})),
        metadata={key: str(value) for key, value in row.get("metadata", {}).items()},
        created=tags.time_of(created),
        ends=tags.time_of(ends) if ends else None,
        dead=runs in _DEAD_NODES or (node is None and waits in _DEAD_QUEUE),
        node=name if node is not None else "",
        queued=str(request.get("name", "")).rsplit("/", 1)[-1],
    )


def market(request: Mapping[str, Any], scheduling: Mapping[str, Any]) -> str:
    """on-demand, spot, flex-start or reserved."""
    model = str(request.get("provisioningModel") or scheduling.get("provisioningModel") or "")
    if model == "FLEX_START":
        return "flex-start"
    if model == "SPOT" or "spot" in request or scheduling.get("spot") or scheduling.get("preemptible"):
        return "spot"
    return "reserved" if model == "RESERVATION_BOUND" or scheduling.get("reserved") else "on-demand"


def _standing(runs: str, waits: str, request: Mapping[str, Any]) -> tuple[Standing, str]:
    """A node that lives decides; without one the queued resource does."""
    status = ", ".join(
        word for word in (f"node {runs}" if runs else "", f"queued resource {waits}" if waits else "") if word
    )
    if runs:
        found = NODE.get(runs, Standing("unknown", None, f"the TPU API says {runs[:40]!r}, which is new"))
        return found, status
    found = QUEUE.get(waits, Standing("unknown", None, f"the TPU API says {waits[:40]!r}, which is new"))
    if found.state == "loading":
        return Standing("unknown", None, "the queued resource is ACTIVE and its node is not shown"), status
    said = request.get("state", {}).get("failedData", {}).get("error", {})
    if said:
        words = f"{said.get('message', '')}"[:300]
        found = Standing(found.state, found.billing, f"{found.reason}: {words}")
    return found, status
