"""Addresses, load balancers, NAT and VPN that carry nothing."""

from __future__ import annotations

from datetime import timedelta

from clouds.gcp.checks import words
from clouds.gcp.checks.metrics import LISTED, usage
from clouds.gcp.checks.reads import ADDRESSES, INSTANCES, RULES, aggregated, compute_kind
from clouds.gcp.checks.steps import collection, remove
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Listing, Meter, Row, Seen, Waste, WasteCheck

BACKENDS = Listing("compute", "backendServices.aggregatedList", "items.*.backendServices")
POOLS = Listing("compute", "targetPools.aggregatedList", "items.*.targetPools")
HTTP = Listing("compute", "targetHttpProxies.aggregatedList", "items.*.targetHttpProxies")
HTTPS = Listing("compute", "targetHttpsProxies.aggregatedList", "items.*.targetHttpsProxies")
MAPS = Listing("compute", "urlMaps.aggregatedList", "items.*.urlMaps")
ROUTERS = aggregated("routers", "compute.googleapis.com/Router")

ADDRESS = compute_kind("address", ADDRESSES)
RULE = compute_kind("forwarding rule", RULES, managed=lambda row: _gke(row) or words.managed(row))


def _gke(row: Row) -> str:
    """GKE writes who a rule is for into its description."""
    return "GKE" if "kubernetes.io" in str(row.get("description") or "") else ""


def _external(row: Row) -> bool:
    return bool(row.get("addressType", "EXTERNAL") == "EXTERNAL" and row.get("ipVersion", "IPV4") != "IPV6")


def _charge(row: Row) -> tuple[Meter, ...]:
    return (Meter("static-ip/unused", "hour", 1.0, words.spot(row)),)


def _unused(row: Row, seen: Seen) -> Waste | None:
    del seen
    if row.get("status") != "RESERVED" or row.get("users") or not _external(row) or row.get("purpose"):
        return None
    return Waste("reserved, and nothing uses it", _charge(row), evidence={"address": row.get("address", "")})


def _delete_address(doomed: Doomed) -> tuple[CleanupStep, ...]:
    kind = collection(doomed.row, "addresses", "addresses", "globalAddresses")
    return (remove(doomed, kind, "address", "address"),)


_ADDRESS_STEPS = ("compute.addresses.delete", "compute.addresses.get", "compute.globalAddresses.delete",
                  "compute.globalAddresses.get")  # fmt: skip
UNUSED = WasteCheck(
    id="ip-unused", title="Reserved address that nothing uses", kind=ADDRESS, judge=_unused,
    why="A reserved external address that nothing uses costs more than one in use.", remove=_delete_address,
    steps=_ADDRESS_STEPS, reversal="cannot be undone", recovery="The same address cannot be had again.", order=65,
    meter="static IP by the hour", min_age=timedelta(days=1),
    spares=("in use", "internal and IPv6 addresses", "kept for a purpose (peering, NAT)", "younger than a day"),
    unchecked=("DNS records and allow-lists of others that name it",),
)  # fmt: skip


def _link(row: Row) -> tuple[str, ...]:
    return (words.tail(row.get("selfLink")),)


def _on_stopped(row: Row, seen: Seen) -> Waste | None:
    users = [words.tail(each) for each in row.get("users") or () if "/instances/" in str(each)]
    if row.get("status") != "IN_USE" or not users or len(users) != len(row.get("users") or ()) or not _external(row):
        return None
    machines = seen.index(INSTANCES, _link)
    found = [each for user in users for each in machines.get(user, ())]
    if len(found) != len(users) or any(each.get("status") not in ("TERMINATED", "STOPPED") for each in found):
        return None
    if not all(words.older(seen, words.stopped_since(each), days=14) for each in found):
        return None
    return Waste(f"its machine {found[0]['name']} is stopped: the address is billed as unused", _charge(row),
                 evidence={"address": row.get("address", ""), "machine": found[0]["name"]})  # fmt: skip


ON_STOPPED = WasteCheck(
    id="ip-on-stopped", title="Address of a machine that is stopped", kind=ADDRESS, judge=_on_stopped,
    reads=(INSTANCES,), why="A static address is billed as unused while its machine is stopped.",
    remove="it goes with its machine, or is detached from it by hand: the machine would lose it",
    reversal="cannot be undone", recovery="", order=66, meter="static IP by the hour",
    spares=("its machine runs", "stopped for less than 14 days", "internal and IPv6 addresses"),
    unchecked=("when the machine will be started again",),
)  # fmt: skip


def _rule_meters(row: Row) -> tuple[Meter, ...]:
    place = words.spot(row)
    return (Meter("forwarding-rule/hour", "hour", 1.0, "us-central1" if place == "global" else place),)


def _map_services(row: Row) -> set[str]:
    """Every backend that a URL map leads to: its default, those of its paths and rules."""
    found = {words.tail(row.get("defaultService"))}
    for matcher in row.get("pathMatchers") or ():
        found.add(words.tail(matcher.get("defaultService")))
        for rule in (*(matcher.get("pathRules") or ()), *(matcher.get("routeRules") or ())):
            found.add(words.tail(rule.get("service")))
            action = rule.get("routeAction") or {}
            found |= {words.tail(each.get("backendService")) for each in action.get("weightedBackendServices") or ()}
    return {each for each in found if each}


def _redirects(row: Row) -> bool:
    matchers = row.get("pathMatchers") or ()
    return bool(row.get("defaultUrlRedirect")) or any(each.get("defaultUrlRedirect") for each in matchers)


def _services(rule: Row, seen: Seen) -> set[str] | None:
    """The backend services behind a rule; None where it leads to something that is not looked at here."""
    if rule.get("backendService"):
        return {words.tail(rule["backendService"])}
    target = words.tail(rule.get("target"))
    for read in (HTTP, HTTPS):
        for proxy in seen.index(read, _link).get(target, ()):
            maps = seen.index(MAPS, _link).get(words.tail(proxy.get("urlMap")), ())
            if not maps or _redirects(maps[0]):
                return None
            return _map_services(maps[0])
    return None


def _no_backend(row: Row, seen: Seen) -> Waste | None:
    if row.get("pscConnectionId") or row.get("loadBalancingScheme") == "INTERNAL_SELF_MANAGED":
        return None
    target = words.tail(row.get("target"))
    if "/targetPools/" in target:
        pools = seen.index(POOLS, _link).get(target, ())
        if pools and not pools[0].get("instances"):
            return Waste(
                "its target pool holds no machine", _rule_meters(row), bound="at most",
                evidence={"target": words.last(target)},
            )  # fmt: skip
        return None
    named = _services(row, seen)
    if not named:
        return None
    known = seen.index(BACKENDS, _link)
    backends = [each for name in named for each in known.get(name, ())]
    if len(backends) < len(named) or any(each.get("backends") for each in backends):
        return None  # a bucket, a service of another project, or something to send to
    return Waste("none of its backend services has a backend", _rule_meters(row), bound="at most",
                 evidence={"backend services": ", ".join(sorted(words.last(each) for each in named))})  # fmt: skip


def _delete_rule(doomed: Doomed) -> tuple[CleanupStep, ...]:
    kind = collection(doomed.row, "forwardingRules", "forwardingRules", "globalForwardingRules")
    return (remove(doomed, kind, "forwardingRule", "forwarding rule"),)


_RULE_STEPS = ("compute.forwardingRules.delete", "compute.forwardingRules.get",
               "compute.globalForwardingRules.delete", "compute.globalForwardingRules.get")  # fmt: skip
NO_BACKEND = WasteCheck(
    id="lb-no-backend",
    title="Load balancer without backends",
    kind=RULE,
    judge=_no_backend,
    reads=(BACKENDS, POOLS, HTTP, HTTPS, MAPS),
    why="A forwarding rule bills by the hour, also when it leads nowhere.",
    remove=_delete_rule,
    steps=_RULE_STEPS,
    reversal="cannot be undone",
    recovery="The rule can be made again; an address that was not reserved is lost.",
    order=55,
    meter="forwarding rule by the hour, at most: the first five of a region share one charge",
    min_age=timedelta(days=1),
    spares=(
        "any backend service has a backend",
        "it redirects",
        "a backend bucket",
        "Private Service Connect",
        "made by GKE",
    ),
    unchecked=("health of the backends", "TCP and SSL proxies"),
)


def _proxied(row: Row) -> bool:
    return row.get("loadBalancingScheme") in ("EXTERNAL", "EXTERNAL_MANAGED") and (
        "/targetHttpProxies/" in str(row.get("target")) or "/targetHttpsProxies/" in str(row.get("target"))
    )


REQUESTS = usage(
    "requests", RULES, "loadbalancing.googleapis.com/https/request_count", "https_lb_rule", ("forwarding_rule_name",),
    lambda row: (str(row["name"]),), days=14, absent="zero", when=_proxied,
    source=LISTED + "a counter that is emitted on use",
)  # fmt: skip


def _no_traffic(row: Row, seen: Seen) -> Waste | None:
    if not _proxied(row) or seen.metric(REQUESTS, row):
        return None
    return Waste("no request in 14 days", _rule_meters(row), bound="at most",
                 evidence={"address": row.get("IPAddress", ""), "port": row.get("portRange", "")})  # fmt: skip


NO_TRAFFIC = WasteCheck(
    id="lb-no-traffic",
    title="Load balancer without traffic",
    kind=RULE,
    judge=_no_traffic,
    reads=(REQUESTS,),
    why="A forwarding rule bills by the hour, whether anybody calls it or not.",
    remove=_delete_rule,
    steps=_RULE_STEPS,
    reversal="cannot be undone",
    recovery="The rule can be made again; an address that was not reserved is lost.",
    order=56,
    meter="forwarding rule by the hour, at most: the first five of a region share one charge",
    min_age=timedelta(days=14),
    spares=(
        "a request in 14 days",
        "passthrough and internal rules, whose traffic is counted elsewhere",
        "made by GKE",
    ),
    unchecked=("a standby that waits for a failover",),
)


def _gateways(row: Row) -> bool:
    return bool(row.get("nats"))


ROUTER = compute_kind("Cloud NAT", ROUTERS)
PORTS = usage(
    "most ports in use", ROUTERS, "router.googleapis.com/nat/allocated_ports", "nat_gateway", ("router_id",),
    lambda row: (str(row.get("id")),), days=14, absent="unresolved", fold="max", when=_gateways,
    source=LISTED + "every gateway with machines behind it reports it",
)  # fmt: skip


def _nat(row: Row, seen: Seen) -> Waste | None:
    gateways = [each for each in row.get("nats") or () if each.get("type", "PUBLIC") == "PUBLIC"]
    if not gateways or seen.metric(PORTS, row):
        return None
    place = words.spot(row)
    ips = sum(len(each.get("natIps") or ()) for each in gateways)
    return Waste(
        f"{', '.join(str(each['name']) for each in gateways)}: no machine took a port in 14 days",
        (Meter("nat/gateway", "hour", float(len(gateways)), place),
         *((Meter("nat/ip", "hour", float(ips), place),) if ips else ())),
        bound="at most",
        evidence={"gateways": len(gateways), "addresses": ips},
    )  # fmt: skip


NAT = WasteCheck(
    id="nat-unused",
    title="Cloud NAT that no machine uses",
    kind=ROUTER,
    judge=_nat,
    reads=(PORTS,),
    why="A NAT gateway bills for its addresses and for the machines that it may serve.",
    remove="take it out of its router (`gcloud compute routers nats delete`), after a look at what else it does",
    reversal="can be undone",
    recovery="",
    order=57,
    meter="NAT gateway (at most: less with few machines) and its addresses by the hour",
    min_age=timedelta(days=14),
    spares=("a port was taken in 14 days", "private NAT", "not measured"),
    unchecked=("Cloud Run and GKE, whose ports are counted here too",),
)
CHECKS = (UNUSED, ON_STOPPED, NO_BACKEND, NO_TRAFFIC, NAT)
