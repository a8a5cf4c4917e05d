"""Accounts of other shapes than the scenarios': what stands in the way of a removal, and what else is held and billed.

Each is a documented scenario with answers changed by the members of botocore 1.44.8's output shapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from clouds.aws.checks import words
from clouds.models import Scope
from clouds.models.removal import CleanupStep, Doomed
from clouds.replay import Answer, Fixture, Scenario
from tests.clouds.aws.checks.stage import ACCOUNT, CHECKS, NOW, Account, waste
from tests.clouds.aws.checks.test_unknown import DENIED, with_answer
from tools.cleanup import planning
from tools.progress import CallProgress
from tools.waste.records import Finding


def merged(value: Any, change: Mapping[str, Any]) -> Any:
    """An answer with members set wherever one of that name stands, and added to the rows that hold `_`."""
    if isinstance(value, list):
        return [merged(each, change) for each in value]
    if not isinstance(value, dict):
        return value
    added = {key: new for key, new in change.items() if change.get("_") in value and key != "_"}
    return {**{key: merged(each, change) for key, each in value.items()}, **added}


def other(check: str, operation: str, row: str, **change: Any) -> Scenario:
    """The waste of a check with further members in the rows (those that have a member `row`) of one answer."""

    def told(each: Fixture) -> Fixture:
        return replace(each, answer=replace(each.answer, body=merged(each.answer.body, {"_": row, **change})))

    return with_answer(waste(check), operation, told)


def also(scenario: Scenario, service: str, operation: str, answer: Answer) -> Scenario:
    """The scenario with one more answer."""
    return replace(scenario, fixtures=(*scenario.fixtures, Fixture("more.json", service, operation, answer)))


def only(account: Account, check: str, scenario: Scenario) -> Finding:
    (found,) = account.scan(check, scenario).findings
    return found


def steps(check: str, row: Any, name: str = "it") -> tuple[CleanupStep, ...]:
    remove = CHECKS[check].remove
    assert not isinstance(remove, str)
    return remove(Doomed(row, Scope("us-east-1", ACCOUNT), "arn:it", name, "mark"))


def keys(found: Finding) -> dict[str, float]:
    return {line.key: line.quantity for line in found.meters}


def test_a_protected_cluster_is_reported_and_cannot_be_removed(account: Account) -> None:
    found = only(account, "eks-idle-cluster", other("eks-idle-cluster", "eks.DescribeCluster", "createdAt",
                                                    deletionProtection=True))  # fmt: skip
    assert (found.removable, found.stays) == (False, "its deletion protection is on")


def lustre(kind: str, **about: Any) -> Scenario:
    return other(
        "fsx-idle", "fsx.DescribeFileSystems", "FileSystemId", FileSystemType="LUSTRE", WindowsConfiguration=None,
        LustreConfiguration={"DeploymentType": kind, **about},
    )  # fmt: skip


def linked(*associations: Mapping[str, Any]) -> Answer:
    return Answer(200, {"Associations": list(associations)})


def test_a_scratch_file_system_has_no_backup_and_so_no_removal(account: Account) -> None:
    found = only(account, "fsx-idle", lustre("SCRATCH_2"))
    assert (found.removable, found.stays) == (False, "it is of a scratch type, which takes no backup")


@pytest.mark.parametrize(
    ("scenario", "removable"),
    [
        (also(lustre("PERSISTENT_2"), "fsx", "DescribeDataRepositoryAssociations", linked()), True),
        (
            also(lustre("PERSISTENT_2"), "fsx", "DescribeDataRepositoryAssociations", linked({"AssociationId": "dra"})),
            False,
        ),
        (
            also(
                lustre("PERSISTENT_1", DataRepositoryConfiguration={"Lifecycle": "AVAILABLE"}),
                "fsx", "DescribeDataRepositoryAssociations", linked(),
            ),
            False,
        ),
    ],
)  # fmt: skip
def test_a_file_system_that_is_linked_to_s3_in_either_way_is_not_removed(
    scenario: Scenario, removable: bool, account: Account
) -> None:
    assert only(account, "fsx-idle", scenario).removable is removable


def test_links_that_nobody_may_read_leave_a_file_system_unread(account: Account) -> None:
    scenario = also(lustre("PERSISTENT_2"), "fsx", "DescribeDataRepositoryAssociations", DENIED)
    result = account.scan("fsx-idle", scenario)
    assert (result.findings, [gap.call for gap in result.unread]) == ((), ["fsx.DescribeDataRepositoryAssociations"])


def test_tiered_storage_holds_nothing_that_is_priced_and_its_throughput_is(account: Account) -> None:
    found = only(
        account, "fsx-idle",
        other("fsx-idle", "fsx.DescribeFileSystems", "FileSystemId", FileSystemType="OPENZFS", StorageCapacity=None,
              StorageType="INTELLIGENT_TIERING", WindowsConfiguration=None,
              OpenZFSConfiguration={"DeploymentType": "MULTI_AZ_1", "ThroughputCapacity": 160}),
    )  # fmt: skip
    assert found.reason == "neither read nor written in 14 days; tiered storage of openzfs"
    assert (keys(found), found.bound) == ({"fsx-openzfs/throughput/multi-az-1": 160.0}, "at least")


def test_what_a_file_system_keeps_in_a_colder_class_is_part_of_its_size(account: Account) -> None:
    size = {"Value": 500 * 1024**3, "ValueInStandard": 0, "ValueInIA": 500 * 1024**3}
    found = only(account, "efs-unmounted",
                 other("efs-unmounted", "efs.DescribeFileSystems", "FileSystemId", SizeInBytes=size))  # fmt: skip
    assert found.reason == "no mount target; 500.00 GB"
    assert (keys(found), found.evidence["GB"]) == ({"efs/infrequent-access": 500.0}, 500.0)


def tasks(*each: tuple[str, str]) -> Scenario:
    rows = [{"ReplicationInstanceArn": f"arn:aws:dms:us-east-1:{ACCOUNT}:rep:MIG", "Status": status,
             "MigrationType": kind} for status, kind in each]  # fmt: skip
    return with_answer(
        waste("dms-idle"), "dms.DescribeReplicationTasks",
        lambda told: replace(told, answer=Answer(200, {"ReplicationTasks": rows})),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        ([("stopped", "full-load")], "1 ended task is still on it, and AWS deletes an instance only after its tasks"),
        (
            [("failed", "cdc"), ("stopped", "full-load")],
            "2 ended tasks are still on it, and AWS deletes an instance only after its tasks",
        ),
    ],
)
def test_an_instance_goes_only_after_its_tasks(ended: Any, words: str, account: Account) -> None:
    found = only(account, "dms-idle", tasks(*ended))
    assert (found.removable, found.stays, found.evidence["ended tasks"]) == (False, words, len(ended))


def test_an_instance_whose_task_is_being_stopped_is_in_use(account: Account) -> None:
    result = account.scan("dms-idle", tasks(("stopping", "full-load")))
    assert (result.findings, result.complete) == ((), True)


def test_units_of_another_table_class_are_a_lower_bound(account: Account) -> None:
    found = only(account, "dynamodb-idle-provisioned",
                 other("dynamodb-idle-provisioned", "dynamodb.DescribeTable", "TableStatus",
                       TableClassSummary={"TableClass": "STANDARD_INFREQUENT_ACCESS"}))  # fmt: skip
    assert (found.usd_per_month, found.bound) == (33.22, "at least")


def test_warm_and_coordinating_nodes_of_a_domain_are_priced(account: Account) -> None:
    about = {
        "InstanceType": "r6g.large.search", "InstanceCount": 2, "DedicatedMasterEnabled": False, "WarmEnabled": True,
        "WarmType": "ultrawarm1.medium.search", "WarmCount": 2,
        "NodeOptions": [{"NodeType": "coordinator",
                         "NodeConfig": {"Enabled": True, "Type": "m6g.large.search", "Count": 3}}],
    }  # fmt: skip
    found = only(account, "opensearch-idle",
                 other("opensearch-idle", "opensearch.DescribeDomains", "DomainId", ClusterConfig=about))  # fmt: skip
    assert keys(found) == {
        "opensearch/r6g.large.search": 2.0,
        "opensearch/ultrawarm1.medium.search": 2.0,
        "opensearch/m6g.large.search": 3.0,
        "opensearch-storage/gp3": 200.0,
    }
    assert found.bound == "at least"


@pytest.mark.parametrize(("zones", "bound"), [("Enabled", "at least"), ("Disabled", "exact")])
def test_a_warehouse_in_two_zones_costs_at_least_the_nodes_that_are_told(
    zones: str, bound: str, account: Account
) -> None:
    found = only(account, "redshift-idle",
                 other("redshift-idle", "redshift.DescribeClusters", "NodeType", MultiAZ=zones))  # fmt: skip
    assert found.bound == bound


def test_units_that_are_wanted_count_where_the_present_ones_are_not_told(account: Account) -> None:
    scenario = other("comprehend-endpoint-idle", "comprehend.ListEndpoints", "EndpointArn",
                     CurrentInferenceUnits=None, DesiredInferenceUnits=2)  # fmt: skip
    assert keys(only(account, "comprehend-endpoint-idle", scenario)) == {"comprehend/inference-unit": 2.0}


def test_a_server_of_which_nobody_says_whether_it_is_active_is_unresolved(account: Account) -> None:
    scenario = other("sm-mlflow-idle", "sagemaker.DescribeMlflowTrackingServer", "TrackingServerSize", IsActive=None)
    result = account.scan("sm-mlflow-idle", scenario)
    assert (result.findings, result.coverage.unresolved, result.complete) == ((), 1, False)


@pytest.mark.parametrize(("node", "kept"), [("cache.t3.micro", True), ("cache.t1.micro", False)])
def test_a_cache_is_deleted_with_a_snapshot_only_where_its_type_has_one(node: str, kept: bool) -> None:
    (delete,) = steps("elasticache-idle", {"CacheClusterId": "c", "Engine": "redis", "CacheNodeType": node})
    assert delete.call.parameters.get("FinalSnapshotIdentifier", "") == delete.makes
    assert (delete.makes[-2:] == "-c", delete.makes in delete.text) == (kept, True)
    assert delete.reversal == ("can be undone" if kept else "cannot be undone")


def test_the_machines_of_a_fleet_are_counted_one_by_one(account: Account) -> None:
    fleet = other("emr-idle", "emr.DescribeCluster", "ReleaseLabel", InstanceCollectionType="INSTANCE_FLEET")
    machines = [("m5.xlarge", "ON_DEMAND"), ("r5.xlarge", "SPOT"), ("r5.xlarge", "SPOT")]
    answer = Answer(200, {"Instances": [{"InstanceType": name, "Market": market} for name, market in machines]})
    found = only(account, "emr-idle", also(fleet, "emr", "ListInstances", answer))
    assert found.reason.endswith("; 1 x m5.xlarge, 2 x r5.xlarge")
    assert keys(found) == {
        "emr/m5.xlarge": 1.0, "ec2/m5.xlarge/on-demand": 1.0, "emr/r5.xlarge": 2.0, "ec2/r5.xlarge/spot": 2.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("region", "partition"),
    [
        ("us-east-1", "aws"),
        ("cn-north-1", "aws-cn"),
        ("us-gov-west-1", "aws-us-gov"),
        ("eusc-de-east-1", "aws-eusc"),
        ("us-isob-east-1", "aws-iso-b"),
        ("eu-isoe-west-1", "aws-iso-e"),
    ],
)
def test_an_id_names_the_partition_of_its_region(region: str, partition: str) -> None:
    assert words.arn("glue", Scope(region, ACCOUNT), "x") == f"arn:{partition}:glue:{region}:{ACCOUNT}:x"


def test_one_of_a_thing_is_told_in_the_singular(account: Account) -> None:
    one = other("kinesis-idle", "kinesis.DescribeStreamSummary", "StreamName", OpenShardCount=1)
    assert only(account, "kinesis-idle", one).reason.endswith("; 1 shard")


def test_what_lacks_a_part_that_its_steps_need_is_refused_and_ends_no_plan(account: Account) -> None:
    scan = account.scan("msk-idle", with_answer(waste("msk-idle"), "kafka.ListClustersV2", without_version))
    plan = planning.make(scan.id, scan.findings, lambda _name: account.cloud, (), NOW, CallProgress())
    assert plan.findings == ()
    assert [each.reason for each in plan.refused] == [
        "its steps cannot be written: what is known of it lacks a part (KeyError)"
    ]


def without_version(each: Fixture) -> Fixture:
    rows = [{key: value for key, value in row.items() if key != "CurrentVersion"}
            for row in each.answer.body["ClusterInfoList"]]  # fmt: skip
    return replace(each, answer=replace(each.answer, body={"ClusterInfoList": rows}))
