"""The settings that a Container App takes, checked before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clouds.azure.endpoints import keys, values
from clouds.azure.endpoints.serving import ENGINES, Engine
from clouds.errors import InvalidInput
from clouds.models import Setting

SETTINGS: Mapping[str, str] = {
    "engine": "vllm or llama.cpp; default vllm",
    "image": "public container image; a tag is resolved to its digest when planned; default: the engine's own release",
    "max_model_len": "tokens of context, integer; default 8192",
    "gpu_memory_utilization": "vllm: share of the accelerator's memory, 0.1 to 0.98; default 0.9",
    "tool_calls": "vllm: true sets the tool-call parser for the model's family; default false",
    "parallel": "llama.cpp: requests served at once, 1 to 256; default 1",
    "file": "llama.cpp: the GGUF file in the model's repository; default: the repository's own choice",
    "resource_group": "a group of yours; default: modelrig-NAME, made for this deployment and deleted with it",
    "environment": "id of a Container Apps environment of yours; default: one made for this deployment",
    "min_replicas": "replicas that stay up, 0 to 5, and bill all the time; default 0: it scales to zero",
    "max_replicas": "replicas at most, 1 to 10, one GPU each; default 1",
    "concurrent_requests": "requests per replica from which another one starts, 1 to 1000; default 32",
    "cooldown_seconds": "seconds without a request until the last replica goes, 60 to 3600; default: a start, or 300",
    "startup_seconds": "longest start of the engine, 120 to 2460; default: by the size of the weights",
    "capacity_wait_seconds": "how long to wait for a replica in each region, 120 to 3600; default 600",
    "scheduled_end": "true has Azure delete it at its end; default: true when min_replicas is above 0",
    "hf_token_env": "environment variable here that holds a Hugging Face token; it becomes a secret of the app",
    "--*": 'any flag of the engine: {"--max-num-seqs": 16}; true gives a bare flag',
}
_WHOLE = {
    "max_model_len": (1, 10_000_000),
    "parallel": (1, 256),
    "min_replicas": (0, 5),
    "max_replicas": (1, 10),
    "concurrent_requests": (1, 1000),
    "cooldown_seconds": (60, 3600),
    "startup_seconds": (120, 2460),
    "capacity_wait_seconds": (120, 3600),
}
_ENGINE = ("max_model_len", "gpu_memory_utilization", "tool_calls", "parallel", "file")
_GROUP = r"[-\w.()]{0,89}[-\w()]"
_ENVIRONMENT = (
    r"/subscriptions/[0-9a-fA-F-]{36}/resourceGroups/[-\w.()]{1,90}"
    r"/providers/Microsoft\.App/managedEnvironments/[a-zA-Z][\w-]{0,58}"
)


@dataclass(frozen=True)
class Chosen:
    """The settings with their defaults filled in. 0 seconds mean: by the size of the weights."""

    engine: Engine = field(default_factory=Engine)
    image: str = ""
    resource_group: str = ""
    environment: str = ""
    min_replicas: int = 0
    max_replicas: int = 1
    concurrent_requests: int = 32
    cooldown_seconds: int = 0
    startup_seconds: int = 0
    capacity_wait_seconds: int = 600
    scheduled_end: bool = False
    hf_token_env: str = ""


def choose(settings: Mapping[str, Setting]) -> Chosen:
    """Raises InvalidInput for an unknown setting, a wrong value, and for a token that is not a reference."""
    found: dict[str, Any] = {}
    flags: dict[str, Setting] = {}
    for name, value in settings.items():
        if name in SETTINGS and name != "--*":
            found[name] = _checked(name, value)
        elif name.startswith("-"):
            flags[name] = values.flag(name, value)
        else:
            raise values.unknown(name, SETTINGS, "containerapps")
    if found.get("min_replicas", 0) > found.get("max_replicas", 1):
        raise InvalidInput("min_replicas", "it is above max_replicas", fix="Raise max_replicas too.")
    kept_warm = found.get("min_replicas", 0) > 0
    if found.setdefault("scheduled_end", kept_warm) and found.keys() & {"resource_group", "environment"}:
        raise InvalidInput(
            "scheduled_end" if not kept_warm else "min_replicas",
            "what ends it in the cloud gets a right on the whole resource group, so that has to be its own",
            fix="Leave resource_group and environment out, or give scheduled_end=false and delete it yourself.",
        )
    own = {name: found.pop(name) for name in _ENGINE if name in found}
    engine = Engine(name=found.pop("engine", "vllm"), flags=flags, **own)
    return Chosen(engine=engine, **found)


def _checked(name: str, value: Setting) -> Setting:
    if name in _WHOLE:
        return values.whole(name, value, *_WHOLE[name])
    if name == "gpu_memory_utilization":
        return values.share(name, value)
    if name in ("tool_calls", "scheduled_end"):
        return values.switch(name, value)
    if name == "engine":
        return values.one_of(name, value, ENGINES)
    if name == "hf_token_env":
        keys.check(values.matching(name, value, r"[A-Za-z_]\w{0,99}", "the name of an environment variable"))
    elif name == "resource_group":
        values.matching(name, value, _GROUP, "a resource group's name")
    elif name == "environment":
        values.matching(name, value, _ENVIRONMENT, "the id of a managed environment")
    elif name == "file":
        values.matching(name, value, r"[\w./-]{1,200}\.gguf", "a .gguf file's name")
    elif name == "image":
        values.matching(
            name, value, r"[a-z0-9.-]+\.[a-z]+/[\w./-]{1,200}(?::[\w.-]{1,128}|@sha256:[0-9a-f]{64})", "an image"
        )
    return value
