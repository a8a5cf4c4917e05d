"""What another system made and needs, and what a machine cannot be stopped without being told."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from clouds.gcp.checks.commands import command
from clouds.gcp.checks.machines import GPU_IDLE
from clouds.models import Scope
from clouds.models.removal import CleanupStep, Doomed
from tests.clouds.gcp.checks.stage import PROJECT, Account, Scenario, waste
from tools.waste.records import Scan

SNAPSHOTS = "compute.snapshots.list"


def snapshots(account: Account, description: str) -> Scan:
    answer = deepcopy(waste("snapshot-old").answers[SNAPSHOTS])
    for row in answer["items"]:
        row["description"] = description
    return account.scan("snapshot-old", waste("snapshot-old").but(**{SNAPSHOTS: answer}))


@pytest.mark.parametrize(
    "description",
    [
        "Snapshot created by GCE-PD CSI Driver",
        '{"kubernetes.io/created-for/pvc/name":"data"}',
        '{"velero.io/backup":"nightly"}',
    ],
)
def test_a_snapshot_that_kubernetes_or_velero_made_is_managed(description: str, account: Account) -> None:
    result = snapshots(account, description)
    assert (result.findings, result.complete, result.coverage.managed > 0) == ((), True, True)


def test_a_snapshot_that_somebody_described_is_found(account: Account) -> None:
    assert snapshots(account, "before the upgrade").findings != ()


def stop(**about: Any) -> CleanupStep:
    row = {
        "name": "trainer", "zone": "zones/us-central1-a", "scheduling": {},
        "machineType": "zones/us-central1-a/machineTypes/a2-ultragpu-1g", **about,
    }  # fmt: skip
    assert not isinstance(GPU_IDLE.remove, str)
    (found,) = GPU_IDLE.remove(Doomed(row, Scope("", PROJECT), "id", "trainer", "mark"))
    return found


def test_a_machine_with_local_ssds_is_stopped_with_the_word_that_its_data_goes() -> None:
    told = stop(disks=[{"type": "PERSISTENT"}, {"type": "SCRATCH"}])
    assert (told.call.parameters["discardLocalSsd"], told.reversal) == (True, "cannot be undone")
    assert "what is on its local SSDs is lost" in told.text
    assert command(told.call, Scope("", PROJECT))[-2:] == ("--discard-local-ssd=true", f"--project={PROJECT}")


def test_a_machine_without_local_ssds_is_just_stopped() -> None:
    told = stop(disks=[{"type": "PERSISTENT"}])
    assert ("discardLocalSsd" in told.call.parameters, told.reversal) == (False, "can be undone")


def since(check: str, operation: str, inside: str, field: str, at: str) -> Scenario:
    """The waste of a check in which each row of one list says this time."""

    def told(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: [{**row, field: at} for row in each] if key == inside else told(each)
                for key, each in value.items()
            }
        return [told(each) for each in value] if isinstance(value, list) else value

    return waste(check).but(**{operation: told(deepcopy(waste(check).answers[operation]))})


MACHINES = "compute.instances.aggregatedList"


@pytest.mark.parametrize(
    ("check", "where"),
    [
        ("gpu-vm-idle", (MACHINES, "instances", "lastStartTimestamp")),
        ("tpu-vm-idle", (MACHINES, "instances", "lastStartTimestamp")),
        ("vm-idle", (MACHINES, "instances", "lastStartTimestamp")),
        ("gke-accelerators-idle", (MACHINES, "instances", "lastStartTimestamp")),
        ("vertex-endpoint-idle", ("aiplatform.projects.locations.endpoints.list", "deployedModels", "createTime")),
        ("vertex-index-idle", ("aiplatform.projects.locations.indexEndpoints.list", "deployedIndexes", "createTime")),
    ],
)
def test_what_was_started_or_deployed_in_the_window_is_too_new(
    check: str, where: tuple[str, str, str], account: Account
) -> None:
    result = account.scan(check, since(check, *where, at="2026-11-29T08:00:00Z"))
    assert (result.findings, result.complete, result.coverage.too_new > 0) == ((), True, True)


@pytest.mark.parametrize("scheduling", [{"provisioningModel": "SPOT"}, {"preemptible": True}])
def test_spot_nodes_are_never_old_and_are_found_all_the_same(scheduling: dict[str, Any], account: Account) -> None:
    check, place = "gke-accelerators-idle", (MACHINES, "instances")
    scenario = since(check, *place, "lastStartTimestamp", at="2026-11-29T08:00:00Z")
    answer = deepcopy(scenario.answers[MACHINES])
    for zone in answer["items"].values():
        for row in zone.get("instances", ()):
            row["scheduling"] = scheduling
    (found,) = account.scan(check, scenario.but(**{MACHINES: answer})).findings
    assert (found.removable, found.stays.partition(" came")[0][-9:]) == (False, "Spot node")
