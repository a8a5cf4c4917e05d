"""EC2 and VPC: provisioned IOPS and throughput, fast snapshot restore, dedicated hosts, gateways and tunnels.

Usage types, families and units: filters of public cost tools (infracost `ebs_volume.go`, `ebs_snapshot.go`,
`ec2_host.go`, `ec2_client_vpn_network_association.go`, `vpc_endpoint.go`) and Price List answers that public
repositories quote with their SKUs; read 2026-11-29. None was asked of a live account here.
"""

from __future__ import annotations

from clouds.aws.meters.meter import HOURS, Meter

_EC2, _VPC, _FAMILY = "AmazonEC2", "AmazonVPC", "productFamily"
_IOPS, _OPERATIONS = ("IOPS-Mo", "IOPS-month"), {_FAMILY: "System Operation"}
NETWORK = (
    Meter("ebs/{kind}-iops", _EC2, r"EBS:VolumeP-IOPS\.(?P<kind>gp3|piops|io2)", _IOPS, "IOPS-month", _OPERATIONS),
    # io2 bills its IOPS above 32,000 and above 64,000 at two lower rates, each a meter of its own.
    Meter("ebs/io2-iops-{tier}", _EC2, r"EBS:VolumeP-IOPS\.io2\.(?P<tier>tier[23])", _IOPS, "IOPS-month", _OPERATIONS),
    # Listed by GiB/s; volumes are given in MiB/s.
    Meter(
        "ebs/gp3-throughput",
        _EC2,
        r"EBS:VolumeP-Throughput\.gp3",
        ("GiBps-mo", "GiBps-Mo"),
        "MiBps-month",
        {_FAMILY: "Provisioned Throughput"},
        share=1 / 1024,
    ),
    Meter(
        "ebs/fast-snapshot-restore",
        _EC2,
        r"EBS:FastSnapshotRestore",
        HOURS,
        "hour",
        {_FAMILY: "Fast Snapshot Restore"},
    ),
    # The family is taken whole: mac2 and mac2-m2 are different machines. A reserved host is another usage type.
    Meter("ec2-host/{family}", _EC2, r"HostUsage:(?P<family>[a-z0-9-]+)", HOURS, "hour", {_FAMILY: "Dedicated Host"}),
    # Attachments of a VPC; those of a VPN, of peering and of Connect have the same usage type.
    Meter(
        "transit-gateway/attachment",
        _VPC,
        r"TransitGateway-Hours",
        HOURS,
        "hour",
        having={"operation": "TransitGatewayVPC"},
    ),
    Meter("vpn/connection", _VPC, r"VPN-Usage-Hours:ipsec\.1", HOURS, "hour"),
    Meter("client-vpn/association", _VPC, r"ClientVPN-EndpointHours", HOURS, "hour"),
    Meter("vpc-endpoint/gateway-load-balancer", _VPC, r"VpcEndpoint-GWLBE-Hours", HOURS, "hour"),
    Meter("elb/gateway", "AWSELB", r"LoadBalancerUsage", HOURS, "hour", {_FAMILY: "Load Balancer-Gateway"}),
)
"""Network and the parts of volumes beside their size."""
