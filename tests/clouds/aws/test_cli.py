"""A call as the AWS CLI's own command: one quoting for all, always with region, and with profile or account."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess

import pytest

from clouds.aws import cli
from clouds.aws.endpoints import permissions, shapes
from clouds.models import Call

NAMES = [
    ("CreateEndpointConfig", "create-endpoint-config"),
    ("EndpointConfigName", "endpoint-config-name"),
    ("SendSSHPublicKey", "send-ssh-public-key"),
    ("InstanceOSUser", "instance-os-user"),
    ("VpcId", "vpc-id"),
    ("SSHPublicKey", "ssh-public-key"),
    ("ListAWSDefaultServiceQuotas", "list-aws-default-service-quotas"),
    ("logGroupName", "log-group-name"),
]


@pytest.mark.parametrize(("name", "expected"), NAMES)
def test_names_are_spelt_as_the_cli_spells_them(name: str, expected: str) -> None:
    from botocore import xform_name

    assert cli.kebab(name) == expected == xform_name(name, "-")


def test_every_operation_and_parameter_of_ours_is_spelt_as_the_cli_spells_it() -> None:
    from botocore import xform_name

    wrong = []
    for call in (*permissions.SAGEMAKER, *permissions.EC2):
        shape = shapes.operation(call).input_shape
        names = [call.operation, *(shape.members if shape else ())]
        wrong += [name for name in names if cli.kebab(name) != xform_name(name, "-")]
    assert wrong == []


def test_a_command_is_one_shell_line_with_region_and_profile() -> None:
    call = Call("sagemaker", "CreateEndpoint", {"EndpointName": "gemma", "EndpointConfigName": "gemma"})
    line = "aws sagemaker create-endpoint --endpoint-name gemma --endpoint-config-name gemma --region us-east-2"
    assert cli.command(call, "us-east-2", profile="work", account="123456789012") == f"{line} --profile work"
    assert cli.command(call, "us-east-2") == line


def test_without_a_profile_the_command_stops_in_any_other_account() -> None:
    line = cli.command(Call("iam", "GetRole", {"RoleName": "r"}), "us-east-1", account="123456789012")
    guard, _, command = line.partition(" && ")
    assert guard == 'test "$(aws sts get-caller-identity --query Account --output text)" = 123456789012'
    assert command == "aws iam get-role --role-name r --region us-east-1"
    bash = shutil.which("bash") or "/bin/bash"
    for answer, ran in (("123456789012", "ran\n"), ("999999999999", "")):
        script = f'aws() {{ if [ "$1" = sts ]; then echo {answer}; else echo ran; fi; }}\n{line}\n'
        done = subprocess.run([bash, "-c", script], capture_output=True, text=True, check=False)
        assert done.stdout == ran


VALUES = [
    ("a string with everything", 'it\'s $(touch x); `y` "z" \\ *'),
    ("a list of strings", ["a b", "c'd"]),
    ("a structure", {"Key": "it's", "Value": ["$x"]}),
    ("a list of structures", [{"Key": "modelrig-owner", "Value": "dev's"}]),
    ("a number", 1800),
    ("several lines", "#!/bin/bash\necho 'x'\n"),
]


@pytest.mark.parametrize(("why", "value"), VALUES, ids=[row[0] for row in VALUES])
def test_whatever_a_value_holds_the_shell_hands_it_over_unchanged(why: str, value: object) -> None:
    words = shlex.split(cli.command(Call("x", "DoIt", {"Value": value}), "us-east-1"))
    given = words[words.index("--value") + 1 : words.index("--region")]
    if isinstance(value, list) and isinstance(value[0], str):
        assert given == value
    elif isinstance(value, str | int):
        assert given == [str(value)]
    else:
        assert json.loads(given[0]) == value


def test_switches_and_values_that_begin_with_a_dash_are_not_mistaken() -> None:
    call = Call("x", "DoIt", {"DryRun": True, "Force": False, "Text": "--delete-all", "Body": b"bytes"})
    assert cli.command(call, "us-east-1") == (
        "aws x do-it --dry-run --no-force --text=--delete-all --body bytes --region us-east-1"
    )
