"""The calls of one region: what is planned, printed, written down and sent is this same value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from clouds.azure import sizes
from clouds.azure.endpoints import ending, ids, keys, parts, serving, tags, values
from clouds.azure.endpoints.containerapps import probes
from clouds.azure.endpoints.containerapps.settings import Chosen
from clouds.azure.sizes import Profile
from clouds.models import Call

CONTAINER, PROFILE = "engine", "gpu"
"""The names of the container, and of the workload profile that we add."""


def gpus() -> tuple[Profile, ...]:
    """The profiles that scale to zero and carry one accelerator each."""
    return tuple(row for row in sizes.profiles() if row.serverless)


@dataclass(frozen=True)
class Build:
    """All that the calls of one region are made from. `existing` is an environment of somebody's as it was read."""

    name: str
    model: str
    region: str
    subscription: str
    owner: str
    end: datetime
    image: str
    gpu: Profile
    chosen: Chosen
    existing: Mapping[str, Any] | None = field(default=None, repr=False)

    @property
    def pairs(self) -> dict[str, str]:
        """The tags of every part."""
        return tags.make(tags.PLACEHOLDER, self.end, self.owner)

    @property
    def group(self) -> str:
        """The id of the resource group."""
        return ids.group(self.subscription, self.chosen.resource_group or group_name(self.name))

    @property
    def environment(self) -> str:
        """The id of the environment."""
        return self.chosen.environment or ids.within(self.group, parts.ENVIRONMENT, environment_name(self))

    @property
    def app(self) -> str:
        """The id of the app."""
        return ids.within(self.group, parts.APP, self.name)

    @property
    def profile(self) -> str:
        """The name of the workload profile: that of an environment which has one of this type, else ours."""
        held = profiles(self.existing)
        return next((name for name, kind in held.items() if kind.lower() == self.gpu.profile.lower()), PROFILE)


def group_name(name: str) -> str:
    """The group that is made for a deployment."""
    return f"modelrig-{name}"


def environment_name(build: Build) -> str:
    """The environment that is made for a deployment in a region."""
    return f"{build.name}-{build.region}"


def region_of(resource: Mapping[str, Any]) -> str:
    """The region of a resource, as refs spell it: Azure's answers say `Sweden Central`."""
    return values.place(str(resource.get("location", "")))


def cores_of(app: Mapping[str, Any]) -> float:
    """The cores of the engine's container, from which its GPU can be told."""
    held = (((app.get("properties") or {}).get("template")) or {}).get("containers") or [{}]
    named = [one for one in held if one.get("name") == CONTAINER]
    return float((((named or held)[0]).get("resources") or {}).get("cpu") or 0)


def profiles(environment: Mapping[str, Any] | None) -> dict[str, str]:
    """Name and type of each workload profile of an environment."""
    held = ((environment or {}).get("properties") or {}).get("workloadProfiles") or []
    return {str(row.get("name", "")): str(row.get("workloadProfileType", "")) for row in held}


def shared(build: Build) -> tuple[Call, ...]:
    """What all regions of a deployment share: its group, and its end where Azure keeps one."""
    made: list[Call] = []
    if not build.chosen.resource_group:
        made.append(Call(parts.GROUP, "put", {"id": build.group, "body": _body(build)}))
    if build.chosen.scheduled_end:
        made.append(ending.workflow(build.group, build.name, build.region, build.end, build.app, build.pairs))
        made.append(ending.assignment(build.group))
    return tuple(made)


def of_region(build: Build) -> tuple[Call, ...]:
    """The environment (or the profile in one of somebody's), then the app."""
    return (*_environment(build), _app(build))


def _body(build: Build, **more: Any) -> dict[str, Any]:
    return {"location": build.region, "tags": build.pairs, **more}


def _environment(build: Build) -> tuple[Call, ...]:
    ours = {"name": PROFILE, "workloadProfileType": build.gpu.profile}
    if not build.chosen.environment:
        plain = {"name": "Consumption", "workloadProfileType": "Consumption"}
        # no log workspace: lines are read from the replica itself, and nothing is billed for keeping them
        properties = {"zoneRedundant": False, "workloadProfiles": [plain, ours]}
        return (Call(parts.ENVIRONMENT, "put", {"id": build.environment, "body": _body(build, properties=properties)}),)
    if build.profile in profiles(build.existing):
        return ()
    held = ((build.existing or {}).get("properties") or {}).get("workloadProfiles") or []
    body = {
        "tags": {**((build.existing or {}).get("tags") or {}), tags.PROFILE: f"{PROFILE} {tags.PLACEHOLDER}"},
        "properties": {"workloadProfiles": [*held, ours]},
    }
    return (Call(parts.ENVIRONMENT, "patch", {"id": build.environment, "body": body}),)


def _app(build: Build) -> Call:
    """The call from which something may bill: a replica, as long as there is one."""
    engine, chosen = build.chosen.engine, build.chosen
    secrets = [{"name": "api-key", "value": keys.API_KEY}]
    variables = [{"name": serving.KEY_VARIABLES[engine.name], "secretRef": "api-key"}]
    if chosen.hf_token_env:
        secrets.append({"name": "hf-token", "value": keys.from_environment(chosen.hf_token_env)})
        variables.append({"name": "HF_TOKEN", "secretRef": "hf-token"})
    container = {
        "name": CONTAINER,
        "image": build.image,
        "args": serving.arguments(engine, build.model),
        "env": variables,
        "resources": {"cpu": build.gpu.vcpus, "memory": f"{build.gpu.memory_gib:g}Gi"},
        "probes": probes.make(probes.window(build.model, chosen.startup_seconds)),
    }
    ingress = {"external": True, "targetPort": serving.PORT, "transport": "auto", "allowInsecure": False}
    properties = {
        "environmentId": build.environment,
        "workloadProfileName": build.profile,
        "configuration": {"activeRevisionsMode": "Single", "ingress": ingress, "secrets": secrets},
        "template": {"containers": [container], "scale": scale(build.model, chosen)},
    }
    return Call(parts.APP, "put", {"id": build.app, "body": _body(build, properties=properties)})


def scale(model: str, chosen: Chosen) -> dict[str, Any]:
    """From no replica to the most that is allowed, by requests in flight."""
    rule = {"name": "http", "http": {"metadata": {"concurrentRequests": str(chosen.concurrent_requests)}}}
    return {
        "minReplicas": chosen.min_replicas,
        "maxReplicas": chosen.max_replicas,
        "cooldownPeriod": probes.cool_down(model, chosen.cooldown_seconds),
        "pollingInterval": 30,
        "rules": [rule],
    }
