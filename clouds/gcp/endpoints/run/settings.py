"""The settings that a Cloud Run service takes, checked before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clouds.errors import InvalidInput
from clouds.gcp.endpoints import settings as options
from clouds.models import Setting

SETTINGS: Mapping[str, str] = {
    "image": "container image; a release tag is resolved to its digest, a moving tag is refused; default: vLLM 0.30.0",
    "max_model_len": "tokens of context, integer; default 8192",
    "gpu_memory_utilization": "share of the GPU's memory, 0.1 to 0.98; default 0.9",
    "tool_calls": "true sets the tool-call parser for the model's family; default false",
    "cpu": "vCPUs, 4 or 8; default 8",
    "memory_gib": "memory, 16 to 32 GiB; default 32",
    "min_instances": "0 or 1; 1 bills all the time; default 0",
    "concurrency": "requests at once on the instance, 1 to 1000; default 16",
    "timeout_seconds": "of one request, 1 to 3600; default 600",
    "first_check_seconds": "when the startup probe begins, 0 to 240; default 180",
    "probe_seconds": "how long it is probed after that, 60 to 1800; Google may take 240 at most; default 600",
    "service_account": "the service's account; default: Compute Engine's default one",
    "hf_token_from": "Secret Manager version with a Hugging Face token: projects/P/secrets/N/versions/latest",
    "end": "scheduler (a job deletes the service at its end) or reminder (it is only listed); default scheduler",
    "end_by": "service account that the scheduler job deletes as; default: Compute Engine's default one",
    "invoke_as": "service account whose ID token is sent, where yours cannot make one",
    "--*": options.FLAGS,
}
CHECKS: Mapping[str, options.Check] = {
    "image": options.IMAGE,
    "max_model_len": options.whole(1, 10_000_000),
    "gpu_memory_utilization": options.number(0.1, 0.98, "0.9 serves."),
    "tool_calls": options.switch,
    "cpu": options.one_of("4", "8"),
    "memory_gib": options.whole(16, 32),
    "min_instances": options.whole(0, 1),
    "concurrency": options.whole(1, 1000),
    "timeout_seconds": options.whole(1, 3600),
    "first_check_seconds": options.whole(0, 240),
    "probe_seconds": options.whole(60, 1800),
    "service_account": options.EMAIL,
    "hf_token_from": options.SECRET,
    "end": options.one_of("scheduler", "reminder"),
    "end_by": options.EMAIL,
    "invoke_as": options.EMAIL,
}
"""An L4 needs 4 vCPU and 16 GiB at least; a startup probe takes 240 s at most (discovery run v2, 2026-11-29)."""


@dataclass(frozen=True)
class Chosen:
    """The settings with their defaults filled in."""

    image: str = ""
    max_model_len: int = 8192
    gpu_memory_utilization: float = 0.9
    tool_calls: bool = False
    cpu: str = "8"
    memory_gib: int = 32
    min_instances: int = 0
    concurrency: int = 16
    timeout_seconds: int = 600
    first_check_seconds: int = 180
    probe_seconds: int = 600
    service_account: str = ""
    hf_token_from: str = ""
    end: str = "scheduler"
    end_by: str = ""
    invoke_as: str = ""
    flags: Mapping[str, Setting] = field(default_factory=dict)


def choose(settings: Mapping[str, Setting]) -> Chosen:
    """Raises InvalidInput for unknown settings and wrong values."""
    given = dict(settings)
    if isinstance(given.get("cpu"), int | float) and not isinstance(given["cpu"], bool):
        given["cpu"] = f"{given['cpu']:g}"
    values, flags = options.choose(given, SETTINGS, CHECKS, "run")
    found = Chosen(**values, flags=flags)
    if found.cpu == "4" and found.memory_gib > 16:
        raise InvalidInput("memory_gib", "4 vCPU take 16 GiB on Cloud Run", fix="Give cpu=8 for more memory.")
    return found


def fixed(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Settings that a change does not touch: who ends and who asks."""
    return tuple(sorted(set(settings) & {"end", "end_by", "invoke_as"}))
