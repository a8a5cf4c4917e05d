"""NAT gateways, balancers, application gateways with nothing behind them; firewalls and bastions nobody passes."""

from __future__ import annotations

from typing import Any

from clouds.azure.checks import words
from clouds.azure.checks.addresses import ADDRESSES, RELEASES, held_by, release
from clouds.azure.checks.reads import aged, aged_kind, check, dated, listing, over
from clouds.azure.checks.steps import delete, sends
from clouds.azure.checks.usage import usage
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Meter, Row, Seen, Waste

_NAT, _LB, _APPGW, _BASTION, _FIREWALL = (
    f"Microsoft.Network/{name}"
    for name in ("natGateways", "loadBalancers", "applicationGateways", "bastionHosts", "azureFirewalls")
)
NATS, BALANCERS, APP_GATEWAYS = listing(_NAT), listing(_LB), listing(_APPGW)
BASTIONS, FIREWALLS = listing(_BASTION), listing(_FIREWALL)
_AGED_BASTIONS, _AGED_FIREWALLS = aged(BASTIONS), aged(FIREWALLS)
_NATS, _BALANCERS, _APP_GATEWAYS = dated(NATS), dated(BALANCERS), dated(APP_GATEWAYS)


def _sku(row: Row, part: str = "name") -> str:
    return str((row.get("sku") or words.props(row).get("sku") or {}).get(part, ""))


def _with_addresses(kind: str, what: str, seconds: float = 1800) -> Any:
    def remove(doomed: Doomed) -> tuple[CleanupStep, ...]:
        return (
            delete(kind, doomed.id, f"delete {what} {doomed.name}", "can be undone", seconds=seconds),
            *release(doomed),
        )

    return remove


def _nat(row: Row, seen: Seen) -> Waste | None:
    about = words.props(row)
    if about.get("subnets") or about.get("sourceVirtualNetwork"):
        return None
    held = held_by(seen, row["id"])
    rate = "nat-gateway/standard-v2" if _sku(row).lower() == "standardv2" else "nat-gateway/standard"
    return Waste(
        reason=f"no subnet leads to it; it holds {held.words}",
        meters=(Meter(rate, "hour", 1.0, "global"), *held.meters),
        bound=held.bound,
        holds=held.ids,
        evidence={"sku": _sku(row), "addresses": held.ids, "prefixes": len(about.get("publicIpPrefixes") or ())},
    )


NAT_IDLE = check(
    id="idle-nat-gateway",
    title="NAT gateway with no subnet",
    kind=_NATS.kind("NAT gateway"),
    reads=(_NATS.index, ADDRESSES),
    judge=_NATS.judge(_nat),
    why="A NAT gateway bills by the hour from its creation, and its public addresses with it.",
    spares=("a subnet uses it", "it serves a whole virtual network (StandardV2)", "younger than a day"),
    unchecked=("allow-lists elsewhere that name its addresses",),
    meter="NAT gateway hours and the hours of its public addresses",
    remove=_with_addresses(_NAT, "NAT gateway"),
    reversal="cannot be undone",
    recovery="A gateway can be made again; released addresses are lost.",
    order=30,
    steps=(*sends(_NAT, "delete"), *RELEASES),
)


def _balances(about: Any) -> bool:
    """Whether anything stands behind it: members of a pool in any form, or rules that lead to single machines."""
    for pool in about.get("backendAddressPools") or ():
        inner = words.props(pool)
        if inner.get("backendIPConfigurations") or inner.get("loadBalancerBackendAddresses"):
            return True
    return bool(about.get("inboundNatRules") or about.get("inboundNatPools"))


def _balancer(row: Row, seen: Seen) -> Waste | None:
    about = words.props(row)
    if _sku(row).lower() != "standard" or _sku(row, "tier").lower() == "global" or _balances(about):
        return None
    rules = len(about.get("loadBalancingRules") or ()) + len(about.get("outboundRules") or ())
    held = held_by(seen, row["id"])
    meters = held.meters
    if rules:
        meters = (Meter("load-balancer/standard-first-5-rules", "hour", 1.0, "global"), *meters)
    if rules > 5:
        meters = (*meters, Meter("load-balancer/standard-further-rules", "hour", rules - 5, "global"))
    return Waste(
        reason=f"nothing is in any of its pools; what bills on: {words.many(rules, 'rule')}, {held.words}",
        meters=meters,
        free=not meters and not held.unread,
        bound=held.bound,
        holds=held.ids,
        evidence={"rules": rules, "addresses": held.ids, "pools": len(about.get("backendAddressPools") or ())},
    )


BALANCER_IDLE = check(
    id="idle-load-balancer",
    title="Load balancer with nothing behind it",
    kind=_BALANCERS.kind("load balancer"),
    reads=(_BALANCERS.index, ADDRESSES),
    judge=_BALANCERS.judge(_balancer),
    why="The first five rules of a Standard balancer bill together by the hour, and its public addresses with them.",
    spares=(
        "a machine, a scale set or an address is in a pool",
        "inbound NAT rules, which lead to a machine without a pool",
        "Basic (costs nothing), Gateway and cross-region balancers",
        "younger than a day",
    ),
    unchecked=("a deployment that has still to register its machines",),
    meter="hours of its rules and of its public addresses; data not included",
    remove=_with_addresses(_LB, "load balancer"),
    reversal="cannot be undone",
    recovery="A balancer can be made again; released addresses are lost.",
    order=31,
    steps=(*sends(_LB, "delete"), *RELEASES),
)


def _appgw(row: Row, seen: Seen) -> Waste | None:
    about = words.props(row)
    if about.get("operationalState") == "Stopped" or about.get("redirectConfigurations"):
        return None
    for pool in about.get("backendAddressPools") or ():
        if words.props(pool).get("backendAddresses") or words.props(pool).get("backendIPConfigurations"):
            return None
    name = _sku(row)
    scale = about.get("autoscaleConfiguration") or {}
    units = int(scale.get("minCapacity") or 0) if scale else int((about.get("sku") or {}).get("capacity") or 0)
    held = held_by(seen, row["id"])
    family = name.lower().replace("_", "-")
    if family.endswith("-v2"):
        own = [Meter(f"application-gateway/{family}-fixed", "hour")]
        own += [Meter(f"application-gateway/{family}-capacity-unit", "hour", units * 10)] if units else []
    else:
        own = [Meter(f"application-gateway/v1/{family}", "hour", max(units, 1))]
    return Waste(
        reason=f"no address or machine is in any of its backend pools ({name})",
        meters=(*own, *held.meters),
        bound=held.bound,
        holds=held.ids,
        evidence={"sku": name, "instances": units, "addresses": held.ids},
    )


APPGW_EMPTY = check(
    id="appgw-no-backend",
    title="Application gateway with no backend",
    kind=_APP_GATEWAYS.kind("application gateway"),
    reads=(_APP_GATEWAYS.index, ADDRESSES),
    judge=_APP_GATEWAYS.judge(_appgw),
    why="An application gateway bills a fixed price by the hour and capacity units on top, with or without a backend.",
    spares=("an address or a machine is in a pool", "stopped", "listeners that redirect", "younger than a day"),
    unchecked=("an ingress controller that fills its pools when a cluster is up",),
    meter="fixed hours, capacity units of its minimum, and hours of its public addresses",
    remove=_with_addresses(_APPGW, "application gateway", 3600),
    reversal="cannot be undone",
    recovery="A gateway can be made again from its template; released addresses are lost.",
    order=29,
    steps=(*sends(_APPGW, "delete"), *RELEASES),
)  # fmt: skip

PASSED = usage(
    "DataProcessed",
    _AGED_FIREWALLS,
    days=7,
    absent="unresolved",
    unit="bytes",
    source="Azure Monitor, Azure Firewall: DataProcessed is emitted while the firewall is there",
)


def _firewall(whole: Row, row: Row, seen: Seen) -> Waste | None:
    about = words.props(whole)
    if about.get("virtualHub") or not about.get("ipConfigurations"):
        return None  # a hub's own firewall; without an ip configuration it is deallocated and bills nothing
    if PASSED.of(seen, row):
        return None
    tier = str((about.get("sku") or {}).get("tier", "Standard")).lower()
    held = held_by(seen, row["id"])
    return Waste(
        reason=f"no byte passed in 7 days ({tier})",
        meters=(Meter(f"firewall/{tier}", "hour"), *held.meters),
        bound=held.bound,
        holds=held.ids,
        evidence={"tier": tier, "addresses": held.ids, "policy": (about.get("firewallPolicy") or {}).get("id", "")},
    )


FIREWALL_IDLE = check(
    id="idle-firewall",
    title="Firewall that nothing passes",
    kind=aged_kind("Azure Firewall", _AGED_FIREWALLS),
    reads=(FIREWALLS, ADDRESSES, *PASSED.reads),
    judge=over(FIREWALLS, _firewall),
    why="A firewall bills by the hour for being deployed, and for data on top.",
    spares=("a byte passed in 7 days", "deallocated", "in a virtual hub", "younger than 7 days"),
    unchecked=("routes that are to lead through it one day",),
    meter="hours of its tier and of its public addresses; data not included",
    remove="routes lead to it: deallocate it, which ends the charge, and see who misses it before it is deleted",
    reversal="can be undone",
    recovery="Its policy stays by itself.",
    order=28,
)  # fmt: skip

SESSIONS = usage(
    "sessions",
    _AGED_BASTIONS,
    days=30,
    absent="unresolved",
    unit="sessions",
    source="Azure Monitor, Bastion: sessions is emitted while the host is there",
)


def _bastion(whole: Row, row: Row, seen: Seen) -> Waste | None:
    about = words.props(whole)
    name = _sku(whole) or "Basic"
    if name == "Developer" or SESSIONS.of(seen, row):
        return None
    units = max(0, int(about.get("scaleUnits") or 2) - 2)
    held = held_by(seen, row["id"])
    return Waste(
        reason=f"no session in 30 days ({name})",
        meters=(
            Meter(f"bastion/{name.lower()}", "hour"),
            *((Meter(f"bastion-scale-unit/{name.lower()}", "hour", units),) if units else ()),
            *held.meters,
        ),
        bound=held.bound,
        holds=held.ids,
        evidence={"sku": name, "scale units": about.get("scaleUnits"), "addresses": held.ids},
    )


BASTION_IDLE = check(
    id="idle-bastion",
    title="Bastion that nobody signs in through",
    kind=aged_kind("Bastion host", _AGED_BASTIONS),
    reads=(BASTIONS, ADDRESSES, *SESSIONS.reads),
    judge=over(BASTIONS, _bastion),
    why="A bastion bills by the hour for being there, and each scale unit beyond two on top.",
    spares=("a session in 30 days", "the developer sort, which is free", "younger than 30 days"),
    unchecked=("emergencies that it is kept for",),
    meter="hours of its sort, its further scale units and its public address",
    remove=_with_addresses(_BASTION, "bastion", 3600),
    reversal="cannot be undone",
    recovery="A bastion can be made again in minutes; its address is another one.",
    order=32,
    steps=(*sends(_BASTION, "delete"), *RELEASES),
)


CHECKS = (FIREWALL_IDLE, APPGW_EMPTY, NAT_IDLE, BALANCER_IDLE, BASTION_IDLE)
