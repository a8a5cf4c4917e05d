"""STS, IAM and Secrets Manager, as far as a deployment needs them. A role is not known everywhere at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from tests.clouds.aws.simulator.account import ID, Account
from tests.clouds.aws.simulator.seam import Refused

Params = Mapping[str, Any]
CALLER = f"arn:aws:iam::{ID}:user/dev"


def caller(account: Account, region: str, params: Params) -> dict[str, Any]:
    return {"UserId": "AIDASIMULATED", "Account": ID, "Arn": CALLER}


def _role(account: Account, name: str) -> dict[str, Any]:
    if name not in account.roles:
        raise Refused("NoSuchEntity", f"The role with name {name} cannot be found.", 404)
    return account.roles[name]


def _shown(role: Mapping[str, Any]) -> dict[str, Any]:
    keys = ("Path", "RoleName", "RoleId", "Arn", "CreateDate", "Tags")
    return {
        **{key: role[key] for key in keys if key in role},
        "AssumeRolePolicyDocument": quote(role["AssumeRolePolicyDocument"]),
    }


def create_role(account: Account, region: str, params: Params) -> dict[str, Any]:
    name = params["RoleName"]
    if name in account.roles:
        raise Refused("EntityAlreadyExists", f"Role with name {name} already exists.", 409)
    json.loads(params["AssumeRolePolicyDocument"])
    account.roles[name] = {
        **params,
        "Path": "/",
        "RoleId": "AROASIMULATED00000",
        "Arn": f"arn:aws:iam::{ID}:role/{name}",
        "CreateDate": account.now(),
        "policies": {},
    }
    return {"Role": _shown(account.roles[name])}


def get_role(account: Account, region: str, params: Params) -> dict[str, Any]:
    return {"Role": _shown(_role(account, params["RoleName"]))}


def put_role_policy(account: Account, region: str, params: Params) -> None:
    json.loads(params["PolicyDocument"])
    _role(account, params["RoleName"])["policies"][params["PolicyName"]] = params["PolicyDocument"]


def get_role_policy(account: Account, region: str, params: Params) -> dict[str, Any]:
    role = _role(account, params["RoleName"])
    if params["PolicyName"] not in role["policies"]:
        raise Refused("NoSuchEntity", f"The role policy with name {params['PolicyName']} cannot be found.", 404)
    document = quote(role["policies"][params["PolicyName"]])
    return {"RoleName": params["RoleName"], "PolicyName": params["PolicyName"], "PolicyDocument": document}


def delete_role_policy(account: Account, region: str, params: Params) -> None:
    get_role_policy(account, region, params)
    del account.roles[params["RoleName"]]["policies"][params["PolicyName"]]


def delete_role(account: Account, region: str, params: Params) -> None:
    role = _role(account, params["RoleName"])
    if role["policies"]:
        raise Refused("DeleteConflict", "Cannot delete entity, must delete policies first.", 409)
    if any(params["RoleName"] in profile["roles"] for profile in account.profiles.values()):
        raise Refused("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.", 409)
    del account.roles[params["RoleName"]]


def create_profile(account: Account, region: str, params: Params) -> dict[str, Any]:
    name = params["InstanceProfileName"]
    if name in account.profiles:
        raise Refused("EntityAlreadyExists", f"Instance Profile {name} already exists.", 409)
    account.profiles[name] = {**params, "roles": [], "CreateDate": account.now()}
    return get_profile(account, region, params)


def get_profile(account: Account, region: str, params: Params) -> dict[str, Any]:
    name = params["InstanceProfileName"]
    if name not in account.profiles:
        raise Refused("NoSuchEntity", f"Instance Profile {name} cannot be found.", 404)
    profile = account.profiles[name]
    return {
        "InstanceProfile": {
            "Path": "/",
            "InstanceProfileName": name,
            "InstanceProfileId": "AIPASIMULATED00000",
            "Arn": f"arn:aws:iam::{ID}:instance-profile/{name}",
            "CreateDate": profile["CreateDate"],
            "Roles": [_shown(account.roles[role]) for role in profile["roles"]],
            "Tags": profile.get("Tags", []),
        }
    }


def add_role(account: Account, region: str, params: Params) -> None:
    get_profile(account, region, params)
    _role(account, params["RoleName"])
    roles = account.profiles[params["InstanceProfileName"]]["roles"]
    if roles:
        raise Refused("LimitExceeded", "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1", 409)
    roles.append(params["RoleName"])


def remove_role(account: Account, region: str, params: Params) -> None:
    get_profile(account, region, params)
    roles = account.profiles[params["InstanceProfileName"]]["roles"]
    if params["RoleName"] not in roles:
        raise Refused("NoSuchEntity", f"Role {params['RoleName']} is not in the profile.", 404)
    roles.remove(params["RoleName"])


def delete_profile(account: Account, region: str, params: Params) -> None:
    get_profile(account, region, params)
    if account.profiles[params["InstanceProfileName"]]["roles"]:
        raise Refused("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.", 409)
    del account.profiles[params["InstanceProfileName"]]


def describe_secret(account: Account, region: str, params: Params) -> dict[str, Any]:
    for arn, name in account.secrets.items():
        if params["SecretId"] in {arn, name}:
            return {"ARN": arn, "Name": name}
    raise Refused("ResourceNotFoundException", "Secrets Manager can't find the specified secret.")


OPERATIONS = {
    "sts.GetCallerIdentity": caller,
    "iam.CreateRole": create_role,
    "iam.GetRole": get_role,
    "iam.PutRolePolicy": put_role_policy,
    "iam.GetRolePolicy": get_role_policy,
    "iam.DeleteRolePolicy": delete_role_policy,
    "iam.DeleteRole": delete_role,
    "iam.CreateInstanceProfile": create_profile,
    "iam.GetInstanceProfile": get_profile,
    "iam.AddRoleToInstanceProfile": add_role,
    "iam.RemoveRoleFromInstanceProfile": remove_role,
    "iam.DeleteInstanceProfile": delete_profile,
    "secretsmanager.DescribeSecret": describe_secret,
}
