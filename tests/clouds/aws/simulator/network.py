"""What stands around an EC2 instance: default subnets, security groups, tags, images, offerings, pushed SSH keys."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from tests.clouds.aws.simulator.account import ID, Account
from tests.clouds.aws.simulator.ec2 import _group, _instance, _matches, zones
from tests.clouds.aws.simulator.seam import Refused

Params = Mapping[str, Any]
VPC = "vpc-0default"


def create_group(account: Account, region: str, params: Params) -> dict[str, Any]:
    name = params["GroupName"]
    if any(group["GroupName"] == name for group in account[region].groups.values()):
        raise Refused("InvalidGroup.Duplicate", f"The security group '{name}' already exists for VPC '{VPC}'")
    group = account.id("sg")
    account[region].groups[group] = {"GroupName": name, "Description": params["Description"], "rules": []}
    for spec in params.get("TagSpecifications", []):
        account.set_tags(group, spec["Tags"])
    return {"GroupId": group, "Tags": account.tag_list(group)}


def authorize(account: Account, region: str, params: Params) -> dict[str, Any]:
    group = _group(account, region, params["GroupId"])
    for rule in params["IpPermissions"]:
        if rule in group["rules"]:
            peer = rule["IpRanges"][0]["CidrIp"]
            raise Refused(
                "InvalidPermission.Duplicate",
                f'the specified rule "peer: {peer}, TCP, from port: {rule["FromPort"]}, to port: {rule["ToPort"]}, '
                'ALLOW" already exists',
            )
        group["rules"].append(rule)
    return {"Return": True}


def revoke(account: Account, region: str, params: Params) -> dict[str, Any]:
    group = _group(account, region, params["GroupId"])
    group["rules"] = [rule for rule in group["rules"] if rule not in params["IpPermissions"]]
    return {"Return": True}


def describe_groups(account: Account, region: str, params: Params) -> dict[str, Any]:
    if params.get("GroupIds"):
        found = [g for g in params["GroupIds"] if _group(account, region, g)]
    else:
        found = [g for g in account[region].groups if _matches(account, region, g, params.get("Filters", []))]
    rows = []
    for group in found:
        row = account[region].groups[group]
        rows.append(
            {
                "GroupId": group,
                "GroupName": row["GroupName"],
                "Description": row["Description"],
                "OwnerId": ID,
                "VpcId": VPC,
                "IpPermissions": row["rules"],
                "Tags": account.tag_list(group),
            }
        )
    return {"SecurityGroups": rows}


def delete_group(account: Account, region: str, params: Params) -> dict[str, Any]:
    group = params["GroupId"]
    _group(account, region, group)
    if any(group in row["groups"] for row in account[region].instances.values()):
        raise Refused("DependencyViolation", f"resource {group} has a dependent object")
    del account[region].groups[group]
    account.tags.pop(group, None)
    return {"Return": True, "GroupId": group}


def describe_subnets(account: Account, region: str, params: Params) -> dict[str, Any]:
    if not account.default_vpc:
        return {"Subnets": []}
    rows = [
        {
            "SubnetId": f"subnet-{region}{letter}",
            "VpcId": VPC,
            "AvailabilityZone": f"{region}{letter}",
            "DefaultForAz": True,
            "MapPublicIpOnLaunch": True,
            "State": "available",
            "CidrBlock": f"172.31.{number * 16}.0/20",
        }
        for number, letter in enumerate("abc")
    ]
    return {"Subnets": rows}


def create_tags(account: Account, region: str, params: Params) -> None:
    for resource in params["Resources"]:
        account.set_tags(resource, params["Tags"])


def offerings(account: Account, region: str, params: Params) -> dict[str, Any]:
    wanted = [v for f in params.get("Filters", []) if f["Name"] == "instance-type" for v in f["Values"]]
    rows = [
        {"InstanceType": kind, "LocationType": "availability-zone", "Location": zone}
        for kind in wanted
        for zone in zones(account, region, kind)
    ]
    return {"InstanceTypeOfferings": rows}


def describe_images(account: Account, region: str, params: Params) -> dict[str, Any]:
    rows = [
        {
            "ImageId": image,
            "Name": "Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu 22.04) 20261120",
            "OwnerId": "898082745236",
            "State": "available",
            "Architecture": "x86_64",
            "CreationDate": "2026-11-20T03:00:00.000Z",
            "RootDeviceName": "/dev/sda1",
            "RootDeviceType": "ebs",
            "BlockDeviceMappings": [
                {"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 75, "VolumeType": "gp3", "SnapshotId": "snap-0dlami"}}
            ],
        }
        for image in params.get("ImageIds", ["ami-0dlami"])
    ]
    return {"Images": rows}


def describe_regions(account: Account, region: str, params: Params) -> dict[str, Any]:
    rows = [
        {"RegionName": name, "Endpoint": f"ec2.{name}.amazonaws.com", "OptInStatus": "opt-in-not-required"}
        for name in account.enabled
    ]
    return {"Regions": rows}


def push_key(account: Account, region: str, params: Params) -> dict[str, Any]:
    row = _instance(account, region, params["InstanceId"])
    if row["state"] != "running":
        raise Refused("EC2InstanceStateInvalidException", f"Instance {params['InstanceId']} is not in running state.")
    account[region].pushed.append({**params, "until": account.now() + timedelta(seconds=60)})
    return {"RequestId": "r", "Success": True}


def spot_prices(account: Account, region: str, params: Params) -> dict[str, Any]:
    rows = [
        {
            "AvailabilityZone": key.split("@")[1],
            "InstanceType": key.removeprefix("spot:").split("@")[0],
            "ProductDescription": "Linux/UNIX",
            "SpotPrice": "0.839300",
            "Timestamp": account.now(),
        }
        for key in account[region].capacity
        if key.startswith("spot:") and key.removeprefix("spot:").split("@")[0] in params.get("InstanceTypes", [])
    ]
    return {"SpotPriceHistory": rows}


OPERATIONS = {
    "ec2.CreateSecurityGroup": create_group,
    "ec2.AuthorizeSecurityGroupIngress": authorize,
    "ec2.RevokeSecurityGroupIngress": revoke,
    "ec2.DescribeSecurityGroups": describe_groups,
    "ec2.DeleteSecurityGroup": delete_group,
    "ec2.DescribeSubnets": describe_subnets,
    "ec2.CreateTags": create_tags,
    "ec2.DescribeInstanceTypeOfferings": offerings,
    "ec2.DescribeImages": describe_images,
    "ec2.DescribeSpotPriceHistory": spot_prices,
    "ec2.DescribeRegions": describe_regions,
    "ec2-instance-connect.SendSSHPublicKey": push_key,
}
