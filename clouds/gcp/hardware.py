"""Which zones list a type: the TPU API by its accelerator types, Compute Engine by its machine types, in few calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from clouds.errors import ApiDisabled, CloudError, CredentialExpired, NotSignedIn
from clouds.gcp import pages, tpus
from clouds.gcp.machines import Machine
from clouds.gcp.places import Asked
from clouds.models import Call, Scope, Unread

if TYPE_CHECKING:
    from clouds.gcp.api import GcpApi

TYPES = Call("compute", "machineTypes.aggregatedList")
CARDS = Call("compute", "acceleratorTypes.aggregatedList")
READS = (TYPES, CARDS, tpus.LOCATIONS, tpus.TYPES)


class Listed:
    """Type -> the zones that list it. `known` are the types whose list was read; the others are unknown, not absent."""

    def __init__(self) -> None:
        self.zones: dict[str, set[str]] = {}
        self.known: set[str] = set()
        self.unread: list[Unread] = []
        self.not_applicable: list[Unread] = []


def compute(api: GcpApi, machines: Sequence[Machine], account: str) -> Listed:
    """Where Compute Engine lists these types: one call for all zones. Raises NotSignedIn, CredentialExpired."""
    found = Listed()
    for call, items, kinds in (
        (TYPES, "machineTypes", [each.type for each in machines if not each.attached]),
        (CARDS, "acceleratorTypes", [each.type for each in machines if each.attached]),
    ):
        if kinds:
            _listed(api, call, items, kinds, account, found)
    return found


def _listed(api: GcpApi, call: Call, items: str, kinds: Sequence[str], account: str, found: Listed) -> None:
    parameters = {"filter": " OR ".join(f'(name = "{kind}")' for kind in kinds)}
    try:
        answer = api.send(Call(call.service, call.operation, parameters), scope=Scope(account=account))
    except (NotSignedIn, CredentialExpired):
        raise
    except CloudError as error:
        row = tpus.unread(call, "everywhere", error)
        (found.not_applicable if isinstance(error, ApiDisabled) else found.unread).append(row)
        return
    found.known.update(kinds)
    found.unread += tpus.missed(call, answer)
    for zone, kind in pages.scoped(answer, items):
        found.zones.setdefault(str(kind["name"]), set()).add(zone)


def tpu(api: GcpApi, machines: Sequence[Machine], asked: Asked, account: str) -> Listed:
    """Where the TPU API lists these types. Raises NotSignedIn, CredentialExpired."""
    found, kinds = Listed(), {each.type for each in machines}
    read = tpus.everywhere(api, tpus.TYPES, account, within=None if asked.everywhere else asked.has)
    found.unread += read.unread
    found.not_applicable += read.not_applicable
    if not read.not_applicable and (read.found or not read.unread):
        found.known.update(kinds)
    for row in read.found:
        kind = str(row.get("type") or str(row.get("name", "")).rsplit("/", 1)[-1])
        if kind in kinds:
            found.zones.setdefault(kind, set()).add(zone_of(row))
    return found


def zone_of(row: Mapping[str, object]) -> str:
    """The zone in the name of an accelerator type."""
    parts = str(row.get("name", "")).split("/")
    return parts[parts.index("locations") + 1] if "locations" in parts[:-1] else ""
