"""The word for what an app is, from what Azure shows of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clouds.azure.endpoints.containerapps.state import Seen, failure, standing
from clouds.errors import NoCapacity, QuotaTooSmall, Unexpected

READY = {"modelrig-ready": "2026-11-29T15:00:00Z"}
UP = {"name": "engine", "ready": True, "runningState": "Running"}


def seen(
    app: str = "Succeeded",
    *,
    running: str = "Running",
    revision: dict[str, Any] | None = None,
    containers: list[dict[str, Any]] | None = None,
    tags: dict[str, str] | None = None,
    runningstatus: str = "",
) -> Seen:
    body = {"id": "/x", "tags": tags, "properties": {"provisioningState": app, "runningStatus": runningstatus}}
    replicas = [] if containers is None else [{"properties": {"containers": containers}}]
    return Seen(body, {"properties": {"runningState": running, **(revision or {})}}, replicas)


def _warm(what: Seen) -> Seen:
    """One replica has to stay up."""
    properties = {**what.app["properties"], "template": {"scale": {"minReplicas": 1}}}
    return replace(what, app={**what.app, "properties": properties})


@pytest.mark.parametrize(
    ("what", "state", "billing"),
    [
        (seen(tags=READY, containers=[UP]), "ready", True),
        (seen(containers=[UP]), "loading", True),
        (seen(containers=[{"runningState": "Running"}]), "loading", True),
        (seen(containers=[{"runningState": "Waiting"}]), "loading", True),
        (seen(containers=[]), "creating", None),
        (seen(running="Processing"), "waiting_for_capacity", False),
        (seen(running="ScaledToZero"), "stopped", False),
        (seen(running="Running", tags=READY), "stopped", False),
        (seen(running="Failed", tags=READY), "failed", False),
        (seen(running="Degraded", containers=[{"runningState": "Waiting"}]), "failed", True),
        (seen(running="Degraded", containers=[UP], tags=READY), "ready", True),
        (seen(revision={"provisioningError": "quota"}), "failed", False),
        (seen(containers=[{"restartCount": 3}]), "failed", True),
        (seen("Failed"), "failed", False),
        (_warm(seen(tags=READY)), "waiting_for_capacity", False),
        (replace(seen(running="Processing", tags=READY), others=1), "updating", True),
        (replace(seen(containers=[UP], tags=READY), others=1), "ready", True),
        (seen("Deleting", containers=[UP]), "deleting", True),
        (seen(runningstatus="Stopped"), "stopped", False),
        (Seen({"properties": {"provisioningState": "InProgress"}}, None, None), "creating", None),
        (Seen({"properties": {"provisioningState": "Succeeded"}}, None, None), "unknown", None),
    ],
)
def test_state_and_billing(what: Seen, state: str, billing: bool | None) -> None:
    found = standing(what)
    assert (found.state, found.billing) == (state, billing)


@pytest.mark.parametrize(
    ("details", "kind"),
    [
        ("Maximum Allowed Cores exceeded for the Managed Environment", QuotaTooSmall),
        ("Allocation failed. We do not have sufficient capacity", NoCapacity),
        ("Container exited", Unexpected),
    ],
)
def test_quota_and_capacity_are_told_apart(details: str, kind: type[Exception]) -> None:
    what = seen(running="Failed", revision={"runningStateDetails": details})
    assert type(failure(what, "starting x")) is kind
