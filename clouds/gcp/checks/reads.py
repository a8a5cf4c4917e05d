"""Readings that several checks share: each is made once a project, however many checks need it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clouds.gcp.checks import words
from clouds.models import Scope
from clouds.models.waste import Detail, Kind, Listing, Row


def aggregated(kind: str, *assets: str) -> Listing:
    """Everything of a kind in all zones and regions of a project, in one paged call."""
    return Listing("compute", f"{kind}.aggregatedList", f"items.*.{kind}", assets=assets)


def everywhere(service: str, operation: str, rows: str, *assets: str, word: str = "parent") -> Listing:
    """A listing that takes `-` for all locations, as the method's own description says."""
    return Listing(
        service, operation, rows, ask=lambda at: {word: f"projects/{at.account}/locations/-"}, assets=assets
    )  # fmt: skip


def locations(service: str) -> Listing:
    """Where a service is: for methods that answer for one location at a time."""
    return Listing(service, "projects.locations.list", "locations")


def in_each(of: Listing, operation: str, rows: str, *assets: str, word: str = "parent", service: str = "") -> Detail:
    """A listing that has to be asked for in each location."""
    return Detail(
        of, service or of.service, operation, _parent(word), rows=rows, where=_there, assets=assets, spot=_location,
        nothing_on=("NOT_FOUND", "UNIMPLEMENTED"),
    )  # fmt: skip


def _parent(word: str) -> Callable[[Sequence[Row], Scope], Mapping[str, Any]]:
    return lambda rows, at: {word: f"projects/{at.account}/locations/{_location(rows[0])}"}


def _location(row: Row) -> str:
    return str(row["locationId"])


def _there(row: Row, at: Scope) -> Scope:
    return Scope(_location(row), at.account)


def compute_kind(
    name: str, of: Listing | Detail, *, managed: Callable[[Row], str] | None = None, moving: tuple[str, ...] = ()
) -> Kind:
    """A sort of Compute Engine resource."""
    return Kind(
        name=name, of=of, id=words.compute_id, label=words.short, created=_made, tags=words.labels,
        managed=managed or words.managed, place=words.compute_place,
        moving=("fingerprint", "labelFingerprint", *moving),
    )  # fmt: skip


def named_kind(
    name: str, of: Listing | Detail, service: str, *, label: Callable[[Row], str] = words.short,
    created: Callable[[Row], Any] | None = None, managed: Callable[[Row], str] | None = None,
    place: Callable[[Row, Scope], str] = words.name_place, moving: tuple[str, ...] = (), dated: bool = True,
) -> Kind:  # fmt: skip
    """A sort of resource that carries `projects/…/things/t` as its name and `createTime` as its beginning."""
    return Kind(
        name=name, of=of, id=words.name_id(service), label=label, created=created or (_created if dated else None),
        tags=words.labels, managed=managed or words.managed, place=place, moving=("etag", "updateTime", *moving),
    )  # fmt: skip


def _made(row: Row) -> Any:
    return row.get("creationTimestamp")


def _created(row: Row) -> Any:
    return row.get("createTime")


INSTANCES = aggregated("instances", "compute.googleapis.com/Instance")
DISKS = aggregated("disks", "compute.googleapis.com/Disk")
ADDRESSES = aggregated("addresses", "compute.googleapis.com/Address")
RULES = aggregated(
    "forwardingRules", "compute.googleapis.com/ForwardingRule"
)  # fmt: skip
VERTEX = locations("aiplatform")
TPU = locations("tpu")
RUN = locations("run-v1")
"""Version 2 has no list of locations (discovery run v2, rev 20261031)."""


def gce_key(row: Row) -> tuple[str, ...]:
    """How Cloud Monitoring names a machine: its number."""
    return (str(row["id"]),)
