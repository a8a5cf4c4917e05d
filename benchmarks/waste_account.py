"""The account on which `waste_compare.py` compares scanners: a simulator whose clock is behind, and what is in it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

REGION, EACH = "us-east-1", 10
KINDS = ("volume", "address", "snapshot", "nat", "balancer", "image", "instance")
NAT_METRICS = ("BytesOutToDestination", "BytesOutToSource", "BytesInFromSource", "BytesInFromDestination")
ALB_METRICS = ("RequestCount", "NewConnectionCount", "ProcessedBytes", "ActiveConnectionCount")
SERVER = (
    "import sys, datetime, moto.core.utils as u; now = u.utcnow; "
    "u.utcnow = lambda: now() - datetime.timedelta(days=100); "
    "from moto.server import main; main(['-H', '127.0.0.1', '-p', sys.argv[1]])"
)


@contextmanager
def simulator(python: Path) -> Iterator[str]:
    """The address of a moto server whose clock is 100 days behind."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    settings = {**os.environ, "MOTO_EC2_LOAD_DEFAULT_AMIS": "false"}
    process = subprocess.Popen([str(python), "-c", SERVER, str(port)], env=settings, **quiet)
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                with urlopen(f"{url}/moto-api/", timeout=5):  # noqa: S310 - our own server on the loopback address
                    break
            except (URLError, ConnectionError):
                time.sleep(0.2)
        yield url
    finally:
        process.terminate()
        process.wait(30)


class Filling:
    """Makes the account; `waste` and `healthy` hold the ids of what was made."""

    def __init__(self, url: str) -> None:
        import boto3

        session = boto3.Session("simulated", "simulated", region_name=REGION)
        self.ec2, self.elb, self.metrics = (
            session.client(name, endpoint_url=url) for name in ("ec2", "elbv2", "cloudwatch")
        )
        self.waste: dict[str, set[str]] = {kind: set() for kind in KINDS}
        self.healthy: dict[str, set[str]] = {kind: set() for kind in KINDS}
        self.subnets = [each["SubnetId"] for each in self.ec2.describe_subnets()["Subnets"]]
        self.vpc = self.ec2.describe_vpcs()["Vpcs"][0]["VpcId"]

    def fill(self) -> None:
        """Everything, `EACH` of a kind."""
        for number in range(EACH):
            self._disks(number)
            self._network(number)

    def _instance(self, image: str) -> str:
        answer = self.ec2.run_instances(ImageId=image, InstanceType="t3.micro", MinCount=1, MaxCount=1)
        return str(answer["Instances"][0]["InstanceId"])

    def _disks(self, number: int) -> None:
        running = self._instance("ami-12345678")
        image = self.ec2.create_image(InstanceId=running, Name=f"used-{number}")["ImageId"]
        in_use = self._instance(image)
        self.healthy["image"].add(image)
        self.healthy["instance"] |= {running, in_use}
        self.waste["image"].add(self.ec2.create_image(InstanceId=running, Name=f"unused-{number}")["ImageId"])
        stopped = self._instance(image)
        self.ec2.stop_instances(InstanceIds=[stopped])
        self.waste["instance"].add(stopped)

        def volume() -> str:
            answer = self.ec2.create_volume(AvailabilityZone=f"{REGION}a", Size=100, VolumeType="gp3")
            return str(answer["VolumeId"])

        free, held, gone = volume(), volume(), volume()
        self.ec2.attach_volume(VolumeId=held, InstanceId=running, Device="/dev/sdf")
        self.waste["volume"].add(free)
        self.healthy["volume"].add(held)
        self.healthy["snapshot"].add(self.ec2.create_snapshot(VolumeId=held)["SnapshotId"])
        self.waste["snapshot"].add(self.ec2.create_snapshot(VolumeId=gone)["SnapshotId"])
        self.ec2.delete_volume(VolumeId=gone)
        address = self.ec2.allocate_address(Domain="vpc")["AllocationId"]
        self.ec2.associate_address(InstanceId=running, AllocationId=address)
        self.healthy["address"].add(address)
        self.waste["address"].add(self.ec2.allocate_address(Domain="vpc")["AllocationId"])

    def _network(self, number: int) -> None:
        for name, made in (("idle", self.waste), ("busy", self.healthy)):
            address = self.ec2.allocate_address(Domain="vpc")["AllocationId"]
            self.healthy["address"].add(address)
            gateway = self.ec2.create_nat_gateway(SubnetId=self.subnets[0], AllocationId=address)
            made["nat"].add(gateway["NatGateway"]["NatGatewayId"])
            balancer = self.elb.create_load_balancer(Name=f"{name}-{number}", Subnets=self.subnets[:2])
            arn = balancer["LoadBalancers"][0]["LoadBalancerArn"]
            made["balancer"].add(arn)
            group = self.elb.create_target_group(
                Name=f"{name}-{number}", Protocol="HTTP", Port=80, VpcId=self.vpc, TargetType="instance"
            )["TargetGroups"][0]["TargetGroupArn"]
            self.elb.create_listener(
                LoadBalancerArn=arn, Protocol="HTTP", Port=80,
                DefaultActions=[{"Type": "forward", "TargetGroupArn": group}],
            )  # fmt: skip
            if name == "busy":
                target = min(self.healthy["instance"])
                self.elb.register_targets(TargetGroupArn=group, Targets=[{"Id": target}])
                self._traffic(gateway["NatGateway"]["NatGatewayId"], arn)

    def _traffic(self, gateway: str, balancer: str) -> None:
        day = datetime.now(UTC)
        for space, names, key, value in (
            ("AWS/NATGateway", NAT_METRICS, "NatGatewayId", gateway),
            ("AWS/ApplicationELB", ALB_METRICS, "LoadBalancer", balancer.split("loadbalancer/")[1]),
        ):
            self.metrics.put_metric_data(
                Namespace=space,
                MetricData=[
                    {"MetricName": name, "Dimensions": [{"Name": key, "Value": value}], "Value": 1e6,
                     "Timestamp": day - timedelta(days=back, hours=1)}
                    for name in names for back in range(30)
                ],
            )  # fmt: skip
