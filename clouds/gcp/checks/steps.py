"""Short ways to write the steps of a cleanup, in the names of Google's discovery documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clouds.gcp import meters
from clouds.gcp.checks import words
from clouds.models import Call, Reversal
from clouds.models.removal import CleanupStep, Doomed, Lookup, Until
from clouds.models.waste import Meter, Row

MARK = "modelrig-cleanup"
"""The label of every backup that a cleanup makes; its value names the plan and the finding."""


def call(operation: str, parameters: Mapping[str, Any]) -> Call:
    """A call from "service.resource.method"."""
    service, _, name = operation.partition(".")
    return Call(service, name, parameters)


def gone(operation: str, parameters: Mapping[str, Any], path: str = "name", *on: str, seconds: float = 1800) -> Until:
    """Wait until Google no longer knows it, or `path` says one of `on`."""
    return Until(call(operation, parameters), path, gone=True, gone_on=on, seconds=seconds, every=10)


def until(
    operation: str, parameters: Mapping[str, Any], path: str, *done: str, failed: tuple[str, ...] = (),
    seconds: float = 3600,
) -> Until:  # fmt: skip
    """Wait until `path` says one of `done`."""
    return Until(call(operation, parameters), path, done, failed, seconds=seconds, every=10)


def step(
    name: str, text: str, operation: str, parameters: Mapping[str, Any], reversal: Reversal, wait: Until, *,
    days: int | None = None, backup: bool = False, capacity: bool = False, again: Lookup | None = None,
    makes: str = "", bills: tuple[Meter, ...] = (),
) -> CleanupStep:  # fmt: skip
    """One step and what is read after it."""
    return CleanupStep(
        name, text, call(operation, parameters), reversal, wait, days, backup, capacity, again=again, makes=makes,
        bills=bills,
    )  # fmt: skip


def at(row: Row, project: str | None, name: str) -> dict[str, str]:
    """The path parameters of a Compute Engine resource: its project, its zone or region, and itself under `name`."""
    found = {"project": project or ""}
    if row.get("zone"):
        found["zone"] = words.last(row["zone"])
    elif row.get("region"):
        found["region"] = words.last(row["region"])
    return {**found, name: str(row["name"])}


def collection(row: Row, zonal: str, regional: str = "", world: str = "") -> str:
    """The collection that a Compute Engine row is in: `disks` or `regionDisks`, `addresses` or `globalAddresses`."""
    if row.get("zone"):
        return zonal
    return (regional or zonal) if row.get("region") else (world or zonal)


def remove(
    doomed: Doomed, kind: str, param: str, what: str, *, reversal: Reversal = "cannot be undone",
    capacity: bool = False, name: str = "delete",
) -> CleanupStep:  # fmt: skip
    """Delete a Compute Engine resource and read back until it is gone."""
    where = at(doomed.row, doomed.at.account, param)
    return step(
        name, f"delete the {what} {doomed.row['name']}", f"compute.{kind}.delete", where, reversal,
        gone(f"compute.{kind}.get", where), capacity=capacity,
    )  # fmt: skip


def remove_named(
    doomed: Doomed, collection_: str, what: str, *, reversal: Reversal = "cannot be undone", capacity: bool = False,
    extra: Mapping[str, Any] | None = None, param: str = "name", days: int | None = None, seconds: float = 1800,
    on: tuple[str, ...] = (), path: str = "name",
) -> CleanupStep:  # fmt: skip
    """Delete what carries `projects/p/…/things/t` as its name, and read back until it is gone."""
    where = {param: str(doomed.row["name"])}
    return step(
        "delete", f"delete the {what} {words.last(doomed.row['name'])}", f"{collection_}.delete",
        {**where, **(extra or {})}, reversal, gone(f"{collection_}.get", where, path, *on, seconds=seconds),
        capacity=capacity, days=days,
    )  # fmt: skip


def snapshot(row: Row, project: str | None, mark: str) -> CleanupStep:
    """A snapshot of a disk, waited for until it is ready: only then is there a backup.

    Its name is made of the plan and the finding, so that an answer that was lost is found again and none is made twice.
    """
    name = f"modelrig-{mark}"[:62].rstrip("-")
    kind = collection(row, "disks", "regionDisks")
    disk = str(row["name"])
    where = {"project": project or "", "snapshot": name}
    return step(
        "snapshot", f"snapshot {disk} ({row.get('sizeGb', '?')} GiB) as {name} and wait until it is ready",
        f"compute.{kind}.createSnapshot",
        {**at(row, project, "disk"), "body": {"name": name, "labels": {MARK: mark.lower()[:63]}}}, "can be undone",
        until("compute.snapshots.get", where, "status", "READY", failed=("FAILED",), seconds=6 * 3600), backup=True,
        again=Lookup(
            call("compute.snapshots.list", {"project": project or "", "filter": f"name = {name}"}),
            {"targetId": "items.id"},
        ),
        makes=name, bills=_stored(row),
    )  # fmt: skip


def _stored(row: Row) -> tuple[Meter, ...]:
    """What a snapshot of a disk bills at most: its whole size, in the nearest multi-region.

    A project's setting may keep it there, or in the disk's region, whose rate is lower (SnapshotSettings in the Compute
    Engine API reference, read 2026-11-30).
    """
    size, place = words.number(row.get("sizeGb")), words.region(words.spot(row))
    return meters.stored("snapshot/standard", size, [place.split("-", 1)[0]]) if size else ()
