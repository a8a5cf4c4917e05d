"""The calls of one region, in order: group, rule, then one RunInstances for every place; the first free one counts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from clouds.aws.endpoints import roles, shapes, tags
from clouds.aws.endpoints.ec2 import userdata
from clouds.aws.endpoints.ec2.places import Place
from clouds.aws.endpoints.ec2.serving import Serving
from clouds.aws.endpoints.ec2.settings import Chosen
from clouds.aws.images import Ami
from clouds.errors import InvalidInput
from clouds.models import Call, PlanStep

GROUP = "GROUP-ID"
"""Stands in a plan's calls for the id of the security group, which AWS gives when it is made."""
NAME, MODEL, ENGINE, HOST_KEY = "Name", "modelrig-model", "modelrig-engine", "modelrig-host-key"
LONGEST_NAME = 48


@dataclass(frozen=True)
class Build:
    """All that the calls of one region are made from."""

    name: str
    region: str
    account: str
    owner: str
    end: datetime
    ami: Ami
    serving: Serving
    chosen: Chosen
    ssh_from: str
    max_usd_per_hour: float

    @property
    def label(self) -> str:
        """The name of the group, the role and the machine."""
        return label(self.name)

    @property
    def pairs(self) -> list[dict[str, str]]:
        """The tags of every part."""
        return tags.make(tags.PLACEHOLDER, self.end, self.owner)


def label(name: str) -> str:
    """`modelrig-gemma`."""
    return f"modelrig-{name}"


def role_calls(build: Build) -> tuple[Call, ...]:
    """A role that may read one secret, in a profile for the machine; nothing where no secret is asked for."""
    if not build.serving.secret:
        return ()
    name = build.label
    made = roles.create(name, "ec2.amazonaws.com", build.account, build.owner, "modelrig: reads one secret")
    # a machine assumes its role without naming a source account
    trusted = json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
            ],
        }
    )
    body = {**made.parameters, "AssumeRolePolicyDocument": trusted, "Tags": build.pairs}
    return (
        Call("iam", "CreateRole", body),
        roles.put(name, name, roles.extra_policy(build.region, secret=build.serving.secret)),
        Call("iam", "CreateInstanceProfile", {"InstanceProfileName": name, "Tags": build.pairs}),
        Call("iam", "AddRoleToInstanceProfile", {"InstanceProfileName": name, "RoleName": name}),
    )


def create_group(build: Build, vpc: str) -> Call:
    """The group of this machine alone; its name cannot be taken twice in a network."""
    return Call(
        "ec2",
        "CreateSecurityGroup",
        {
            "GroupName": build.label,
            "Description": "modelrig: SSH from one address",
            "VpcId": vpc,
            "TagSpecifications": [{"ResourceType": "security-group", "Tags": build.pairs}],
        },
    )


def open_ssh(build: Build) -> Call:
    """SSH from one address. The model's port is open to nobody: it is reached through the tunnel."""
    return Call(
        "ec2",
        "AuthorizeSecurityGroupIngress",
        {
            "GroupId": GROUP,
            "IpPermissions": [
                {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": build.ssh_from}]}
            ],
        },
    )


def run(build: Build, place: Place, number: int) -> Call:
    """One machine in one zone. The client token makes a repeated call the same machine."""
    own = [
        *build.pairs,
        {"Key": NAME, "Value": build.label},
        {"Key": MODEL, "Value": tags.clean(build.serving.model)},
        {"Key": ENGINE, "Value": build.serving.engine},
    ]
    body: dict[str, Any] = {
        "ClientToken": f"{tags.PLACEHOLDER}-{number}-{tags.stamp(build.end)}",
        "ImageId": build.ami.id,
        "InstanceType": place.row.type,
        "MinCount": 1,
        "MaxCount": 1,
        "UserData": userdata.render(build.serving, build.end, build.region),
        "InstanceInitiatedShutdownBehavior": "terminate",
        "MetadataOptions": {"HttpTokens": "required", "HttpEndpoint": "enabled", "HttpPutResponseHopLimit": 1},
        "BlockDeviceMappings": [
            {
                "DeviceName": build.ami.root_device,
                "Ebs": {
                    "VolumeSize": max(build.chosen.disk_gib, build.ami.root_gib),
                    "VolumeType": "gp3",
                    "Encrypted": True,
                    "DeleteOnTermination": True,
                },
            }
        ],
        "NetworkInterfaces": [
            {
                "DeviceIndex": 0,
                "SubnetId": place.subnet,
                "Groups": [GROUP],
                "AssociatePublicIpAddress": True,
                "DeleteOnTermination": True,
            }
        ],
        "TagSpecifications": [
            {"ResourceType": kind, "Tags": own} for kind in ("instance", "volume", "network-interface")
        ],
    }
    if build.chosen.market == "spot":
        options = {
            "SpotInstanceType": "one-time",
            "InstanceInterruptionBehavior": "terminate",
            "MaxPrice": f"{build.max_usd_per_hour:g}",
        }
        body["InstanceMarketOptions"] = {"MarketType": "spot", "SpotOptions": options}
    if build.serving.secret:
        body["IamInstanceProfile"] = {"Name": build.label}
    return Call("ec2", "RunInstances", body)


def in_order(build: Build, places: tuple[Place, ...]) -> tuple[Call, ...]:
    """All calls of a region, checked against the API's own limits."""
    runs = tuple(run(build, place, number) for number, place in enumerate(places))
    size = len(str(runs[0].parameters["UserData"]).encode())
    if size > userdata.MOST_BYTES:
        raise InvalidInput(
            "settings", f"make {size:,} bytes of user data, EC2 takes {userdata.MOST_BYTES:,}", fix="Use fewer."
        )
    found = (*role_calls(build), create_group(build, places[0].vpc), open_ssh(build), *runs)
    for call in found:
        shapes.check(call, {"GroupName": "name", "ImageId": "ami"})
    return found


def with_group(step: PlanStep, group: str) -> PlanStep:
    """The step with the real id of the group."""
    return replace(step, call=Call(step.call.service, step.call.operation, _put(step.call.parameters, group)))


def _put(value: Any, group: str) -> Any:
    if isinstance(value, Mapping):
        return {key: _put(item, group) for key, item in value.items()}
    if isinstance(value, list):
        return [_put(item, group) for item in value]
    return group if value == GROUP else value
