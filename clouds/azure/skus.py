"""What Azure says of machine sizes in a location: families, zones, restrictions. The list is several megabytes.

An absent restriction means unrestricted; a restriction of type Zone leaves the other zones; one of type Location means
that this subscription may not have the size there, which is neither "not offered" nor "no capacity".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from clouds.models import Call, Scope

if TYPE_CHECKING:
    from clouds.azure.api import AzureApi

FRESH = 3600.0
SKUS = Call("Microsoft.Compute/skus", "list")


@dataclass(frozen=True)
class Sku:
    """One size in one location. `zones` are those that this subscription can use; `refused` those that it cannot."""

    size: str
    family: str
    zones: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    restricted: str = ""
    """Why the whole location is closed to this subscription, in Azure's word; "" where it is open."""
    spot: bool | None = None
    reservable: bool | None = None
    gpus: int | None = None
    vcpus: int | None = None


class Skus:
    """The sizes of a location, read once an hour: they change by the week, a restriction when somebody asked."""

    def __init__(self, api: AzureApi) -> None:
        """Nothing is read before the first question."""
        self._api = api
        self._known: dict[Scope, tuple[float, Mapping[str, Sku]]] = {}
        self._locks: dict[Scope, Lock] = {}
        self._lock = Lock()

    def at(self, scope: Scope) -> Mapping[str, Sku]:
        """Every virtual machine size there, by its name in lower case. Raises CloudError."""
        with self._lock:
            own = self._locks.setdefault(scope, Lock())
        with own:
            at, known = self._known.get(scope, (0.0, {}))
            if self._api.clock() - at > FRESH:
                call = Call(SKUS.service, SKUS.operation, {"query": {"$filter": f"location eq '{scope.location}'"}})
                rows = self._api.send(call, scope=scope)["value"]
                known = dict(found for row in rows if (found := _named(row, scope)) is not None)
                self._known[scope] = (self._api.clock(), known)
            return known


def _named(row: Mapping[str, Any], scope: Scope) -> tuple[str, Sku] | None:
    places = [str(each).lower() for each in row.get("locations") or ()]
    if row.get("resourceType") != "virtualMachines" or (places and (scope.location or "") not in places):
        return None
    return str(row["name"]).lower(), sku(row, scope.location or "")


def sku(row: Mapping[str, Any], location: str) -> Sku:
    """A row of the list as it concerns one location."""
    info = [each for each in row.get("locationInfo") or () if str(each.get("location", "")).lower() == location]
    zones = {str(zone) for each in info for zone in each.get("zones") or ()}
    refused: dict[str, str] = {}
    closed = ""
    for restriction in row.get("restrictions") or ():
        why = str(restriction.get("reasonCode") or "restricted")
        about = restriction.get("restrictionInfo") or {}
        where = [str(each).lower() for each in about.get("locations") or restriction.get("values") or ()]
        if restriction.get("type") == "Zone":
            if not about.get("locations") or location in where:
                refused.update(dict.fromkeys((str(zone) for zone in about.get("zones") or ()), why))
        elif not where or location in where:
            closed = why
    if zones and not zones - refused.keys():
        closed = closed or next(iter(refused.values()))
    says = {str(each.get("name")): str(each.get("value")) for each in row.get("capabilities") or ()}
    return Sku(
        size=str(row["name"]),
        family=str(row.get("family") or ""),
        zones=tuple(sorted(zones - refused.keys())),
        refused=refused,
        restricted=closed,
        spot=_flag(says.get("LowPriorityCapable")),
        reservable=_flag(says.get("CapacityReservationSupported")),
        gpus=_number(says.get("GPUs")),
        vcpus=_number(says.get("vCPUs")),
    )


def families(known: Mapping[str, Sku], sizes: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """The families of some sizes, as Azure spells them here, each with its sizes."""
    found: dict[str, tuple[str, ...]] = {}
    for size in sizes:
        here = known.get(size.lower())
        if here is not None and here.family:
            found[here.family] = (*found.get(here.family, ()), here.size)
    return found


def _flag(text: str | None) -> bool | None:
    return None if text is None else text.lower() == "true"


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None
