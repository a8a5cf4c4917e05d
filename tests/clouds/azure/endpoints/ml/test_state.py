"""The word for what an endpoint is, from what Azure shows of it."""

from __future__ import annotations

from typing import Any

import pytest

from clouds.azure.endpoints.ml.state import standing


def _one(state: str, *, ready: bool = False, traffic: int = 100) -> dict[str, Any]:
    tags = {"modelrig-ready": "2026-11-29T15:00:00Z"} if ready else {}
    return {"name": "main", "tags": tags, "properties": {"provisioningState": state, "traffic": {"main": traffic}}}


@pytest.mark.parametrize(
    ("endpoint", "deployment", "logged", "state", "billing"),
    [
        (_one("Creating"), None, None, "creating", False),
        (_one("Succeeded"), None, None, "creating", False),
        (_one("Failed"), None, None, "failed", False),
        (_one("Deleting"), None, None, "deleting", False),
        (_one("Deleting"), _one("Deleting"), None, "deleting", None),
        (_one("Succeeded"), _one("Creating"), True, "loading", True),
        (_one("Succeeded"), _one("Creating"), False, "waiting_for_capacity", None),
        (_one("Succeeded"), _one("Creating"), None, "creating", None),
        (_one("Succeeded"), _one("Succeeded"), True, "loading", True),
        (_one("Succeeded", ready=True), _one("Succeeded"), True, "ready", True),
        (_one("Succeeded", ready=True), _one("Updating"), True, "updating", True),
        (_one("Succeeded"), _one("Failed"), True, "failed", True),
        (_one("Succeeded"), _one("Failed"), False, "failed", None),
        (_one("Succeeded"), _one("Strange"), True, "unknown", None),
    ],
)
def test_state_and_billing(
    endpoint: dict[str, Any], deployment: dict[str, Any] | None, logged: bool | None, state: str, billing: bool | None
) -> None:
    found = standing(endpoint, deployment, logged=logged)
    assert (found.state, found.billing) == (state, billing)


def test_no_traffic_is_said_since_it_bills_all_the_same() -> None:
    found = standing(_one("Succeeded", ready=True, traffic=0), _one("Succeeded"), logged=True)
    assert (found.state, found.reason) == ("ready", "no traffic goes to it; it bills all the same")
