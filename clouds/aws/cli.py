"""The AWS CLI's own spelling of a call: one quoting helper, always with region, and with profile or account."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from datetime import date
from typing import Any

from clouds.models import Call


def command(call: Call, region: str, *, profile: str = "", account: str = "") -> str:
    """`aws sagemaker create-endpoint --endpoint-name x --region us-east-2 --profile work`, safe to paste in a shell.

    The CLI cannot be told an account. Where no profile says which one is meant, the account is tested first, so that
    the command stops in any other.
    """
    words = ["aws", call.service, kebab(call.operation)]
    for name, value in call.parameters.items():
        words += _option(kebab(name), value)
    words += ["--region", shlex.quote(region)]
    if profile:
        words += ["--profile", shlex.quote(profile)]
    line = " ".join(words)
    if account and not profile:
        asked = "aws sts get-caller-identity --query Account --output text"
        return f'test "$({asked})" = {shlex.quote(account)} && {line}'
    return line


def kebab(name: str) -> str:
    """`EndpointConfigName` -> `endpoint-config-name`, `SendSSHPublicKey` -> `send-ssh-public-key`: the CLI's way."""
    parted = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1-\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", parted).lower()


def _option(name: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [f"--{name}" if value else f"--no-{name}"]
    if isinstance(value, list | tuple) and value and all(isinstance(item, str | int | float) for item in value):
        return [f"--{name}", *(shlex.quote(str(item)) for item in value)]
    if isinstance(value, Mapping | list | tuple):
        return [f"--{name}", shlex.quote(json.dumps(value, default=_plain, ensure_ascii=False))]
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, date):
        value = value.isoformat()
    text = shlex.quote(str(value))
    # a value that begins with a dash would be read as an option
    return [f"--{name}={text}"] if str(value).startswith("-") else [f"--{name}", text]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return value.isoformat() if isinstance(value, date) else str(value)
