"""The API key of a public endpoint: one of its own, in a file that only its owner reads, and in Azure as a secret.

The calls of a plan and the ledger's rows hold the words below in place of a secret; it is put in as the call is sent.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clouds.errors import InvalidInput
from clouds.models import Call

API_KEY = "<the API key of this endpoint>"
_FROM_ENVIRONMENT = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]{0,99})")


def from_environment(variable: str) -> str:
    """Words that stand for the value of an environment variable of this machine."""
    return f"env:{variable}"


def path(home: Path, deployment: str) -> Path:
    """Where the key of a deployment is."""
    return home / "azure" / "keys" / re.sub(r"[^A-Za-z0-9_-]", "-", deployment)


def make(home: Path, deployment: str) -> str:
    """The deployment's key: the one that an earlier run made, else a new one, 0600."""
    place = path(home, deployment)
    if held := read(home, deployment):
        return held
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    key = secrets.token_urlsafe(32)
    fresh = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(key + "\n")
    fresh.replace(place)
    return key


def read(home: Path, deployment: str) -> str:
    """The key of a deployment; empty when it is not on this machine."""
    if not deployment:
        return ""
    try:
        return path(home, deployment).read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


def forget(home: Path, deployment: str) -> None:
    """Remove the key of a deployment that is gone."""
    if deployment:
        path(home, deployment).unlink(missing_ok=True)


def check(variable: str) -> None:
    """Raises InvalidInput for a name that is no environment variable's, or one that is not set here."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", variable):
        raise InvalidInput(
            "hf_token_env", "what was given is not a variable's name", fix="Give a name like HF_TOKEN, not a token."
        )
    if not os.environ.get(variable):
        raise InvalidInput(
            "hf_token_env", f"{variable} is not set where modelrig runs", fix=f"Set {variable} there and start again."
        )


def filled(call: Call, words: Mapping[str, str]) -> Call:
    """The call with its secrets (and whatever else only a run knows) in it, to be sent and then forgotten."""

    def put(value: Any) -> Any:
        if isinstance(value, str):
            if value in words:
                return words[value]
            found = _FROM_ENVIRONMENT.fullmatch(value)
            return _of_environment(found[1]) if found else value
        if isinstance(value, Mapping):
            return {name: put(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [put(item) for item in value]
        return value

    return Call(call.service, call.operation, put(call.parameters))


def _of_environment(variable: str) -> str:
    check(variable)
    return os.environ[variable]
