"""A call of a cleanup in the words of the AWS CLI, one word each, not yet quoted; always with its region.

A `From` stays where the answer of an earlier step goes: whoever prints the script makes a variable of it.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from clouds.aws.cli import kebab
from clouds.models import Call, Scope
from clouds.models.removal import From

_CLI_NAME = {"elbv2": "elbv2", "application-autoscaling": "application-autoscaling", "cloudwatch": "cloudwatch"}


def command(call: Call, scope: Scope) -> tuple[Any, ...]:
    """`aws ec2 delete-volume --volume-id vol-1 --region eu-west-1 --no-cli-pager`."""
    words: list[Any] = ["aws", _CLI_NAME.get(call.service, call.service), kebab(call.operation)]
    if call.service == "s3":
        words[1] = "s3api"
    for name, value in call.parameters.items():
        words += _option(f"--{kebab(name)}", value)
    return (*words, "--region", scope.location or "us-east-1", "--no-cli-pager")


def _option(option: str, value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [option if value else option.replace("--", "--no-", 1)]
    if isinstance(value, From):
        return [option, value]
    if isinstance(value, list | tuple) and value and all(isinstance(each, str | int | float | From) for each in value):
        return [option, *(each if isinstance(each, From) else str(each) for each in value)]
    if isinstance(value, Mapping | list | tuple):
        return [option, json.dumps(value, ensure_ascii=False, default=str)]
    text = str(value)
    return [f"{option}={text}"] if text.startswith("-") else [option, text]


def query(path: str) -> tuple[str, ...]:
    """Our paths are JMESPath, as the CLI's own are."""
    return ("--query", path, "--output", "text") if path else ("--output", "text")


def account_line(account: str) -> str:
    """The CLI cannot be told an account, so that the script asks which one it is in."""
    return f'[[ "$(aws sts get-caller-identity --query Account --output text)" == {shlex.quote(account)} ]]'
