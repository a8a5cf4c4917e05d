"""Every request of deploying and deleting fails in every way, and the process dies around it: nothing is ever lost.

After each: all that exists carries our tag and is in the ledger, all that bills is listed, and the same call again
finishes what was begun. docs/azure-faults.md says how many were tried; `UPDATE_DOCS=1` writes it anew.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from clouds.models import Change, DeploymentPlan
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
REPEATED = (
    "deploy on Container Apps",
    "take back on Azure ML, first size full",
    "change on Container Apps",
    "delete from Azure ML",
)
"""Ways of the one service that a usual run shows with those of the other, or with a longer one of the same."""


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


CHANGE = Change(ttl_hours=9, settings={"max_model_len": 4096})


def change_app(rig: Rig, plan: DeploymentPlan) -> str:
    return rig.apps.update(plan.ref, CHANGE, rig.book, rig.heard).state


def change_ml(rig: Rig, plan: DeploymentPlan) -> str:
    return rig.ml.update(plan.ref, CHANGE, rig.book, rig.heard).state


APP, PLACE = "Microsoft.App/containerApps", "Microsoft.MachineLearningServices/workspaces/onlineEndpoints/deployments"
FLOWS = (
    Flow("deploy on Container Apps", lambda rig: rig.apps, create_app, "ready"),
    Flow("deploy on Container Apps, kept warm with a scheduled end", lambda rig: rig.apps, create_app, "ready"),
    Flow("take back on Container Apps, first region full", lambda rig: rig.apps, create_app, "ready", f"DELETE {APP}"),
    Flow("change on Container Apps", lambda rig: rig.apps, change_app, "ready", at_once=2),
    Flow("delete from Container Apps", lambda rig: rig.apps, delete_app, "gone"),
    Flow("deploy on Azure ML", lambda rig: rig.ml, create_ml, "ready"),
    Flow("take back on Azure ML, first size full", lambda rig: rig.ml, create_ml, "ready", f"DELETE {PLACE}"),
    Flow("change on Azure ML", lambda rig: rig.ml, change_ml, "ready", at_once=2),
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
        if "kept warm" in name or name.startswith(("delete", "change")):
            settings["min_replicas"] = 1
        plan = rig.begin(rig.apps.plan(rig.spec(regions=regions, settings=settings)))
        make = create_app
    if name.startswith(("delete", "change")):
        assert make(rig, plan) == "ready"
    if name.startswith("change"):
        for kind in ("T4", rigs.SIZE):
            rig.account.capacity["swedencentral", kind] = 2
        rig.account.gpu_quota["swedencentral", "T4"] = 3
        rig.account.ml_quota["swedencentral", rigs.FAMILY] = (16, 0)
    return Moment.of(rig, plan, keep)


@pytest.mark.timeout(900 if FULL else 60)
@pytest.mark.parametrize(
    "flow",
    [flow for flow in FLOWS if FULL or flow.name not in REPEATED],
    ids=lambda flow: flow.name.replace(" ", "-").replace(",", ""),
)
def test_whatever_fails_nothing_is_lost_and_the_same_call_again_finishes(flow: Flow, tmp_path: Path) -> None:
    home = tmp_path / "before"
    home.mkdir()
    moment = begin(flow.name, home, tmp_path / "kept")
    # a ledger for every case: in memory where there is such a place, since each commit is written through
    memory = Path("/dev/shm")  # noqa: S108 - a fresh folder in it
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as cases:
        found = RESULTS[flow.name] = try_all(flow, moment, Path(cases), full=FULL)
    assert found.wrong == []


def test_the_accounting_bites(rig: Rig) -> None:
    """What it is there to find, it finds."""
    plan = rig.begin(rig.apps.plan(rig.spec()))
    endpoint = rig.apps.create(plan, rig.book, rig.heard)
    assert list(unaccounted(FLOWS[0], rig, plan)) == []
    app = rig.account.of(APP)[0]
    app.tags.clear()
    stray = rig.account.of("Microsoft.App/managedEnvironments")[0]
    rig.account.resources[f"{stray.id.lower()}2"] = replace(stray, id=f"{stray.id}2")
    rig.account.bill("app lost", "T4", "westus3")
    assert list(unaccounted(FLOWS[0], rig, plan)) == [
        "Microsoft.App/containerApps gemma has no tag of ours",
        "Microsoft.App/managedEnvironments gemma-swedencentral2 is in no row of the ledger",
        "app gemma in swedencentral bills and is not listed as billing",
        "app lost in westus3 bills and is not listed as billing",
        "2 things bill at once: ['app gemma', 'app lost']",
    ]
    assert endpoint.state == "ready"


def test_the_document_says_how_many_were_tried() -> None:
    if "UPDATE_DOCS" in os.environ:
        DOCUMENT.write_text(_document(), encoding="utf-8")
    text = DOCUMENT.read_text("utf-8")
    assert "Cases in which that was not so: 0." in text
    for flow in FLOWS:
        assert f"| {flow.name} |" in text
        found = RESULTS.get(flow.name)
        assert found is None or f"| {flow.name} | {found.calls} |" in text


def _document() -> str:
    total = sum(sum(found.tried.values()) for found in RESULTS.values())
    lines = [
        "# What happens when a call to Azure fails",
        "",
        f"Generated by `{COMMAND}`; do not edit.",
        "",
        f"{total} cases were tried on the simulated subscription (`tests/clouds/azure/simulator`): each request",
        "of each flow, in turn, in each of the nine ways below; an operation that fails after it was accepted was",
        "tried on every write. Of a reading that is repeated while waiting, the first and the last three were taken.",
        f"A usual test run tries every third write and a read of {len(FLOWS) - len(REPEATED)} of the flows, each in",
        "one of the ways; `MODELRIG_ALL=1` tries all.",
        "",
        "After each case three things were checked, against the subscription itself and not against our own view of",
        "it: everything that exists carries the deployment's tag and is in the ledger; everything that bills is",
        "listed as billing; and the same call once more, by a new process, ends as the flow should, with one thing",
        "billing after a deployment and nothing after a deletion. (Right after a fault in a change two may bill: Azure",
        f"starts the new one before the old one goes.) Cases in which that was not so: {_wrong()}.",
        "",
        "| flow | requests | cases | right after the fault |",
        "|---|--:|--:|---|",
    ]
    for name, found in RESULTS.items():
        ends = Counter[str]()
        for (_, end), count in found.ends.items():
            ends[end] += count
        words = ", ".join(f"{count} {end}" for end, count in ends.most_common())
        lines.append(f"| {name} | {found.calls} | {sum(found.tried.values())} | {words} |")
    lines += ["", "| way of failing | cases | right after the fault |", "|---|--:|---|"]
    for kind in KINDS:
        ends = Counter[str]()
        for found in RESULTS.values():
            for (way, end), count in found.ends.items():
                ends[end] += count if way == kind else 0
        words = ", ".join(f"{count} {end}" for end, count in ends.most_common() if count)
        lines.append(f"| {kind} | {sum(found.tried[kind] for found in RESULTS.values())} | {words} |")
    lines += ["", *(f"- {word}" for word in WAYS), ""]
    return "\n".join(lines)


def _wrong() -> int:
    return sum(len(found.wrong) for found in RESULTS.values())


WAYS = (
    "*creating*, *unknown*: a change was made, and the last look at it failed.",
    "*ready*, *gone*: the fault was overcome within the same call.",
    "*loading*: all was made, and it says what it still waits for.",
    "*refused in words*: an error that says what was tried, what Azure answered and the one thing to do next.",
    "*says what is left*: a deletion that names each part which is still there.",
    "*killed*: the process was ended before the request was sent, or after Azure had acted and before we read it.",
    "*acted, answer lost*: Azure did what was asked and the answer never came.",
    "*operation failed*: Azure accepted it, and its operation ended with HTTP 200 and the status Failed.",
    "A role assignment carries no tags: its name is made from the deployment's id.",
    "A version of an Azure ML environment is archived, since Azure ML deletes none; it costs nothing.",
)
