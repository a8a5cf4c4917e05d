"""The settings that a SageMaker deployment takes, checked before anything is sent."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clouds.errors import InvalidInput
from clouds.models import Setting

PREFIX = "SM_VLLM_"
MOST_COPIES = 16
"""Accelerators of the largest instance."""
SETTINGS: Mapping[str, str] = {
    "max_model_len": "tokens of context, integer; default 8192",
    "gpu_memory_utilization": "share of the accelerator's memory, 0.1 to 0.98; default 0.9",
    "tensor_parallel_size": "accelerators that share one copy, integer; default: all of the instance",
    "tool_calls": "true sets vLLM's tool-call parser for the model's family; default false",
    "image": "container image URI in ECR with tag or digest; default: the newest pinned SageMaker vLLM image",
    "role": "ARN of an execution role of yours; default: modelrig-sagemaker, made when it is missing",
    "capacity_wait_seconds": "how long to wait for an instance in each region, 300 to 3600; default 300",
    "startup_seconds": "health check time-out, 60 to 3600; default 1800, more for larger weights",
    "download_seconds": "model download time-out, 60 to 3600; default 1800, more for larger weights",
    "ami": "SageMaker's InferenceAmiVersion (driver and CUDA); default: SageMaker's own choice",
    "hf_token_from": "ARN of a Secrets Manager secret that holds a Hugging Face token; never the token itself",
    f"{PREFIX}*": "any vLLM flag: SM_VLLM_MAX_NUM_SEQS=16 becomes --max-num-seqs 16",
}
_TOKENS = re.compile(r"(?i)(hf|hugging_?face).*token|token$")
_SECRET_ARN = re.compile(r"arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]{1,512}")
_ROLE_ARN = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]{1,512}")


@dataclass(frozen=True)
class Chosen:
    """The settings with their defaults filled in. 0 for a time-out means: by the size of the weights."""

    max_model_len: int = 8192
    gpu_memory_utilization: float = 0.9
    tensor_parallel_size: int = 0
    tool_calls: bool = False
    image: str = ""
    role: str = ""
    capacity_wait_seconds: int = 300
    startup_seconds: int = 0
    download_seconds: int = 0
    ami: str = ""
    hf_token_from: str = ""
    flags: Mapping[str, str] = field(default_factory=dict)


def choose(settings: Mapping[str, Setting]) -> Chosen:
    """Raises InvalidInput for an unknown setting, a wrong value, and for a token that is not a reference."""
    values: dict[str, Any] = {}
    flags: dict[str, str] = {}
    for name, value in settings.items():
        if name.startswith(PREFIX) and re.fullmatch(r"[A-Z0-9_]{1,200}", name) and not _TOKENS.search(name):
            flags[name] = flag(value)
        elif name in SETTINGS:
            values[name] = _checked(name, value)
        else:
            raise _unknown(name)
    if "tool_calls" in values and flags.keys() & {f"{PREFIX}TOOL_CALL_PARSER"}:
        raise InvalidInput(
            "tool_calls", "sets the parser, and SM_VLLM_TOOL_CALL_PARSER does too", fix="Give one of them."
        )
    return Chosen(**values, flags=flags)


def flag(value: Setting) -> str:
    """A vLLM flag's value. Switches: an empty value is the bare flag in every image's entry point that we read."""
    if isinstance(value, bool):
        return "" if value else "false"
    return str(value)


def _unknown(name: str) -> InvalidInput:
    if _TOKENS.search(name):
        return InvalidInput(
            name[:60], "a token would be readable by everybody who may describe the model",
            fix="Store it in Secrets Manager and give hf_token_from=ARN.",
        )  # fmt: skip
    near = difflib.get_close_matches(name, SETTINGS, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return InvalidInput(
        "settings",
        f"SageMaker takes no {name[:60]!r}.{hint}",
        fix=f"It takes {', '.join(SETTINGS)}.",
        allowed=tuple(SETTINGS),
    )


_WHOLE = {
    "max_model_len": (1, 10_000_000),
    "tensor_parallel_size": (1, MOST_COPIES),
    "capacity_wait_seconds": (300, 3600),
    "startup_seconds": (60, 3600),
    "download_seconds": (60, 3600),
}


def _checked(name: str, value: Setting) -> Setting:
    if name in _WHOLE:
        low, high = _WHOLE[name]
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or int(value) != value
            or not low <= value <= high
        ):
            raise InvalidInput(
                name, f"{value!r} is not a whole number from {low} to {high}", fix="Give one in that range."
            )
        return int(value)
    if name == "gpu_memory_utilization":
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.1 <= value <= 0.98:
            raise InvalidInput(
                name, f"{value!r} is not a share from 0.1 to 0.98", fix="0.9 serves; 0.97 is the most seen to."
            )
        return float(value)
    if name == "tool_calls":
        if not isinstance(value, bool):
            raise InvalidInput(name, f"{value!r} is neither true nor false", fix="Give true or false.")
        return value
    text = str(value)
    pattern = {"hf_token_from": _SECRET_ARN, "role": _ROLE_ARN}.get(name)
    if pattern is not None and not pattern.fullmatch(text):
        what = "a Secrets Manager ARN" if name == "hf_token_from" else "a role's ARN"
        raise InvalidInput(name, f"what was given is not {what}", fix=f"Give {what}; a token itself is never taken.")
    return text
