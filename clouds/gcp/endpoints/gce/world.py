"""Machines of Compute Engine as they are: found by name and our labels, with their serial console."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clouds.errors import CloudError, NotFound
from clouds.gcp import pages, tpus
from clouds.gcp.api import GcpApi
from clouds.gcp.endpoints import labels as tags
from clouds.gcp.endpoints.hardware import GCE, Shape
from clouds.gcp.endpoints.machines import calls
from clouds.gcp.endpoints.machines.held import Held, Standing, label, missing
from clouds.gcp.endpoints.tunnel import Target
from clouds.models import Call, EndpointRef, Read, Scope, Unread

_MARKETS = {"STANDARD": "on-demand", "SPOT": "spot", "FLEX_START": "flex-start", "RESERVATION_BOUND": "reserved"}
_STATES: Mapping[str, Standing] = {
    "PENDING": Standing("waiting_for_capacity", False, "flex-start waits for capacity; nothing bills meanwhile"),
    "PROVISIONING": Standing("creating", True, "resources are being allocated"),
    "STAGING": Standing("creating", True, "it is being started"),
    "RUNNING": Standing("loading", True),
    "REPAIRING": Standing("unknown", None, "the machine is in repair at Google"),
    "PENDING_STOP": Standing("stopping", True, "it is shutting down"),
    "STOPPING": Standing("stopping", True, "it is being stopped or deleted"),
    "DEPROVISIONING": Standing("deleting", False, "it is being taken down"),
    "SUSPENDING": Standing("stopping", True),
    "SUSPENDED": Standing("stopped", True, "its memory and disk bill"),
    "TERMINATED": Standing("stopped", True, "it ended; its disk bills until it is deleted"),
    "STOPPED": Standing("stopped", True, "it ended; its disk bills until it is deleted"),
}
_DEAD = frozenset({"TERMINATED", "STOPPED", "SUSPENDED", "SUSPENDING"})
MOST_SERIAL = 1 << 20
"""Bytes that Compute Engine keeps of a console (discovery compute v1, SerialPortOutput)."""
READS = (
    Call("compute", "instances.get"),
    Call("compute", "instances.aggregatedList"),
    Call("compute", "instances.getSerialPortOutput"),
    Call("compute", "firewalls.get"),
    Call("compute", "zoneOperations.get"),
    Call("compute", "globalOperations.get"),
    Call("compute", "zoneOperations.list"),
    Call("compute", "machineTypes.aggregatedList"),
    Call("compute", "images.getFromFamily"),
    Call("storage", "buckets.get"),
    Call("storage", "objects.list"),
    Call("storage-media", "objects.get"),
)
"""What looking at machines sends, for the read-only allow-list."""


class Machines:
    """Compute Engine."""

    word = "gce"
    shapes: tuple[Shape, ...] = GCE

    def __init__(self, api: GcpApi) -> None:
        self._api = api

    def find(self, ref: EndpointRef) -> Held:
        """The machine of that name, dead or alive. Raises NotFound, also for a machine that is not ours."""
        asked = {"project": self._api.project, "zone": ref.location, "instance": label(ref.name)}
        try:
            row = self._api.send(Call("compute", "instances.get", asked), scope=Scope(ref.location))
        except NotFound:
            raise missing(ref) from None
        held = held_of(row)
        if not held.deployment:
            raise missing(ref)
        return held

    def read(self, ref: EndpointRef) -> Held:
        """As `find`: Compute Engine's package is for making and deleting, it takes half a second to import."""
        return self.find(ref)

    def all(self, scope: Scope) -> Read[Held]:
        """Every machine of ours in one call over all zones; a zone that did not answer is unread."""
        call = Call(
            "compute",
            "instances.aggregatedList",
            {"filter": f"labels.{tags.DEPLOYMENT}:*", **({"project": scope.account} if scope.account else {})},
        )
        try:
            answer = self._api.send(call, scope=Scope(account=scope.account))
        except CloudError as error:
            return Read(unread=(Unread(call=str(call), scope=str(scope), reason=str(error)[:300]),))
        found = [held_of(row) for _, row in pages.scoped(answer, "instances")]
        place = scope.location or ""
        kept = [one for one in found if one.deployment and one.zone.startswith(place)]
        return Read(found=tuple(kept), unread=tpus.missed(call, answer))

    def lines(self, held: Held) -> tuple[str, ...] | None:
        """The lines of its serial console, oldest first; None when they could not be read. No tunnel is needed."""
        asked = {"project": held.project, "zone": held.zone, "instance": held.name, "port": 1}
        try:
            answer = self._api.send(Call("compute", "instances.getSerialPortOutput", asked), scope=Scope(held.zone))
        except CloudError:
            return None
        return clean(str(answer.get("contents", ""))[-MOST_SERIAL:])

    def label(self, held: Held, pairs: Mapping[str, str]) -> None:
        """Set labels; Compute Engine wants the fingerprint of what it replaces."""
        row = self._row(held)
        body = {"labels": {**row.get("labels", {}), **pairs}, "labelFingerprint": row.get("labelFingerprint", "")}
        self._change("instances.setLabels", held, body)

    def tell(self, held: Held, values: Mapping[str, str]) -> None:
        """Set metadata; the rest stays."""
        row = self._row(held)
        kept = {item["key"]: item.get("value", "") for item in row.get("metadata", {}).get("items", [])}
        items = [{"key": key, "value": value} for key, value in {**kept, **values}.items()]
        body = {"items": items, "fingerprint": row.get("metadata", {}).get("fingerprint", "")}
        self._change("instances.setMetadata", held, body)

    def parts(self, ref: EndpointRef) -> tuple[Call, ...]:
        """The machine, then its rule."""
        project = self._api.project
        named = {"project": project, "zone": ref.location, "body": {"name": label(ref.name)}}
        rule = {"project": project, "body": {"name": calls.rule_name("gce", ref.name)}}
        return (Call("compute", "instances.insert", named), Call("compute", "firewalls.insert", rule))

    def failure(self, held: Held, tried: str) -> CloudError | None:  # noqa: ARG002 - the port's own arguments
        """None: a machine's operation has said it."""
        return None

    def target(self, held: Held, port: int) -> Target:
        """The relay knows a machine of Compute Engine by its name."""
        return Target(held.project, held.zone, held.name, port)

    def _row(self, held: Held) -> dict[str, Any]:
        asked = {"project": held.project, "zone": held.zone, "instance": held.name}
        row: dict[str, Any] = self._api.send(Call("compute", "instances.get", asked), scope=Scope(held.zone))
        return row

    def _change(self, operation: str, held: Held, body: Mapping[str, Any]) -> None:
        asked = {"project": held.project, "zone": held.zone, "instance": held.name, "body": body}
        self._api.send(Call("compute", operation, asked), scope=Scope(held.zone))


def held_of(row: Mapping[str, Any]) -> Held:
    """Pure: the machine from its row."""
    status, scheduling = str(row.get("status", "")), row.get("scheduling", {})
    zone = str(row.get("zone", "")).rsplit("/", 1)[-1]
    link = str(row.get("selfLink") or row.get("zone") or "")
    project = link.split("/projects/", 1)[1].split("/", 1)[0] if "/projects/" in link else ""
    standing = _STATES.get(status, Standing("unknown", None, f"Compute Engine says {status[:40]!r}, which is new"))
    why = str(row.get("statusMessage", ""))
    if why and standing.state != "loading":
        standing = Standing(standing.state, standing.billing, f"{standing.reason}: {why[:200]}".strip(": "))
    ends = row.get("resourceStatus", {}).get("scheduling", {}).get("terminationTimestamp")
    return Held(
        name=str(row.get("name", "")),
        zone=zone,
        project=project,
        status=status,
        standing=standing,
        type=str(row.get("machineType", "")).rsplit("/", 1)[-1],
        market=_MARKETS.get(str(scheduling.get("provisioningModel", "STANDARD")), "unknown market"),
        labels=dict(row.get("labels", {})),
        metadata={item["key"]: str(item.get("value", "")) for item in row.get("metadata", {}).get("items", [])},
        created=tags.time_of(row.get("creationTimestamp", "")),
        ends=tags.time_of(ends) if ends else None,
        dead=status in _DEAD,
        node=str(row.get("name", "")),
    )


def clean(text: str) -> tuple[str, ...]:
    """Lines of a console: control characters out, each bounded, empty ones dropped. They are data."""
    lines = (_plain(line).strip() for line in text.splitlines())
    return tuple(line[:2000] for line in lines if line)


def _plain(line: str) -> str:
    return line if line.isprintable() else "".join(char if char.isprintable() else " " for char in line)
