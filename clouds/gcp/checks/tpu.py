"""TPU nodes, queued resources and TPU machines that serve nothing, hold quota, or have no end."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from clouds.gcp import meters
from clouds.gcp.checks import words
from clouds.gcp.checks.metrics import usage
from clouds.gcp.checks.reads import TPU, in_each, named_kind
from clouds.gcp.checks.steps import gone, remove_named, step
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Kind, Metric, Row, Seen, Waste, WasteCheck

NODES = in_each(TPU, "projects.locations.nodes.list", "nodes", "tpu.googleapis.com/Node")
QUEUED = in_each(TPU, "projects.locations.queuedResources.list", "queuedResources", service="tpu-v2alpha1")
"""The alpha version, since only it says `provisioningModel` and `runDuration`; in no inventory. Nodes too are asked
for zone by zone: nothing says that `-` is taken here (discovery tpu v2 and v2alpha1, rev 20261001)."""
NODE = named_kind("TPU node", NODES, "tpu", managed=words.managed)
QUEUE = named_kind("queued resource", QUEUED, "tpu")
_DEAD = ("PREEMPTED", "TERMINATED", "STOPPED")
_MOVING = ("CREATING", "STARTING", "STOPPING", "RESTARTING", "REIMAGING", "DELETING", "REPAIRING")
_HUSK = ("SUSPENDED", "FAILED")
_IDLE_SECONDS = 43_200
"""A core that did anything in the window has a smaller least idle time than this, unless it rested before it too."""


def _idle_for(days: int) -> Metric:
    """Made for each sort of holder: the age of the one says nothing of the other."""
    return usage(
        "shortest idle time of its TensorCores", NODES, "tpu.googleapis.com/tpu/tensorcore/idle_duration", "tpu_worker",
        ("node_id",), lambda row: (str(row.get("id") or words.last(row["name"])),), days=days, absent="unresolved",
        fold="max", least=True, unit="s", when=lambda row: row.get("state") == "READY",
        source="Cloud TPU monitoring page (2026-11-29): every node reports it. The newer one, GceTpuWorker, names no "
        "node, so that a node without a series is unresolved and never idle",
    )  # fmt: skip


IDLE_FOR, HELD_IDLE_FOR = _idle_for(2), _idle_for(3)


def _idle(row: Row, seen: Seen) -> Waste | None:
    if row.get("state") != "READY" or (row.get("schedulingConfig") or {}).get("reserved"):
        return None

    if seen.metric(IDLE_FOR, row) < _IDLE_SECONDS:
        return None
    version, chips = meters.chips_of(row)
    return Waste(
        f"READY, and no core of its {chips} {version} chips did anything in 2 days",
        meters.node(row, words.name_place(row, seen.at)),
        evidence=_facts(row),
    )


def _facts(row: Row) -> dict[str, Any]:
    return {
        "type": row.get("acceleratorType", ""), "state": row.get("state", ""), "health": row.get("health", ""),
        "runtime": row.get("runtimeVersion", ""), "queued resource": words.last(row.get("queuedResource")),
    }  # fmt: skip


def _delete_node(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return (remove_named(doomed, "tpu.projects.locations.nodes", "TPU node", capacity=True),)


_NODE_STEPS = ("tpu.projects.locations.nodes.delete", "tpu.projects.locations.nodes.get")

NODE_IDLE = WasteCheck(
    id="tpu-node-idle",
    title="TPU node that computes nothing",
    kind=NODE,
    judge=_idle,
    reads=(IDLE_FOR,),
    why="A node bills for every chip from READY until it is deleted, whether it computes or not.",
    remove=_delete_node,
    steps=_NODE_STEPS,
    reversal="cannot be undone",
    category="ai",
    order=10,
    recovery="deploy_endpoint makes another one; the chips may not be had, its boot disk is lost. A queued resource "
    "of it stays, as a husk.",
    meter="TPU chips by the hour",
    min_age=timedelta(days=2),
    spares=(
        "any core was busy in 2 days",
        "its capacity is reserved",
        "made by GKE",
        "its series cannot be told apart",
    ),
    unchecked=("what it would serve next", "data on its boot disk"),
)


def _dead(row: Row, seen: Seen) -> Waste | None:
    state = str(row.get("state"))
    unwell = state == "READY" and row.get("health") in ("UNHEALTHY_TENSORFLOW", "UNHEALTHY_MAINTENANCE", "TIMEOUT")
    if state not in _DEAD and not unwell:
        return None
    if unwell:  # it bills; since when it is so is not said
        why = str(row.get("healthDescription") or "no reason given")[:150]
        lines = meters.node(row, words.name_place(row, seen.at))
        return Waste(f"READY but {row['health']}: {why}", lines, bound="at most", evidence=_facts(row))
    return Waste(f"{state}: it computes nothing and holds its name and quota", free=True, evidence=_facts(row))


NODE_DEAD = WasteCheck(
    id="tpu-node-dead", title="TPU node that is stopped, preempted or unhealthy", kind=NODE, judge=_dead,
    why="A preempted or stopped node stays listed until somebody deletes it, and its name and quota stay taken.",
    remove=_delete_node, steps=_NODE_STEPS, reversal="cannot be undone", category="ai", order=11,
    recovery="deploy_endpoint makes another one; its boot disk is lost. A queued resource of it stays, as a husk.",
    meter="none while it is stopped; TPU chips by the hour, at most, while it is READY",
    min_age=timedelta(hours=1), spares=("READY and healthy", "made by GKE", "younger than an hour"),
    unchecked=("disks that were attached to it",),
)  # fmt: skip


def _stuck(row: Row, seen: Seen) -> Waste | None:
    del seen
    if row.get("state") not in _MOVING:
        return None
    return Waste(f"{row['state']} for more than 30 minutes", evidence=_facts(row))


NODE_STUCK = WasteCheck(
    id="tpu-node-stuck",
    title="TPU node that does not get on",
    kind=NODE,
    judge=_stuck,
    why="A node that stays in a passing state serves nothing; Google does not say whether it bills.",
    remove="look at its operations (`gcloud compute tpus tpu-vm describe`), then delete it or ask Google's support",
    reversal="cannot be undone",
    recovery="",
    category="ai",
    order=12,
    meter="Google does not say whether a node in a passing state bills",
    min_age=timedelta(minutes=30),
    spares=("READY, stopped or gone", "younger than 30 minutes"),
    unchecked=("whether it bills",),
)


def _state(row: Row) -> str:
    return str((row.get("state") or {}).get("state") or "")


def _specs(row: Row) -> list[Any]:
    return list((row.get("tpu") or {}).get("nodeSpec") or ())


def _queue_facts(row: Row) -> dict[str, Any]:
    return {
        "state": _state(row), "provisioning": row.get("provisioningModel", ""),
        "type": ", ".join(str((each.get("node") or {}).get("acceleratorType", "")) for each in _specs(row)),
        "nodes": len(_specs(row)),
    }  # fmt: skip


def _husk(row: Row, seen: Seen) -> Waste | None:
    del seen
    if _state(row) not in _HUSK:
        return None
    failure = ((row.get("state") or {}).get("failedData") or {}).get("error") or {}
    why = f" ({str(failure.get('message'))[:120]})" if failure.get("message") else ""
    return Waste(f"{_state(row)}{why}: it costs nothing and holds quota until it is deleted", free=True,
                 evidence=_queue_facts(row))  # fmt: skip


def _delete_queued(doomed: Doomed) -> tuple[CleanupStep, ...]:
    active = _state(doomed.row) == "ACTIVE"
    name = str(doomed.row["name"])
    text = f"delete the queued resource {words.last(name)}" + (" and the nodes it holds" if active else "")
    return (
        step(
            "delete", text, "tpu-v2alpha1.projects.locations.queuedResources.delete",
            {"name": name, **({"force": True} if active else {})}, "cannot be undone",
            gone("tpu-v2alpha1.projects.locations.queuedResources.get", {"name": name}), capacity=active,
        ),
    )  # fmt: skip


_QUEUE_STEPS = (
    "tpu-v2alpha1.projects.locations.queuedResources.delete", "tpu-v2alpha1.projects.locations.queuedResources.get",
)  # fmt: skip

HUSK = WasteCheck(
    id="tpu-queued-husk", title="Queued resource that is over and still holds quota", kind=QUEUE, judge=_husk,
    why="A suspended or failed queued resource goes on taking TPU quota: new requests fail or wait behind it.",
    remove=_delete_queued, steps=_QUEUE_STEPS, reversal="cannot be undone", category="ai", order=13,
    recovery="The request can be made again; nothing of it runs.", meter="none; it frees quota",
    min_age=timedelta(hours=1), spares=("waiting, provisioning or ACTIVE", "younger than an hour"),
    unchecked=("who still wants it",),
)  # fmt: skip


def _forgotten(row: Row, seen: Seen) -> Waste | None:
    del seen
    policy = row.get("queueingPolicy") or {}
    ends = policy.get("validUntilDuration") or policy.get("validUntilTime") or (policy.get("validInterval") or {})
    if _state(row) not in ("WAITING_FOR_RESOURCES", "ACCEPTED") or ends:
        return None
    return Waste("waits for capacity without an end: it starts to bill whenever chips are found", free=True,
                 evidence=_queue_facts(row))  # fmt: skip


FORGOTTEN = WasteCheck(
    id="tpu-queued-forgotten", title="Queued resource that waits for ever", kind=QUEUE, judge=_forgotten,
    why="A request without validUntil may be granted weeks later and then bills unseen.",
    remove=_delete_queued, steps=_QUEUE_STEPS, reversal="cannot be undone", category="ai", order=14,
    recovery="The request can be made again, with an end.", meter="none until it is granted",
    spares=("it has an end", "younger than a day", "granted, failed or suspended"), unchecked=("who waits for it",),
)  # fmt: skip


def _endless(row: Row, seen: Seen) -> Waste | None:
    guaranteed = (row.get("guaranteed") or {}).get("reserved") or row.get("reservationName")
    if _state(row) != "ACTIVE" or row.get("runDuration") or guaranteed:
        return None
    idle = [node for name in _names(row) for node in seen.index(NODES, _by_name).get(name, ()) if _rests(node, seen)]
    if not idle or len(idle) < len(_specs(row)):
        return None
    lines = tuple(line for node in idle for line in meters.node(node, words.name_place(node, seen.at)))
    return Waste("ACTIVE without an end, and its nodes compute nothing", lines,
                 holds=tuple(seen.id(NODE, node) for node in idle), evidence=_queue_facts(row))  # fmt: skip


def _names(row: Row) -> list[str]:
    return [f"{each['parent']}/nodes/{each['nodeId']}" for each in _specs(row) if each.get("nodeId")]


def _by_name(row: Row) -> tuple[str]:
    return (str(row["name"]),)


def _rests(node: Row, seen: Seen) -> bool:
    return node.get("state") == "READY" and seen.metric(HELD_IDLE_FOR, node) >= _IDLE_SECONDS


ENDLESS = WasteCheck(
    id="tpu-queued-no-end", title="Queued resource without an end whose nodes are idle", kind=QUEUE, judge=_endless,
    reads=(NODES, HELD_IDLE_FOR),
    why="Nothing ever ends a queued resource without runDuration: its nodes bill until it is deleted.",
    remove=_delete_queued, steps=_QUEUE_STEPS, reversal="cannot be undone", category="ai", order=9,
    recovery="deploy_endpoint asks again; the chips may not be had, and the boot disks are lost.",
    meter="TPU chips by the hour", min_age=timedelta(days=3),
    spares=("it has an end", "any of its nodes was busy in 3 days", "its capacity is reserved"),
    unchecked=("data on the boot disks",),
)  # fmt: skip

KINDS: tuple[Kind, ...] = (NODE, QUEUE)
CHECKS = (ENDLESS, NODE_IDLE, NODE_DEAD, NODE_STUCK, HUSK, FORGOTTEN)
