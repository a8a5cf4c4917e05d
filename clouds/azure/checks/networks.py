"""What of a network protects, reserves or names nothing: it costs little or nothing, and stands in the way."""

from __future__ import annotations

from datetime import timedelta

from clouds.azure.checks import words
from clouds.azure.checks.gateways import BASTIONS, NATS
from clouds.azure.checks.reads import check, dated, listing
from clouds.azure.checks.steps import delete, sends
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Meter, Row, Seen, Unresolved, Waste

_NSG, _VNET, _DNS = (
    "Microsoft.Network/networkSecurityGroups",
    "Microsoft.Network/virtualNetworks",
    "Microsoft.Network/dnsZones",
)
GROUPS, NETWORKS, ZONES = listing(_NSG), listing(_VNET), listing(_DNS)
_GROUPS, _NETWORKS, _ZONES = dated(GROUPS), dated(NETWORKS), dated(ZONES)
_OWN_SUBNETS = {
    "gatewaysubnet", "azurefirewallsubnet", "azurefirewallmanagementsubnet", "azurebastionsubnet", "routeserversubnet",
}  # fmt: skip
_DEVELOPER = words.by("properties", "virtualNetwork", "id")


def _group(row: Row, _seen: Seen) -> Waste | None:
    about = words.props(row)
    if about.get("subnets") or about.get("networkInterfaces"):
        return None
    return Waste(
        reason="no subnet and no interface is under it", free=True,
        evidence={"own rules": len(about.get("securityRules") or ())},
    )  # fmt: skip


UNUSED_GROUP = check(
    id="unused-nsg",
    title="Security group that protects nothing",
    kind=_GROUPS.kind("network security group"),
    reads=(_GROUPS.index,),
    judge=_GROUPS.judge(_group),
    why="It costs nothing; its rules look as if they protected something.",
    spares=("a subnet or an interface is under it", "younger than 7 days"),
    unchecked=("templates that expect it by name",),
    meter="none",
    min_age=timedelta(days=7),
    remove=lambda doomed: (delete(_NSG, doomed.id, f"delete security group {doomed.name}", "can be undone"),),
    reversal="can be undone",
    recovery="Its rules can be written again; the activity log keeps how they were made for 90 days.",
    order=90,
    steps=sends(_NSG, "delete"),
)


def _busy(subnet: Row) -> bool:
    """Whether anything stands in a subnet, or is kept for a service: every way in which one can be used."""
    about = words.props(subnet)
    ways = (
        "ipConfigurations", "ipConfigurationProfiles", "delegations", "serviceAssociationLinks",
        "resourceNavigationLinks", "privateEndpoints", "applicationGatewayIPConfigurations",
    )  # fmt: skip
    return any(about.get(way) for way in ways)


def _idle_subnets(network: Row) -> list[str]:
    return [
        str(each["name"])
        for each in words.props(network).get("subnets") or ()
        if not _busy(each) and str(each.get("name", "")).lower() not in _OWN_SUBNETS
    ]


def _subnet(row: Row, _seen: Seen) -> Waste | None:
    names = _idle_subnets(row)
    subnets = words.props(row).get("subnets") or ()
    if not names or not any(_busy(each) for each in subnets):
        return None  # a network with nothing at all in it is a finding of its own
    return Waste(
        reason=f"nothing stands in {len(names)} of its {words.many(len(subnets), 'subnet')}: {', '.join(names)[:120]}",
        free=True,
        evidence={"subnets": tuple(names), "of": len(subnets)},
    )


def _delete_subnets(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return tuple(
        delete(
            f"{_VNET}/subnets", f"{doomed.id}/subnets/{name}", f"delete subnet {name} of {doomed.name}",
            "can be undone", name=f"subnet-{number}",
        )
        for number, name in enumerate(doomed.evidence.get("subnets", ()), 1)
    )  # fmt: skip


NETWORK = _NETWORKS.kind("virtual network")
UNUSED_SUBNET = check(
    id="unused-subnet",
    title="Subnets that reserve a range for nothing",
    kind=NETWORK,
    reads=(_NETWORKS.index,),
    judge=_NETWORKS.judge(_subnet),
    why="An empty subnet costs nothing, and keeps its range from others.",
    spares=(
        "anything in it: an interface, an endpoint, a gateway",
        "delegated to a service or linked to one",
        "subnets whose name a service asks for: gateway, firewall, bastion, route server",
        "networks younger than 7 days",
    ),
    unchecked=("ranges that are kept for growth",),
    meter="none",
    min_age=timedelta(days=7),
    remove=_delete_subnets,
    reversal="can be undone",
    recovery="A subnet can be made again with the same range.",
    order=91,
    steps=sends(f"{_VNET}/subnets", "delete"),
)
_NAT_SOURCE = words.by("properties", "sourceVirtualNetwork", "id")


def _network(row: Row, seen: Seen) -> Waste | None:
    about = words.props(row)
    subnets = about.get("subnets") or ()
    if any(_busy(each) for each in subnets) or about.get("virtualNetworkPeerings"):
        return None
    name = str(row["id"]).lower()
    if name in seen.index(BASTIONS, _DEVELOPER) or name in seen.index(NATS, _NAT_SOURCE):
        return None
    return Waste(
        reason=f"nothing stands in its {words.many(len(subnets), 'subnet')}, and it is peered with none",
        free=True,
        evidence={
            "subnets": len(subnets),
            "ranges": ", ".join((about.get("addressSpace") or {}).get("addressPrefixes") or ()),
        },
    )  # fmt: skip


EMPTY_NETWORK = check(
    id="empty-vnet",
    title="Virtual network with nothing in it",
    kind=NETWORK,
    reads=(_NETWORKS.index, NATS, BASTIONS),
    judge=_NETWORKS.judge(_network),
    why="It costs nothing by itself; gateways in it do, and are found by themselves.",
    spares=("anything in a subnet", "peered", "a bastion or a NAT gateway serves it", "younger than 7 days"),
    unchecked=("private DNS zones linked to it", "networks that are kept for a landing zone"),
    meter="none",
    min_age=timedelta(days=7),
    remove="what else refers to it (DNS links, policies, templates) is not known here",
    reversal="can be undone",
    recovery="A network can be made again with the same ranges.",
    order=92,
)  # fmt: skip
ZONE = _ZONES.kind("DNS zone")


def _zone(row: Row, seen: Seen) -> Waste | None:
    about = words.props(row)
    count = about.get("numberOfRecordSets")
    if about.get("zoneType", "Public") != "Public":
        return None
    if count is None:
        raise Unresolved("how many record sets it holds is not given")
    if count > 2:
        return None
    total = sum(words.props(each).get("zoneType", "Public") == "Public" for each in seen.rows(ZONES))
    tier = "first-25" if total <= 25 else "beyond-25"  # what one less saves is the price of the last one
    return Waste(
        reason="it holds no record beside those that every zone has",
        meters=(Meter(f"dns/public-zone/{tier}", "zone-month"),),
        evidence={"record sets": count, "zones here": total},
    )


EMPTY_ZONE = check(
    id="unused-dns-zone",
    title="DNS zone without records",
    kind=ZONE,
    reads=(_ZONES.index,),
    judge=_ZONES.judge(_zone),
    why="A public zone bills by the month, whatever is in it.",
    spares=("any record beside SOA and NS", "private zones", "younger than 7 days"),
    unchecked=("a registrar that delegates the name to it: without the zone it could be taken over",),
    meter="zone-months at the marginal rate: the first 25 zones cost more than the others",
    min_age=timedelta(days=7),
    remove=lambda doomed: (
        delete(_DNS, doomed.id, f"delete zone {doomed.name}; end its delegation first", "cannot be undone"),
    ),
    reversal="cannot be undone",
    recovery="A new zone has other name servers.",
    order=86,
    steps=sends(_DNS, "delete"),
)

CHECKS = (EMPTY_ZONE, UNUSED_GROUP, UNUSED_SUBNET, EMPTY_NETWORK)
