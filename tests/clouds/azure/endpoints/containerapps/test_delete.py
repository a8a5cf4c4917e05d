"""Taking an app away: in order, only what is ours, read back until Azure says 404."""

from __future__ import annotations

import pytest

from clouds.errors import Conflict
from clouds.models import Scope
from tests.clouds.azure.endpoints.rig import REF, Rig
from tests.clouds.azure.simulator import ID, Fault, groups


def test_what_bills_goes_first_then_the_end_then_the_rest(rig: Rig) -> None:
    rig.deploy(settings={"min_replicas": 1})
    before = len(rig.seam.writes())
    deletion = rig.apps.delete(REF, rig.book, rig.heard)
    assert rig.seam.writes()[before:] == [
        "DELETE Microsoft.App/containerApps",
        "DELETE Microsoft.Authorization/roleAssignments",
        "DELETE Microsoft.Logic/workflows",
        "DELETE Microsoft.App/managedEnvironments",
        "DELETE Microsoft.Resources/resourceGroups",
    ]
    assert (deletion.gone, {part.outcome for part in deletion.parts}) == (True, {"deleted"})
    assert (rig.account.billing(), rig.account.misuse) == ([], [])
    assert {word.rsplit(" ", 1)[1] for word in rig.steps()} == {"undone", "done"}


def test_deleting_what_is_gone_says_so(rig: Rig) -> None:
    rig.deploy()
    rig.apps.delete(REF, rig.book, rig.heard)
    again = rig.apps.delete(REF, rig.book, rig.heard)
    assert (again.gone, [(part.part, part.outcome) for part in again.parts]) == (
        True,
        [("container app gemma", "was not there")],
    )


def test_what_modelrig_did_not_make_is_not_deleted(rig: Rig) -> None:
    rig.deploy()
    rig.account.of("Microsoft.App/containerApps")[0].tags.clear()
    with pytest.raises(Conflict, match="modelrig did not make this app"):
        rig.apps.delete(REF, rig.book, rig.heard)
    assert len(rig.account.billing()) == 1


def test_a_group_with_somebody_elses_thing_in_it_stays_and_says_why(rig: Rig) -> None:
    rig.deploy()
    place = f"/subscriptions/{ID}/resourceGroups/modelrig-gemma/providers/Microsoft.Storage/storageAccounts/keep"
    groups.new(rig.account, place, "Microsoft.Storage/storageAccounts", {"location": "swedencentral"})
    deletion = rig.apps.delete(REF, rig.book, rig.heard)
    assert deletion.gone
    assert (deletion.parts[-1].part, deletion.parts[-1].outcome, deletion.parts[-1].detail) == (
        "resource group modelrig-gemma",
        "kept",
        "keep uses it",
    )
    assert rig.account.find(place) is not None


def test_an_environment_that_somebody_uses_too_stays(rig: Rig) -> None:
    rig.deploy()
    environment = rig.account.of("Microsoft.App/managedEnvironments")[0].id
    place = f"/subscriptions/{ID}/resourceGroups/theirs/providers/Microsoft.App/containerApps/other"
    body = {"location": "swedencentral", "properties": {"environmentId": environment}}
    groups.new(rig.account, place, "Microsoft.App/containerApps", body)
    deletion = rig.apps.delete(REF, rig.book, rig.heard)
    kept = {part.part: part.detail for part in deletion.parts if part.outcome == "kept"}
    assert kept == {
        "environment gemma-swedencentral": "other uses it",
        "resource group modelrig-gemma": "gemma-swedencentral uses it",
    }
    assert (deletion.gone, rig.account.billing()) == (True, [])


def test_a_profile_in_somebodys_environment_goes_again_and_nothing_else_of_it(rig: Rig) -> None:
    place = f"/subscriptions/{ID}/resourceGroups/theirs/providers/Microsoft.App/managedEnvironments/env"
    plain = {"name": "Consumption", "workloadProfileType": "Consumption"}
    body = {"location": "swedencentral", "tags": {"theirs": "yes"}, "properties": {"workloadProfiles": [plain]}}
    env = groups.new(rig.account, place, "Microsoft.App/managedEnvironments", body)
    env.properties["defaultDomain"] = "env.swedencentral.azurecontainerapps.io"
    rig.deploy(settings={"environment": place})
    assert [row["name"] for row in env.properties["workloadProfiles"]] == ["Consumption", "gpu"]
    deletion = rig.apps.delete(REF, rig.book, rig.heard)
    assert [part.part for part in deletion.parts] == [
        "container app gemma",
        "workload profile in environment env",
        "resource group modelrig-gemma",
    ]
    assert (env.properties["workloadProfiles"], env.tags) == ([plain], {"theirs": "yes"})
    assert deletion.gone


def test_an_app_that_azure_refuses_to_delete_is_asked_for_by_its_scheduled_end(rig: Rig) -> None:
    rig.deploy(settings={"min_replicas": 1})
    rig.seam.fault = Fault(-1, "access denied", "DELETE Microsoft.App/containerApps")
    deletion = rig.apps.delete(REF, rig.book, rig.heard)
    assert (deletion.gone, deletion.parts[0].outcome) == (False, "still there")
    assert "Its scheduled end asks again every 5 minutes from now" in deletion.note
    rig.account.clock.sleep(400)
    assert rig.account.billing() == []
    rig.seam.fault = None
    assert rig.apps.delete(REF, rig.book, rig.heard).gone


def test_at_its_end_azure_deletes_what_is_kept_warm_with_nobody_there(rig: Rig) -> None:
    rig.deploy(settings={"min_replicas": 1}, ttl_hours=2)
    rig.account.clock.sleep(2 * 3600 - 400)
    assert len(rig.account.billing()) == 1
    rig.account.clock.sleep(400)
    assert rig.account.billing() == []
    [left] = rig.apps.list(scope=Scope()).found
    assert (left.state, left.billing) == ("failed", False)
    assert rig.apps.delete(REF, rig.book, rig.heard).gone
