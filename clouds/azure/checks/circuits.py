"""VPN and ExpressRoute gateways and circuits that connect nothing, DDoS plans that protect nothing."""

from __future__ import annotations

from datetime import timedelta

from clouds.azure.checks import words
from clouds.azure.checks.addresses import ADDRESSES, RELEASES, held_by, release
from clouds.azure.checks.reads import RESOURCES, check, children, dated, listing, single
from clouds.azure.checks.steps import delete, sends
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Kind, Meter, Row, Seen, Waste

_VNG, _CIRCUIT, _ERGW, _DDOS = (
    f"Microsoft.Network/{name}"
    for name in ("virtualNetworkGateways", "expressRouteCircuits", "expressRouteGateways", "ddosProtectionPlans")
)


def _is_gateway(row: Row) -> bool:
    return str(row.get("type", "")).lower() == _VNG.lower()


# There is no list of these gateways over a subscription, only in each group: ARM's own index names them.
GATEWAYS = single(RESOURCES, _VNG, _is_gateway)
CONNECTIONS = children(RESOURCES, f"{_VNG}/connections", _is_gateway)
GATEWAY = Kind(
    name="virtual network gateway",
    of=GATEWAYS,
    id=words.ident,
    label=words.label,
    tags=words.tags,
    managed=words.managed,
    place=words.place,
)
CIRCUITS, ER_GATEWAYS, PLANS = listing(_CIRCUIT), listing(_ERGW), listing(_DDOS)
_CIRCUITS, _ER_GATEWAYS, _PLANS = dated(CIRCUITS), dated(ER_GATEWAYS), dated(PLANS)


def _young(seen: Seen, row: Row, days: float) -> bool:
    """Whether ARM's index says that a resource is younger; one that it does not know is taken for young."""
    known = seen.index(RESOURCES, words.key).get(str(row["id"]).lower())
    return not known or not words.older(seen, known[0].get("createdTime"), days=days)


def _gateway(row: Row, seen: Seen) -> Waste | None:
    about = words.props(row)
    listed = seen.index(RESOURCES, words.key).get(str(row["id"]).lower())
    if not listed or about.get("vpnClientConfiguration") or seen.of(CONNECTIONS, listed[0]):
        return None
    if about.get("virtualNetworkGatewayPolicyGroups") or about.get("gatewayType") == "LocalGateway":
        return None
    if _young(seen, row, 7):
        return None
    sort = str(about.get("gatewayType", "Vpn"))
    sku = str((about.get("sku") or {}).get("name", ""))
    family = "expressroute-gateway" if sort == "ExpressRoute" else "vpn-gateway"
    held = held_by(seen, row["id"])
    return Waste(
        reason=f"no connection and no point-to-site clients ({sort}, {sku})",
        meters=(Meter(f"{family}/{sku.lower()}", "hour"), *held.meters),
        bound=held.bound,
        holds=held.ids,
        evidence={"sort": sort, "sku": sku, "addresses": held.ids},
    )


def _delete_gateway(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return (
        delete(_VNG, doomed.id, f"delete gateway {doomed.name}", "can be undone", seconds=5400),
        *release(doomed),
    )


GATEWAY_IDLE = check(
    id="idle-vpn-gateway",
    title="VPN or ExpressRoute gateway with no connection",
    kind=GATEWAY,
    reads=(RESOURCES, CONNECTIONS, ADDRESSES),
    judge=_gateway,
    why="A gateway bills by the hour of its SKU from its creation.",
    spares=("a connection exists", "point-to-site clients are set up", "younger than 7 days"),
    unchecked=("a peered network that sends its traffic through it",),
    meter="gateway hours of its SKU and of its public addresses",
    remove=_delete_gateway,
    reversal="cannot be undone",
    recovery="Another takes about 45 minutes to make and has another address.",
    order=27,
    steps=(*sends(_VNG, "delete"), *RELEASES),
)


def _circuit(row: Row, _seen: Seen) -> Waste | None:
    about = words.props(row)
    state = str(about.get("serviceProviderProvisioningState", ""))
    if state not in ("NotProvisioned", "Deprovisioning") and about.get("peerings"):
        return None
    if state == "Provisioning":
        return None
    sku = row.get("sku") or {}
    port = (about.get("serviceProviderProperties") or {}).get("bandwidthInMbps") or about.get("bandwidthInGbps") or "?"
    name = f"{sku.get('tier', 'Standard')}-{sku.get('family', 'MeteredData')}-{port}".lower()
    why = "the provider has not provisioned it" if state == "NotProvisioned" else "it has no peering"
    return Waste(
        reason=f"{why} ({sku.get('tier', '')}, {port} Mbit/s)",
        meters=(Meter(f"expressroute-circuit/{name}", "month"),),
        evidence={"provider state": state, "tier": sku.get("tier", ""), "family": sku.get("family", "")},
    )


CIRCUIT = check(
    id="expressroute-circuit-unprovisioned",
    title="ExpressRoute circuit that carries nothing",
    kind=_CIRCUITS.kind("ExpressRoute circuit"),
    reads=(_CIRCUITS.index,),
    judge=_CIRCUITS.judge(_circuit),
    why="A circuit bills from the moment that its service key is made, whether the provider has connected it or not.",
    spares=("provisioned, with a peering", "being provisioned", "younger than 7 days"),
    unchecked=("the contract with the provider, which goes on by itself",),
    meter="circuit months of its tier and bandwidth",
    min_age=timedelta(days=7),
    remove="the provider's side is a contract of its own: let the provider deprovision it first",
    reversal="cannot be undone",
    recovery="Another circuit has another service key.",
    order=26,
)


def _er_gateway(row: Row, _seen: Seen) -> Waste | None:
    about = words.props(row)
    if about.get("expressRouteConnections"):
        return None
    units = int(((about.get("autoScaleConfiguration") or {}).get("bounds") or {}).get("min") or 1)
    return Waste(
        reason=f"no circuit is connected to it; it keeps {words.many(units, 'scale unit')}",
        meters=(Meter("expressroute-gateway/scale-unit", "hour", units),),
        evidence={"scale units": units, "hub": (about.get("virtualHub") or {}).get("id", "")},
    )


ER_GATEWAY = check(
    id="expressroute-gateway-empty",
    title="ExpressRoute gateway of a virtual WAN with no circuit",
    kind=_ER_GATEWAYS.kind("ExpressRoute gateway"),
    reads=(_ER_GATEWAYS.index,),
    judge=_ER_GATEWAYS.judge(_er_gateway),
    why="It bills by the hour for each scale unit of its minimum.",
    spares=("a circuit is connected", "younger than 7 days"),
    unchecked=("a circuit that is still on order",),
    meter="scale-unit hours of its minimum",
    min_age=timedelta(days=7),
    remove=lambda doomed: (
        delete(_ERGW, doomed.id, f"delete gateway {doomed.name}", "can be undone", seconds=5400),
    ),
    reversal="can be undone",
    recovery="It can be made again in its hub, in about half an hour.",
    order=27,
    steps=sends(_ERGW, "delete"),
)  # fmt: skip


def _plan(row: Row, _seen: Seen) -> Waste | None:
    about = words.props(row)
    if about.get("virtualNetworks") or about.get("publicIPAddresses"):
        return None
    return Waste(
        reason="no virtual network and no address is under it",
        meters=(Meter("ddos/network-protection-plan", "hour"),),
        evidence={"networks": 0, "addresses": 0},
    )


PLAN = check(
    id="ddos-plan-unused",
    title="DDoS protection plan that protects nothing",
    kind=_PLANS.kind("DDoS protection plan"),
    reads=(_PLANS.index,),
    judge=_PLANS.judge(_plan),
    why="A plan bills a fixed price a month, with up to 100 addresses included and with none.",
    spares=("a virtual network or an address is under it", "younger than a day"),
    unchecked=("networks of other tenants",),
    meter="plan hours",
    remove=lambda doomed: (delete(_DDOS, doomed.id, f"delete plan {doomed.name}", "can be undone"),),
    reversal="can be undone",
    recovery="A plan can be made again.",
    order=25,
    steps=sends(_DDOS, "delete"),
)


CHECKS = (PLAN, CIRCUIT, GATEWAY_IDLE, ER_GATEWAY)
