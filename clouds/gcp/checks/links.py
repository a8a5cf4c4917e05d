"""Connections to other networks that carry nothing: VPN, interconnects, serverless connectors, open ports."""

from __future__ import annotations

from datetime import timedelta

from clouds.gcp.checks import words
from clouds.gcp.checks.reads import aggregated, compute_kind, in_each, locations, named_kind
from clouds.gcp.checks.steps import at, gone, remove, remove_named, step
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Listing, Meter, Row, Seen, Waste, WasteCheck

TUNNELS = aggregated("vpnTunnels", "compute.googleapis.com/VpnTunnel")
GATEWAYS = aggregated("vpnGateways", "compute.googleapis.com/VpnGateway")
CLASSIC = aggregated("targetVpnGateways", "compute.googleapis.com/TargetVpnGateway")
ATTACHMENTS = aggregated("interconnectAttachments", "compute.googleapis.com/InterconnectAttachment")
INTERCONNECTS = Listing("compute", "interconnects.list", "items", assets=("compute.googleapis.com/Interconnect",))
FIREWALLS = Listing("compute", "firewalls.list", "items", assets=("compute.googleapis.com/Firewall",))
CONNECTORS = in_each(
    locations("vpcaccess"), "projects.locations.connectors.list", "connectors", "vpcaccess.googleapis.com/Connector"
)

TUNNEL = compute_kind("VPN tunnel", TUNNELS, moving=("detailedStatus",))
GATEWAY = compute_kind("VPN gateway", GATEWAYS)
CLASSIC_GATEWAY = compute_kind("classic VPN gateway", CLASSIC)
ATTACHMENT = compute_kind("interconnect attachment", ATTACHMENTS)
INTERCONNECT = compute_kind("interconnect", INTERCONNECTS)
FIREWALL = compute_kind("firewall rule", FIREWALLS)
CONNECTOR = named_kind("serverless VPC connector", CONNECTORS, "vpcaccess", dated=False)
_DOWN = ("FAILED", "NO_INCOMING_PACKETS", "NETWORK_ERROR", "NEGOTIATION_FAILURE", "AUTHORIZATION_ERROR",
         "FIRST_HANDSHAKE", "WAITING_FOR_FULL_CONFIG", "REJECTED", "PEER_CONFIGURATION_ERROR")  # fmt: skip


def _pair(row: Row) -> tuple[str, ...]:
    return (words.tail(row.get("vpnGateway")),) if row.get("vpnGateway") else ()


def _down(row: Row, seen: Seen) -> Waste | None:
    if row.get("status") not in _DOWN:
        return None
    pair = seen.index(TUNNELS, _pair).get(words.tail(row.get("vpnGateway")), ()) if row.get("vpnGateway") else ()
    if any(each.get("status") == "ESTABLISHED" for each in pair):
        return None
    return Waste(f"{row['status']}: {row.get('detailedStatus', 'no reason given')}"[:160],
                 (Meter("vpn/tunnel", "hour", 1.0, words.spot(row)),),
                 evidence={"peer": row.get("peerIp", ""), "status": row["status"]})  # fmt: skip


def _delete_tunnel(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return (remove(doomed, "vpnTunnels", "vpnTunnel", "VPN tunnel"),)


DOWN = WasteCheck(
    id="vpn-down", title="VPN tunnel that is down", kind=TUNNEL, judge=_down,
    why="A tunnel bills by the hour, established or not.", remove=_delete_tunnel,
    steps=("compute.vpnTunnels.delete", "compute.vpnTunnels.get"), reversal="cannot be undone",
    recovery="It has to be set up again with its shared secret, at both ends.", order=58,
    meter="VPN tunnel by the hour", min_age=timedelta(days=7),
    spares=("established", "another tunnel of its gateway is established", "younger than 7 days"),
    unchecked=("since when it is down: Google does not say",),
)  # fmt: skip


def _empty(row: Row, seen: Seen) -> Waste | None:
    if seen.index(TUNNELS, _pair).get(words.tail(row.get("selfLink"))):
        return None
    return Waste("no tunnel stands on it", free=True, evidence={"network": words.last(row.get("network"))})


def _delete_gateway(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return (remove(doomed, "vpnGateways", "vpnGateway", "VPN gateway"),)


EMPTY = WasteCheck(
    id="vpn-gateway-empty", title="VPN gateway without tunnels", kind=GATEWAY, judge=_empty, reads=(TUNNELS,),
    why="It costs nothing and keeps two addresses; peers may still be told to use them.", remove=_delete_gateway,
    steps=("compute.vpnGateways.delete", "compute.vpnGateways.get"), reversal="cannot be undone",
    recovery="The same addresses cannot be had again.", order=59, meter="none", min_age=timedelta(days=7),
    spares=("a tunnel stands on it", "younger than 7 days"), unchecked=("peers that name its addresses",),
)  # fmt: skip


def _classic(row: Row, seen: Seen) -> Waste | None:
    del seen
    if row.get("tunnels"):
        return None
    rules = len(row.get("forwardingRules") or ())
    return Waste(f"no tunnel stands on it; {rules} forwarding rules lead to it", free=not rules, meters=tuple(
        [Meter("forwarding-rule/hour", "hour", float(rules), words.spot(row))] if rules else []),
        evidence={"forwarding rules": rules})  # fmt: skip


def _delete_classic(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return (remove(doomed, "targetVpnGateways", "targetVpnGateway", "classic VPN gateway"),)


CLASSIC_EMPTY = WasteCheck(
    id="vpn-classic-empty", title="Classic VPN gateway without tunnels", kind=CLASSIC_GATEWAY, judge=_classic,
    why="Its forwarding rules bill by the hour, although no tunnel stands on it.", remove=_delete_classic,
    steps=("compute.targetVpnGateways.delete", "compute.targetVpnGateways.get"), reversal="cannot be undone",
    recovery="It has to be set up again.", order=59, meter="forwarding rules by the hour", min_age=timedelta(days=7),
    spares=("a tunnel stands on it", "younger than 7 days"), unchecked=("whether its rules serve something else",),
)  # fmt: skip


def _attachment(row: Row, seen: Seen) -> Waste | None:
    del seen
    if row.get("adminEnabled") is not False and row.get("operationalStatus") != "OS_UNPROVISIONED":
        return None
    if row.get("state") in ("PENDING_CUSTOMER", "PENDING_PARTNER", "PARTNER_REQUEST_RECEIVED"):
        return None
    why = "switched off" if row.get("adminEnabled") is False else str(row.get("operationalStatus"))
    return Waste(f"{why}: it carries nothing",
                 (Meter(f"interconnect/attachment-{str(row.get('bandwidth', '')).removeprefix('BPS_').lower()}", "hour",
                        1.0, words.spot(row)),),
                 evidence={"bandwidth": row.get("bandwidth", ""), "state": row.get("state", "")})  # fmt: skip


def _delete_attachment(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return (remove(doomed, "interconnectAttachments", "interconnectAttachment", "interconnect attachment"),)


ATTACHMENT_OFF = WasteCheck(
    id="interconnect-attachment-off", title="Interconnect attachment that carries nothing", kind=ATTACHMENT,
    judge=_attachment, why="An attachment bills by the hour and bandwidth, also when it is off.",
    remove=_delete_attachment,
    steps=("compute.interconnectAttachments.delete", "compute.interconnectAttachments.get"),
    reversal="cannot be undone", recovery="It has to be ordered and paired again.", order=59,
    meter="attachment by the hour; the table has no rate for it", min_age=timedelta(days=7),
    spares=("active", "waiting for the partner or for us", "younger than 7 days"),
    unchecked=("a planned move",),
)  # fmt: skip


def _interconnect(row: Row, seen: Seen) -> Waste | None:
    del seen
    if row.get("interconnectAttachments") or row.get("interconnectType") == "PARTNER":
        return None
    links = int(words.number(row.get("provisionedLinkCount")))
    if row.get("operationalStatus") != "OS_ACTIVE" or not links:
        return None
    kind = str(row.get("linkType", "")).removeprefix("LINK_TYPE_ETHERNET_").lower()
    return Waste(f"{links} links, and no attachment uses them",
                 (Meter(f"interconnect/port-{kind}", "hour", float(links), "global"),),
                 evidence={"links": links, "type": kind, "at": words.last(row.get("location"))})  # fmt: skip


INTERCONNECT_EMPTY = WasteCheck(
    id="interconnect-empty", title="Interconnect without attachments", kind=INTERCONNECT, judge=_interconnect,
    why="A dedicated port bills by the hour whether anything goes through it or not.",
    remove="its cross-connect is ordered from the colocation facility too: end both together",
    reversal="cannot be undone", recovery="", order=59, meter="port by the hour; the table has no rate for it",
    min_age=timedelta(days=30), spares=("an attachment uses it", "not yet provisioned", "younger than 30 days"),
    unchecked=("attachments of other projects that are not yet made",),
)  # fmt: skip


def _connector(row: Row, seen: Seen) -> Waste | None:
    del seen
    if row.get("state") != "READY" or row.get("connectedProjects"):
        return None
    least, kind = int(words.number(row.get("minInstances")) or 2), row.get("machineType") or "e2-micro"
    place = words.part(row["name"], "locations")
    return Waste(f"no project is connected; keeps {least} x {kind}",
                 (Meter(f"gce/{kind}/on-demand", "hour", float(least), place),),
                 evidence={"machines": least, "type": kind})  # fmt: skip


def _delete_connector(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return (remove_named(doomed, "vpcaccess.projects.locations.connectors", "connector", reversal="can be undone"),)


CONNECTOR_UNUSED = WasteCheck(
    id="vpc-connector-unused", title="Serverless VPC connector that nothing uses", kind=CONNECTOR, judge=_connector,
    why="A connector keeps at least two small machines at all hours.", remove=_delete_connector,
    steps=("vpcaccess.projects.locations.connectors.delete", "vpcaccess.projects.locations.connectors.get"),
    reversal="can be undone", recovery="It can be made again with the same range.", order=59,
    meter="its machines by the hour", spares=("a project is connected to it", "not READY"),
    unchecked=("its age, which Google does not say", "functions of the first generation that name it"),
)  # fmt: skip
_PORTS = {"22", "8000", "8080"}


def _opens(row: Row) -> set[str]:
    """Which of the ports a rule opens: "8000" and "8000-8100" both open 8000."""
    found: set[str] = set()
    for rule in row.get("allowed") or ():
        if rule.get("IPProtocol") not in ("all", "tcp"):
            continue
        for span in rule.get("ports") or ("all",):
            first, _, end = str(span).partition("-")
            opened = {port for port in _PORTS if first.isdigit() and int(first) <= int(port) <= int(end or first)}
            found |= {"all"} if span == "all" else opened
    return found


def _open(row: Row, seen: Seen) -> Waste | None:
    del seen
    world = {"0.0.0.0/0", "::/0"} & set(row.get("sourceRanges") or ())
    ports = _opens(row)
    if row.get("disabled") or row.get("direction", "INGRESS") != "INGRESS" or not world or not ports:
        return None
    if row["name"] == "default-allow-ssh" or not (ports - {"22"}):
        return None
    return Waste(
        f"lets the whole internet in on port {', '.join(sorted(ports))}",
        free=True,
        evidence={"from": ", ".join(sorted(world)), "to": ", ".join(row.get("targetTags") or ()) or "every machine"},
    )


def _delete_firewall(doomed: Doomed) -> tuple[CleanupStep, ...]:
    where = at(doomed.row, doomed.at.account, "firewall")
    return (
        step("delete", f"delete the firewall rule {doomed.row['name']}", "compute.firewalls.delete", where,
             "can be undone", gone("compute.firewalls.get", where)),
    )  # fmt: skip


OPEN = WasteCheck(
    id="firewall-open", title="Model port that is open to the world", kind=FIREWALL, judge=_open,
    why="A rule left from a deployment lets anybody use a model server, which asks nobody who they are.",
    remove=_delete_firewall, steps=("compute.firewalls.delete", "compute.firewalls.get"), reversal="can be undone",
    recovery="The rule can be made again; modelrig itself needs none.", category="ai", order=90, meter="none",
    min_age=timedelta(hours=1), spares=("closed to the internet", "switched off", "only SSH"),
    unchecked=("whether anything listens there", "firewall policies of the organization"),
)  # fmt: skip
CHECKS = (DOWN, CLASSIC_EMPTY, EMPTY, ATTACHMENT_OFF, INTERCONNECT_EMPTY, CONNECTOR_UNUSED, OPEN)
