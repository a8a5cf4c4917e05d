"""Nodes and queued resources of the TPU API as they are. One name has both, and either may be there without the other.

The node is read by google-cloud-tpu. Its log comes from guest attributes: the TPU API has no serial console.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from clouds.errors import CloudError, NotFound
from clouds.gcp import errors, tpus
from clouds.gcp.api import GcpApi
from clouds.gcp.endpoints import ending
from clouds.gcp.endpoints.gce.world import clean
from clouds.gcp.endpoints.hardware import TPU, Shape
from clouds.gcp.endpoints.machines import calls as shared
from clouds.gcp.endpoints.machines.held import Held, label, missing
from clouds.gcp.endpoints.tpu.calls import FLEX, parent
from clouds.gcp.endpoints.tpu.states import held_of
from clouds.gcp.endpoints.tunnel import Target
from clouds.models import Call, EndpointRef, Read, Scope

NODES, QUEUED = "projects.locations.nodes", "projects.locations.queuedResources"
READS = (
    Call("tpu", f"{NODES}.get"),
    Call("tpu", f"{NODES}.list"),
    Call("tpu", f"{NODES}.getGuestAttributes"),
    Call("tpu", f"{QUEUED}.get"),
    Call(FLEX, f"{QUEUED}.get"),
    Call(FLEX, f"{QUEUED}.list"),
    Call("tpu", "projects.locations.operations.get"),
    Call("tpu", "projects.locations.list"),
    Call("tpu", "projects.locations.acceleratorTypes.list"),
    Call("compute", "firewalls.get"),
    Call("compute", "globalOperations.get"),
    Call("cloudscheduler", "projects.locations.jobs.get"),
    Call("storage", "buckets.get"),
    Call("storage", "objects.list"),
    Call("storage-media", "objects.get"),
)
"""What looking at nodes sends, for the read-only allow-list."""


class Nodes:
    """The TPU API."""

    word = "tpu"
    shapes: tuple[Shape, ...] = TPU

    def __init__(self, api: GcpApi) -> None:
        self._api = api

    def find(self, ref: EndpointRef) -> Held:
        """The node or queued resource of that name, dead or alive. Raises NotFound, also for what is not ours."""
        return self._found(ref, self._node)

    def read(self, ref: EndpointRef) -> Held:
        """The same, its node read by google-cloud-tpu. Raises NotFound."""
        return self._found(ref, self._packaged)

    def _found(self, ref: EndpointRef, node_of: Callable[[str], Mapping[str, Any] | None]) -> Held:
        where, name = parent(self._api.project, ref.location), label(ref.name)
        node = node_of(f"{where}/nodes/{name}")
        queued = self._queued(f"{where}/queuedResources/{name}")
        if node is None and queued is None:
            raise missing(ref)
        held = held_of(node, queued)
        if not held.deployment:
            raise missing(ref)
        return held

    def _node(self, name: str) -> Mapping[str, Any] | None:
        try:
            found: Mapping[str, Any] = self._api.send(Call("tpu", f"{NODES}.get", {"name": name}), scope=Scope())
        except NotFound:
            return None
        return found

    def _packaged(self, name: str) -> Mapping[str, Any] | None:
        try:
            found: Mapping[str, Any] = self._api.sdk.node(name)
        except NotFound:
            return None
        return found

    def _queued(self, name: str) -> Mapping[str, Any] | None:
        """By v2alpha1: v2 does not show that it is flex-start nor how long it runs."""
        try:
            found: Mapping[str, Any] = self._api.send(Call(FLEX, f"{QUEUED}.get", {"name": name}), scope=Scope())
        except NotFound:
            return None
        return found

    def all(self, scope: Scope) -> Read[Held]:
        """Every node and queued resource of ours, husks too; places that could not be looked at are unread."""
        place = scope.location or ""
        within = (lambda zone: zone == place or zone.startswith(f"{place}-")) if place else None
        project = scope.account or self._api.project
        nodes = tpus.everywhere(self._api, tpus.NODES, project, within)
        queued = tpus.everywhere(self._api, tpus.QUEUED, project, within)
        looked = not (queued.unread or queued.not_applicable)
        found = tuple(held for held in _joined(nodes.found, queued.found, looked=looked) if held.deployment)
        # an API that is not enabled has nothing of ours
        return Read(found=found, unread=(*nodes.unread, *queued.unread))

    def lines(self, held: Held) -> tuple[str, ...] | None:
        """Its phase marks, its engine's telling lines and its newest ones, from guest attributes; None: not read."""
        if not held.node:
            return ()
        items = self._attributes(held, "modelrig/")
        if items is None:
            return None
        order = ("engine", "phase", "log") if items.get("phase", "").rstrip().endswith("Z") else ("engine", "phase")
        return clean("\n".join(items.get(key, "") for key in order))

    def _attributes(self, held: Held, path: str) -> dict[str, str] | None:
        name = f"{parent(held.project, held.zone)}/nodes/{held.name}"
        call = Call(
            "tpu", f"{NODES}.getGuestAttributes", {"name": name, "body": {"queryPath": path, "workerIds": ["0"]}}
        )
        try:
            answer = self._api.send(call, scope=Scope(held.zone))
        except NotFound:
            return {}
        except CloudError:
            return None
        rows = [
            item
            for worker in answer.get("guestAttributes", [])
            for item in worker.get("queryValue", {}).get("items", [])
        ]
        return {str(item.get("key", "")): str(item.get("value", "")) for item in rows}

    def label(self, held: Held, pairs: Mapping[str, str]) -> None:
        """Set labels on the node; the others stay."""
        self._patch(held, "labels", {**held.labels, **pairs})

    def tell(self, held: Held, values: Mapping[str, str]) -> None:
        """Set metadata on the node; the rest stays."""
        self._patch(held, "metadata", {**held.metadata, **values})

    def _patch(self, held: Held, mask: str, value: Mapping[str, str]) -> None:
        name = f"{parent(held.project, held.zone)}/nodes/{held.name}"
        call = Call("tpu", f"{NODES}.patch", {"name": name, "updateMask": mask, "body": {mask: dict(value)}})
        self._api.send(call, scope=Scope(held.zone))

    def parts(self, ref: EndpointRef) -> tuple[Call, ...]:
        """The queued resource (whose forced deletion takes its node along), the node, then its end and its rule."""
        project, name = self._api.project, label(ref.name)
        where = parent(project, ref.location)
        job = f"{ending.job_parent(project, ref.location)}/jobs/{name}-{ref.location}"
        rule = {"project": project, "body": {"name": shared.rule_name("tpu", ref.name)}}
        return (
            Call(FLEX, f"{QUEUED}.create", {"parent": where, "queuedResourceId": name}),
            Call("tpu", f"{NODES}.create", {"parent": where, "nodeId": name}),
            Call(
                "cloudscheduler",
                "projects.locations.jobs.create",
                {"parent": job.rsplit("/jobs/", 1)[0], "body": {"name": job}},
            ),
            Call("compute", "firewalls.insert", rule),
        )

    def failure(self, held: Held, tried: str) -> CloudError | None:
        """The error that a failed queued resource carries; one code stands for quota and stockout, the words decide."""
        row = self._queued(f"{parent(held.project, held.zone)}/queuedResources/{held.queued}") if held.queued else None
        said = (row or {}).get("state", {}).get("failedData", {}).get("error")
        return errors.of_status(said, tried) if isinstance(said, Mapping) and said else None

    def target(self, held: Held, port: int) -> Target:
        """The relay knows a node by the host name in its guest attributes (as gcloud 528 asks for it)."""
        host = (self._attributes(held, "") or {}).get("hostname", "")
        return Target(held.project, held.zone, host or held.name, port)


def _joined(nodes: Sequence[Mapping[str, Any]], queued: Sequence[Mapping[str, Any]], *, looked: bool) -> Iterator[Held]:
    """Node and queued resource of one name in one zone are one endpoint."""
    by_name = {str(row.get("name", "")): row for row in nodes}
    for row in queued:
        specs = row.get("tpu", {}).get("nodeSpec", [])
        spec: Mapping[str, Any] = specs[0] if specs else {}
        where = spec.get("parent") or str(row.get("name", "")).rsplit("/queuedResources/", 1)[0]
        yield held_of(by_name.pop(f"{where}/nodes/{spec.get('nodeId', '')}", None), row)
    for node in by_name.values():
        yield held_of(node, None, looked=looked)


__all__ = ["READS", "Nodes"]
