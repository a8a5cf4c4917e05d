"""Answers of years ago say less: what they leave out is known otherwise, and nothing is unread or missed for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clouds.aws.checks.brokers import engine_of
from clouds.replay import load
from tests.clouds.aws.checks.stage import Account, waste_scenario


def without(value: Any, field: str) -> Any:
    """An answer that leaves a field out wherever it stands."""
    if isinstance(value, dict):
        return {key: without(each, field) for key, each in value.items() if key != field}
    return [without(each, field) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("check", "field"),
    [
        ("elasticache-idle", "ARN"),
        ("rds-idle", "DBInstanceArn"),
        ("rds-stopped", "DBInstanceArn"),
        ("rds-snapshot-old", "DBSnapshotArn"),
        ("rds-cluster-snapshot-old", "DBClusterSnapshotArn"),
        ("dynamodb-idle-provisioned", "BillingModeSummary"),
        ("dynamodb-idle-provisioned", "TableArn"),
        ("efs-unmounted", "FileSystemArn"),
        ("redshift-snapshot-old", "SnapshotArn"),
        ("emr-idle", "ClusterArn"),
    ],
)
def test_a_field_that_is_not_there_yet_changes_nothing(check: str, field: str, account: Account) -> None:
    scenario = load(waste_scenario(check))
    old = replace(
        scenario,
        fixtures=tuple(
            replace(each, answer=replace(each.answer, body=without(each.answer.body, field)))
            for each in scenario.fixtures
        ),
    )
    now, then = account.scan(check, scenario), account.scan(check, old)
    assert (then.complete, then.unread) == (True, ())
    assert [(each.resource, each.usd_per_month) for each in then.findings] == [
        (each.resource, each.usd_per_month) for each in now.findings
    ]


@pytest.mark.parametrize(("row", "engine"), [({}, "ACTIVEMQ"), ({"EngineType": "RabbitMQ"}, "RABBITMQ")])
def test_a_broker_of_which_no_engine_is_told_is_of_the_one_that_there_was(row: dict[str, str], engine: str) -> None:
    assert engine_of(row) == engine
