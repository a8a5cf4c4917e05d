"""Finds what exists of a machine's deployment, from AWS alone."""

from __future__ import annotations

import json

from clouds.aws.api import AwsApi
from clouds.aws.endpoints import tags
from clouds.aws.endpoints.ec2 import calls, machine
from clouds.errors import CloudError, NotFound
from clouds.models import Call, EndpointRef, Scope


def find(api: AwsApi, ref: EndpointRef) -> tuple[list[Call], str]:
    """What exists of a machine, as `removal.remove` takes it."""
    name, found, deployment = calls.label(ref.name), list[Call](), ""
    try:
        row = machine.find(api, ref)
    except NotFound:
        pass
    else:
        deployment = tags.read(row["Tags"])[tags.DEPLOYMENT]
        pair = {"Key": tags.DEPLOYMENT, "Value": deployment}
        found.append(Call("ec2", "RunInstances", {"TagSpecifications": [{"ResourceType": "instance", "Tags": [pair]}]}))
    look = Call("ec2", "DescribeSecurityGroups", {"Filters": [{"Name": "group-name", "Values": [name]}]})
    for group in api.send(look, scope=Scope(ref.location)).get("SecurityGroups", []):
        whose = tags.read(group.get("Tags")).get(tags.DEPLOYMENT, "")
        deployment = deployment or whose
        if whose and whose == deployment:
            found.append(Call("ec2", "CreateSecurityGroup", {"GroupName": name}))
            found.append(Call("ec2", "AuthorizeSecurityGroupIngress", {"GroupId": group["GroupId"]}))
    return [*found, *_iam(api, ref, name)], deployment


def _iam(api: AwsApi, ref: EndpointRef, name: str) -> list[Call]:
    """Role and profile, where this deployment had to read a secret."""
    scope, found = Scope(ref.location), list[Call]()
    try:
        profile = api.send(Call("iam", "GetInstanceProfile", {"InstanceProfileName": name}), scope=scope)
        found.append(Call("iam", "CreateInstanceProfile", {"InstanceProfileName": name}))
        if profile["InstanceProfile"].get("Roles"):
            found.append(Call("iam", "AddRoleToInstanceProfile", {"InstanceProfileName": name, "RoleName": name}))
    except CloudError:
        pass
    try:
        api.send(Call("iam", "GetRole", {"RoleName": name}), scope=scope)
        found.append(Call("iam", "CreateRole", {"RoleName": name}))
        policy = api.send(Call("iam", "GetRolePolicy", {"RoleName": name, "PolicyName": name}), scope=scope)
        document = policy["PolicyDocument"]
        text = document if isinstance(document, str) else json.dumps(document)
        found.append(Call("iam", "PutRolePolicy", {"RoleName": name, "PolicyName": name, "PolicyDocument": text}))
    except CloudError:
        pass
    return found
