"""Container Apps: environments, apps, revisions, replicas; scale to zero, and what a request wakes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx2

from tests.clouds.azure.simulator import groups
from tests.clouds.azure.simulator.subscription import Boot, Resource, Subscription
from tests.clouds.azure.simulator.wire import Refused

APP, ENVIRONMENT = "Microsoft.App/containerApps", "Microsoft.App/managedEnvironments"
GPUS = {"Consumption-GPU-NC8as-T4": ("T4", 8, 56), "Consumption-GPU-NC24-A100": ("A100-80GB", 24, 220)}
CARDS = {"T4": "T4", "A100-80GB": "NCA100"}
LOOKS_AGAIN_AFTER = 15.0
_LIMITS = {
    "initialDelaySeconds": (0, 60),
    "periodSeconds": (1, 240),
    "failureThreshold": (1, 10),
    "timeoutSeconds": (1, 240),
}
_BUSY = "Cannot modify a container app while an operation is in progress."


def put_environment(account: Subscription, path: str, body: dict[str, Any], held: Resource | None) -> httpx2.Response:
    made = groups.new(account, path, ENVIRONMENT, body)
    made.state = "InfrastructureSetupInProgress"
    made.properties["defaultDomain"] = f"calm-{account.number()}.{made.location}.azurecontainerapps.io"
    return groups.started(account, made, 201 if held is None else 200, account.environment_takes, "Succeeded")


def patch_environment(account: Subscription, held: Resource, body: dict[str, Any]) -> httpx2.Response:
    if "tags" in body:
        held.tags = dict(body["tags"])
    if "workloadProfiles" in body.get("properties", {}):
        held.properties["workloadProfiles"] = list(body["properties"]["workloadProfiles"])
    held.state = "UpgradeRequested"
    return groups.started(account, held, 202, 20.0, "Succeeded")


def delete_environment(account: Subscription, held: Resource) -> httpx2.Response:
    if any(same(one.properties.get("environmentId", ""), held.id) for one in account.of(APP)):
        raise Refused(409, "ManagedEnvironmentNotEmpty", "Cannot delete an environment that still has container apps.")
    return groups.ending(account, held, account.gone_after * 2)


def same(one: str, other: str) -> bool:
    return one.lower() == other.lower()


def put_app(account: Subscription, path: str, body: dict[str, Any], held: Resource | None) -> httpx2.Response:
    if held is not None and held.state in {"InProgress", "Deleting"}:
        raise Refused(409, "ContainerAppOperationInProgress", _BUSY)
    environment = account.find(body["properties"]["environmentId"])
    if environment is None or environment.state != "Succeeded":
        raise Refused(400, "ManagedEnvironmentNotReadyForAppCreation", "The environment is not ready.")
    profiles = {row["name"] for row in environment.properties.get("workloadProfiles", [])}
    if body["properties"]["workloadProfileName"] not in profiles:
        raise Refused(400, "WorkloadProfileNotFound", "The workload profile does not exist in the environment.")
    _check(body["properties"])
    configuration = dict(body["properties"]["configuration"])
    secrets = {row["name"]: row["value"] for row in configuration.get("secrets", [])}
    configuration["secrets"] = [{"name": name} for name in secrets]  # values are never shown again
    configuration["ingress"] = {
        **configuration["ingress"],
        "fqdn": f"{path.rsplit('/', 1)[-1]}.{environment.properties['defaultDomain']}",
    }
    made = groups.new(
        account, path, APP, {**body, "properties": {**body["properties"], "configuration": configuration}}
    )
    made.state, made.held = "InProgress", {**(held.held if held else {}), "secrets": secrets}
    revise(account, made)
    return groups.started(account, made, 201 if held is None else 200, account.app_takes, "Succeeded")


def patch_app(account: Subscription, held: Resource, body: dict[str, Any]) -> httpx2.Response:
    if held.state in {"InProgress", "Deleting"}:
        raise Refused(409, "ContainerAppOperationInProgress", _BUSY)
    held.properties["template"] = body["properties"]["template"]
    _check(held.properties)
    held.state = "InProgress"
    revise(account, held)
    return groups.started(account, held, 202, account.app_takes, "Succeeded")


def _check(properties: dict[str, Any]) -> None:
    for container in properties["template"]["containers"]:
        for probe in container.get("probes", []):
            for name, (low, high) in _LIMITS.items():
                if name in probe and not low <= probe[name] <= high:
                    raise Refused(400, "ContainerAppProbeInvalid", f"{name} must be between {low} and {high}.")
        for variable in container.get("env", []):
            if "value" in variable and ("KEY" in variable["name"] or "TOKEN" in variable["name"]):
                raise Refused(400, "SimulatorSecretInPlainSight", f"{variable['name']} is readable by every Reader.")
        names = {row["name"] for row in properties["configuration"].get("secrets", [])}
        if any("secretRef" in row and row["secretRef"] not in names for row in container.get("env", [])):
            raise Refused(400, "ContainerAppSecretRefNotFound", "A secretRef names no secret.")


def revise(account: Subscription, app: Resource) -> None:
    """A new revision; one that serves goes when the new one is up, one that was not up yet goes at once."""
    before, older = app.held.get("revision"), app.held.setdefault("older", [])
    if before is not None and before["replica"] and before["state"] == "Running":
        older.append((before["name"], app.held.pop("bill")))
    account.stop_bill(app)
    name = f"{app.name}--r{account.number()}"
    app.properties["latestRevisionName"] = name
    app.held["boot"] = account.boot
    app.held["revision"] = {"name": name, "replica": None, "state": "Processing", "asked": account.now(), "details": ""}
    account.clock.later(5.0, lambda: place(account, app, name))


def accelerator(app: Resource) -> str:
    cpu = app.properties["template"]["containers"][0]["resources"]["cpu"]
    return next(card for card, cores, _ in GPUS.values() if cores == cpu)


def used(account: Subscription, region: str, card: str) -> int:
    return sum(row.end is None and (row.region, row.type) == (region, card) for row in account.bills)


def place(account: Subscription, app: Resource, name: str) -> None:
    """A replica, when there is quota and a GPU; otherwise it is looked for again."""
    revision = app.held["revision"]
    if not account.alive(app) or revision["name"] != name or revision["replica"] or app.state == "Deleting":
        return
    card, region = accelerator(app), app.location
    if account.capacity.get((region, card), 0) < 1:
        revision["details"] = "Replica is waiting: 0/3 nodes are available, no GPU of this type is free."
        account.clock.later(LOOKS_AGAIN_AFTER, lambda: place(account, app, name))
        return
    account.capacity[region, card] -= 1
    revision.update(replica=account.now(), state="Activating", details="", asked=account.now())
    app.held["bill"] = account.bill(f"app {app.name}", card, region)
    if not app.properties["configuration"].get("ingress", {}).get("external"):
        account.misuse.append(f"app {app.name} cannot be reached")
    boot: Boot = app.held["boot"]
    account.clock.later(boot.ready, lambda: up(account, app, name))
    account.clock.later(float(app.properties["template"]["scale"]["cooldownPeriod"]), lambda: cool(account, app, name))


def up(account: Subscription, app: Resource, name: str) -> None:
    revision = app.held["revision"]
    if revision["name"] != name or not revision["replica"] or app.held["boot"].failure:
        return
    revision["state"], revision["asked"] = "Running", account.now()
    drop_older(account, app)


def drop_older(account: Subscription, app: Resource) -> None:
    for _, bill in app.held.pop("older", []):
        bill.end = account.now()
        account.capacity[bill.region, bill.type] += 1


def cool(account: Subscription, app: Resource, name: str) -> None:
    """With no request for the cool-down the last replica goes, where none has to stay."""
    scale, revision = app.properties["template"]["scale"], app.held["revision"]
    if not account.alive(app) or revision["name"] != name or not revision["replica"] or scale["minReplicas"] > 0:
        return
    left = scale["cooldownPeriod"] - (account.now() - revision["asked"]).total_seconds()
    if left > 0:
        account.clock.later(left, lambda: cool(account, app, name))
        return
    account.stop_bill(app)
    revision.update(replica=None, state="ScaledToZero")


def request(account: Subscription, app: Resource) -> bool:
    """A request came: whether a replica answers it; at none, one is asked for."""
    revision = app.held["revision"]
    revision["asked"] = account.now()
    if not revision["replica"] and revision["state"] == "ScaledToZero":
        revision["state"] = "Activating"
        account.clock.later(2.0, lambda: place(account, app, revision["name"]))
    return bool(revision["replica"]) and revision["state"] == "Running"


def delete_app(account: Subscription, held: Resource) -> httpx2.Response:
    if held.state == "InProgress":
        raise Refused(409, "ContainerAppOperationInProgress", _BUSY)
    drop_older(account, held)
    return groups.ending(account, held, account.gone_after)


def get(account: Subscription, path: str, kind: str) -> dict[str, Any] | None:
    words = path.split("/")
    if kind == "microsoft.app/containerapps/revisions" and (app := account.find("/".join(words[:-1]))):
        older = [{"name": name, "properties": {"active": True, "replicas": 1}} for name, _ in app.held.get("older", [])]
        return {"value": [*older, _revision(app, path)]}
    if kind == "microsoft.app/containerapps/revisions/replicas" and (app := account.find("/".join(words[:-3]))):
        return {"value": _replicas(account, app)}
    if kind == "microsoft.app/managedenvironments/usages" and (environment := account.find("/".join(words[:-1]))):
        return {"value": [_usage(account, environment.location, card, name) for card, name in CARDS.items()]}
    region = words[6] if len(words) > 6 else ""
    if kind == "microsoft.app/locations/usages":
        name = {"value": "SubscriptionDedicatedNCA100Gpus", "localizedValue": "Subscription Dedicated NCA100 Gpus"}
        return {"value": [{"name": name, "currentValue": 0, "limit": 0, "unit": "Count"}]}
    if kind == "microsoft.app/locations/availablemanagedenvironmentsworkloadprofiletypes":
        return {
            "value": [{"name": name, "properties": {}} for name in ("Consumption", *account.offered.get(region, ()))]
        }
    return None


def _usage(account: Subscription, region: str, card: str, name: str) -> dict[str, Any]:
    words = {"value": f"ManagedEnvironmentConsumption{name}Gpus", "localizedValue": f"Consumption {name} Gpus"}
    limit = account.gpu_quota.get((region, card), 0)
    return {"name": words, "currentValue": used(account, region, card), "limit": limit, "unit": "Count"}


def _revision(app: Resource, path: str) -> dict[str, Any]:
    held = app.held["revision"]
    properties: dict[str, Any] = {
        "active": True,
        "replicas": int(bool(held["replica"])),
        "runningState": held["state"],
        "healthState": "Healthy" if held["state"] == "Running" else "None",
        "provisioningState": "Provisioned",
        "runningStateDetails": held["details"],
    }
    return {"id": f"{path}/{held['name']}", "name": held["name"], "properties": properties}


def _replicas(account: Subscription, app: Resource) -> list[dict[str, Any]]:
    held, boot = app.held["revision"], app.held["boot"]
    if not held["replica"]:
        return []
    age = (account.now() - held["replica"]).total_seconds()
    container: dict[str, Any] = {"name": "engine", "ready": held["state"] == "Running", "restartCount": 0}
    container["runningState"] = "Running" if age >= boot.pulled else "Waiting"
    container["runningStateDetails"] = "" if age >= boot.pulled else "Pulling image"
    if boot.failure and age >= boot.pulled:
        container["restartCount"] = int(age // boot.pulled)
        container.update(runningState="Terminated", runningStateDetails=boot.failure)
    host = f"https://{app.location}.azurecontainerapps.dev"
    container["logStreamEndpoint"] = f"{host}{app.id}/revisions/{held['name']}/replicas/a/containers/engine/logstream"
    return [{"name": f"{held['name']}-a", "properties": {"runningState": "Running", "containers": [container]}}]


def log(account: Subscription, app: Resource) -> list[tuple[str, str]]:
    """The lines so far, with their times."""
    held, boot = app.held["revision"], app.held["boot"]
    if not held["replica"]:
        return []
    age = (account.now() - held["replica"]).total_seconds()
    times = [(held["replica"] + timedelta(seconds=at), text) for at, text in boot.lines if at <= age]
    return [(at.strftime("%Y-%m-%dT%H:%M:%S.1234567+00:00"), f"stderr F {text}") for at, text in times]


def post(account: Subscription, held: Resource, action: str) -> dict[str, Any] | None:
    if held.type != APP:
        return None
    if action.lower() == "getauthtoken":
        return {"properties": {"token": f"log-token-of-{held.name}", "expires": "2026-11-29T23:00:00Z"}}
    if action.lower() == "listsecrets":
        return {"value": [{"name": name, "value": value} for name, value in held.held["secrets"].items()]}
    return None
