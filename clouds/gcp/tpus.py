"""Nodes and queued resources of the TPU API, everywhere at once; zone by zone where Google does not take `-`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clouds.errors import ApiDisabled, CloudError, CredentialExpired, InvalidInput, NotFound, NotSignedIn, Unexpected
from clouds.gcp import machines, pages
from clouds.models import Call, Read, Scope, Unread

if TYPE_CHECKING:
    from clouds.gcp.api import GcpApi

LOCATIONS = Call("tpu", "projects.locations.list")
NODES = Call("tpu", "projects.locations.nodes.list")
QUEUED = Call("tpu-v2alpha1", "projects.locations.queuedResources.list")
"""v2alpha1, because only there a flex-start request says that it is one (discovery documents, 2026-10-01)."""
TYPES = Call("tpu", "projects.locations.acceleratorTypes.list")
READS = (LOCATIONS, NODES, QUEUED)
DEAD = frozenset({"SUSPENDED", "FAILED"})
"""Queued resources in these states cost nothing and hold their quota until they are deleted (marin#87)."""
_ITEMS = {str(NODES): "nodes", str(QUEUED): "queuedResources", str(TYPES): "acceleratorTypes"}


@dataclass(frozen=True)
class Chips:
    """How many chips something holds, of which kind, bought how, in which zone."""

    name: str
    zone: str
    accelerator: str
    count: int
    spot: bool
    state: str

    @property
    def dead(self) -> bool:
        """Whether it holds quota and nothing else."""
        return self.state in DEAD


def everywhere(
    api: GcpApi, call: Call, account: str | None, within: Callable[[str], bool] | None = None
) -> Read[Mapping[str, Any]]:
    """Every row of `NODES`, `QUEUED` or `TYPES`, or of the zones that `within` takes.

    One call with the location `-` where all are wanted and Google takes it, else one a zone. What could not be looked
    at is unread; an API that is not enabled is not applicable. Raises NotSignedIn, CredentialExpired.
    """
    if within is None:
        try:
            return _rows(call, api.send(call, scope=Scope("-", account)))
        except (InvalidInput, NotFound, Unexpected):
            pass  # whether the server takes `-` is not documented
        except CloudError as error:
            return _failed(call, "everywhere", error)
    try:
        listed = api.send(LOCATIONS, scope=Scope(account=account)).get("locations") or ()
    except CloudError as error:
        return _failed(LOCATIONS, "everywhere", error)
    zones = [str(row["locationId"]) for row in listed]
    return _each(api, call, account, [zone for zone in zones if within is None or within(zone)])


def held(nodes: Sequence[Mapping[str, Any]], queued: Sequence[Mapping[str, Any]]) -> tuple[Chips, ...]:
    """What counts against quota: every node, and every dead queued resource whose node is gone."""
    bought = {str(row.get("name", "")).rsplit("/", 1)[-1]: _spot(row) for row in queued}
    found = [_node(row, bought) for row in nodes]
    there = {str(row.get("queuedResource", "")).rsplit("/", 1)[-1] for row in nodes} - {""}
    for row in queued:
        name, state = str(row.get("name", "")), str((row.get("state") or {}).get("state", ""))
        if state not in DEAD or name.rsplit("/", 1)[-1] in there:
            continue
        for spec in (row.get("tpu") or {}).get("nodeSpec") or ():
            kind, count = _kind(spec.get("node") or {})
            copies = int((spec.get("multiNodeParams") or spec.get("multisliceParams") or {}).get("nodeCount") or 1)
            found.append(Chips(name.rsplit("/", 1)[-1], _zone(name), kind, count * copies, _spot(row), state))
    return tuple(each for each in found if each.accelerator)


def _spot(queued: Mapping[str, Any]) -> bool:
    """Whether a queued resource is asked against the preemptible quota; flex-start is."""
    return "spot" in queued or queued.get("provisioningModel") in ("SPOT", "FLEX_START")


def _node(row: Mapping[str, Any], bought: Mapping[str, bool]) -> Chips:
    """A node itself does not say that it came by flex-start; its queued resource does."""
    name, config = str(row.get("name", "")), row.get("schedulingConfig") or {}
    kind, count = _kind(row)
    spot = bool(config.get("spot") or config.get("preemptible") or config.get("provisioningModel") == "SPOT")
    spot = spot or bought.get(str(row.get("queuedResource", "")).rsplit("/", 1)[-1], False)
    return Chips(name.rsplit("/", 1)[-1], _zone(name), kind, count, spot, str(row.get("state", "")))


_CONFIGS = {"V5LITE_POD": "v5e", "V6E": "v6e", "V5P": "v5p"}


def _kind(node: Mapping[str, Any]) -> tuple[str, int]:
    if (machine := machines.find(str(node.get("acceleratorType", "")))) is not None:
        return machine.accelerator, machine.count
    config = node.get("acceleratorConfig") or {}
    count = 1
    for side in str(config.get("topology", "")).split("x"):
        count *= int(side) if side.isdigit() else 1
    return _CONFIGS.get(str(config.get("type", "")), ""), count


def _zone(name: str) -> str:
    parts = name.split("/")
    return parts[parts.index("locations") + 1] if "locations" in parts[:-1] else ""


def _each(api: GcpApi, call: Call, account: str | None, zones: Sequence[str]) -> Read[Mapping[str, Any]]:
    def one(zone: str) -> Read[Mapping[str, Any]]:
        try:
            return _rows(call, api.send(call, scope=Scope(zone, account)))
        except CloudError as error:
            return _failed(call, zone, error)

    with ThreadPoolExecutor(max_workers=16) as pool:
        reads = tuple(pool.map(one, zones))
    return Read(
        found=tuple(row for read in reads for row in read.found),
        unread=tuple(row for read in reads for row in read.unread),
        not_applicable=tuple(row for read in reads[:1] for row in read.not_applicable),
    )


def missed(call: Call, answer: Mapping[str, Any]) -> tuple[Unread, ...]:
    """What a list itself says that it could not look at."""
    return tuple(_gap(str(call), words) for words in pages.gaps(answer))


def _gap(call: str, words: str) -> Unread:
    """A place that Google names, or what it says where it names none."""
    if re.fullmatch(r"(?:[\w.:-]+/)*[\w-]{1,60}", words):
        return Unread(call=call, scope=words.rsplit("/", 1)[-1], reason="Google could not reach it")
    return Unread(call=call, scope="everywhere", reason=words)


def _rows(call: Call, answer: Mapping[str, Any]) -> Read[Mapping[str, Any]]:
    return Read(found=tuple(answer.get(_ITEMS[str(call)]) or ()), unread=missed(call, answer))


def _failed(call: Call, where: str, error: CloudError) -> Read[Mapping[str, Any]]:
    if isinstance(error, NotSignedIn | CredentialExpired):
        raise error
    row = unread(call, where, error)
    return Read(not_applicable=(row,)) if isinstance(error, ApiDisabled) else Read(unread=(row,))


def unread(call: Call, scope: str, error: CloudError) -> Unread:
    """One thing that could not be looked at, in Google's own words; of an API that is off, how it is turned on."""
    if isinstance(error, ApiDisabled):
        return Unread(call=str(call), scope=scope, reason=f"{call.service} is not enabled here. {error.fix}")
    return Unread(
        call=str(call),
        scope=scope,
        reason=": ".join(part for part in (error.code, error.answered) if part) or str(error),
    )
