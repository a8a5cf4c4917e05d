"""How settings are checked, for all three services: a type, a range, a word out of a list."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from typing import Any

from clouds.errors import InvalidInput
from clouds.models import Setting

Check = Callable[[str, Setting], Setting]
FLAGS = 'any flag of vLLM: {"--max-num-seqs": 16}; true gives a bare flag'
_FLAG = re.compile(r"--[a-zA-Z][a-zA-Z0-9_-]{0,60}")
_OURS = frozenset({"--host", "--port", "--model", "--served-model-name", "--api-key", "--tensor-parallel-size"})


def choose(
    settings: Mapping[str, Setting], known: Mapping[str, str], checks: Mapping[str, Check], service: str
) -> tuple[dict[str, Any], dict[str, Setting]]:
    """The values and the engine's flags. Raises InvalidInput for unknown names and wrong values."""
    values: dict[str, Any] = {}
    flags: dict[str, Setting] = {}
    for name, value in settings.items():
        if name in known and name != "--*":
            values[name] = checks[name](name, value)
        elif name.startswith("-"):
            flags[name] = _flag(name, value)
        else:
            raise _unknown(name, known, service)
    return values, flags


def _flag(name: str, value: Setting) -> Setting:
    if not _FLAG.fullmatch(name) or name in _OURS or "token" in name.replace("token-id", "") or "api-key" in name:
        raise InvalidInput(
            "settings", f"{name[:60]!r} cannot be set", fix="Give a flag of vLLM that is not set for you."
        )
    if isinstance(value, str) and not value.isprintable():
        raise InvalidInput(name, "has characters that cannot be shown", fix="Give plain text.")
    return value


def _unknown(name: str, known: Mapping[str, str], service: str) -> InvalidInput:
    if "token" in name.lower():
        return InvalidInput(
            name[:60], "a token would be readable in the machine's metadata",
            fix="Store it in Secret Manager and give hf_token_from=projects/P/secrets/NAME/versions/latest.",
        )  # fmt: skip
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return InvalidInput(
        "settings", f"`{service}` takes no {name[:60]!r}.{hint}", fix=f"It takes {', '.join(known)}.",
        allowed=tuple(known),
    )  # fmt: skip


def whole(low: int, high: int) -> Check:
    """A whole number in a range."""

    def check(name: str, value: Setting) -> Setting:
        wrong = isinstance(value, bool) or not isinstance(value, int | float)
        if wrong or int(value) != value or not low <= value <= high:
            raise InvalidInput(
                name, f"{value!r} is no whole number from {low} to {high}", fix="Give one in that range."
            )
        return int(value)

    return check


def number(low: float, high: float, why: str) -> Check:
    """A number in a range; `why` says where the range comes from."""

    def check(name: str, value: Setting) -> Setting:
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise InvalidInput(name, f"{value!r} is not from {low:g} to {high:g}", fix=why)
        return float(value)

    return check


def one_of(*words: str) -> Check:
    """One of a few words."""

    def check(name: str, value: Setting) -> Setting:
        if value not in words:
            raise InvalidInput(name, f"{value!r} is none of {', '.join(words)}", fix="Give one of them.", allowed=words)
        return value

    return check


def like(pattern: str, what: str) -> Check:
    """Text of a form. What was given is not repeated: it may be a secret in the wrong place."""
    expression = re.compile(pattern)

    def check(name: str, value: Setting) -> Setting:
        if not isinstance(value, str) or not expression.fullmatch(value):
            raise InvalidInput(name, f"what was given is not {what}", fix=f"Give {what}.")
        return value

    return check


def switch(name: str, value: Setting) -> Setting:
    """True or false."""
    if not isinstance(value, bool):
        raise InvalidInput(name, f"{value!r} is neither true nor false", fix="Give true or false.")
    return value


IMAGE = like(r"[a-z0-9][a-z0-9./_-]*(:[\w.-]{1,128})?(@sha256:[0-9a-f]{64})?", "a container image")
SECRET = like(
    r"projects/[a-z0-9:.-]{4,64}/secrets/[A-Za-z0-9_-]{1,255}/versions/(latest|\d{1,6})",
    "a Secret Manager version like projects/P/secrets/hf-token/versions/latest",
)
BUCKET = like(r"gs://[a-z0-9][a-z0-9._/=-]{2,200}", "a place in a bucket like gs://bucket/folder")
SHA256 = like(r"[0-9a-f]{64}", "a sha256 in hexadecimal")
ZONE = like(r"[a-z]+-[a-z]+\d{1,2}-[a-z](,[a-z]+-[a-z]+\d{1,2}-[a-z])*", "zones like us-west4-a,us-east5-b")
EMAIL = like(r"[a-z0-9][a-z0-9.@:-]{3,120}\.gserviceaccount\.com", "a service account's address")
NAME = like(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?", "a name of a-z, 0-9 and -")
