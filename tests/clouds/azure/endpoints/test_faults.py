"""Every request of deploying and deleting fails in every way, and the process dies around it: nothing is ever lost.

After each: all that exists carries our tag and is in the ledger, all that bills is listed, and the same call again
finishes what was begun. docs/azure-faults.md says how many were tried; `UPDATE_DOCS=1` writes it anew.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from clouds.models import DeploymentPlan
from tests.clouds.azure.endpoints import rig as rigs
from tests.clouds.azure.endpoints.matrix import Flow, Moment, Outcome, try_all, unaccounted
from tests.clouds.azure.endpoints.rig import Rig
from tests.clouds.azure.simulator import Boot
from tests.clouds.azure.simulator.faults import KINDS

DOCUMENT = Path(__file__).parents[4] / "docs" / "azure-faults.md"
QUICK = Boot(pulled=12.0, ready=30.0)
COMMAND = "UPDATE_DOCS=1 python -m pytest tests/clouds/azure/endpoints/test_faults.py"
FULL = bool({"UPDATE_DOCS", "MODELRIG_ALL"} & os.environ.keys())
RESULTS: dict[str, Outcome] = {}


def create_app(rig: Rig, plan: DeploymentPlan) -> str:
    return rig.apps.create(plan, rig.book, rig.heard).state


def delete_app(rig: Rig, plan: DeploymentPlan) -> str:
    deletion = rig.apps.delete(plan.ref, rig.book, rig.heard)
    return "gone" if deletion.gone and not rig.account.billing() else "says what is left"


def create_ml(rig: Rig, plan: DeploymentPlan) -> str:
    return rig.ml.create(plan, rig.book, rig.heard).state


def delete_ml(rig: Rig, plan: DeploymentPlan) -> str:
    deletion = rig.ml.delete(plan.ref, rig.book, rig.heard)
    return "gone" if deletion.gone and not rig.account.billing() else "says what is left"


APP, PLACE = "Microsoft.App/containerApps", "Microsoft.MachineLearningServices/workspaces/onlineEndpoints/deployments"
FLOWS = (
    Flow("deploy on Container Apps", lambda rig: rig.apps, create_app, "ready"),
    Flow("deploy on Container Apps, kept warm with a scheduled end", lambda rig: rig.apps, create_app, "ready"),
    Flow("take back on Container Apps, first region full", lambda rig: rig.apps, create_app, "ready", f"DELETE {APP}"),
    Flow("delete from Container Apps", lambda rig: rig.apps, delete_app, "gone"),
    Flow("deploy on Azure ML", lambda rig: rig.ml, create_ml, "ready"),
    Flow("take back on Azure ML, first size full", lambda rig: rig.ml, create_ml, "ready", f"DELETE {PLACE}"),
    Flow("delete from Azure ML", lambda rig: rig.ml, delete_ml, "gone"),
)


def begin(name: str, home: Path, keep: Path) -> Moment:
    """The moment at which a flow begins."""
    rig = rigs.rig(home)
    rig.account.boot, rig.account.environment_takes, rig.account.app_takes = QUICK, 20.0, 10.0
    if "Azure ML" in name:
        types = (rigs.SIZE, rigs.BIG) if "full" in name else (rigs.SIZE,)
        rig.account.capacity["swedencentral", rigs.SIZE] = 0 if "full" in name else 1
        plan = rig.begin(rig.ml.plan(rig.ml_spec(instance_types=types, max_usd_per_hour=5.0)))
        make = create_ml
    else:
        regions = rigs.REGIONS if "full" in name else rigs.REGIONS[:1]
        rig.account.capacity["swedencentral", "T4"] = 0 if "full" in name else 1
        settings: dict[str, str | int | float | bool] = {"capacity_wait_seconds": 120}
        if "kept warm" in name or name.startswith("delete"):
            settings["min_replicas"] = 1
        plan = rig.begin(rig.apps.plan(rig.spec(regions=regions, settings=settings)))
        make = create_app
    if name.startswith("delete"):
        assert make(rig, plan) == "ready"
    return Moment.of(rig, plan, keep)


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.name.replace(" ", "-").replace(",", ""))
def test_whatever_fails_nothing_is_lost_and_the_same_call_again_finishes(flow: Flow, tmp_path: Path) -> None:
    home = tmp_path / "before"
    home.mkdir()
    moment = begin(flow.name, home, tmp_path / "kept")
    # a ledger for every case: in memory where there is such a place, since each commit is written through
    memory = Path("/dev/shm")  # noqa: S108 - a fresh folder in it
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as cases:
        found = RESULTS[flow.name] = try_all(flow, moment, Path(cases), full=FULL)
    assert found.wrong == []
