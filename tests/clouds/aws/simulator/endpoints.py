"""The life of a SageMaker endpoint: created, placed or not, started, updated, deleted."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

from tests.clouds.aws.simulator import boot
from tests.clouds.aws.simulator.account import Account, page, validation
from tests.clouds.aws.simulator.sagemaker import (
    DIGEST,
    GONE_AFTER,
    LOOKS_AGAIN_AFTER,
    WAITS_BY_DEFAULT,
    EndpointState,
    Params,
    describe_config,
    hold,
    start_log,
    types_of,
)

IN_PROGRESS = frozenset({"Creating", "Updating", "Deleting", "RollingBack", "SystemUpdating"})


def create_endpoint(account: Account, region: str, params: Params) -> dict[str, Any]:
    name = params["EndpointName"]
    arn = account.arn("sagemaker", region, f"endpoint/{name}")
    if name in account[region].endpoints:
        raise validation(f'Cannot create already existing endpoint "{arn}".')
    config = describe_config(account, region, params)
    variant = config["ProductionVariants"][0]
    endpoint = EndpointState(name, arn, config["EndpointConfigName"], account.now(), account.now())
    endpoint.held = hold(account, region, types_of(variant))
    wait = variant.get("VariantInstanceProvisionTimeoutInSeconds", WAITS_BY_DEFAULT)
    endpoint.deadline = account.now() + timedelta(seconds=min(wait, account.gives_up_after or wait))
    account[region].endpoints[name] = endpoint
    account.set_tags(arn, params.get("Tags", []))
    account.clock.later(5, partial(_place, account, region, endpoint))
    return {"EndpointArn": arn}


def _alive(account: Account, region: str, endpoint: EndpointState) -> bool:
    return account[region].endpoints.get(endpoint.name) is endpoint


def _variant(account: Account, region: str, endpoint: EndpointState) -> dict[str, Any]:
    variant: dict[str, Any] = account[region].configs[endpoint.config]["ProductionVariants"][0]
    return variant


def _place(account: Account, region: str, endpoint: EndpointState) -> None:
    """Take the first type of the pool that is free, or look again until the time-out."""
    if endpoint.status != "Creating" or not _alive(account, region, endpoint):
        return
    if endpoint.config not in account[region].configs:
        _settle(account, endpoint, "The endpoint configuration was deleted while the endpoint was being created.")
        return
    free = account[region].capacity
    kind = next((kind for kind in types_of(_variant(account, region, endpoint)) if free.get(kind, 0) > 0), "")
    if not kind:
        if endpoint.deadline is not None and account.now() >= endpoint.deadline:
            _settle(account, endpoint, boot.NO_CAPACITY)
        else:
            account.clock.later(LOOKS_AGAIN_AFTER, partial(_place, account, region, endpoint))
        return
    free[kind] -= 1
    endpoint.placed = kind
    endpoint.bill = account.bill(f"endpoint {endpoint.name}", kind, region)
    plan: boot.Boot = account.boot
    account.clock.later(plan.pulled, partial(start_log, account, region, endpoint, plan))
    health = _variant(account, region, endpoint).get("ContainerStartupHealthCheckTimeoutInSeconds", 600)
    late = not plan.failure and plan.done > health
    end = min(plan.done, health + plan.pulled) if late or plan.failure else plan.done
    failure = boot.HEALTH_CHECK if late else plan.failure
    account.clock.later(end, partial(_booted, account, region, endpoint, failure))


def _booted(account: Account, region: str, endpoint: EndpointState, failure: str) -> None:
    if not _alive(account, region, endpoint):
        return
    if failure:
        _release(account, region, endpoint)
    _settle(account, endpoint, failure)


def _settle(account: Account, endpoint: EndpointState, failure: str) -> None:
    endpoint.status, endpoint.reason = ("Failed", failure) if failure else ("InService", "")
    endpoint.serving, endpoint.modified = not failure, account.now()


def _release(account: Account, region: str, endpoint: EndpointState) -> None:
    if endpoint.bill is not None and endpoint.bill.end is None:
        endpoint.bill.end = account.now()
    if endpoint.placed:
        account[region].capacity[endpoint.placed] += 1
        endpoint.placed = ""


def _found(account: Account, region: str, params: Params) -> EndpointState:
    endpoint: EndpointState | None = account[region].endpoints.get(params["EndpointName"])
    if endpoint is None:
        arn = account.arn("sagemaker", region, f"endpoint/{params['EndpointName']}")
        raise validation(f'Could not find endpoint "{arn}".')
    return endpoint


def describe_endpoint(account: Account, region: str, params: Params) -> dict[str, Any]:
    endpoint = _found(account, region, params)
    result: dict[str, Any] = {
        "EndpointName": endpoint.name,
        "EndpointArn": endpoint.arn,
        "EndpointConfigName": endpoint.config,
        "EndpointStatus": endpoint.status,
        "CreationTime": endpoint.created,
        "LastModifiedTime": endpoint.modified,
    }
    if endpoint.reason:
        result["FailureReason"] = endpoint.reason
    if endpoint.serving and endpoint.config in account[region].configs:
        variant = _variant(account, region, endpoint)
        model = account[region].models.get(variant["ModelName"], {})
        image = model.get("PrimaryContainer", {}).get("Image", "")
        row: dict[str, Any] = {
            "VariantName": variant["VariantName"],
            "CurrentInstanceCount": 1,
            "DesiredInstanceCount": 1,
            "DeployedImages": [
                {
                    "SpecifiedImage": image,
                    "ResolvedImage": f"{image.split('@')[0].rsplit(':', 1)[0]}@{DIGEST}",
                    "ResolutionTime": endpoint.created,
                }
            ],
        }
        if "InstancePools" in variant:
            row["InstancePools"] = [
                {"InstanceType": kind, "CurrentInstanceCount": int(kind == endpoint.placed)}
                for kind in types_of(variant)
            ]
        result["ProductionVariants"] = [row]
    return result


def list_endpoints(account: Account, region: str, params: Params) -> dict[str, Any]:
    part = params.get("NameContains", "")
    rows = [
        {
            "EndpointName": e.name,
            "EndpointArn": e.arn,
            "CreationTime": e.created,
            "LastModifiedTime": e.modified,
            "EndpointStatus": e.status,
        }
        for e in sorted(account[region].endpoints.values(), key=lambda e: e.name)
        if part in e.name
    ]
    shown, more = page(rows, params, 10)
    return {"Endpoints": shown, **more}


def delete_endpoint(account: Account, region: str, params: Params) -> None:
    endpoint = _found(account, region, params)
    if endpoint.status in IN_PROGRESS:
        raise validation(f'Cannot update in-progress endpoint "{endpoint.arn}".')
    endpoint.status, endpoint.serving, endpoint.modified = "Deleting", False, account.now()
    account.clock.later(GONE_AFTER, partial(_gone, account, region, endpoint))


def _gone(account: Account, region: str, endpoint: EndpointState) -> None:
    _release(account, region, endpoint)
    if _alive(account, region, endpoint):
        del account[region].endpoints[endpoint.name]
        account.tags.pop(endpoint.arn, None)


def update_endpoint(account: Account, region: str, params: Params) -> dict[str, Any]:
    """Blue and green: a second instance comes up before the first one goes; it needs quota and capacity of its own."""
    endpoint = _found(account, region, params)
    if endpoint.status in IN_PROGRESS:
        raise validation(f'Cannot update in-progress endpoint "{endpoint.arn}".')
    config = describe_config(account, region, params)
    kinds = types_of(config["ProductionVariants"][0])
    before = endpoint.held
    endpoint.held = before + hold(account, region, kinds)
    endpoint.status, endpoint.modified, new = "Updating", account.now(), config["EndpointConfigName"]
    account.clock.later(account.boot.done, partial(_updated, account, region, endpoint, new, before, kinds))
    return {"EndpointArn": endpoint.arn}


def _updated(
    account: Account, region: str, endpoint: EndpointState, new: str, before: tuple[str, ...], kinds: list[str]
) -> None:
    kind = next((kind for kind in kinds if account[region].capacity.get(kind, 0) > 0), "")
    if account.boot.failure or not kind:
        endpoint.status, endpoint.held = "InService", before
        endpoint.reason = account.boot.failure or boot.NO_CAPACITY
        return
    _release(account, region, endpoint)
    account[region].capacity[kind] -= 1
    endpoint.placed, endpoint.held, endpoint.config = kind, tuple(kinds), new
    endpoint.bill = account.bill(f"endpoint {endpoint.name}", kind, region)
    start_log(account, region, endpoint, account.boot)
    endpoint.reason = ""
    endpoint.status, endpoint.modified = "InService", account.now()
