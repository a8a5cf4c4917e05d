"""The calls of one Cloud Run service: its dry run, itself, and the job that ends it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from clouds.gcp.endpoints import ending
from clouds.gcp.endpoints import labels as tags
from clouds.gcp.endpoints import model as models
from clouds.gcp.endpoints.run.settings import Chosen
from clouds.models import Call, Setting

LONGEST_NAME = 40
"""Cloud Run takes 49 characters (its documentation, 2026-11-29); ours begin with `modelrig-`."""
PORT, MOUNT = 8000, "/mnt/models"
SERVING, PHASES = "modelrig.serving", "modelrig.phases"
"""Annotations: what it serves with, and how long its first start took."""
CREATE = "projects.locations.services.create"


@dataclass(frozen=True)
class Build:
    """All that the calls of one region are made from."""

    name: str
    project: str
    region: str
    owner: str
    end: datetime
    image: str
    model: str
    chosen: Chosen
    settings: Mapping[str, Setting]

    @property
    def label(self) -> str:
        """The service's name."""
        return f"modelrig-{self.name}"

    @property
    def parent(self) -> str:
        """Its place."""
        return f"projects/{self.project}/locations/{self.region}"

    @property
    def labels(self) -> dict[str, str]:
        """The labels of every part."""
        return tags.make(tags.PLACEHOLDER, self.end, self.owner)


def template(image: str, model: str, chosen: Chosen) -> dict[str, Any]:
    """The revision: one vLLM on one L4, its weights from a bucket that is mounted, or from the Hub at each start."""
    bucket = models.bucket_of(model)
    local = f"{MOUNT}{model.removeprefix(f'gs://{bucket}').rstrip('/')}" if bucket else model
    arguments = ["--model", local, "--served-model-name", model, "--port", str(PORT)]
    arguments += ["--max-model-len", str(chosen.max_model_len)]
    arguments += ["--gpu-memory-utilization", f"{chosen.gpu_memory_utilization:g}"]
    if chosen.tool_calls:
        arguments += ["--enable-auto-tool-choice", "--tool-call-parser", models.tool_parser(model)]
    for name, value in chosen.flags.items():
        arguments += [name] if value is True else [] if value is False else [name, str(value)]
    container: dict[str, Any] = {
        "name": "vllm",
        "image": image,
        "args": arguments,
        "ports": [{"containerPort": PORT}],
        "resources": {
            "limits": {"cpu": chosen.cpu, "memory": f"{chosen.memory_gib}Gi", "nvidia.com/gpu": "1"},
            "cpuIdle": False,
            "startupCpuBoost": True,
        },
        "startupProbe": {
            "initialDelaySeconds": chosen.first_check_seconds,
            "timeoutSeconds": 5,
            "periodSeconds": 10,
            # Google's pages say 240 s at most for jobs; the article's services wait longer. The dry run tells.
            "failureThreshold": -(-chosen.probe_seconds // 10),
            "httpGet": {"path": "/health", "port": PORT},
        },
    }
    if chosen.hf_token_from:
        name, _, version = chosen.hf_token_from.partition("/versions/")
        reference = {"secret": name, "version": version}
        container["env"] = [{"name": "HF_TOKEN", "valueSource": {"secretKeyRef": reference}}]
    made: dict[str, Any] = {
        "executionEnvironment": "EXECUTION_ENVIRONMENT_GEN2",
        "gpuZonalRedundancyDisabled": True,
        "nodeSelector": {"accelerator": "nvidia-l4"},
        "timeout": f"{chosen.timeout_seconds}s",
        "maxInstanceRequestConcurrency": chosen.concurrency,
        "scaling": {"minInstanceCount": chosen.min_instances, "maxInstanceCount": 1},
        "containers": [container],
    }
    if chosen.service_account:
        made["serviceAccount"] = chosen.service_account
    if bucket:
        container["volumeMounts"] = [{"name": "models", "mountPath": MOUNT}]
        volume = {"bucket": bucket, "readOnly": True, "mountOptions": ["implicit-dirs"]}
        made["volumes"] = [{"name": "models", "gcs": volume}]
    return made


def create(build: Build, *, dry: bool = False) -> Call:
    """The service; `dry` lets Google check it and make nothing."""
    body = {
        "labels": build.labels,
        "annotations": {SERVING: serving_text(build.image, build.model, build.settings)},
        "launchStage": "GA",
        "ingress": "INGRESS_TRAFFIC_ALL",
        "invokerIamDisabled": False,
        "scaling": {"minInstanceCount": build.chosen.min_instances, "maxInstanceCount": 1},
        "template": template(build.image, build.model, build.chosen),
    }
    asked = {"parent": build.parent, "serviceId": build.label, "body": body}
    return Call("run", CREATE, {**asked, "validateOnly": True} if dry else asked)


def serving_text(image: str, model: str, settings: Mapping[str, Setting]) -> str:
    """What it serves with, as its annotation keeps it."""
    return json.dumps({"image": image, "model": model, "settings": dict(settings)}, separators=(",", ":"))


def job(build: Build, account: str) -> Call:
    """What deletes the service at its end."""
    uri = f"https://run.googleapis.com/v2/{build.parent}/services/{build.label}"
    return ending.job(build.project, build.region, f"run-{build.label}", uri, build.labels, build.end, account)


def job_name(name: str) -> str:
    """The job of a service called `modelrig-…`."""
    return f"run-{name}"


def in_order(build: Build, account: str) -> tuple[Call, ...]:
    """The job first, so that nothing is ever there without its end; the dry run; the service."""
    jobs = (job(build, account),) if build.chosen.end == "scheduler" else ()
    return (*jobs, create(build, dry=True), create(build))
