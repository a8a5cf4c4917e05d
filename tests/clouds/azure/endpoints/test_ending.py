"""The end that Azure keeps: what it does, and the right that it needs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from clouds.azure.endpoints import ending
from tests.clouds.azure.endpoints.rig import Rig
from tests.clouds.azure.simulator import ID, Fault

GROUP = f"/subscriptions/{ID}/resourceGroups/modelrig-x"
TARGET = f"{GROUP}/providers/Microsoft.App/containerApps/x"
END = datetime(2026, 11, 29, 19, 0, tzinfo=UTC)


def test_a_workflow_deletes_one_thing_from_its_end_on_with_an_identity_of_its_own() -> None:
    call = ending.workflow(GROUP, "x", "westus3", END, TARGET, {"a": "b"})
    body = call.parameters["body"]
    assert (call.parameters["id"], body["identity"]) == (
        f"{GROUP}/providers/Microsoft.Logic/workflows/x-end",
        {"type": "SystemAssigned"},
    )
    assert ending.end_of({"properties": body["properties"]}) == END
    assert ending.target_of({"properties": body["properties"]}).split("?")[0] == f"https://management.azure.com{TARGET}"
    moved = ending.moved({**body, "id": call.parameters["id"]}, END.replace(hour=21), {"c": "d"})
    assert ending.end_of({"properties": moved.parameters["body"]["properties"]}) == END.replace(hour=21)
    assert moved.parameters["body"]["tags"] == {"a": "b", "c": "d"}


def test_what_is_no_workflow_of_ours_has_no_end_and_no_target() -> None:
    assert (ending.end_of({}), ending.target_of({"properties": None}), ending.principal_of({})) == (None, "", "")


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([{"actions": ["*"], "notActions": []}], ""),
        (
            [{"actions": ["*"], "notActions": ["Microsoft.Authorization/*/Write"]}],
            "you lack microsoft.authorization/roleassignments/write",
        ),
        (
            [
                {"actions": ["*"], "notActions": ["Microsoft.Authorization/*/Write"]},
                {"actions": ["Microsoft.Authorization/roleAssignments/*"], "notActions": []},
            ],
            "",
        ),
        ([{"actions": ["*/read"]}], "you lack microsoft.authorization/roleassignments/write and microsoft.logic/"),
    ],
)
def test_the_right_to_give_rights_is_read_and_not_guessed(rig: Rig, rows: list[dict[str, Any]], why: str) -> None:
    rig.account.rights = rows
    found = ending.why_not(rig.api, GROUP)
    assert found.startswith(why)
    assert bool(found) is bool(why)


def test_rights_that_cannot_be_read_are_not_taken_for_there(rig: Rig) -> None:
    rig.seam.fault = Fault(-1, "access denied", "GET Microsoft.Authorization/permissions")
    assert ending.why_not(rig.api, GROUP) == "your own rights could not be read (AuthorizationFailed)"
