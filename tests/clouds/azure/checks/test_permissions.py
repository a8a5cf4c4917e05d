from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from clouds.azure.checks import CHECKS, PACK, policies
from clouds.azure.checks.permissions import permissions

POLICY = Path(__file__).resolve().parents[4] / "policy"


@pytest.mark.parametrize("name", ["scanner", "cleaner"])
def test_the_published_role_is_the_one_that_is_derived_from_the_checks(name: str) -> None:
    file = POLICY / f"azure-{name}.json"
    derived = json.dumps(policies()[name], indent=2) + "\n"
    if os.environ.get("UPDATE_EXPECTED"):
        file.write_text(derived, "utf-8")
    assert file.read_text("utf-8") == derived, "UPDATE_EXPECTED=1 writes it anew"


def test_the_scanner_reads_and_asks_for_costs_and_can_do_nothing_else() -> None:
    actions = policies()["scanner"]["Actions"]
    assert [each for each in actions if not each.endswith("/read")] == ["Microsoft.CostManagement/query/action"]
    assert policies()["scanner"]["DataActions"] == []


def test_every_read_of_every_check_is_in_the_scanners_role_and_every_step_in_the_cleaners() -> None:
    scanner, cleaner = (set(policies()[name]["Actions"]) for name in ("scanner", "cleaner"))
    for check in CHECKS:
        assert {each for call in check.operations for each in permissions(*call.rsplit(".", 1))} <= scanner
        assert {each for call in check.steps for each in permissions(*call.rsplit(".", 1))} <= cleaner


def test_neither_role_can_read_a_key_or_change_who_may_do_what() -> None:
    every = [each.lower() for name in ("scanner", "cleaner") for each in policies()[name]["Actions"]]
    assert [each for each in every if "listkeys" in each or "listsecrets" in each or "listcredentials" in each] == []
    assert [each for each in every if "roleassignments" in each or "*" in each] == []


@pytest.mark.parametrize(
    ("call", "needed"),
    [
        (("Microsoft.Compute/disks", "list"), "Microsoft.Compute/disks/read"),
        (("Microsoft", "Compute/disks.delete"), "Microsoft.Compute/disks/delete"),
        (("subscriptions", "list"), "Microsoft.Resources/subscriptions/read"),
        (("providers", "list"), "Microsoft.Resources/subscriptions/providers/read"),
        (("Microsoft.Resources/resources", "list"), "Microsoft.Resources/subscriptions/resources/read"),
        (("Microsoft.Insights/metrics", "list_in"), "Microsoft.Insights/metrics/read"),
        (("Microsoft.Compute/virtualMachines", "deallocate"), "Microsoft.Compute/virtualMachines/deallocate/action"),
        (("Microsoft.App/containerApps", "patch"), "Microsoft.App/containerApps/write"),
    ],
)
def test_a_call_is_the_action_that_azure_knows(call: tuple[str, str], needed: str) -> None:
    assert permissions(*call) == (needed,)


def test_the_policy_that_check_setup_gives_is_the_published_one() -> None:
    assert json.loads(PACK.policy()) == json.loads((POLICY / "azure-scanner.json").read_text("utf-8"))
