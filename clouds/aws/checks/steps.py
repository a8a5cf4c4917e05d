"""Short ways to write the steps of a cleanup."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clouds.models import Call, Reversal
from clouds.models.removal import ANYTHING, CleanupStep, From, Lookup, Until
from clouds.models.waste import Meter

MARK = "modelrig-cleanup"
"""The tag of every backup that a cleanup makes; its value names the plan and the finding."""


def step(
    name: str,
    text: str,
    operation: str,
    parameters: Mapping[str, Any],
    reversal: Reversal,
    *,
    until: Until | None = None,
    days: int | None = None,
    backup: bool = False,
    capacity: bool = False,
    already: tuple[str, ...] = (),
    again: Lookup | None = None,
    makes: str | From = "",
    bills: tuple[Meter, ...] = (),
) -> CleanupStep:
    """One step; `operation` is "ec2.DeleteVolume"."""
    return CleanupStep(
        name, text, call(operation, parameters), reversal, until, days, backup, capacity, already, again, makes, bills
    )


def call(operation: str, parameters: Mapping[str, Any]) -> Call:
    """A call from "service.Operation"."""
    service, _, name = operation.partition(".")
    return Call(service, name, parameters)


def until(
    operation: str, parameters: Mapping[str, Any], path: str, *done: str, failed: tuple[str, ...] = (),
    seconds: float = 3600, every: float = 15,
) -> Until:  # fmt: skip
    """Wait until `path` says one of `done`."""
    return Until(call(operation, parameters), path, done, failed, seconds=seconds, every=every)


def told(operation: str, parameters: Mapping[str, Any], path: str, *, seconds: float = 600) -> Until:
    """Wait until `path` says anything at all."""
    return Until(call(operation, parameters), path, ANYTHING, seconds=seconds)


def gone(
    operation: str, parameters: Mapping[str, Any], path: str, *on: str, seconds: float = 1800, every: float = 15
) -> Until:
    """Wait until the cloud no longer knows it, `path` holds nothing, or says one of `on`."""
    return Until(call(operation, parameters), path, gone=True, gone_on=on, seconds=seconds, every=every)


def snapshot(volume: str, size: Any, mark: str, name: str = "snapshot") -> CleanupStep:
    """A snapshot of a volume, waited for until it is complete: only then is there a backup.

    When its answer was lost it is found again by its tag, so that no second one is made.
    """
    marks = [{"Key": MARK, "Value": f"{mark}-{volume}"}]
    return step(
        name,
        f"snapshot {volume} ({size} GiB) and wait until it is complete",
        "ec2.CreateSnapshot",
        {
            "VolumeId": volume,
            "Description": f"modelrig cleanup {mark}: before {volume} is deleted",
            "TagSpecifications": [{"ResourceType": "snapshot", "Tags": marks}],
        },
        "can be undone",
        until=until(
            "ec2.DescribeSnapshots", {"SnapshotIds": [From(name, "SnapshotId")]}, "Snapshots[].State", "completed",
            failed=("error", "recoverable"), seconds=6 * 3600,
        ),
        backup=True,
        again=Lookup(
            call(
                "ec2.DescribeSnapshots",
                {"OwnerIds": ["self"], "Filters": [{"Name": f"tag:{MARK}", "Values": [f"{mark}-{volume}"]}]},
            ),
            {"SnapshotId": "Snapshots[].SnapshotId"},
        ),
        makes=From(name, "SnapshotId"),
        bills=stored(size),
    )  # fmt: skip


def stored(gib: Any) -> tuple[Meter, ...]:
    """What snapshots of so many GiB bill at most: blocks that were never written are not stored."""
    return (Meter("ebs-snapshot/standard", "GiB-month", float(gib)),)
