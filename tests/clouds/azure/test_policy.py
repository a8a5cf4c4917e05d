from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from clouds.azure import policy
from clouds.models import Call
from clouds.readonly import ReadOnly

ROOT = Path(__file__).parents[3]


def test_every_read_of_every_port_is_in_the_table_of_versions() -> None:
    assert [str(call) for calls in policy.READS.values() for call in calls if not policy.known(call)] == []


def test_the_reads_of_the_ports_make_a_read_only_list() -> None:
    assert ReadOnly(policy.reads()).allow == policy.reads()


@pytest.mark.parametrize(
    ("call", "action"),
    [
        (Call("Microsoft.App/containerApps", "list"), "Microsoft.App/containerApps/read"),
        (Call("Microsoft.App/containerApps", "put"), "Microsoft.App/containerApps/write"),
        (Call("Microsoft.App/containerApps", "stop"), "Microsoft.App/containerApps/stop/action"),
        (
            Call("Microsoft.Resources/resourceGroups", "delete"),
            "Microsoft.Resources/subscriptions/resourceGroups/delete",
        ),
        ("Microsoft.CostManagement/query.query", "Microsoft.CostManagement/query/action"),
        ("tenants.list", ""),
    ],
)
def test_a_call_is_the_action_that_azure_knows(call: Call | str, action: str) -> None:
    assert policy.action(call) == action


def test_a_role_names_each_action_once_and_no_more() -> None:
    found = policy.role("x", "y", ["Microsoft.App/jobs.get", "Microsoft.App/jobs.list", "tenants.list"])
    assert found["Actions"] == ["Microsoft.App/jobs/read"]


def test_what_is_no_action_is_refused() -> None:
    with pytest.raises(ValueError, match="not actions"):
        policy.role("x", "y", ["Microsoft.App/*.list"])


def test_whoever_deploys_may_not_do_everything() -> None:
    actions = policy.deployer()["Actions"]
    assert [each for each in actions if "*" in each or "roleAssignments/write" in each] == [
        each for each in actions if "roleAssignments/write" in each
    ]
    assert "Microsoft.App/containerApps/write" in actions


def test_the_published_role_is_the_derived_one() -> None:
    file, derived = ROOT / "policy/azure-deployer.json", json.dumps(policy.deployer(), indent=2) + "\n"
    if os.environ.get("UPDATE_EXPECTED"):
        file.write_text(derived, "utf-8")
    assert file.read_text("utf-8") == derived, "UPDATE_EXPECTED=1 writes it anew"
