"""Short ways to write the steps of a cleanup over ARM: the same id is deleted, and read until it is gone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clouds.models import Call, Reversal
from clouds.models.removal import CleanupStep, Until
from clouds.models.waste import Meter


def delete(
    kind: str,
    resource: str,
    text: str,
    reversal: Reversal,
    *,
    name: str = "delete",
    days: int | None = None,
    capacity: bool = False,
    seconds: float = 1800,
    query: Mapping[str, str] | None = None,
) -> CleanupStep:
    """Delete one resource and wait until reading it says that it is not there."""
    parameters: dict[str, Any] = {"id": resource, **({"query": dict(query)} if query else {})}
    return CleanupStep(
        name, text, Call(kind, "delete", parameters), reversal,
        Until(Call(kind, "get", {"id": resource}), "id", gone=True, seconds=seconds),
        recoverable_days=days, capacity=capacity,
    )  # fmt: skip


def change(
    kind: str,
    resource: str,
    text: str,
    body: Mapping[str, Any],
    path: str,
    *done: str,
    name: str = "change",
    reversal: Reversal = "can be undone",
    capacity: bool = False,
    failed: tuple[str, ...] = ("Failed", "Canceled"),
    seconds: float = 1800,
) -> CleanupStep:
    """Patch one resource and wait until `path` of it says one of `done`."""
    return CleanupStep(
        name, text, Call(kind, "patch", {"id": resource, "body": dict(body)}), reversal,
        Until(Call(kind, "get", {"id": resource}), path, done, failed, seconds=seconds), capacity=capacity,
    )  # fmt: skip


def to_zero(kind: str, resource: str, text: str, body: Mapping[str, Any], path: str) -> CleanupStep:
    """Patch a number of one resource to 0 and wait until it is 0, or left out, as Azure does with a default."""
    return CleanupStep(
        "change", text, Call(kind, "patch", {"id": resource, "body": dict(body)}), "can be undone",
        Until(Call(kind, "get", {"id": resource}), path, gone=True, gone_on=("0",)), capacity=True,
    )  # fmt: skip


def act(
    kind: str,
    resource: str,
    action: str,
    text: str,
    path: str,
    *done: str,
    look: Call | None = None,
    body: Mapping[str, Any] | None = None,
    reversal: Reversal = "can be undone",
    capacity: bool = False,
    seconds: float = 1800,
) -> CleanupStep:
    """Send a POST action to one resource and wait until `path` of it (or of what `look` reads) says one of `done`."""
    parameters: dict[str, Any] = {"id": resource, **({"body": dict(body)} if body is not None else {})}
    read = look or Call(kind, "get", {"id": resource})
    return CleanupStep(
        action, text, Call(kind, action, parameters), reversal,
        Until(read, path, done, ("Failed",), seconds=seconds), capacity=capacity,
    )  # fmt: skip


def snapshot(disk: str, location: str, gib: Any, mark: str, *, copied: bool = False) -> CleanupStep:
    """An incremental snapshot of a disk, complete before the disk goes. A second one of that name is the same one.

    Of Premium SSD v2 and Ultra disks the data is `copied` after the snapshot is there (Azure docs on incremental
    snapshots, read 2026-11-29): then the copy is waited for too.
    """
    group, _, name = disk.rpartition("/providers/Microsoft.Compute/disks/")
    target = f"{group}/providers/Microsoft.Compute/snapshots/{name[:40]}-{mark}"
    body = {
        "location": location,
        "sku": {"name": "Standard_LRS"},
        "properties": {"incremental": True, "creationData": {"createOption": "Copy", "sourceResourceId": disk}},
        "tags": {"modelrig-cleanup": mark},
    }
    look = Call("Microsoft.Compute/snapshots", "get", {"id": target})
    path, done = ("completionPercent", ("100", "100.0")) if copied else ("provisioningState", ("Succeeded",))
    return CleanupStep(
        "snapshot",
        f"take an incremental snapshot of {name} ({gib} GiB) and wait until it is complete",
        Call("Microsoft.Compute/snapshots", "put", {"id": target, "body": body}),
        "can be undone",
        Until(look, f"properties.{path}", done, ("Failed",), seconds=24 * 3600 if copied else 6 * 3600),
        backup=True,
        makes=target,
        bills=(Meter("snapshot/standard-lrs", "GB-month", float(gib)),) if gib else (),
    )


def sends(kind: str, *verbs: str) -> tuple[str, ...]:
    """`type.verb` of the calls of a check's steps, with the reading back."""
    return (*(f"{kind}.{verb}" for verb in verbs), f"{kind}.get")
