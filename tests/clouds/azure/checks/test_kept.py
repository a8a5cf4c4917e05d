"""What is never removed: managed groups, locks, what could not be read; subscriptions that do not stop each other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clouds.azure.checks import PACK, disks, words
from clouds.models.waste import Listing, Row
from clouds.replay import Answer, Fixture, Replay, Scenario, load
from tests.clouds.azure.checks.stage import FIXTURES, NOW, SUBSCRIPTION, Account
from tests.clouds.azure.checks.test_unknown import DENIED, changed
from tools.progress import CallProgress
from tools.waste.scan import Wanted

SECOND = "00000000-0000-0000-0000-000000000002"
DISK = FIXTURES / "unattached-disk" / "a_zone_redundant_premium_disk"
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/lab"


def answering(body: Any, status: int = 200) -> Any:
    return lambda each: replace(each, answer=Answer(status, body))


def groups(account: Account, **more: str) -> Scenario:
    body = {"value": [{"id": GROUP, "name": "lab", "location": "eastus", **more}]}
    return changed(account.base, "Microsoft.Resources/resourceGroups.list", answering(body))


def locks(account: Account, scope: str, level: str = "CanNotDelete") -> Scenario:
    lock = {"id": f"{scope}/providers/Microsoft.Authorization/locks/keep", "properties": {"level": level}}
    return changed(account.base, "Microsoft.Authorization/locks.list", answering({"value": [lock]}))


def test_what_stands_in_a_group_that_a_service_manages_is_left_alone(account: Account) -> None:
    owner = f"{GROUP}/providers/Microsoft.Databricks/workspaces/spark"
    assert account.scan("unattached-disk", load(DISK), base=groups(account, managedBy=owner)).findings == ()
    assert len(account.scan("unattached-disk", load(DISK), base=groups(account)).findings) == 1


@pytest.mark.parametrize(
    "scope",
    [
        f"/subscriptions/{SUBSCRIPTION}",
        f"/subscriptions/{SUBSCRIPTION}/resourcegroups/LAB",
        f"{GROUP}/providers/Microsoft.Compute/disks/zrs",
    ],
)
def test_a_lock_on_the_resource_its_group_or_its_subscription_keeps_it_from_removal(
    scope: str, account: Account
) -> None:
    found = account.scan("unattached-disk", load(DISK), base=locks(account, scope)).findings[0]
    assert (found.removable, found.usd_per_month) == (False, 29.57)
    assert found.stays == "the lock keep (CanNotDelete) keeps it"


def test_a_lock_on_another_group_keeps_nothing(account: Account) -> None:
    elsewhere = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/laboratory"
    assert account.scan("unattached-disk", load(DISK), base=locks(account, elsewhere)).findings[0].removable


def test_a_group_that_could_not_be_read_makes_the_scan_incomplete_and_keeps_what_is_found(account: Account) -> None:
    base = changed(account.base, "Microsoft.Resources/resourceGroups.list", lambda each: replace(each, answer=DENIED))
    result = account.scan("unattached-disk", load(DISK), base=base)
    assert not result.complete
    assert [each.removable for each in result.findings] == [False]
    assert "could not be read" in result.findings[0].stays


def test_an_age_that_could_not_be_read_makes_the_scan_incomplete_and_keeps_what_is_found(account: Account) -> None:
    scenario = changed(
        load(FIXTURES / "unused-public-ip" / "a_static_standard_address"),
        "Microsoft.Resources/resources.list",
        lambda each: replace(each, answer=DENIED),
    )
    result = account.scan("unused-public-ip", scenario)
    assert not result.complete
    assert [(each.removable, each.usd_per_month) for each in result.findings] == [(False, 3.65)]


def test_a_resource_that_arms_index_does_not_hold_yet_is_too_new(account: Account) -> None:
    scenario = changed(
        load(FIXTURES / "unused-public-ip" / "a_static_standard_address"),
        "Microsoft.Resources/resources.list",
        answering({"value": []}),
    )
    result = account.scan("unused-public-ip", scenario)
    assert (result.findings, result.complete) == ((), True)
    assert sum(gap.resources for gap in result.too_new) == 1


def two(account: Account, second: Answer) -> Scenario:
    """Two subscriptions: the first has an unattached disk, the second answers its listing with `second`."""
    both = [{"subscriptionId": each, "state": "Enabled"} for each in (SUBSCRIPTION, SECOND)]
    both.append({"subscriptionId": "00000000-0000-0000-0000-000000000003", "state": "Deleted"})
    base = changed(account.base, "subscriptions.list", answering({"value": both}))
    disk = next(each for each in load(DISK).fixtures if each.operation == "list" and "disks" in each.service)
    mine = replace(disk, account=SUBSCRIPTION)
    other = Fixture("second", disk.service, disk.operation, second, account=SECOND, parameters={})
    return replace(base, directory=Path("two"), fixtures=(*base.fixtures, mine, other))


def every(account: Account, scenario: Scenario) -> Any:
    return account.look(Wanted(checks=("unattached-disk",)), scenario)


def test_a_subscription_that_is_denied_does_not_stop_the_other_and_the_deleted_one_is_left_out(
    account: Account,
) -> None:
    result = every(account, two(account, DENIED))
    assert [each.account for each in result.findings] == [SUBSCRIPTION]
    assert {each.location: each.ended for each in result.scopes} == {SUBSCRIPTION: "done", SECOND: "denied"}
    assert not result.complete


def test_every_subscription_is_looked_at(account: Account) -> None:
    result = every(account, two(account, Answer(200, {"value": []})))
    assert {each.location: each.ended for each in result.scopes} == {SUBSCRIPTION: "done", SECOND: "done"}
    assert result.complete


def named(name: str, group: str = "lab", **more: Any) -> Row:
    where = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}/providers/Microsoft.Compute/disks/{name}"
    return {"id": where, **more}


@pytest.mark.parametrize(
    ("row", "who"),
    [
        (named("data"), ""),
        (named("data", managedBy="/subscriptions/x/virtualMachines/web"), "web"),
        (named("pvc-1", "MC_lab_aks_eastus"), "the node group of an AKS cluster"),
        (named("x", "databricks-rg-spark-abc"), "Azure Databricks"),
        (named("web-ASRReplica"), "Azure Site Recovery"),
        (named("ms-asr-1234"), "Azure Site Recovery"),
        (named("x", tags={"kubernetes.io-created-for-pvc-name": "d"}), "a Kubernetes volume claim"),
        (named("x", tags={"RSVaultBackup": "yes"}), "Azure Backup"),
        (named("x", "mc_mine"), ""),
    ],
)
def test_who_manages_a_resource_is_read_from_its_own_words(row: Row, who: str) -> None:
    assert words.managed(row) == who


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-06-01T08:00:00.1234567+00:00", "2026-06-01T08:00:00.123456+00:00"),
        ("2026-06-01T08:00:00Z", "2026-06-01T08:00:00+00:00"),
        (1780000000, "2026-05-28T20:26:40+00:00"),
        ("0001-01-01T00:00:00Z", None),
        ("soon", None),
        (True, None),
        (None, None),
    ],
)
def test_a_time_is_read_in_every_spelling_of_azure(value: Any, expected: str | None) -> None:
    at = words.moment(value)
    assert (at.isoformat() if at else None) == expected


def test_a_disk_of_a_sort_that_is_not_known_is_unpriced_and_not_free() -> None:
    row: Mapping[str, Any] = {"sku": {"name": "Quantum_LRS"}, "properties": {"diskSizeGB": 10}}
    assert [(meter.key, meter.quantity) for meter in disks.disk_meters(row)] == [("disk/Quantum_LRS", 1.0)]


def test_the_reads_that_every_check_shares_are_sent_once_a_subscription(account: Account) -> None:
    from tools.waste.survey import Survey

    folders = (DISK, FIXTURES / "orphaned-nic" / "no_machine_and_a_public_address")
    replay = Replay([*(load(folder) for folder in folders), account.base])
    account.stage.replay = replay
    both = tuple(check for check in PACK.checks if check.id in ("unattached-disk", "orphaned-nic", "unused-public-ip"))
    Survey(PACK, account.api, SUBSCRIPTION, NOW, CallProgress()).run(both, (SUBSCRIPTION,))
    counts = {name: replay.operations.count(name) for name in set(replay.operations)}
    for shared in ("Microsoft.Resources/resourceGroups.list", "Microsoft.Authorization/locks.list"):
        assert counts[shared] == 1
    assert counts["Microsoft.Network/publicIPAddresses.list"] == 1


def test_of_a_disk_whose_data_is_copied_after_its_snapshot_the_copy_is_waited_for() -> None:
    from clouds.models import Scope
    from clouds.models.removal import Doomed

    def waited(sku: str) -> tuple[str, tuple[str, ...]]:
        row = {**named("d"), "location": "eastus", "sku": {"name": sku}, "properties": {"diskSizeGB": 100}}
        doomed = Doomed(row, Scope(None, SUBSCRIPTION), row["id"], "d", "c-abcdef-123456", {"GiB": 100})
        assert not isinstance(disks.UNATTACHED.remove, str)
        until = disks.UNATTACHED.remove(doomed)[0].until
        assert until is not None
        return until.path, until.done

    assert waited("Premium_LRS") == ("properties.provisioningState", ("Succeeded",))
    assert waited("PremiumV2_LRS") == waited("UltraSSD_LRS") == ("properties.completionPercent", ("100", "100.0"))


def test_a_subscription_with_nothing_registered_is_read_in_full_and_holds_nothing(account: Account) -> None:
    listings = {read for check in PACK.checks for read in check.all_reads if isinstance(read, Listing)}
    base = load(FIXTURES / "account" / "nothing_registered")
    given = {(each.service, each.operation) for each in base.fixtures}
    empty = [
        Fixture("", read.service, read.operation, Answer(200, {"value": []}))
        for read in listings
        if (read.service, read.operation) not in given
    ]
    result = account.look(Wanted(), replace(base, fixtures=(*base.fixtures, *empty)))
    replay = account.stage.replay
    assert (result.findings, result.complete, replay.missed) == ((), True, [])
    there = {check.id for check in PACK.checks} - {gap.check for gap in result.not_applicable}
    assert there == {"empty-resource-group", "quiet-resource-group", "own-expired", "idle-vpn-gateway"}
    # Each listing once, and what the api asks of its own accord: tenants, subscriptions, who is registered.
    assert max(replay.operations.count(f"{read.service}.{read.operation}") for read in listings) <= 3


@pytest.mark.parametrize(
    ("number", "one", "said"),
    [
        (1, "rule", "1 rule"),
        (2, "rule", "2 rules"),
        (0, "address", "0 addresses"),
        (3, "copy", "3 copies"),
        (1, "copy", "1 copy"),
    ],
)
def test_a_number_is_said_with_its_noun(number: int, one: str, said: str) -> None:
    assert words.many(number, one) == said


def test_a_snapshot_of_a_backup_of_veleros_is_left_alone() -> None:
    row = {"id": f"{GROUP}/providers/Microsoft.Compute/snapshots/s", "tags": {"velero.io-backup": "nightly"}}
    assert words.managed(row) == "a backup of Velero's"
    assert words.managed({**row, "tags": {"velero": "no"}}) == ""


def pools(**about: Any) -> Scenario:
    """The cluster without a node, with other members in each of its pools."""
    scenario = load(FIXTURES / "aks-idle-cluster" / "no_node_on_standard")

    def told(each: Fixture) -> Fixture:
        rows = [
            {
                **row,
                "properties": {
                    **row["properties"],
                    "agentPoolProfiles": [{**pool, **about} for pool in row["properties"]["agentPoolProfiles"]],
                },
            }
            for row in each.answer.body["value"]
        ]
        return replace(each, answer=Answer(200, {**each.answer.body, "value": rows}))

    return changed(scenario, "Microsoft.ContainerService/managedClusters.list", told)


def test_a_cluster_whose_pool_grows_by_itself_has_no_node_only_now(account: Account) -> None:
    assert account.scan("aks-idle-cluster", pools(enableAutoScaling=True, minCount=0, maxCount=5)).findings == ()


def test_a_cluster_whose_pools_were_stopped_on_purpose_is_not_deleted(account: Account) -> None:
    (found,) = account.scan("aks-idle-cluster", pools(count=3, powerState={"code": "Stopped"})).findings
    assert not found.removable
    assert found.stays.endswith("was stopped on purpose, and comes back as it was when it is started")


def test_a_gpu_machine_that_was_started_this_week_is_too_new_to_be_idle(account: Account) -> None:
    scenario = load(FIXTURES / "idle-gpu-vm" / "an_a100_at_half_a_percent")

    def started(each: Fixture) -> Fixture:
        text = json.dumps(each.answer.body)
        text = text.replace('"time": "2026-06-01T08:00:00.0000000+00:00"', '"time": "2026-11-28T08:00:00+00:00"')
        return replace(each, answer=Answer(200, json.loads(text)))

    assert len(account.scan("idle-gpu-vm", scenario).findings) == 1
    result = account.scan("idle-gpu-vm", changed(scenario, "Microsoft.Compute/virtualMachines.list", started))
    assert (result.findings, result.coverage.too_new) == ((), 1)
