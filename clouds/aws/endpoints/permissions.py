"""What making and ending endpoints sends besides reads, for least-privilege policies; a test holds it to what is sent.

`iam:PassRole` is not a call of its own: whoever deploys on SageMaker needs it for the roles that are handed over.
"""

from __future__ import annotations

from clouds.models import Call

SAGEMAKER = (
    *(
        Call("sagemaker", f"{verb}{noun}")
        for noun in ("Model", "EndpointConfig", "Endpoint")
        for verb in ("Create", "Delete")
    ),
    Call("sagemaker", "UpdateEndpoint"),
    Call("sagemaker", "AddTags"),
    Call("sagemaker-runtime", "InvokeEndpoint"),
    Call("sagemaker-runtime", "InvokeEndpointWithResponseStream"),
    *(Call("scheduler", f"{verb}Schedule") for verb in ("Create", "Update", "Delete")),
    Call("iam", "CreateRole"),
    Call("iam", "PutRolePolicy"),
    Call("iam", "DeleteRolePolicy"),
)
EC2 = (
    *(Call("ec2", name) for name in ("RunInstances", "TerminateInstances", "CreateTags", "CreateSecurityGroup")),
    *(Call("ec2", name) for name in ("AuthorizeSecurityGroupIngress", "DeleteSecurityGroup")),
    Call("ec2-instance-connect", "SendSSHPublicKey"),
    *(Call("iam", name) for name in ("CreateRole", "PutRolePolicy", "DeleteRolePolicy", "DeleteRole")),
    *(Call("iam", f"{verb}InstanceProfile") for verb in ("Create", "Delete")),
    Call("iam", "AddRoleToInstanceProfile"),
    Call("iam", "RemoveRoleFromInstanceProfile"),
)
PASSED_ROLES = ("modelrig-sagemaker", "modelrig-scheduler", "modelrig-*")
"""Roles for which `iam:PassRole` is needed: to SageMaker, to the scheduler, and to a machine that reads a secret."""
