from __future__ import annotations

import pytest

from clouds.errors import InvalidInput
from clouds.models import Call
from clouds.readonly import Forbidden, ReadOnly, changes, reads
from clouds.replay import Request

ALLOW = reads([Call("ec2", "DescribeVolumes"), Call("compute", "instances.list"), Call("compute", "Disks_List")])
WRITES = (
    "Microsoft.App/containerApps.put",
    "Microsoft.App/containerApps.listSecrets",
    "Microsoft.App/containerApps.stop",
    "ec2.DeleteVolume",
    "ec2.delete_volume",
    "compute.begin_delete",
    "compute.instances.delete",
    "compute.VirtualMachines_Delete",
    "compute.VirtualMachines_BeginDelete",
    "ec2.RunInstances",
    "s3.PutObject",
    "sagemaker.InvokeEndpoint",
    "sagemaker.BatchDeleteClusterNodes",
    "iam.DELETE",
    "secretsmanager.GetSecretValue",
    "storage.listKeys",
    "storage.StorageAccounts_ListKeys",
)


def test_listed_reads_pass() -> None:
    guard = ReadOnly(ALLOW)
    for name in sorted(ALLOW):
        assert guard.before(Request(*name.split(".", 1))) is None
    assert guard.refused == []


def test_an_operation_of_a_type_with_a_path_is_listed_by_its_whole_name() -> None:
    guard = ReadOnly(reads([Call("Microsoft.App/containerApps", "list")]))
    assert guard.before(Request("Microsoft.App/containerApps", "list")) is None
    with pytest.raises(Forbidden):
        guard.before(Request("Microsoft.App/containerApps", "listSecrets"))


@pytest.mark.parametrize("name", [*WRITES, "ec2.describevolumes", "ec2.describe_volumes", "EC2.DescribeVolumes"])
def test_everything_else_is_refused_in_every_spelling(name: str) -> None:
    guard = ReadOnly(ALLOW)
    request = Request(*name.split(".", 1))
    with pytest.raises(Forbidden) as refused:
        guard.before(request)
    assert (refused.value.sent, guard.refused) == (False, [request])


@pytest.mark.parametrize("name", WRITES)
def test_a_list_that_holds_a_write_or_reads_out_a_secret_is_refused_itself(name: str) -> None:
    with pytest.raises(InvalidInput, match="is not a read"):
        ReadOnly(ALLOW | {name})


@pytest.mark.parametrize("name", ["DescribeVolumes", "ec2.*", "ec2.Describe*", ""])
def test_a_list_without_exact_names_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"is not service\.Operation"):
        ReadOnly(frozenset({name}))


@pytest.mark.parametrize(
    "name",
    [
        "ec2.DescribeImportImageTasks",
        "logs.FilterLogEvents",
        "compute.Disks_List",
        "ssm.GetParameter",
        "kms.ListKeys",
        "iam.listRoles",
    ],
)
def test_a_read_is_not_taken_for_a_write(name: str) -> None:
    assert not changes(name)
