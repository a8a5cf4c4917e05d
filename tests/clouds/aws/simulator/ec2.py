"""EC2 instances: placed by type and zone, refused for capacity, vCPUs or offering, ended by their own timer."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from tests.clouds.aws.simulator.account import IAM_SETTLES_AFTER, ID, Account
from tests.clouds.aws.simulator.seam import Refused

Params = Mapping[str, Any]
RUNNING_AFTER, TERMINATED_AFTER, FORGOTTEN_AFTER = 12.0, 30.0, 3600.0
VCPUS = {"xlarge": 4, "2xlarge": 8, "4xlarge": 16, "8xlarge": 32, "12xlarge": 48, "48xlarge": 192}
BUCKETS = {"on-demand": "L-DB2E81BA", "spot": "L-3819A6DF"}


def zones(account: Account, region: str, kind: str) -> list[str]:
    """Zones where a type is offered."""
    return sorted({key.split("@")[1] for key in account[region].capacity if key.split("@")[0] == kind and "@" in key})


def run(account: Account, region: str, params: Params) -> dict[str, Any]:
    params = {**params, "UserData": b64decode(params.get("UserData", "")).decode()}  # botocore has encoded it already
    token = params.get("ClientToken", "")
    if token in account[region].tokens:
        return {
            "ReservationId": "r-0",
            "OwnerId": ID,
            "Instances": [_row(account, region, account[region].tokens[token])],
        }
    kind, zone = params["InstanceType"], _zone(params)
    market = "spot" if params.get("InstanceMarketOptions", {}).get("MarketType") == "spot" else "on-demand"
    if len(params.get("UserData", "").encode()) > 16384:
        raise Refused("InvalidParameterValue", "User data is limited to 16384 bytes")
    _check_profile(account, params)
    for group in (params.get("NetworkInterfaces") or [{}])[0].get("Groups", []):
        _group(account, region, group)
    if f"{kind}@{zone}" not in account[region].capacity:
        raise Refused(
            "Unsupported",
            f"Your requested instance type ({kind}) is not supported in your requested Availability Zone ({zone}). "
            "Please retry your request by not specifying an Availability Zone or choosing "
            f"{', '.join(zones(account, region, kind))}.",
        )
    _check_vcpus(account, region, kind, market)
    key = f"spot:{kind}@{zone}" if market == "spot" else f"{kind}@{zone}"
    if account[region].capacity.get(key, 0) < 1:
        raise Refused("InsufficientInstanceCapacity", _full(account, region, kind, zone, market), 500)
    account[region].capacity[key] -= 1
    instance = _start(account, region, params, kind, zone, market, key)
    if token:
        account[region].tokens[token] = instance
    return _reservation(account, region, instance)


def _reservation(account: Account, region: str, instance: str) -> dict[str, Any]:
    return {"ReservationId": "r-0", "OwnerId": ID, "Instances": [_row(account, region, instance)]}


def _zone(params: Params) -> str:
    subnet = (params.get("NetworkInterfaces") or [{}])[0].get("SubnetId") or params.get("SubnetId", "")
    return subnet.removeprefix("subnet-") or params.get("Placement", {}).get("AvailabilityZone", "")


def _check_profile(account: Account, params: Params) -> None:
    name = params.get("IamInstanceProfile", {}).get("Name")
    profile = account.profiles.get(name or "")
    if name and (profile is None or account.now() - profile["CreateDate"] < IAM_SETTLES_AFTER):
        raise Refused(
            "InvalidParameterValue",
            f"Value ({name}) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name",
        )


def _check_vcpus(account: Account, region: str, kind: str, market: str) -> None:
    quota = next((q for q in account[region].quotas.values() if q.code == BUCKETS[market]), None)
    limit = int(quota.value) if quota else 0
    used = sum(
        _vcpus(i["type"])
        for i in account[region].instances.values()
        if i["state"] in {"pending", "running"} and i["market"] == market
    )
    if used + _vcpus(kind) > limit:
        if market == "spot":
            raise Refused("MaxSpotInstanceCountExceeded", "Max spot instance count exceeded")
        raise Refused(
            "VcpuLimitExceeded",
            f"You have requested more vCPU capacity than your current vCPU limit of {limit} allows for the instance "
            "bucket that the specified instance type belongs to. Please visit "
            "http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit.",
        )


def _vcpus(kind: str) -> int:
    return VCPUS[kind.split(".")[1]]


def _full(account: Account, region: str, kind: str, zone: str, market: str) -> str:
    if market == "spot":
        return "There is no Spot capacity available that matches your request."
    others = [z for z in zones(account, region, kind) if z != zone and account[region].capacity[f"{kind}@{z}"] > 0]
    hint = f" or choosing {', '.join(others)}" if others else ""
    return (
        f"We currently do not have sufficient {kind} capacity in the Availability Zone you requested ({zone}). Our "
        f"system will be working on provisioning additional capacity. You can currently get {kind} capacity by not "
        f"specifying an Availability Zone in your request{hint}."
    )


def _start(account: Account, region: str, params: Params, kind: str, zone: str, market: str, key: str) -> str:
    instance = account.id("i")
    account[region].instances[instance] = {
        "params": dict(params),
        "type": kind,
        "zone": zone,
        "market": market,
        "key": key,
        "state": "pending",
        "launched": account.now(),
        "groups": list((params.get("NetworkInterfaces") or [{}])[0].get("Groups", [])),
        "bill": account.bill(f"instance {instance}", f"{kind} {market}", region),
        "why": "",
    }
    for spec in params.get("TagSpecifications", []):
        if spec["ResourceType"] == "instance":
            account.set_tags(instance, spec["Tags"])
    account.clock.later(RUNNING_AFTER, partial(_turn, account, region, instance, "pending", "running"))
    if ends := re.search(r"OnCalendar=(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC", params.get("UserData", "")):
        when = datetime.fromisoformat(ends[1]).replace(tzinfo=UTC)
        account.clock.at(when, partial(end, account, region, instance, "Client.InstanceInitiatedShutdown"))
    return instance


def _turn(account: Account, region: str, instance: str, before: str, after: str) -> None:
    row = account[region].instances.get(instance)
    if row is not None and row["state"] == before:
        row["state"] = after


def end(account: Account, region: str, instance: str, why: str) -> None:
    """The machine shuts down: by a call, by its own timer, or because spot took it back."""
    row = account[region].instances.get(instance)
    if row is None or row["state"] in {"shutting-down", "terminated"}:
        return
    if (
        why == "Client.InstanceInitiatedShutdown"
        and row["params"].get("InstanceInitiatedShutdownBehavior") != "terminate"
    ):
        row["state"] = "stopped"
        return
    row["state"], row["why"], row["bill"].end = "shutting-down", why, account.now()
    account[region].capacity[row["key"]] += 1

    account.clock.later(TERMINATED_AFTER, partial(_gone, account, region, instance, row))


def _gone(account: Account, region: str, instance: str, row: dict[str, Any]) -> None:
    row["state"], row["groups"] = "terminated", []
    account.clock.later(FORGOTTEN_AFTER, partial(_forgotten, account, region, instance))


def _forgotten(account: Account, region: str, instance: str) -> None:
    account[region].instances.pop(instance, None)


def terminate(account: Account, region: str, params: Params) -> dict[str, Any]:
    rows = []
    for instance in params["InstanceIds"]:
        row = _instance(account, region, instance)
        before = row["state"]
        end(account, region, instance, "Client.UserInitiatedShutdown")
        rows.append({"InstanceId": instance, "PreviousState": _state(before), "CurrentState": _state(row["state"])})
    return {"TerminatingInstances": rows}


def _instance(account: Account, region: str, instance: str) -> dict[str, Any]:
    if instance not in account[region].instances:
        raise Refused("InvalidInstanceID.NotFound", f"The instance ID '{instance}' does not exist")
    return account[region].instances[instance]


def _state(name: str) -> dict[str, Any]:
    codes = {"pending": 0, "running": 16, "shutting-down": 32, "terminated": 48, "stopping": 64, "stopped": 80}
    return {"Code": codes[name], "Name": name}


def _row(account: Account, region: str, instance: str) -> dict[str, Any]:
    row = account[region].instances[instance]
    alive = row["state"] in {"pending", "running", "stopped"}
    result: dict[str, Any] = {
        "InstanceId": instance,
        "ImageId": row["params"]["ImageId"],
        "InstanceType": row["type"],
        "State": _state(row["state"]),
        "LaunchTime": row["launched"],
        "Placement": {"AvailabilityZone": row["zone"], "Tenancy": "default"},
        "SecurityGroups": [{"GroupId": g, "GroupName": account[region].groups[g]["GroupName"]} for g in row["groups"]],
        "Tags": account.tag_list(instance),
        "MetadataOptions": {
            "State": "applied",
            "HttpTokens": row["params"].get("MetadataOptions", {}).get("HttpTokens", "optional"),
        },
    }
    if row["market"] == "spot":
        result["InstanceLifecycle"] = "spot"
    if alive and row["state"] == "running":
        result["PublicIpAddress"], result["PrivateIpAddress"] = account.address, "172.31.0.9"
    if row["why"]:
        result["StateReason"] = {"Code": row["why"], "Message": f"{row['why']}: {row['why'].split('.')[1]}"}
    return result


def describe(account: Account, region: str, params: Params) -> dict[str, Any]:
    if params.get("InstanceIds"):
        found = [i for i in params["InstanceIds"] if _instance(account, region, i)]
    else:
        found = [i for i in account[region].instances if _matches(account, region, i, params.get("Filters", []))]
    return {"Reservations": [_reservation(account, region, i) for i in found]}


def _matches(account: Account, region: str, resource: str, filters: list[dict[str, Any]]) -> bool:
    return all(set(_values(account, region, resource, one["Name"])) & set(one["Values"]) for one in filters)


def _values(account: Account, region: str, resource: str, name: str) -> Iterator[str]:
    tags = account.tags.get(resource, {})
    if name == "tag-key":
        yield from tags
    elif name.startswith("tag:"):
        yield from [tags[name[4:]]] if name[4:] in tags else []
    elif name == "instance-state-name":
        yield account[region].instances[resource]["state"]
    elif name == "group-name":
        yield account[region].groups[resource]["GroupName"]
    else:
        raise AssertionError(f"the simulator has no filter {name}")


def console(account: Account, region: str, params: Params) -> dict[str, Any]:
    row = _instance(account, region, params["InstanceId"])
    up = account.now() - row["launched"]
    lines = [
        text.replace("{at}", f"{row['launched'] + timedelta(seconds=at):%Y-%m-%dT%H:%M:%SZ}")
        for at, text in account.console
        if timedelta(seconds=at) <= up
    ]
    return {"InstanceId": params["InstanceId"], "Timestamp": account.now(), "Output": _encoded("\n".join(lines))}


def _encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


def _group(account: Account, region: str, group: str) -> dict[str, Any]:
    if group not in account[region].groups:
        raise Refused("InvalidGroup.NotFound", f"The security group '{group}' does not exist")
    return account[region].groups[group]


OPERATIONS = {
    "ec2.RunInstances": run,
    "ec2.TerminateInstances": terminate,
    "ec2.DescribeInstances": describe,
    "ec2.GetConsoleOutput": console,
}
