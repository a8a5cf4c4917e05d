"""VPN connections and client VPN endpoints that are billed by the hour and carry nothing."""

from __future__ import annotations

from datetime import timedelta

from clouds.aws.checks import words
from clouds.aws.checks.ec2_reads import ec2_id
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import gone, step
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Unresolved, Waste, WasteCheck

VPNS = Listing("ec2", "DescribeVpnConnections", "VpnConnections")
VPN = Kind(
    name="site-to-site VPN",
    of=VPNS,
    id=ec2_id("vpn-connection", "VpnConnectionId"),
    label=lambda row: words.named(row, "VpnConnectionId"),
    tags=words.tags,
    moving=("VgwTelemetry",),
)
TUNNEL_BYTES = usage(
    "AWS/VPN",
    "TunnelDataIn TunnelDataOut",
    VPNS,
    by=lambda row: [{"VpnId": row["VpnConnectionId"]}],
    days=14,
    absent="unresolved",
    when=lambda row: row["State"] == "available",
    unit="bytes",
    source="Site-to-Site VPN docs: emitted every five minutes while the connection is there, also at 0",
)


def _vpn(row: Row, seen: Seen) -> Waste | None:
    tunnels = row.get("VgwTelemetry", ())
    if row["State"] != "available" or any(each["Status"] == "UP" for each in tunnels):
        return None
    if not tunnels:
        raise Unresolved("AWS tells of no tunnel of it, and so neither whether one is up nor how old it is")
    if any(words.older(seen, each.get("LastStatusChange"), days=14) is False for each in tunnels):
        return None  # a tunnel was up within the window, or all of it is younger than that
    if seen.metric(TUNNEL_BYTES, row):
        return None
    return Waste(
        reason=f"no tunnel of {len(tunnels)} is up and no byte passed in 14 days",
        meters=(Meter("vpn/connection", "hour"),),
        evidence={"tunnels up": 0, "customer gateway": row.get("CustomerGatewayId", "")},
    )


def _delete_vpn(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = doomed.row["VpnConnectionId"]
    return (
        step(
            "delete",
            f"delete VPN connection {doomed.name}: its keys and addresses are lost",
            "ec2.DeleteVpnConnection",
            {"VpnConnectionId": name},
            "cannot be undone",
            until=gone("ec2.DescribeVpnConnections", {"VpnConnectionIds": [name]}, "VpnConnections[].State", "deleted"),
        ),
    )


VPN_IDLE = WasteCheck(
    id="vpn-idle",
    title="VPN connection that is down and carries nothing",
    kind=VPN,
    reads=(TUNNEL_BYTES,),
    judge=_vpn,
    why="A VPN connection is billed by the hour while it is there, up or down.",
    spares=("a tunnel is up, or went down or was made within 14 days", "a byte passed in 14 days"),
    unchecked=("a line that is kept for a failover", "its age: AWS does not say when it was made"),
    meter="site-to-site VPN hours",
    remove=_delete_vpn,
    reversal="cannot be undone",
    recovery="A new connection has other keys and addresses, and the other side has to be set up again.",
    order=34,
    steps=("ec2.DeleteVpnConnection", "ec2.DescribeVpnConnections"),
)

CLIENT_VPNS = Listing("ec2", "DescribeClientVpnEndpoints", "ClientVpnEndpoints")
NETWORKS = Detail(
    CLIENT_VPNS,
    "ec2",
    "DescribeClientVpnTargetNetworks",
    lambda rows, _at: {"ClientVpnEndpointId": rows[0]["ClientVpnEndpointId"]},
    rows="ClientVpnTargetNetworks",
    when=lambda row: row["Status"]["Code"] == "available",
)
CLIENT_VPN = Kind(
    name="client VPN endpoint",
    of=CLIENT_VPNS,
    id=ec2_id("client-vpn-endpoint", "ClientVpnEndpointId"),
    label=lambda row: words.named(row, "ClientVpnEndpointId"),
    created=lambda row: row["CreationTime"],
    tags=words.tags,
)
CONNECTIONS = usage(
    "AWS/ClientVPN",
    "ActiveConnectionsCount",
    CLIENT_VPNS,
    by=lambda row: [{"Endpoint": row["ClientVpnEndpointId"]}],
    days=14,
    absent="unresolved",
    stat="Maximum",
    when=lambda row: row["Status"]["Code"] == "available",
    unit="connections",
    source="Client VPN docs: emitted every five minutes for an endpoint with a network, also at 0",
)


def _client_vpn(row: Row, seen: Seen) -> Waste | None:
    if row["Status"]["Code"] != "available":
        return None
    networks = [each for each in seen.of(NETWORKS, row) if each["Status"]["Code"] == "associated"]
    if not networks or seen.metric(CONNECTIONS, row):
        return None
    count = len(networks)
    return Waste(
        reason=f"nobody connected in 14 days; {count} network{'' if count == 1 else 's'} associated",
        meters=(Meter("client-vpn/association", "hour", count),),
        evidence={"networks": count, "associations": ", ".join(map(_association, networks))},
    )


def _association(network: Row) -> str:
    return f"{network['AssociationId']} {network.get('TargetNetworkId', '?')}"


def _disassociate(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"ClientVpnEndpointId": doomed.row["ClientVpnEndpointId"]}
    pairs = [pair.split(" ", 1) for pair in str(doomed.evidence["associations"]).split(", ")]
    return tuple(
        step(
            f"disassociate {number}",
            f"take network {subnet} from {doomed.name}; the endpoint and its certificates stay",
            "ec2.DisassociateClientVpnTargetNetwork",
            {**name, "AssociationId": association},
            "can be undone",
            until=gone(
                "ec2.DescribeClientVpnTargetNetworks",
                {**name, "AssociationIds": [association]},
                "ClientVpnTargetNetworks[].Status.Code",
                "disassociated",
            ),
        )
        for number, (association, subnet) in enumerate(pairs, 1)
    )


CLIENT_VPN_IDLE = WasteCheck(
    id="client-vpn-idle",
    title="Client VPN endpoint that nobody connects to",
    kind=CLIENT_VPN,
    reads=(NETWORKS, CONNECTIONS),
    judge=_client_vpn,
    why="Each network that is associated with it is billed by the hour.",
    spares=("anybody connected in 14 days", "no network associated, which costs nothing"),
    unchecked=("an entrance that is kept for emergencies",),
    meter="client VPN association hours",
    min_age=timedelta(days=14),
    remove=_disassociate,
    reversal="can be undone",
    recovery="Networks can be associated again in minutes; the endpoint and its certificates stay.",
    order=34,
    steps=("ec2.DisassociateClientVpnTargetNetwork", "ec2.DescribeClientVpnTargetNetworks"),
)
CHECKS = (VPN_IDLE, CLIENT_VPN_IDLE)
