"""The process dies at any moment and nobody comes back: Azure itself ends all that bills, at its end at the latest."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from clouds.models import DeploymentPlan
from tests.clouds.azure.endpoints.matrix import Moment, worth_trying
from tests.clouds.azure.endpoints.rig import Rig
from tests.clouds.azure.endpoints.test_faults import begin, create_app, create_ml
from tests.clouds.azure.simulator import Fault, Killed

FLOWS = {
    "deploy on Container Apps": create_app,
    "deploy on Container Apps, kept warm with a scheduled end": create_app,
    "deploy on Azure ML": create_ml,
}
AFTER_ITS_END = 4 * 3600 + 2 * 3600


@pytest.mark.parametrize("name", FLOWS, ids=lambda name: name.replace(" ", "-").replace(",", ""))
def test_what_a_dead_process_left_ends_by_itself(name: str, tmp_path: Path) -> None:
    home = tmp_path / "before"
    home.mkdir()
    moment = begin(name, home, tmp_path / "kept")
    sound = moment.again(tmp_path / "sound")
    FLOWS[name](sound, moment.plan)
    at_all = {"MODELRIG_ALL", "UPDATE_DOCS"} & os.environ.keys()
    tried = [at for at in worth_trying(sound.seam.names()) if at_all or sound.seam.sent[at].changes]
    tried = tried if at_all else tried[1::4]
    assert tried
    for at in tried:
        rig = _left(moment, tmp_path / str(at), at, FLOWS[name])
        rig.account.clock.sleep(AFTER_ITS_END)
        assert rig.account.billing() == [], rig.seam.sent[at]


def _left(moment: Moment, home: Path, at: int, run: Callable[[Rig, DeploymentPlan], str]) -> Rig:
    rig = moment.again(home)
    rig.seam.fault = Fault(at, "killed after")
    with pytest.raises(Killed):
        run(rig, moment.plan)
    rig.book.close()
    return rig


def test_without_a_scheduled_end_it_would_go_on(rig: Rig) -> None:
    """That the property is worth testing: what has no end in the cloud bills until somebody deletes it."""
    rig.deploy(settings={"min_replicas": 1, "scheduled_end": False})
    rig.account.clock.sleep(AFTER_ITS_END)
    assert len(rig.account.billing()) == 1
