"""What deployments are made of: for each creating call, how to find its resource, whose it is, how to remove it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clouds.aws.endpoints import tags
from clouds.base import Api
from clouds.errors import NotFound
from clouds.models import Call, Scope

Params = Mapping[str, Any]


@dataclass(frozen=True)
class Found:
    """A resource as the cloud shows it. `deployment` is empty for what is not ours."""

    id: str
    deployment: str
    facts: Mapping[str, Any] = field(default_factory=dict)


Look = Callable[[Api, Scope, Params], Found | None]


@dataclass(frozen=True)
class Kind:
    """One kind of part. `remove` takes the creating call's parameters and the id that was found."""

    word: str
    name: Callable[[Params], str]
    look: Look
    remove: Callable[[Params, str], Call] | None
    facts: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda _: {}
    bills: bool = False

    def of(self, params: Params) -> str:
        """ "endpoint config gemma": what a person reads."""
        return f"{self.word} {self.name(params)}".strip()


def _tagged(api: Api, scope: Scope, arn: str) -> dict[str, str]:
    answer = api.send(Call("sagemaker", "ListTags", {"ResourceArn": arn}), scope=scope)
    return tags.read(answer.get("Tags"))


def _sagemaker(noun: str, name: str, arn: str) -> Look:
    """Models, configurations and endpoints are read alike: describe, then the tags of the ARN."""

    def look(api: Api, scope: Scope, params: Params) -> Found | None:
        try:
            answer = api.send(Call("sagemaker", f"Describe{noun}", {name: params[name]}), scope=scope)
            mine = _tagged(api, scope, answer[arn])
        except NotFound:
            return None
        facts = {"arn": answer[arn], **({"status": answer["EndpointStatus"]} if "EndpointStatus" in answer else {})}
        return Found(str(answer[arn]), mine.get(tags.DEPLOYMENT, ""), facts)

    return look


def _schedule(api: Api, scope: Scope, params: Params) -> Found | None:
    """A schedule takes no tags (botocore 1.44.8: only groups do), so its description says whose it is."""
    try:
        answer = api.send(Call("scheduler", "GetSchedule", {"Name": params["Name"]}), scope=scope)
    except NotFound:
        return None
    words = tags_of_description(str(answer.get("Description", "")))
    return Found(
        str(answer["Arn"]), words.get(tags.DEPLOYMENT, ""), {"expression": answer.get("ScheduleExpression", "")}
    )


def description(pairs: list[dict[str, str]]) -> str:
    """Tags as the description of what takes none."""
    return " ".join(f"{tag['Key']}={tag['Value'].replace(' ', '-')}" for tag in pairs)


def tags_of_description(text: str) -> dict[str, str]:
    """The other way round."""
    return dict(word.split("=", 1) for word in text.split() if word.startswith("modelrig-") and "=" in word)


def _role(api: Api, scope: Scope, params: Params) -> Found | None:
    try:
        answer = api.send(Call("iam", "GetRole", {"RoleName": params["RoleName"]}), scope=scope)
    except NotFound:
        return None
    mine = tags.read(answer["Role"].get("Tags"))
    return Found(str(answer["Role"]["Arn"]), mine.get(tags.DEPLOYMENT, ""), {"arn": answer["Role"]["Arn"]})


def _policy(api: Api, scope: Scope, params: Params) -> Found | None:
    """An inline policy belongs to its role; found is one with the same content, since putting it again is harmless."""
    names = {key: params[key] for key in ("RoleName", "PolicyName")}
    try:
        answer = api.send(Call("iam", "GetRolePolicy", names), scope=scope)
    except NotFound:
        return None
    # botocore hands the document over as parsed JSON
    held = answer["PolicyDocument"]
    held = json.loads(held) if isinstance(held, str) else held
    if held != json.loads(params["PolicyDocument"]):
        return None
    return Found(names["PolicyName"], tags.SHARED)


def _profile(api: Api, scope: Scope, params: Params) -> Found | None:
    try:
        answer = api.send(
            Call("iam", "GetInstanceProfile", {"InstanceProfileName": params["InstanceProfileName"]}), scope=scope
        )
    except NotFound:
        return None
    profile = answer["InstanceProfile"]
    roles = [role["RoleName"] for role in profile.get("Roles", [])]
    return Found(str(profile["Arn"]), tags.read(profile.get("Tags")).get(tags.DEPLOYMENT, ""), {"roles": roles})


def _profile_role(api: Api, scope: Scope, params: Params) -> Found | None:
    found = _profile(api, scope, params)
    return found if found and params["RoleName"] in found.facts["roles"] else None


def _group(api: Api, scope: Scope, params: Params) -> Found | None:
    filters = [{"Name": "group-name", "Values": [params["GroupName"]]}]
    answer = api.send(Call("ec2", "DescribeSecurityGroups", {"Filters": filters}), scope=scope)
    for group in answer.get("SecurityGroups", []):
        facts = {"group": group["GroupId"], "rules": group.get("IpPermissions", [])}
        return Found(str(group["GroupId"]), tags.read(group.get("Tags")).get(tags.DEPLOYMENT, ""), facts)
    return None


def _rule(api: Api, scope: Scope, params: Params) -> Found | None:
    """A rule lives and dies with its group."""
    try:
        answer = api.send(Call("ec2", "DescribeSecurityGroups", {"GroupIds": [params["GroupId"]]}), scope=scope)
    except NotFound:
        return None
    held = {
        (rule.get("FromPort"), ip["CidrIp"])
        for group in answer.get("SecurityGroups", [])
        for rule in group.get("IpPermissions", [])
        for ip in rule.get("IpRanges", [])
    }
    asked = {(rule["FromPort"], ip["CidrIp"]) for rule in params["IpPermissions"] for ip in rule["IpRanges"]}
    return Found(str(params["GroupId"]), tags.SHARED) if asked <= held else None


def _instance(api: Api, scope: Scope, params: Params) -> Found | None:
    """The instance of a deployment that is not gone yet, by its own tag."""
    wanted = [t["Value"] for s in params["TagSpecifications"] for t in s["Tags"] if t["Key"] == tags.DEPLOYMENT]
    filters = [{"Name": f"tag:{tags.DEPLOYMENT}", "Values": wanted[:1]}]
    answer = api.send(Call("ec2", "DescribeInstances", {"Filters": filters}), scope=scope)
    for reservation in answer.get("Reservations", []):
        for row in reservation["Instances"]:
            if row["State"]["Name"] != "terminated":
                return Found(
                    str(row["InstanceId"]), wanted[0], {"instance": row["InstanceId"], "state": row["State"]["Name"]}
                )
    return None


def _of(name: str) -> Callable[[Params], str]:
    return lambda params: str(params.get(name, ""))


def _by(service: str, operation: str, *names: str) -> Callable[[Params, str], Call]:
    return lambda params, _id: Call(service, operation, {name: params[name] for name in names})


KINDS: Mapping[str, Kind] = {
    "sagemaker.CreateModel": Kind(
        "model",
        _of("ModelName"),
        _sagemaker("Model", "ModelName", "ModelArn"),
        _by("sagemaker", "DeleteModel", "ModelName"),
    ),
    "sagemaker.CreateEndpointConfig": Kind(
        "endpoint config",
        _of("EndpointConfigName"),
        _sagemaker("EndpointConfig", "EndpointConfigName", "EndpointConfigArn"),
        _by("sagemaker", "DeleteEndpointConfig", "EndpointConfigName"),
    ),
    "sagemaker.CreateEndpoint": Kind(
        "endpoint",
        _of("EndpointName"),
        _sagemaker("Endpoint", "EndpointName", "EndpointArn"),
        _by("sagemaker", "DeleteEndpoint", "EndpointName"),
        facts=lambda answer: {"arn": answer.get("EndpointArn", "")},
        bills=True,
    ),
    "scheduler.CreateSchedule": Kind(
        "schedule", _of("Name"), _schedule, _by("scheduler", "DeleteSchedule", "Name"),
        facts=lambda answer: {"arn": answer.get("ScheduleArn", "")},
    ),
    "iam.CreateRole": Kind(
        "role", _of("RoleName"), _role, _by("iam", "DeleteRole", "RoleName"),
        facts=lambda answer: {"arn": answer.get("Role", {}).get("Arn", "")},
    ),
    "iam.PutRolePolicy": Kind(
        "policy", _of("PolicyName"), _policy, _by("iam", "DeleteRolePolicy", "RoleName", "PolicyName")
    ),
    "iam.CreateInstanceProfile": Kind(
        "instance profile",
        _of("InstanceProfileName"),
        _profile,
        _by("iam", "DeleteInstanceProfile", "InstanceProfileName"),
    ),
    "iam.AddRoleToInstanceProfile": Kind(
        "role in instance profile",
        _of("InstanceProfileName"),
        _profile_role,
        _by("iam", "RemoveRoleFromInstanceProfile", "InstanceProfileName", "RoleName"),
    ),
    "ec2.CreateSecurityGroup": Kind(
        "security group", _of("GroupName"), _group,
        lambda _params, found: Call("ec2", "DeleteSecurityGroup", {"GroupId": found}),
        facts=lambda answer: {"group": answer.get("GroupId", "")},
    ),
    "ec2.AuthorizeSecurityGroupIngress": Kind("ssh rule of", _of("GroupId"), _rule, None),
    "ec2.RunInstances": Kind(
        "instance", lambda _: "", _instance,
        lambda _params, found: Call("ec2", "TerminateInstances", {"InstanceIds": [found]}),
        facts=lambda answer: {"instance": answer["Instances"][0]["InstanceId"]},
        bills=True,
    ),
}  # fmt: skip
"""By the call that creates, in `service.Operation`."""


def kind_of(call: Call) -> Kind:
    """The kind that a creating call makes. Raises KeyError for a call that creates nothing we know."""
    return KINDS[str(call)]
