"""What we deployed ourselves and what has outlived its end, by the tags that it carries; priced by what it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from clouds.azure.checks import words
from clouds.azure.checks.addresses import address_meters
from clouds.azure.checks.containerapps import floor, gpu, kept_up, profile_in, standing
from clouds.azure.checks.disks import disk_meters
from clouds.azure.checks.environments import dedicated, node_meters
from clouds.azure.checks.machines import compute_meter
from clouds.azure.checks.ml import placed
from clouds.azure.checks.reads import children, listing, single
from clouds.errors import InvalidInput
from clouds.models import EndpointRef, Scope
from clouds.models.waste import Detail, Kind, Meter, Row, Seen, Unseen, Waste, WasteCheck, outlived

DEPLOYMENT, EXPIRES = "modelrig-deployment", "modelrig-expires"
OURS = listing(
    "Microsoft.Resources/resources", **{"$filter": f"tagName eq '{DEPLOYMENT}'", "$expand": "createdTime,changedTime"}
)
OWN = Kind(
    name="deployment of modelrig", of=OURS, id=words.ident, label=words.label,
    created=lambda row: row.get("createdTime"), tags=words.tags, place=words.place, moving=("changedTime",),
)  # fmt: skip
_APP, _ENVIRONMENT = "Microsoft.App/containerApps", "Microsoft.App/managedEnvironments"
_ENDPOINT = "Microsoft.MachineLearningServices/workspaces/onlineEndpoints"
_SERVED = f"{_ENDPOINT}/deployments"


def _sort(row: Row) -> str:
    return str(row.get("type", "")).lower()


def _whole(sort: str, *, expand: str = "") -> Detail:
    """What ARM's index names, in full: it names a resource for a while after that is gone, and says no size of it."""
    return single(OURS, sort, lambda row: _sort(row) == sort.lower() and DEPLOYMENT in words.tags(row), expand=expand)


APP, ENVIRONMENT, ENDPOINT, SERVED = (_whole(each) for each in (_APP, _ENVIRONMENT, _ENDPOINT, _SERVED))
MACHINE = _whole("Microsoft.Compute/virtualMachines", expand="instanceView")
DISK, ADDRESS, REGISTRY = (
    _whole(each)
    for each in (
        "Microsoft.Compute/disks",
        "Microsoft.Network/publicIPAddresses",
        "Microsoft.ContainerRegistry/registries",
    )
)
AROUND = Detail(
    APP, _ENVIRONMENT, "get", lambda rows, _at: {"id": words.props(rows[0])["environmentId"]},
    when=lambda row: bool(words.props(row).get("environmentId")),
)  # fmt: skip
"""The environment of an app: it knows on which hardware the app runs."""
HELD = children(ENDPOINT, _SERVED)


def _app(row: Row, seen: Seen) -> Waste:
    if words.props(row).get("runningStatus") in ("Stopped", "Suspended"):
        return Waste("stopped: it bills nothing", free=True)
    if not kept_up(row):
        return Waste("scales to zero: what it bills depends on its use")
    try:
        profile = profile_in(seen.one(AROUND, row) or {}, row)
    except Unseen:
        return Waste("its environment could not be read, so nobody knows on what it runs")
    if not profile.lower().startswith("consumption"):
        return Waste(f"it runs on the nodes of its environment ({profile}), which bill for it")
    count, sort = floor(row), gpu(profile).upper()
    most = ((words.props(row).get("template") or {}).get("scale") or {}).get("maxReplicas")
    return Waste(
        reason=f"{words.many(count, 'replica')} always up" + (f", each with {sort}" if sort else ""),
        meters=standing(row, profile),
        bound="exact" if sort and most == count else "at least",
    )


def _environment(row: Row, _seen: Seen) -> Waste:
    held = dedicated(row)
    if not held:
        return Waste("it has no dedicated nodes, and bills nothing itself", free=True)
    nodes = tuple(meter for profile in held for meter in node_meters(profile))
    return Waste(
        reason=f"holds {words.many(len(held), 'dedicated profile')}",
        meters=(Meter("container-apps/dedicated-management", "environment-hour"), *nodes),
        bound="at least",
    )


def _endpoint(row: Row, seen: Seen) -> Waste:
    try:
        below = seen.of(HELD, row)
    except Unseen:
        return Waste("its deployments could not be read")
    if not below:
        return Waste("it has no deployment, and bills nothing itself", free=True)
    priced = [_served(each, seen) for each in below]
    return Waste(
        reason="; ".join(f"{words.last(each['id'])}: {one.reason}" for each, one in zip(below, priced, strict=True)),
        meters=tuple(meter for one in priced for meter in one.meters),
        bound="exact" if all(one.meters for one in priced) else "at least",
        holds=tuple(str(each["id"]) for each in below),
    )


def _served(row: Row, _seen: Seen) -> Waste:
    held = placed(row)
    if not held:
        return Waste("nobody says what machines it holds")
    return Waste(
        reason=", ".join(f"{count} x {size}" for size, count in held),
        meters=tuple(Meter(f"vm/{size}/on-demand", "hour", count) for size, count in held),
    )


def _machine(row: Row, _seen: Seen) -> Waste:
    states = [str(each.get("code", "")) for each in (words.props(row).get("instanceView") or {}).get("statuses") or ()]
    power = next((each.partition("/")[2] for each in states if each.startswith("PowerState/")), "")
    if not power:
        return Waste("no power state is given for it, so nobody knows whether it runs")
    if power in ("deallocated", "deallocating"):
        return Waste(f"{power}: its disks and addresses bill apart", free=True)
    return Waste(f"{power}; its disks and addresses bill apart", (compute_meter(row),), bound="at least")


def _flat(meters: Callable[[Row], tuple[Meter, ...]]) -> Callable[[Row, Seen], Waste]:
    def price(row: Row, _seen: Seen) -> Waste:
        found = meters(row)
        return Waste("billed as long as it is there" if found else "it bills nothing itself", found, free=not found)

    return price


def _registry(row: Row) -> tuple[Meter, ...]:
    return (Meter(f"acr/registry-{str((row.get('sku') or {}).get('name', 'Basic')).lower()}", "day", 1.0, "global"),)


def _environment_of(resource: str, region: str) -> str:
    """Whose environment it is by its name, `gemma-swedencentral`; "" for one that is named otherwise."""
    name, _, where = words.last(resource).rpartition("-")
    return f"containerapps:{region}:{name}" if where == region else ""


@dataclass(frozen=True)
class _Priced:
    """A type that bills: how it is read in full, what says its price, and what `delete_endpoint` calls it."""

    read: Detail
    price: Callable[[Row, Seen], Waste]
    ref: Callable[[str, str], str] = lambda _resource, _region: ""


_TYPES: Mapping[str, _Priced] = {
    each.read.service.lower(): each
    for each in (
        _Priced(APP, _app, lambda resource, region: f"containerapps:{region}:{words.last(resource)}"),
        _Priced(ENVIRONMENT, _environment, _environment_of),
        _Priced(ENDPOINT, _endpoint, lambda resource, region: f"ml:{region}:{words.last(resource)}"),
        _Priced(SERVED, _served, lambda resource, region: f"ml:{region}:{words.last(words.parent(resource))}"),
        _Priced(MACHINE, _machine),
        _Priced(DISK, _flat(disk_meters)),
        _Priced(ADDRESS, _flat(address_meters)),
        _Priced(REGISTRY, _flat(_registry)),
    )
}


def _price(row: Row, seen: Seen) -> Waste | None:
    """What it costs; None where it is gone or going."""
    one = _TYPES[_sort(row)]
    try:
        whole = seen.one(one.read, row)
    except Unseen:
        return Waste("nobody could read whether it is still there")
    if whole is None:
        return None
    if not isinstance(whole.get("properties"), Mapping):
        return Waste("Azure named it without its properties, so nobody knows what it holds")
    if str(words.props(whole).get("provisioningState", "")).lower() in ("deleting", "scheduledfordelete"):
        return None
    if str(whole["id"]).lower() == str(row["id"]).lower():
        row["id"] = whole["id"]  # as its own type spells it, and so the other checks: it is booked once
    return one.price(whole, seen)


def ref(row: Row, at: Scope) -> str:
    """What `delete_endpoint` knows it by; "" where that cannot be told."""
    try:
        return str(EndpointRef.parse(f"azure:{_TYPES[_sort(row)].ref(str(row['id']), words.place(row, at))}"))
    except InvalidInput:
        return ""


def _expired(row: Row, seen: Seen) -> Waste | None:
    found = words.tags(row)
    if DEPLOYMENT not in found or _sort(row) not in _TYPES:
        return None
    reason = outlived(found[DEPLOYMENT][:60], words.moment(found.get(EXPIRES, "").replace("_", ":")), seen.now)
    if not reason:
        return None
    priced = _price(row, seen)
    if priced is None:
        return None
    evidence = {"deployment": found[DEPLOYMENT], "should have ended": found.get(EXPIRES, "never")}
    if known := ref(row, seen.at):
        evidence["endpoint"] = known
    return replace(priced, reason=f"{reason}; {priced.reason}", evidence=evidence)


EXPIRED = WasteCheck(
    id="own-expired",
    title="Deployment of modelrig that has outlived its end",
    kind=OWN,
    reads=(APP, AROUND, ENVIRONMENT, ENDPOINT, HELD, SERVED, MACHINE, DISK, ADDRESS, REGISTRY),
    judge=_expired,
    why="Every deployment ends by itself; one that is still there had its end prevented, and goes on billing.",
    spares=(
        "its end is still to come",
        "gone or being deleted: the index names it for a while after that",
        "parts that bill nothing by the hour",
    ),
    unchecked=("whether somebody uses it after all", "what an app that scales to zero bills while it is used"),
    meter="that of the resource itself: GPU, vCPU and memory of replicas, VM hours, disks, addresses, registries",
    category="own",
    min_age=timedelta(0),
    remove="delete_endpoint takes down the whole deployment, with every part of it",
    reversal="can be undone",
    recovery="deploy_endpoint deploys it again.",
    order=5,
)
CHECKS = (EXPIRED,)
