"""The settings that a managed online endpoint takes, checked before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clouds.azure.endpoints import serving, values
from clouds.azure.endpoints.serving import ENGINES, Engine
from clouds.errors import InvalidInput
from clouds.models import Setting

LONGEST_REQUEST = 180
"""Seconds that a managed online endpoint allows one request at most; its own default is 5 s."""
SETTINGS: Mapping[str, str] = {
    "workspace": "id of an Azure ML workspace; default: the only one there is",
    "engine": "vllm or llama.cpp; default vllm, llama.cpp for a GGUF model",
    "image": "container image; needed for vllm, which takes no arguments from the environment by itself",
    "max_model_len": "tokens of context, integer; default 8192",
    "gpu_memory_utilization": "vllm: share of the accelerator's memory, 0.1 to 0.98; default 0.9",
    "tool_calls": "vllm: true sets the tool-call parser for the model's family; default false",
    "parallel": "llama.cpp: requests served at once, 1 to 256; default 1",
    "file": "llama.cpp: the GGUF file in the model's repository; default: the repository's own choice",
    "request_timeout_seconds": "longest answer, 5 to 180; default 180 (Azure's own default is 5)",
    "concurrent_requests": "requests that one machine is given at once, 1 to 1000; default 64 (Azure's own is 1)",
    "startup_seconds": "longest start of the engine, 300 to 7200; default: by the size of the weights",
    "scheduled_end": "true has Azure delete it at its end; default true",
    "hf_token_from": "Key Vault secret with a Hugging Face token, https://VAULT.vault.azure.net/secrets/NAME/VERSION",
    "--*": 'any flag of the engine: {"--max-num-seqs": 16}; true gives a bare flag',
}
_WHOLE = {
    "max_model_len": (1, 10_000_000),
    "parallel": (1, 256),
    "request_timeout_seconds": (5, LONGEST_REQUEST),
    "concurrent_requests": (1, 1000),
    "startup_seconds": (300, 7200),
}
_ENGINE = ("max_model_len", "gpu_memory_utilization", "tool_calls", "parallel", "file")
_WORKSPACE = (
    r"/subscriptions/[0-9a-fA-F-]{36}/resourceGroups/[-\w.()]{1,90}"
    r"/providers/Microsoft\.MachineLearningServices/workspaces/[a-zA-Z0-9][\w-]{1,32}"
)
_SECRET = r"https://[a-z0-9-]{3,24}\.vault\.azure\.net/secrets/[A-Za-z0-9-]{1,127}(?:/[0-9a-f]{32})?"  # noqa: S105 - a form of addresses
_IMAGE = r"[a-z0-9.-]+\.[a-z]+/[\w./-]{1,200}(?::[\w.-]{1,128}|@sha256:[0-9a-f]{64})"


@dataclass(frozen=True)
class Chosen:
    """The settings with their defaults filled in. `startup_seconds` 0 means: by the size of the weights."""

    engine: Engine = field(default_factory=Engine)
    workspace: str = ""
    image: str = ""
    request_timeout_seconds: int = LONGEST_REQUEST
    concurrent_requests: int = 64
    startup_seconds: int = 0
    scheduled_end: bool = True
    hf_token_from: str = ""


def choose(settings: Mapping[str, Setting], model: str = "") -> Chosen:
    """Raises InvalidInput for an unknown setting, a wrong value, and for a token that is not a reference."""
    found: dict[str, Any] = {}
    flags: dict[str, Setting] = {}
    for name, value in settings.items():
        if name in SETTINGS and name != "--*":
            found[name] = _checked(name, value)
        elif name.startswith("-"):
            flags[name] = values.flag(name, value)
        else:
            raise values.unknown(name, SETTINGS, "ml")
    own = {name: found.pop(name) for name in _ENGINE if name in found}
    usual = "llama.cpp" if "gguf" in model.lower() else "vllm"
    return Chosen(engine=Engine(name=found.pop("engine", usual), flags=flags, **own), **found)


def check_image(chosen: Chosen) -> None:
    """Raises InvalidInput where vLLM would start without its model: Azure ML gives a container no arguments."""
    if chosen.image or chosen.engine.name != "vllm":
        return
    lines = serving.dockerfile().strip().replace("\n", " then ")
    raise InvalidInput(
        "image",
        "Azure ML gives a container no arguments, and vLLM's own image takes its model from nowhere else",
        fix=f"Push an image of two lines ({lines}) to a registry that the workspace can read and give image=…; or use "
        'service="containerapps", or a GGUF model with llama.cpp.',
    )


def _checked(name: str, value: Setting) -> Setting:
    if name in _WHOLE:
        return values.whole(name, value, *_WHOLE[name])
    if name == "gpu_memory_utilization":
        return values.share(name, value)
    if name in ("tool_calls", "scheduled_end"):
        return values.switch(name, value)
    if name == "engine":
        return values.one_of(name, value, ENGINES)
    if name == "workspace":
        return values.matching(name, value, _WORKSPACE, "the id of an Azure ML workspace")
    if name == "hf_token_from":
        return values.matching(name, value, _SECRET, "the address of a Key Vault secret; a token itself is never taken")
    if name == "file":
        return values.matching(name, value, r"[\w./-]{1,200}\.gguf", "a .gguf file's name")
    return values.matching(name, value, _IMAGE, "an image")
