"""What a list of machines could not see is said with its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from clouds.gcp import tpus
from clouds.models import Call, Scope
from tests.clouds.gcp import simulator
from tests.clouds.gcp.rig import Rig
from tests.clouds.gcp.simulator import Project

LIST = "compute.instances.aggregatedList"


def test_a_zone_that_google_could_not_reach_is_named_and_the_rest_is_listed(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.deploy()
    whole = simulator.OPERATIONS[LIST]

    def partly(project: Project, asked: Mapping[str, Any]) -> Any:
        return {**whole(project, asked), "unreachables": ["zones/us-east5-b"]}

    monkeypatch.setitem(simulator.OPERATIONS, LIST, partly)
    read = rig.gce.list(scope=Scope())
    assert [one.ref for one in read.found] == ["gcp:gce:us-east5-a:gemma"]
    assert [(row.scope, row.reason) for row in read.unread] == [("us-east5-b", "Google could not reach it")]


@pytest.mark.parametrize(
    ("gap", "scope", "reason"),
    [
        ({"unreachable": ["projects/p/locations/us-west4-a"]}, "us-west4-a", "Google could not reach it"),
        ({"warning": {"code": "UNREACHABLE", "message": "some zones"}}, "everywhere", "UNREACHABLE: some zones"),
        ({"items": {"zones/a-b1-c": {"warning": {"code": "UNREACHABLE"}}}}, "everywhere", "zones/a-b1-c: UNREACHABLE"),
    ],
)
def test_a_gap_is_a_place_or_google_s_own_words(gap: Mapping[str, Any], scope: str, reason: str) -> None:
    (row,) = tpus.missed(Call("compute", "instances.aggregatedList"), gap)
    assert (row.scope, row.reason) == (scope, reason)
