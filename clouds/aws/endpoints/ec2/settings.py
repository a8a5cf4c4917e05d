"""The settings that an EC2 deployment takes, checked before anything is sent."""

from __future__ import annotations

import difflib
import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clouds.errors import InvalidInput
from clouds.models import Setting

SETTINGS: Mapping[str, str] = {
    "engine": "vllm or llama.cpp; default vllm",
    "image": "container image; a tag is resolved to its digest when planned; default: the engine's own release",
    "market": "on-demand or spot; default on-demand",
    "max_model_len": "tokens of context, integer; default 8192",
    "gpu_memory_utilization": "vllm: share of the accelerator's memory, 0.1 to 0.98; default 0.9",
    "tensor_parallel_size": "vllm: accelerators that share one copy; default: all of the machine",
    "tool_calls": "vllm: true sets the tool-call parser for the model's family; default false",
    "parallel": "llama.cpp: requests served at once, 1 to 256; default 1",
    "file": "llama.cpp: the GGUF file in the model's repository; default: the repository's own choice",
    "disk_gib": "size of the encrypted disk, 60 to 2000; default 150",
    "zones": "zones to try, in order, separated by commas; default: all that offer the type",
    "subnet": "a subnet of yours with a way to the internet; default: the default VPC",
    "ami": "an AMI with NVIDIA driver and Docker; default: the newest Deep Learning base AMI",
    "ssh_from": "address range that may reach SSH, e.g. 203.0.113.7/32; default: this machine's public address",
    "hf_token_from": "ARN of a Secrets Manager secret that holds a Hugging Face token; never the token itself",
    "--*": 'any flag of the engine: {"--max-num-seqs": 16}; true gives a bare flag',
}
_FLAG = re.compile(r"--?[a-zA-Z][a-zA-Z0-9-]{0,60}")
_OURS = frozenset(
    {"--host", "--port", "--model", "--served-model-name", "-hf", "--hf-repo", "--hf-file", "-m", "--api-key"}
)


@dataclass(frozen=True)
class Chosen:
    """The settings with their defaults filled in."""

    engine: str = "vllm"
    image: str = ""
    market: str = "on-demand"
    max_model_len: int = 8192
    gpu_memory_utilization: float = 0.9
    tensor_parallel_size: int = 0
    tool_calls: bool = False
    parallel: int = 1
    file: str = ""
    disk_gib: int = 150
    zones: str = ""
    subnet: str = ""
    ami: str = ""
    ssh_from: str = ""
    hf_token_from: str = ""
    flags: Mapping[str, Setting] = field(default_factory=dict)


def choose(settings: Mapping[str, Setting]) -> Chosen:
    """Raises InvalidInput for an unknown setting, a wrong value, and for a token that is not a reference."""
    values: dict[str, Any] = {}
    flags: dict[str, Setting] = {}
    for name, value in settings.items():
        if name in SETTINGS and name != "--*":
            values[name] = _checked(name, value)
        elif name.startswith("-"):
            flags[name] = _flag(name, value)
        else:
            raise _unknown(name)
    return Chosen(**values, flags=flags)


def _flag(name: str, value: Setting) -> Setting:
    if not _FLAG.fullmatch(name) or name in _OURS or "token" in name or "key" in name:
        raise InvalidInput(
            "settings", f"{name[:60]!r} cannot be set", fix="Give a flag of the engine that is not set for you."
        )
    if isinstance(value, str) and not value.isprintable():
        raise InvalidInput(name, "has characters that cannot be shown", fix="Give plain text.")
    return value


def _unknown(name: str) -> InvalidInput:
    if "token" in name.lower():
        return InvalidInput(
            name[:60], "a token would be readable in the machine's user data",
            fix="Store it in Secrets Manager and give hf_token_from=ARN.",
        )  # fmt: skip
    near = difflib.get_close_matches(name, SETTINGS, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return InvalidInput(
        "settings",
        f"EC2 takes no {name[:60]!r}.{hint}",
        fix=f"It takes {', '.join(SETTINGS)}.",
        allowed=tuple(SETTINGS),
    )


def _whole(low: int, high: int) -> Callable[[str, Setting], Setting]:
    def check(name: str, value: Setting) -> Setting:
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

    return check


def _one_of(*words: str) -> Callable[[str, Setting], Setting]:
    def check(name: str, value: Setting) -> Setting:
        if value not in words:
            raise InvalidInput(name, f"{value!r} is none of {', '.join(words)}", fix="Give one of them.", allowed=words)
        return value

    return check


def _like(pattern: str, what: str) -> Callable[[str, Setting], Setting]:
    def check(name: str, value: Setting) -> Setting:
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise InvalidInput(name, f"what was given is not {what}", fix=f"Give {what}.")
        return value

    return check


def _share(name: str, value: Setting) -> Setting:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.1 <= value <= 0.98:
        raise InvalidInput(
            name, f"{value!r} is not a share from 0.1 to 0.98", fix="0.9 serves; 0.97 is the most seen to."
        )
    return float(value)


def _switch(name: str, value: Setting) -> Setting:
    if not isinstance(value, bool):
        raise InvalidInput(name, f"{value!r} is neither true nor false", fix="Give true or false.")
    return value


def _network(name: str, value: Setting) -> Setting:
    try:
        found = ipaddress.IPv4Network(str(value), strict=False)
    except ValueError:
        raise InvalidInput(
            name, f"{str(value)[:40]!r} is not an IPv4 range", fix="Give one like 203.0.113.7/32."
        ) from None
    if found.prefixlen < 16:
        raise InvalidInput(name, f"{found} would open SSH to {found.num_addresses:,} addresses", fix="Give a /32.")
    return str(found)


_CHECKS: Mapping[str, Callable[[str, Setting], Setting]] = {
    "engine": _one_of("vllm", "llama.cpp"),
    "market": _one_of("on-demand", "spot"),
    "image": _like(r"[a-z0-9][a-z0-9./_-]*(:[\w.-]{1,128})?(@sha256:[0-9a-f]{64})?", "a container image"),
    "max_model_len": _whole(1, 10_000_000),
    "gpu_memory_utilization": _share,
    "tensor_parallel_size": _whole(1, 16),
    "tool_calls": _switch,
    "parallel": _whole(1, 256),
    "file": _like(r"[\w][\w./-]{0,200}\.gguf", "a .gguf file in the repository"),
    "disk_gib": _whole(60, 2000),
    "zones": _like(r"[a-z0-9-]+[a-z](,[a-z0-9-]+[a-z])*", "a list of zones like us-east-1a,us-east-1d"),
    "subnet": _like(r"subnet-[0-9a-z-]{8,40}", "a subnet's id"),
    "ami": _like(r"ami-[0-9a-f]{8,17}", "an AMI's id"),
    "ssh_from": _network,
    "hf_token_from": _like(
        r"arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]{1,512}", "a Secrets Manager ARN"
    ),
}


def _checked(name: str, value: Setting) -> Setting:
    return _CHECKS[name](name, value)
