"""SageMaker hosting: models, endpoint configs and the endpoint's state machine, with AWS's own words when it refuses.

Creating -> (capacity) placed -> (boot) InService | Failed; Creating -> (no capacity until the time-out) Failed;
InService -> Updating -> InService; InService | Failed -> Deleting -> gone. Nothing leaves Creating early.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from tests.clouds.aws.simulator import boot
from tests.clouds.aws.simulator.account import Account, Bill, Stream, page, validation
from tests.clouds.aws.simulator.seam import Refused

Params = Mapping[str, Any]
LOOKS_AGAIN_AFTER = 30.0
WAITS_BY_DEFAULT = 1800.0
"""Seconds until InsufficientInstanceCapacity without a time-out of ours: about 30 minutes (article of 2026-09-26)."""
GONE_AFTER = 60.0
DIGEST = "sha256:" + "4f2c" * 16


@dataclass
class EndpointState:
    """One endpoint. `placed` is the instance type that was found for it."""

    name: str
    arn: str
    config: str
    created: datetime
    modified: datetime
    status: str = "Creating"
    reason: str = ""
    placed: str = ""
    serving: bool = False
    held: tuple[str, ...] = ()
    bill: Bill | None = None
    deadline: datetime | None = None
    changes: list[str] = field(default_factory=list)


def create_model(account: Account, region: str, params: Params) -> dict[str, Any]:
    name, arn = params["ModelName"], account.arn("sagemaker", region, f"model/{params['ModelName']}")
    if name in account[region].models:
        raise validation(f'Cannot create already existing model "{arn}".')
    _check_role(account, params["ExecutionRoleArn"])
    account[region].models[name] = {**params, "ModelArn": arn, "CreationTime": account.now()}
    account.set_tags(arn, params.get("Tags", []))
    return {"ModelArn": arn}


def _check_role(account: Account, arn: str) -> None:
    if not account.role_settled(arn, "sagemaker.amazonaws.com"):
        raise validation(
            f"Could not assume role {arn}. Please ensure that the role exists and allows principal "
            "'sagemaker.amazonaws.com' to assume the role."
        )


def describe_model(account: Account, region: str, params: Params) -> dict[str, Any]:
    found = account[region].models.get(params["ModelName"])
    if found is None:
        arn = account.arn("sagemaker", region, f"model/{params['ModelName']}")
        raise validation(f'Could not find model "{arn}".')
    keys = ("ModelName", "PrimaryContainer", "ExecutionRoleArn", "CreationTime", "ModelArn")
    return {key: found[key] for key in keys if key in found}


def delete_model(account: Account, region: str, params: Params) -> None:
    describe_model(account, region, params)
    name = params["ModelName"]
    for config in account[region].configs.values():
        users = [e for e in account[region].endpoints.values() if e.config == config["EndpointConfigName"]]
        if users and any(variant["ModelName"] == name for variant in config["ProductionVariants"]):
            account.misuse.append(f"model {name} deleted while endpoint {users[0].name} uses it")
    del account[region].models[name]


def list_models(account: Account, region: str, params: Params) -> dict[str, Any]:
    part = params.get("NameContains", "")
    rows = [
        {"ModelName": name, "ModelArn": m["ModelArn"], "CreationTime": m["CreationTime"]}
        for name, m in sorted(account[region].models.items())
        if part in name
    ]
    shown, more = page(rows, params, 10)
    return {"Models": shown, **more}


def create_config(account: Account, region: str, params: Params) -> dict[str, Any]:
    name = params["EndpointConfigName"]
    arn = account.arn("sagemaker", region, f"endpoint-config/{name}")
    if name in account[region].configs:
        raise validation(f'Cannot create already existing endpoint configuration "{arn}".')
    for variant in params["ProductionVariants"]:
        describe_model(account, region, {"ModelName": variant["ModelName"]})
        if ("InstanceType" in variant) == ("InstancePools" in variant):
            raise validation("Exactly one of InstanceType and InstancePools must be given for a production variant.")
        for kind in types_of(variant):
            if kind not in account[region].capacity:
                raise validation(f"Instance type {kind} is not available in region {region}.")
    account[region].configs[name] = {**params, "EndpointConfigArn": arn, "CreationTime": account.now()}
    account.set_tags(arn, params.get("Tags", []))
    return {"EndpointConfigArn": arn}


def types_of(variant: Params) -> list[str]:
    """The instance types of a variant, first choice first."""
    pools = sorted(variant.get("InstancePools", []), key=lambda pool: pool["Priority"])
    return [pool["InstanceType"] for pool in pools] or [variant["InstanceType"]]


def describe_config(account: Account, region: str, params: Params) -> dict[str, Any]:
    found = account[region].configs.get(params["EndpointConfigName"])
    if found is None:
        arn = account.arn("sagemaker", region, f"endpoint-config/{params['EndpointConfigName']}")
        raise validation(f'Could not find endpoint configuration "{arn}".')
    return {
        key: found[key] for key in ("EndpointConfigName", "EndpointConfigArn", "ProductionVariants", "CreationTime")
    }


def delete_config(account: Account, region: str, params: Params) -> None:
    describe_config(account, region, params)
    name = params["EndpointConfigName"]
    account.misuse += [
        f"config {name} deleted while endpoint {e.name} uses it"
        for e in account[region].endpoints.values()
        if e.config == name
    ]
    del account[region].configs[name]


def list_configs(account: Account, region: str, params: Params) -> dict[str, Any]:
    part = params.get("NameContains", "")
    rows = [
        {"EndpointConfigName": n, "EndpointConfigArn": c["EndpointConfigArn"], "CreationTime": c["CreationTime"]}
        for n, c in sorted(account[region].configs.items())
        if part in n
    ]
    shown, more = page(rows, params, 10)
    return {"EndpointConfigs": shown, **more}


def add_tags(account: Account, region: str, params: Params) -> dict[str, Any]:
    if params["ResourceArn"] not in account.tags:
        raise validation(f"Could not find resource {params['ResourceArn']}.")
    account.set_tags(params["ResourceArn"], params["Tags"])
    return {"Tags": account.tag_list(params["ResourceArn"])}


def list_tags(account: Account, region: str, params: Params) -> dict[str, Any]:
    shown, more = page(account.tag_list(params["ResourceArn"]), params, 50)
    return {"Tags": shown, **more}


def in_use(account: Account, region: str, kind: str) -> int:
    """Instances of quota that are held: a pool holds one of every type in it, a failed endpoint still does."""
    return sum(endpoint.held.count(kind) for endpoint in account[region].endpoints.values())


def hold(account: Account, region: str, kinds: list[str]) -> tuple[str, ...]:
    """Take quota for every pooled type, or refuse with AWS's sentence."""
    for kind in kinds:
        quota = account[region].quotas.get(f"{kind} for endpoint usage")
        limit, used = int(quota.value) if quota else 0, in_use(account, region, kind)
        if used + 1 > limit:
            raise Refused(
                "ResourceLimitExceeded",
                f"The account-level service limit '{kind} for endpoint usage' is {limit} Instances, with current "
                f"utilization of {used} Instances and a request delta of 1 Instances. Please use AWS Service Quotas to "
                "request an increase for this quota. If AWS Service Quotas is not available, contact AWS support to "
                "request an increase for this quota.",
            )
    return tuple(kinds)


def start_log(account: Account, region: str, endpoint: EndpointState, plan: boot.Boot) -> None:
    """The container writes: the group and a stream appear only now, after placement."""
    instance = account.id("i")
    stream = Stream(f"AllTraffic/{instance}", account.now())
    account[region].streams.setdefault(f"/aws/sagemaker/Endpoints/{endpoint.name}", {})[stream.name] = stream
    for at, line in plan.lines:
        account.clock.later(at - plan.pulled, partial(_written, account, stream, line))


def _written(account: Account, stream: Stream, line: str) -> None:
    stream.events.append((account.now(), line))
