"""Ways in that lead nowhere: private endpoints that were turned away, Traffic Manager profiles, Front Doors."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from clouds.azure.checks import words
from clouds.azure.checks.reads import aged, aged_kind, check, children, dated, listing, over
from clouds.azure.checks.steps import delete, sends
from clouds.azure.checks.usage import usage
from clouds.models.waste import Meter, Row, Seen, Waste

_PE, _TM, _DOOR = (
    "Microsoft.Network/privateEndpoints",
    "Microsoft.Network/trafficManagerProfiles",
    "Microsoft.Cdn/profiles",
)
ENDPOINTS, PROFILES, DOORS = listing(_PE), listing(_TM), listing(_DOOR)
_AGED_DOORS = aged(DOORS)
_ENDPOINTS, _PROFILES = dated(ENDPOINTS), dated(PROFILES)


def _front_door(row: Row) -> bool:
    return str((row.get("sku") or {}).get("name", "")).endswith("_AzureFrontDoor")


_DOOR_ENDPOINTS = children(DOORS, f"{_DOOR}/afdEndpoints", _front_door)


def _states(row: Row) -> Iterable[str]:
    about = words.props(row)
    for name in ("privateLinkServiceConnections", "manualPrivateLinkServiceConnections"):
        for each in about.get(name) or ():
            yield str((words.props(each).get("privateLinkServiceConnectionState") or {}).get("status", ""))


def _endpoint(row: Row, _seen: Seen) -> Waste | None:
    states = list(_states(row))
    if not states or any(state not in ("Disconnected", "Rejected") for state in states):
        return None
    return Waste(
        reason=f"its connection is {', '.join(dict.fromkeys(states)).lower()}: it leads nowhere",
        meters=(Meter("private-endpoint/hour", "hour"),),
        evidence={"states": ", ".join(states)},
    )


ENDPOINT = check(
    id="private-endpoint-disconnected",
    title="Private endpoint whose connection is gone",
    kind=_ENDPOINTS.kind("private endpoint"),
    reads=(_ENDPOINTS.index,),
    judge=_ENDPOINTS.judge(_endpoint),
    why="A private endpoint bills by the hour, also when the resource that it led to is gone or has turned it away.",
    spares=("approved or pending", "younger than a day"),
    unchecked=("a request to connect that is to be made again",),
    meter="private endpoint hours",
    remove=lambda doomed: (delete(_PE, doomed.id, f"delete private endpoint {doomed.name}", "can be undone"),),
    reversal="can be undone",
    recovery="It can be made again; its private address may be another one.",
    order=36,
    steps=sends(_PE, "delete"),
)


def _profile(row: Row, _seen: Seen) -> Waste | None:
    about = words.props(row)
    endpoints = about.get("endpoints") or ()
    if any(words.props(each).get("endpointStatus") != "Disabled" for each in endpoints):
        return None
    return Waste(
        reason=f"{words.many(len(endpoints), 'endpoint')}, none switched on" if endpoints else "it has no endpoint",
        free=True,
        evidence={"DNS name": (about.get("dnsConfig") or {}).get("fqdn", ""), "endpoints": len(endpoints)},
    )


PROFILE = check(
    id="traffic-manager-empty",
    title="Traffic Manager profile that leads nowhere",
    kind=_PROFILES.kind("Traffic Manager profile"),
    reads=(_PROFILES.index,),
    judge=_PROFILES.judge(_profile),
    why="It bills by the query and costs little; but its name answers, and one that leads nowhere can be taken over.",
    spares=("an endpoint is enabled", "younger than 7 days"),
    unchecked=("DNS records elsewhere that point at its name",),
    meter="none by itself: it bills queries and health checks",
    min_age=timedelta(days=7),
    remove="its DNS name is free for anybody once it is gone: see first that nothing points at it",
    reversal="cannot be undone",
    recovery="The name may be taken by somebody else.",
    order=85,
)


VISITS = usage(
    "RequestCount",
    _AGED_DOORS,
    days=30,
    absent="zero",
    when=_front_door,
    unit="requests",
    source="Azure Monitor, Front Door: RequestCount is emitted for each request that a client sends",
)


def _door(whole: Row, row: Row, seen: Seen) -> Waste | None:
    if not _front_door(whole) or not _front_door(row):
        return None
    endpoints = seen.of(_DOOR_ENDPOINTS, whole)
    if VISITS.of(seen, row):
        return None
    sku = str(whole["sku"]["name"]).partition("_")[0].lower()
    return Waste(
        reason=f"no request in 30 days ({sku}; {words.many(len(endpoints), 'endpoint')})",
        meters=(Meter(f"front-door/{sku}-base", "month", 1.0, "global"),),
        evidence={"sku": sku, "endpoints": len(endpoints)},
    )


DOOR = check(
    id="front-door-idle",
    title="Front Door that nobody comes through",
    kind=aged_kind("Front Door profile", _AGED_DOORS),
    reads=(DOORS, _DOOR_ENDPOINTS, *VISITS.reads),
    judge=over(DOORS, _door),
    why="A profile bills a base fee a month, apart from traffic.",
    spares=("a request in 30 days", "classic and CDN profiles, which have no base fee", "younger than 30 days"),
    unchecked=("a standby that is used only in a failover", "DNS records that point at it"),
    meter="base fee months of its SKU",
    remove="DNS names point at it, and its endpoint names are lost with it: see first that nothing does",
    reversal="cannot be undone",
    recovery="Endpoint names are not to be had again.",
    order=34,
)

CHECKS = (DOOR, ENDPOINT, PROFILE)
