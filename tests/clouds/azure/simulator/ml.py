"""Azure ML: workspaces, environment versions, online endpoints, deployments, traffic, keys, logs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx2

from tests.clouds.azure.simulator import groups
from tests.clouds.azure.simulator.subscription import Boot, Resource, Subscription
from tests.clouds.azure.simulator.wire import Refused, answer

SPACE = "Microsoft.MachineLearningServices/workspaces"
ENDPOINT, DEPLOYMENT, VERSION = (
    f"{SPACE}/onlineEndpoints",
    f"{SPACE}/onlineEndpoints/deployments",
    f"{SPACE}/environments/versions",
)
PLACED_AFTER, GIVES_UP_AFTER = 60.0, 300.0
KNOWN = {
    ENDPOINT: {"authMode", "publicNetworkAccess", "traffic", "mirrorTraffic", "description", "properties"},
    DEPLOYMENT: {
        "endpointComputeType", "environmentId", "instanceType", "environmentVariables", "requestSettings",
        "livenessProbe", "readinessProbe", "startupProbe", "scaleSettings",
        "egressPublicNetworkAccess", "appInsightsEnabled", "model",
    },
    VERSION: {"image", "osType", "inferenceConfig", "tags", "isArchived", "description", "condaFile"},
}  # fmt: skip
"""The properties that the published types of 2026-05-01 have (those that we might send)."""


def workspace(account: Subscription, name: str, region: str) -> Resource:
    """A workspace of the user's own, in a group of theirs."""
    from tests.clouds.azure.simulator.subscription import ID

    group = f"/subscriptions/{ID}/resourceGroups/theirs"
    groups.new(account, group, "Microsoft.Resources/resourceGroups", {"location": region})
    made = groups.new(account, f"{group}/providers/{SPACE}/{name}", SPACE, {"location": region})
    made.more = {"kind": "Default"}
    return made


def _checked(kind: str, body: dict[str, Any]) -> None:
    unknown = set(body.get("properties", {})) - KNOWN[kind]
    if unknown:
        raise Refused(400, "ValidationError", f"Unknown properties: {', '.join(sorted(unknown))}.")


def put_version(account: Subscription, path: str, body: dict[str, Any], held: Resource | None) -> httpx2.Response:
    _checked(VERSION, body)
    fixed = ("image", "osType", "inferenceConfig")
    if held is not None and any(held.properties.get(name) != body["properties"].get(name) for name in fixed):
        raise Refused(400, "UserError", "An environment version cannot be changed.")
    made = groups.new(account, path, VERSION, {"location": "", **body})
    made.state = "Failed" if account.fails_next else "Succeeded"
    return answer(200 if held else 201, made.shown())


def put_endpoint(account: Subscription, path: str, body: dict[str, Any], held: Resource | None) -> httpx2.Response:
    _checked(ENDPOINT, body)
    traffic = body["properties"].get("traffic") or {}
    for name, share in traffic.items():
        deployment = account.find(f"{path}/deployments/{name}")
        if share and (deployment is None or deployment.state != "Succeeded"):
            raise Refused(400, "BadArgument", f"Traffic goes to {name}, which is not there or has not succeeded.")
    if held is not None and held.state not in {"Succeeded", "Failed"}:
        raise Refused(409, "Conflict", "The endpoint has another operation in progress.")
    before = held.properties.get("traffic", {}) if held is not None else {}
    made = groups.new(account, path, ENDPOINT, body)
    made.properties["traffic"] = traffic or before
    made.properties["scoringUri"] = f"https://{made.name}.{made.location}.inference.ml.azure.com/v1/chat/completions"
    made.held = held.held if held is not None else {"key": f"key-of-{made.name}-{account.number()}"}
    made.created = held.created if held is not None else made.created
    made.state = "Updating" if held is not None else "Creating"
    return groups.started(account, made, 200 if held else 201, account.endpoint_takes, "Succeeded")


def put_deployment(account: Subscription, path: str, body: dict[str, Any], held: Resource | None) -> httpx2.Response:
    _checked(DEPLOYMENT, body)
    endpoint = account.find(path.rsplit("/", 2)[0])
    if endpoint is None or endpoint.state != "Succeeded":
        raise Refused(400, "BadArgument", "The endpoint has not succeeded.")
    if account.find(body["properties"]["environmentId"]) is None:
        raise Refused(400, "BadArgument", "The environment version does not exist.")
    if held is not None and held.state in {"Creating", "Updating", "Deleting"}:
        raise Refused(409, "Conflict", "The deployment has another operation in progress.")
    size, region = body["properties"]["instanceType"], groups.location(body)
    family, vcpus, _, _ = account.sizes[size]
    limit, others = account.ml_quota.get((region, family), (0, 0))
    if limit - others - taken(account, region, family) < vcpus:
        raise Refused(
            400, "OutOfQuota", f"Not enough quota available for {size} in SubscriptionId. Current limit {limit}."
        )
    made = groups.new(account, path, DEPLOYMENT, body)
    made.held = dict(held.held) if held is not None else {}
    made.held["boot"] = account.boot
    made.more = {"sku": body["sku"]}
    made.created = held.created if held is not None else made.created
    made.state, name, fails = ("Updating" if held else "Creating"), account.begin(), account.fails_next
    if held is not None and made.held.get("serving") == made.properties:  # what its machine has already
        account.clock.later(PLACED_AFTER, lambda: settle(account, made, name, None))
    else:
        account.clock.later(PLACED_AFTER, lambda: place(account, made, name, fails=fails))
    url = f"{groups.BASE}/subscriptions/{path.split('/')[2]}/providers/operations/{name}?api-version=2026-05-01"
    return answer(200 if held else 201, made.shown(), {"Azure-AsyncOperation": url})


def taken(account: Subscription, region: str, family: str) -> int:
    sizes = account.sizes
    return sum(sizes[row.type][1] for row in account.bills if row.end is None and row.region == region
               and row.type in sizes and sizes[row.type][0] == family)  # fmt: skip


def place(account: Subscription, made: Resource, name: str, *, fails: bool) -> None:
    """A machine, when one is free; after a while Azure ML gives up."""
    if not account.alive(made):
        account.end(name, {"code": "Canceled", "message": "It was deleted."})
        return
    size, region = made.properties["instanceType"], made.location
    if account.capacity.get((region, size), 0) < 1:
        text = f"Out of capacity for {size} in {region}: there is not sufficient capacity."
        error = {"code": "OutOfCapacity", "message": text}
        account.clock.later(GIVES_UP_AFTER, lambda: settle(account, made, name, error))
        return
    account.capacity[region, size] -= 1
    old = made.held.pop("bill", None)
    made.held["bill"] = account.bill(f"deployment {made.name}", size, region)
    made.held["placed"] = account.now()
    boot: Boot = made.held["boot"]
    error = {"code": "ResourceNotReady", "message": boot.failure} if boot.failure else None
    if fails:
        error = {"code": "InternalOperationFailed", "message": "The operation failed for an unknown reason."}

    def end() -> None:
        if old is not None and old.end is None:
            old.end = account.now()
            account.capacity[old.region, old.type] += 1
        settle(account, made, name, error)

    account.clock.later(boot.ready, end)


def settle(account: Subscription, made: Resource, name: str, error: dict[str, Any] | None) -> None:
    if account.alive(made) and made.state in {"Creating", "Updating"}:
        made.state = "Failed" if error else "Succeeded"
        made.held["serving"] = made.held.get("serving") if error else dict(made.properties)
    account.end(name, error)


def patch_deployment(account: Subscription, held: Resource, body: dict[str, Any]) -> httpx2.Response:
    held.tags.update(body.get("tags") or {})
    return answer(200, held.shown())


def delete_deployment(account: Subscription, held: Resource) -> httpx2.Response:
    endpoint = account.find(held.id.rsplit("/", 2)[0])
    if endpoint is not None and endpoint.properties.get("traffic", {}).get(held.name):
        raise Refused(400, "BadArgument", "A deployment with traffic cannot be deleted; set its traffic to 0 first.")
    if held.state in {"Creating", "Updating"}:
        raise Refused(409, "Conflict", "The deployment has another operation in progress.")
    return groups.ending(account, held, account.gone_after * 2)


def delete_endpoint(account: Subscription, held: Resource) -> httpx2.Response:
    """Its deployments go with it."""
    inside = [one for key, one in account.resources.items() if key.startswith(f"{held.id.lower()}/deployments/")]
    if any(one.state in {"Creating", "Updating"} for one in inside):
        raise Refused(409, "Conflict", "A deployment of the endpoint has another operation in progress.")
    for one in inside:
        if one.state != "Deleting" and not account.fails_next:
            groups.ending(account, one, account.gone_after)
    return groups.ending(account, held, account.gone_after * 2)


def get(account: Subscription, path: str, kind: str) -> dict[str, Any] | None:
    region = (path.split("/") + [""] * 7)[6]
    if kind == "microsoft.machinelearningservices/locations/vmsizes":
        return {"value": [_size(name, *row) for name, row in account.sizes.items()]}
    if kind == "microsoft.machinelearningservices/locations/usages":
        rows = [_usage(account, region, family) for place, family in account.ml_quota if place == region]
        low = (
            {"value": "lowPriority", "localizedValue": f"{rows[0]['name']['localizedValue']} Low-priority"}
            if rows
            else {}
        )
        return {"value": [*rows, *([{"name": low, "currentValue": 0, "limit": 0}] if rows else [])]}
    return None


def _size(name: str, family: str, vcpus: int, gpus: int, usd: float) -> dict[str, Any]:
    values = [
        {"osType": "Windows", "vmTier": "Standard", "retailPrice": usd * 2},
        {"osType": "Linux", "vmTier": "LowPriority", "retailPrice": usd / 5},
        {"osType": "Linux", "vmTier": "Standard", "retailPrice": usd},
    ]
    estimated = {"billingCurrency": "USD", "unitOfMeasure": "OneHour", "values": values}
    kinds = ["AmlCompute", "ComputeInstance", "MIR"]
    row = {"name": name, "family": family, "vCPUs": vcpus, "gpus": gpus, "supportedComputeTypes": kinds}
    return {**row, "estimatedVMPrices": estimated}


def _usage(account: Subscription, region: str, family: str) -> dict[str, Any]:
    limit, others = account.ml_quota[region, family]
    name = {"value": family.replace(" ", ""), "localizedValue": f"{family} Cluster Dedicated vCPUs"}
    return {"name": name, "currentValue": others + taken(account, region, family), "limit": limit, "unit": "Count"}


def post(account: Subscription, held: Resource, action: str) -> dict[str, Any] | None:
    if held.type == ENDPOINT and action == "listKeys":
        return {"primaryKey": held.held["key"], "secondaryKey": "other"}
    if held.type == DEPLOYMENT and action == "getLogs":
        return {"content": log(account, held)}
    return None


def log(account: Subscription, held: Resource) -> str:
    placed, boot = held.held.get("placed"), held.held["boot"]
    if placed is None:
        return ""
    age = (account.now() - placed).total_seconds()
    lines = [f"{placed + timedelta(seconds=at):%Y-%m-%dT%H:%M:%S}Z {text}" for at, text in boot.lines if at <= age]
    return "\n".join(lines)


def score(account: Subscription, request: httpx2.Request, body: Any) -> httpx2.Response:
    name = request.url.host.split(".")[0]
    endpoint = next((one for one in account.of(ENDPOINT) if one.name == name), None)
    if endpoint is None or request.headers.get("authorization") != f"Bearer {endpoint.held['key']}":
        return answer(401, {"message": "key_auth_access_denied"})
    wanted = request.headers.get("azureml-model-deployment", "")
    deployment = account.find(f"{endpoint.id}/deployments/{wanted}")
    if deployment is None or deployment.state != "Succeeded" or not endpoint.properties["traffic"].get(wanted):
        return answer(404, {"message": "no deployment with positive weight"})
    if not account.words:
        headers = {"ms-azureml-model-error-statuscode": "500", "ms-azureml-model-error-reason": "boom"}
        return answer(424, {"message": "model error"}, headers)
    from tests.clouds.azure.simulator.outside import completion

    return answer(200, completion(account, body))
