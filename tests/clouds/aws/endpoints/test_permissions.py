"""The permissions that are published are those of the calls that are sent."""

from __future__ import annotations

from dataclasses import replace

from clouds.aws.endpoints import permissions, shapes
from clouds.models import Call, Change, EndpointRef
from clouds.readonly import changes
from tests.clouds.aws.rig import Rig

REF = EndpointRef("aws", "sagemaker", "us-east-2", "gemma-4-e2b")
SECRET = "arn:aws:secretsmanager:us-east-2:123456789012:secret:hf-AbCdEf"
NEVER_MADE = {"sagemaker-runtime.InvokeEndpointWithResponseStream"}
"""Sent by the timing client over its own socket."""


def written(rig: Rig) -> set[str]:
    return {name for name in rig.seam.operations() if changes(name) or "Invoke" in name}


def test_sagemaker_sends_what_its_permissions_say_and_nothing_else(wired: Rig) -> None:
    wired.deploy(settings={"hf_token_from": SECRET})
    for kind in ("ml.g6.xlarge", "ml.g6.2xlarge"):
        wired.account["us-east-2"].quotas[f"{kind} for endpoint usage"].value = 2
        wired.account["us-east-2"].capacity[kind] += 1
    wired.sagemaker.update(REF, Change(ttl_hours=1, settings={"max_model_len": 4096}), wired.book, wired.heard)
    wired.sagemaker.delete(REF, wired.book, wired.heard)
    assert written(wired) == {str(call) for call in permissions.SAGEMAKER} - NEVER_MADE


def test_ec2_sends_what_its_permissions_say_and_nothing_else(wired: Rig) -> None:
    wired.deploy_machine(settings={"hf_token_from": SECRET.replace("us-east-2", "us-east-1")})
    wired.ec2.delete(replace(REF, service="ec2", location="us-east-1"), wired.book, wired.heard)
    # the fake in place of SSH pushes no key
    assert written(wired) | {"ec2-instance-connect.SendSSHPublicKey"} == {str(call) for call in permissions.EC2}


def test_every_permission_is_an_operation_that_exists() -> None:
    for call in (*permissions.SAGEMAKER, *permissions.EC2):
        assert shapes.operation(Call(call.service, call.operation)).name == call.operation
