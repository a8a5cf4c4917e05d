"""What is held without an instance, paid for ahead, being changed, or a part of something larger.

Documented scenarios with answers changed by the members of botocore 1.44.8's output shapes.
"""

from __future__ import annotations

from typing import Any

import pytest

from clouds.replay import Scenario
from tests.clouds.aws.checks.stage import Account
from tests.clouds.aws.checks.test_other_shapes import only, other

ENDPOINT, DOMAIN = "sm-endpoint-idle", "opensearch-idle"


def variant(**about: Any) -> Scenario:
    return other(ENDPOINT, "sagemaker.DescribeEndpoint", "CurrentInstanceCount", **about)


def test_serverless_capacity_that_is_kept_ready_is_waste_of_which_no_rate_is_known(account: Account) -> None:
    found = only(account, ENDPOINT, variant(
        CurrentInstanceCount=None, CurrentServerlessConfig={"MemorySizeInMB": 2048, "ProvisionedConcurrency": 4},
    ))  # fmt: skip
    assert found.reason == "no request in 7 days; holds 4 x 2048 MB kept ready"
    assert (found.billing, found.usd_per_month, found.bound) == ("unpriced", None, "at least")


def test_a_serverless_endpoint_that_keeps_nothing_ready_is_no_waste(account: Account) -> None:
    result = account.scan(ENDPOINT, variant(
        CurrentInstanceCount=None, CurrentServerlessConfig={"MemorySizeInMB": 2048, "MaxConcurrency": 4},
    ))  # fmt: skip
    assert (result.findings, result.complete) == ((), True)


@pytest.mark.parametrize(
    ("preference", "billing"), [("capacity-reservations-only", "prepaid"), ("something-else", "billed")]
)
def test_instances_of_reserved_capacity_are_prepaid(preference: str, billing: str, account: Account) -> None:
    reserved = {"CapacityReservationPreference": preference, "MlReservationArn": "arn:plan"}
    assert only(account, ENDPOINT, variant(CapacityReservationConfig=reserved)).billing == billing


@pytest.mark.parametrize(("support", "bound"), [("STANDARD", "exact"), ("EXTENDED", "at least"), (None, "at least")])
def test_a_cluster_that_may_be_in_extended_support_costs_at_least_the_rate(
    support: str | None, bound: str, account: Account
) -> None:
    policy = {"upgradePolicy": {"supportType": support}} if support else {}
    found = only(account, "eks-idle-cluster", other("eks-idle-cluster", "eks.DescribeCluster", "createdAt", **policy))
    assert (found.usd_per_month, found.bound) == (73.0, bound)


@pytest.mark.parametrize("version", ["2017.11.29", "2019.11.21"])
def test_a_replica_is_left_alone_also_where_the_others_are_not_listed(version: str, account: Account) -> None:
    table = other("dynamodb-idle-provisioned", "dynamodb.DescribeTable", "TableStatus", GlobalTableVersion=version)
    result = account.scan("dynamodb-idle-provisioned", table)
    assert (result.findings, result.complete) == ((), True)


@pytest.mark.parametrize(
    "about",
    [
        {"UpgradeProcessing": True},
        {"DomainProcessingStatus": "UpdatingServiceSoftware"},
        {"DomainProcessingStatus": "Isolated"},
        {"Deleted": True},
    ],
)
def test_a_domain_at_which_somebody_is_at_work_is_left_alone(about: dict[str, Any], account: Account) -> None:
    result = account.scan(DOMAIN, other(DOMAIN, "opensearch.DescribeDomains", "DomainId", **about))
    assert (result.findings, result.complete) == ((), True)


def test_a_domain_that_says_it_is_active_is_judged(account: Account) -> None:
    only(account, DOMAIN, other(DOMAIN, "opensearch.DescribeDomains", "DomainId", DomainProcessingStatus="Active"))


@pytest.mark.parametrize("system", ["Windows", "Lustre", "Ontap", "OpenZFS"])
def test_a_file_system_that_does_not_say_its_sort_is_of_its_one_configuration(system: str, account: Account) -> None:
    kept = {f"{each}Configuration": None for each in ("Windows", "Lustre", "Ontap", "OpenZFS")}
    kept[f"{system}Configuration"] = {"ThroughputCapacity": 32}  # type: ignore[assignment]
    scenario = other("fsx-idle", "fsx.DescribeFileSystems", "FileSystemId", FileSystemType=None, **kept)
    assert only(account, "fsx-idle", scenario).evidence["type"] == system.lower()


def test_concurrency_of_which_only_the_wanted_part_is_told_is_that(account: Account) -> None:
    scenario = other("lambda-provisioned-idle", "lambda.ListProvisionedConcurrencyConfigs", "Status",
                     AllocatedProvisionedConcurrentExecutions=None,
                     RequestedProvisionedConcurrentExecutions=1)  # fmt: skip
    found = only(account, "lambda-provisioned-idle", scenario)
    assert found.reason == "1 execution of 1024 MB kept ready, none used in 7 days"


def test_a_marketplace_endpoint_that_tells_no_instances_has_no_price(account: Account) -> None:
    scenario = other("bedrock-marketplace-endpoint", "bedrock.GetMarketplaceModelEndpoint", "modelSourceIdentifier",
                     endpointConfig={})  # fmt: skip
    found = only(account, "bedrock-marketplace-endpoint", scenario)
    assert (found.reason, found.billing) == (
        "no request in 7 days; holds instances of which nothing is told",
        "unpriced",
    )


def test_a_file_system_of_which_nothing_says_the_sort_is_unread(account: Account) -> None:
    scenario = other("fsx-idle", "fsx.DescribeFileSystems", "FileSystemId", FileSystemType=None,
                     WindowsConfiguration=None)  # fmt: skip
    result = account.scan("fsx-idle", scenario)
    assert (result.findings, result.complete) == ((), False)
