"""The calls of a managed online endpoint: what is planned, printed, written down and sent is this same value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from clouds.azure.endpoints import ending, ids, parts, serving, tags
from clouds.azure.endpoints import model as models
from clouds.azure.endpoints.ml.settings import Chosen
from clouds.azure.sizes import Size
from clouds.models import Call

DEPLOYMENT = "main"
ROUTE = "/v1/chat/completions"
DOWNLOAD_MIB_PER_S, LOAD_SECONDS = 60.0, 300.0
LONGEST, USUAL = 7200, 1800


@dataclass(frozen=True)
class Build:
    """All that the calls of one size are made from."""

    name: str
    model: str
    region: str
    workspace: str
    owner: str
    end: datetime
    image: str
    size: Size
    chosen: Chosen

    @property
    def pairs(self) -> dict[str, str]:
        """The tags of every part."""
        return tags.make(tags.PLACEHOLDER, self.end, self.owner)

    @property
    def group(self) -> str:
        """The id of the workspace's resource group."""
        return ids.group_of(self.workspace)

    @property
    def version(self) -> str:
        """The id of the image as an environment version; each deployment has one of its own."""
        return f"{self.workspace}/environments/{environment_name(self.name)}/versions/{tags.PLACEHOLDER}"

    @property
    def endpoint(self) -> str:
        """The id of the endpoint."""
        return endpoint_id(self.workspace, self.name)


def environment_name(name: str) -> str:
    """The environment of an endpoint, in which each deployment has a version."""
    return f"modelrig-{name}"


def endpoint_id(workspace: str, name: str) -> str:
    """The id of an endpoint in a workspace."""
    return f"{workspace}/onlineEndpoints/{name}"


def shared(build: Build) -> tuple[Call, ...]:
    """What every size shares, in order: image, endpoint, its end, and the right to end it. Nothing of it bills."""
    made = [_image(build), _endpoint(build)]
    if build.chosen.scheduled_end:
        pairs = build.pairs
        made.append(ending.workflow(build.group, build.name, build.region, build.end, build.endpoint, pairs))
        made.append(ending.assignment(build.endpoint))
    return tuple(made)


def of_size(build: Build) -> tuple[Call, ...]:
    """The deployment, from which something bills, then its traffic."""
    return (_deployment(build), traffic(_endpoint(build), {DEPLOYMENT: 100}))


def _image(build: Build) -> Call:
    health = {"path": "/health", "port": serving.PORT}
    routes = {"livenessRoute": health, "readinessRoute": health, "scoringRoute": {"path": ROUTE, "port": serving.PORT}}
    properties = {"image": build.image, "osType": "Linux", "inferenceConfig": routes, "tags": build.pairs}
    return Call(parts.IMAGE, "put", {"id": build.version, "body": {"properties": properties}})


def _endpoint(build: Build) -> Call:
    body = {
        "location": build.region,
        "tags": build.pairs,
        "identity": {"type": "SystemAssigned"},
        "properties": {"authMode": "Key", "publicNetworkAccess": "Enabled"},
    }
    return Call(parts.ENDPOINT, "put", {"id": build.endpoint, "body": body})


def traffic(endpoint: Call, shares: Mapping[str, int]) -> Call:
    """The same endpoint with this traffic: PATCH takes tags and identity only."""
    body = endpoint.parameters["body"]
    properties = {**body["properties"], "traffic": dict(shares)}
    return Call(parts.ENDPOINT, "put", {"id": endpoint.parameters["id"], "body": {**body, "properties": properties}})


def changes_traffic(call: Call) -> bool:
    """Whether a call only turns the traffic of an endpoint that another one made."""
    return call.service == parts.ENDPOINT and "traffic" in call.parameters.get("body", {}).get("properties", {})


def _deployment(build: Build) -> Call:
    """From the moment at which it gets a machine it bills, with traffic or without, and also when it fails."""
    chosen = build.chosen
    variables = serving.environment(chosen.engine, build.model)
    if chosen.hf_token_from:
        # Azure ML puts the secret in when the container starts; what can be read here is only where it is
        variables["HF_TOKEN"] = f"${{{{keyvault:{chosen.hf_token_from}}}}}"
    properties = {
        "endpointComputeType": "Managed",
        "environmentId": build.version,
        "instanceType": build.size.size,
        "environmentVariables": variables,
        # Azure's defaults of 5 s and one request at a time measure the gateway and not the model
        "requestSettings": {
            "requestTimeout": duration(chosen.request_timeout_seconds),
            "maxConcurrentRequestsPerInstance": chosen.concurrent_requests,
        },
        **_probes(window(build.model, chosen.startup_seconds)),
        "scaleSettings": {"scaleType": "Default"},
        "egressPublicNetworkAccess": "Enabled",
        "appInsightsEnabled": False,
    }
    body = {
        "location": build.region,
        "tags": build.pairs,
        "sku": {"name": "Default", "capacity": 1},
        "properties": properties,
    }
    return Call(parts.SERVED, "put", {"id": f"{build.endpoint}/deployments/{DEPLOYMENT}", "body": body})


def duration(seconds: int) -> str:
    """ISO 8601, as Azure ML writes it: `PT180S`."""
    return f"PT{seconds}S"


def expected_start(model: str) -> float | None:
    """Seconds from the container's start to its first answer; None when the model's name tells no size."""
    size = models.weights_gib(model)
    return None if size is None else round(size * 1024 / DOWNLOAD_MIB_PER_S + LOAD_SECONDS)


def window(model: str, chosen: int = 0) -> int:
    """Seconds that the probes allow a start."""
    expected = expected_start(model)
    return chosen or (USUAL if expected is None else int(min(max(2 * expected, USUAL), LONGEST)))


def _probes(seconds: int) -> dict[str, Any]:
    """The first probe waits for the whole start; the others judge an engine that is up."""
    first, period = 60, 30
    start = {"initialDelay": duration(first), "period": duration(period), "timeout": duration(10)}
    times = math.ceil((seconds - first) / period)
    return {
        "startupProbe": {**start, "failureThreshold": times, "successThreshold": 1},
        "livenessProbe": {**start, "failureThreshold": 30, "successThreshold": 1},
        "readinessProbe": {**start, "failureThreshold": 30, "successThreshold": 1},
    }
