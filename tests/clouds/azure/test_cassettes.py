"""Cloud Custodian's recordings of a real subscription, through the real transport."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clouds.azure.api import AzureApi
from clouds.azure.cassettes import Cassette
from clouds.errors import InvalidInput, NotFound
from clouds.models import Call, Scope
from clouds.replay import NotRecorded

RECORDINGS = Path(__file__).parents[4] / "shared" / "recordings" / "cloud-custodian" / "azure"
SUBSCRIPTION = "ea42f556-5106-4743-99b0-c129bfa71a47"
HERE = Scope(account=SUBSCRIPTION)


def api(*names: str) -> tuple[AzureApi, Cassette]:
    if not RECORDINGS.is_dir():
        pytest.skip("the recordings are not beside this checkout")
    tape = Cassette([RECORDINGS / f"{name}.json" for name in names])
    return AzureApi(taps=(tape,), recorded=True, attempts=1), tape


def test_every_listing_of_every_recording_is_read() -> None:
    if not RECORDINGS.is_dir():
        pytest.skip("the recordings are not beside this checkout")
    kinds = {
        "AksTest.test_find_aks_by_name": ("Microsoft.ContainerService/managedClusters", 1),
        "MachineLearningWorkspaceTest.test_machine_learning_workspace_policy_run": (
            "Microsoft.MachineLearningServices/workspaces",
            1,
        ),
        "ModifyDiskTypeTests.change_sku_unattached_disks": ("Microsoft.Compute/disks", 5),
        "LoadBalancerTest.test_find_by_name": ("Microsoft.Network/loadBalancers", 4),
        "DatabricksTest.test_find_by_name": ("Microsoft.Databricks/workspaces", 1),
        "TrafficManagerTest.test_find_by_name": ("Microsoft.Network/trafficManagerProfiles", 1),
        "ResourceGroupTest.test_delete_resource_group": ("Microsoft.Resources/resourceGroups", 1),
    }
    found = {name: len(api(name)[0].send(Call(kind, "list"), scope=HERE)["value"]) for name, (kind, _) in kinds.items()}
    assert found == {name: count for name, (_, count) in kinds.items()}


def test_a_child_is_listed_under_the_parent_that_was_recorded() -> None:
    azure, tape = api("MachineLearningOnlineEndpointTest.machine-learning-online-endpoints")
    workspace = azure.send(Call("Microsoft.MachineLearningServices/workspaces", "list"), scope=HERE)["value"][0]
    call = Call("Microsoft.MachineLearningServices/workspaces/onlineEndpoints", "list_in", {"parent": workspace["id"]})
    assert [each["kind"] for each in azure.send(call, scope=HERE)["value"]] == ["Managed"]
    assert (len(tape.sent), tape.missed) == (2, [])


def test_both_recorded_pages_of_the_vaults_are_joined() -> None:
    azure, tape = api("KeyVaultKeyTest.test_key_vault_keys_keyvault")
    assert [vault["name"] for vault in azure.send(Call("Microsoft.KeyVault/vaults", "list"), scope=HERE)["value"]] == [
        "cckeyvault1yghq6zt4ewg2e"
    ]
    assert len(tape.sent) == 2


def test_a_recorded_refusal_is_worded() -> None:
    azure, _ = api("StorageTest.test_storage_management_policy_rules_filter")
    accounts = azure.send(Call("Microsoft.Storage/storageAccounts", "list"), scope=HERE)["value"]
    told = set()
    for account in accounts:
        call = Call(
            "Microsoft.Storage/storageAccounts/managementPolicies",
            "get",
            {"id": f"{account['id']}/managementPolicies/default"},
        )
        try:
            azure.send(call, scope=HERE)
        except NotFound as error:
            told.add(error.code)
        except NotRecorded:
            continue
    assert told == {"ManagementPolicyNotFound"}


def test_what_nobody_recorded_is_an_error_and_never_a_request() -> None:
    azure, tape = api("AksTest.test_find_aks_by_name")
    with pytest.raises(NotRecorded, match=r"not recorded$") as told:
        azure.send(Call("Microsoft.App/containerApps", "list"), scope=HERE)
    assert told.value.answered.startswith("nobody recorded GET /subscriptions/*/providers/microsoft.app")
    assert len(tape.missed) == 1


@pytest.mark.parametrize("content", ["{", "{}", json.dumps({"interactions": [{"request": {}}]}), json.dumps([])])
def test_a_file_that_is_no_recording_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(InvalidInput, match="is no recording"):
        Cassette([path])


def test_answers_to_one_address_are_one_sequence(tmp_path: Path) -> None:
    uri = (
        f"https://management.azure.com/subscriptions/{SUBSCRIPTION}/providers/Microsoft.App/containerApps?api-version=1"
    )

    def said(*names: str) -> dict[str, Any]:
        answer = {"status": {"code": 200}, "body": {"data": {"value": [{"name": name} for name in names]}}}
        return {"request": {"method": "GET", "uri": uri}, "response": answer}

    path = tmp_path / "x.json"
    path.write_text(json.dumps({"interactions": [said("a"), said("b")]}))
    azure = AzureApi(taps=(Cassette([path]),), recorded=True)
    call = Call("Microsoft.App/containerApps", "list")
    assert [azure.send(call, scope=HERE)["value"][0]["name"] for _ in range(3)] == ["a", "b", "b"]
