from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from clouds.azure.checks import CHECKS, PACK, policies
from clouds.azure.checks.permissions import permissions
from clouds.models.waste import Listing
from clouds.replay import Answer, Fixture, Replay
from tests.clouds.azure.checks.stage import SUBSCRIPTION, Account
from tests.clouds.azure.checks.test_unknown import changed, denied
from tools.progress import CallProgress
from tools.waste.probing import probe

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


def test_a_probe_names_the_action_that_is_lacking_and_asks_every_listing_once(account: Account) -> None:
    listings = {read for check in CHECKS for read in check.all_reads if isinstance(read, Listing)}
    given = {(each.service, each.operation) for each in account.base.fixtures}
    empty = [
        Fixture("", read.service, read.operation, Answer(200, {"value": []}))
        for read in listings
        if (read.service, read.operation) not in given
    ]
    scenario = replace(account.base, fixtures=(*account.base.fixtures, *empty))
    account.stage.replay = Replay([changed(scenario, "Microsoft.Compute/disks.list", denied)])
    found = probe(account.cloud, CallProgress())
    assert found is not None
    assert (found.denied, found.unclear) == (("Microsoft.Compute/disks/read",), ())
    assert found.place == SUBSCRIPTION
    assert found.requests == found.allowed + found.not_here + 1
