"""Public addresses, network interfaces and address ranges that nothing uses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from clouds.azure.checks import words
from clouds.azure.checks.reads import check, dated, listing
from clouds.azure.checks.steps import delete, sends
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Bound, Meter, Row, Seen, Unseen, Waste

_IP, _NIC, _PREFIX = (
    "Microsoft.Network/publicIPAddresses",
    "Microsoft.Network/networkInterfaces",
    "Microsoft.Network/publicIPPrefixes",
)
ADDRESSES, NICS, PREFIXES = listing(_IP), listing(_NIC), listing(_PREFIX)
_DATED, _DATED_NICS, _DATED_PREFIXES = dated(ADDRESSES), dated(NICS), dated(PREFIXES)
ADDRESS = _DATED.kind("public IP address")
NIC = _DATED_NICS.kind("network interface")
PREFIX = _DATED_PREFIXES.kind("public IP prefix")


def holder(row: Row) -> Iterable[str]:
    """What an address is attached to: the id of the interface, balancer or gateway, in lower case."""
    about = words.props(row)
    found = []
    for name in ("ipConfiguration", "natGateway", "linkedPublicIPAddress", "servicePublicIPAddress"):
        inner = str((about.get(name) or {}).get("id", "")).lower()
        if inner:
            found.append(inner.split("/ipconfigurations/", 1)[0].split("/frontendipconfigurations/", 1)[0])
    return tuple(found)


def address_meters(row: Row) -> tuple[Meter, ...]:
    """What an address costs: nothing when dynamic and not in use, when IPv6, or when it is part of a prefix."""
    about = words.props(row)
    sku = row.get("sku") or {}
    if about.get("publicIPPrefix") or str(about.get("publicIPAddressVersion", "IPv4")) != "IPv4":
        return ()
    if sku.get("tier") == "Global":
        return (Meter("public-ip/global-static-ipv4", "hour"),)
    if str(sku.get("name", "Basic")).lower() == "basic":  # retired, and priced apart; dynamic ones bill only in use
        static = about.get("publicIPAllocationMethod") == "Static"
        return (Meter("public-ip/basic-static-ipv4", "hour"),) if static else ()
    return (Meter("public-ip/standard-static-ipv4", "hour"),)


@dataclass(frozen=True)
class Held:
    """The addresses that a resource holds: they are priced with their holder, once."""

    meters: tuple[Meter, ...] = ()
    ids: tuple[str, ...] = ()
    unread: bool = False

    @property
    def words(self) -> str:
        """How many, or that nobody knows."""
        return "public addresses that could not be read" if self.unread else words.many(len(self.ids), "public address")

    @property
    def bound(self) -> Bound:
        """What the price of their holder is without them."""
        return "at least" if self.unread else "exact"


def held_by(seen: Seen, resource: str) -> Held:
    """What a resource holds. Unread addresses, which the scan names, make its holder no less idle: they stay."""
    try:
        held = seen.index(ADDRESSES, holder).get(resource.lower(), ())
    except Unseen:
        return Held(unread=True)
    priced = [(address_meters(each), str(each["id"])) for each in held]
    return Held(tuple(meter for meters, _ in priced for meter in meters), tuple(name for _, name in priced))


def release(doomed: Doomed) -> tuple[CleanupStep, ...]:
    """The steps that give up the addresses that a holder's finding is priced with."""
    return tuple(
        delete(_IP, each, f"delete its public address {words.last(each)}", "cannot be undone", name=f"address-{number}")
        for number, each in enumerate(doomed.evidence.get("addresses", ()), 1)
    )


RELEASES = sends(_IP, "delete")


def _unused(row: Row, _seen: Seen) -> Waste | None:
    about = words.props(row)
    if any(holder(row)):
        return None
    meters = address_meters(row)
    prefix = (about.get("publicIPPrefix") or {}).get("id", "")
    return Waste(
        reason="attached to nothing" + (", and billed with its prefix" if prefix else ""),
        meters=meters,
        free=not meters,
        evidence={
            "address": about.get("ipAddress", ""),
            "sku": (row.get("sku") or {}).get("name", ""),
            "allocation": about.get("publicIPAllocationMethod", ""),
            "prefix": prefix,
            "DNS name": (about.get("dnsSettings") or {}).get("fqdn", ""),
        },
    )


UNUSED_ADDRESS = check(
    id="unused-public-ip",
    title="Public IP address attached to nothing",
    kind=ADDRESS,
    reads=(_DATED.index,),
    judge=_DATED.judge(_unused),
    why="A static address bills every hour, attached or not, at the same rate.",
    spares=(
        "held by an interface, a balancer or a gateway (priced there)",
        "dynamic or from a prefix: reported at no cost of its own",
        "younger than a day",
    ),
    unchecked=("allow-lists and DNS records elsewhere that name it",),
    meter="public IPv4 hours",
    remove=lambda doomed: (
        delete(_IP, doomed.id, f"delete public address {doomed.name}: the address is lost", "cannot be undone"),
    ),
    reversal="cannot be undone",
    recovery="The address goes back to Azure's pool and is not to be had again.",
    order=40,
    steps=RELEASES,
)


def _orphan(row: Row, seen: Seen) -> Waste | None:
    about = words.props(row)
    if any(about.get(name) for name in ("virtualMachine", "privateEndpoint", "privateLinkService", "hostedWorkloads")):
        return None
    if about.get("nicType") not in (None, "Standard") or about.get("virtualMachineScaleSet"):
        return None
    held = held_by(seen, row["id"])
    return Waste(
        reason="belongs to no machine" + (f", and holds {held.words}" if held.ids else ""),
        meters=held.meters,
        free=not held.meters and not held.unread,
        bound=held.bound,
        holds=held.ids,
        evidence={"addresses": held.ids, "private address": _private(about)},
    )


def _private(about: Row) -> str:
    found = [words.props(each).get("privateIPAddress", "") for each in about.get("ipConfigurations") or ()]
    return ", ".join(str(each) for each in found if each)


ORPHAN = check(
    id="orphaned-nic",
    title="Network interface that belongs to no machine",
    kind=NIC,
    reads=(_DATED_NICS.index, ADDRESSES),
    judge=_DATED_NICS.judge(_orphan),
    why="It outlives its machine; it costs nothing, but the public addresses it holds do, and it blocks its subnet.",
    spares=(
        "of a machine, also a stopped one",
        "of a private endpoint, a private link service or a hosted workload such as NetApp",
        "younger than a day",
    ),
    unchecked=("templates that expect its private address",),
    meter="hours of the public addresses that it holds",
    remove=lambda doomed: (
        delete(_NIC, doomed.id, f"delete network interface {doomed.name}", "can be undone"),
        *release(doomed),
    ),
    reversal="cannot be undone",
    recovery="An interface can be made again; a released public address is lost.",
    order=35,
    steps=(*sends(_NIC, "delete"), *RELEASES),
)  # fmt: skip


def _empty_prefix(row: Row, _seen: Seen) -> Waste | None:
    about = words.props(row)
    if any(about.get(name) for name in ("publicIPAddresses", "natGateway", "loadBalancerFrontendIpConfiguration")):
        return None
    if str(about.get("publicIPAddressVersion", "IPv4")) != "IPv4" or about.get("customIPPrefix"):
        return None
    length = int(about.get("prefixLength") or 32)
    count = 2 ** (32 - length)
    return Waste(
        reason=f"no address, gateway or balancer uses any of its {words.many(count, 'address')}",
        meters=(Meter("public-ip/standard-static-ipv4", "hour", count),),
        evidence={"prefix": about.get("ipPrefix", ""), "addresses in it": count},
    )


EMPTY_PREFIX = check(
    id="public-ip-prefix-empty",
    title="Public IP prefix that nothing uses",
    kind=PREFIX,
    reads=(_DATED_PREFIXES.index,),
    judge=_DATED_PREFIXES.judge(_empty_prefix),
    why="A prefix bills for each of its addresses, whether one was made from it or not.",
    spares=("an address, a NAT gateway or a balancer uses it", "IPv6 and own prefixes", "younger than 7 days"),
    unchecked=("allow-lists elsewhere that name the range",),
    meter="public IPv4 hours times the addresses of the prefix",
    min_age=timedelta(days=7),
    remove=lambda doomed: (
        delete(_PREFIX, doomed.id, f"delete prefix {doomed.name}: its range is lost", "cannot be undone"),
    ),
    reversal="cannot be undone",
    recovery="Another prefix has another range.",
    order=41,
    steps=sends(_PREFIX, "delete"),
)

CHECKS = (UNUSED_ADDRESS, EMPTY_PREFIX, ORPHAN)
