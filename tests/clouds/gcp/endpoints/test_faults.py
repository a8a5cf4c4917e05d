"""Every call of deploying and deleting fails in every way, and the process dies around it: nothing is ever lost.

After each: all that exists carries our label and is in the ledger, all that bills is listed, and the same call again
finishes what was begun. docs/gcp-faults.md says how many were tried; `UPDATE_DOCS=1` writes it anew.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from clouds.models import DeploymentPlan
from tests.clouds.gcp import rig as rigs
from tests.clouds.gcp.endpoints.matrix import Flow, Moment, Outcome, try_all, unaccounted
from tests.clouds.gcp.rig import Rig
from tests.clouds.gcp.simulator import Project, boot
from tests.clouds.gcp.simulator.faults import KINDS

DOCUMENT = Path(__file__).parents[4] / "docs" / "gcp-faults.md"
COMMAND = "UPDATE_DOCS=1 python -m pytest tests/clouds/gcp/endpoints/test_faults.py"
FULL, ALL = os.environ.get("UPDATE_DOCS") == "1", os.environ.get("MODELRIG_ALL") == "1"
RESULTS: dict[str, Outcome] = {}
REPEATED = (
    "deploy on Compute Engine, flex-start",
    "deploy a queued TPU, flex-start",
    "delete a TPU node",
    "delete from Cloud Run",
)
"""What a usual run shows with a longer way to do the same."""


def create(rig: Rig, plan: DeploymentPlan) -> str:
    return rig.service(plan.spec.service).create(plan, rig.book, rig.heard).state


def delete(rig: Rig, plan: DeploymentPlan) -> str:
    deletion = rig.service(plan.spec.service).delete(plan.ref, rig.book, rig.heard)
    return "gone" if deletion.gone and not rig.project.billing() else "says what is left"


SETTINGS = {
    "deploy on Compute Engine, first zone full": ("gce", {}, ("us-east5-a", "us-east5-b")),
    "deploy on Compute Engine, flex-start": ("gce", {"market": "flex-start"}, ()),
    "delete from Compute Engine": ("gce", {}, ()),
    "deploy a TPU node": ("tpu", {}, ()),
    "deploy a queued TPU, flex-start": ("tpu", {"market": "flex-start"}, ()),
    "deploy a queued TPU, spot, ended by a job": ("tpu", {"market": "spot", "queued": True}, ()),
    "delete a TPU node": ("tpu", {}, ()),
    "delete a queued TPU": ("tpu", {"market": "flex-start"}, ()),
    "deploy on Cloud Run": ("run", {}, ()),
    "delete from Cloud Run": ("run", {}, ()),
}
FLOWS = tuple(
    Flow(name, service, *((delete, "gone") if name.startswith("delete") else (create, "ready")))
    for name, (service, _, _) in SETTINGS.items()
)


def small(name: str) -> Project:
    """What the flow needs, quick to start."""
    project = rigs.usual()
    project.boot = boot.QUICK
    if "first zone full" in name:
        project.capacity["ct6e-standard-1t@us-east5-a"] = 0
    return project


def begin(name: str, home: Path, keep: Path, engine: int) -> Moment:
    """The moment at which a flow begins."""
    service, settings, zones = SETTINGS[name]
    rig = rigs.rig(home, small(name), engine_port=engine)
    changes = {"settings": settings, **({"location": None, "regions": zones} if zones else {})}
    plan = rig.begin(rig.service(service).plan(rig.spec(service, **changes)))
    if name.startswith("delete"):
        assert create(rig, plan) == "ready"
    return Moment.of(rig, plan, keep)


@pytest.mark.timeout(900 if FULL or ALL else 60)
@pytest.mark.parametrize(
    "flow",
    [flow for flow in FLOWS if FULL or ALL or flow.name not in REPEATED],
    ids=lambda flow: flow.name.replace(" ", "-").replace(",", ""),
)
def test_whatever_fails_nothing_is_lost_and_the_same_call_again_finishes(
    flow: Flow, tmp_path: Path, engine: int
) -> None:
    home = tmp_path / "before"
    home.mkdir()
    moment = begin(flow.name, home, tmp_path / "kept", engine)
    # a ledger for every case: in memory where there is such a place, since each commit is written through
    memory = Path("/dev/shm")  # noqa: S108 - a fresh folder in it
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as cases:
        found = RESULTS[flow.name] = try_all(flow, moment, Path(cases), full=FULL, each=ALL)
    assert found.wrong == []


def test_the_accounting_bites(rig: Rig) -> None:
    """What it is there to find, it finds."""
    plan = rig.begin(rig.gce.plan(rig.spec()))
    assert rig.gce.create(plan, rig.book, rig.heard).state == "ready"
    assert list(unaccounted(FLOWS[0], rig, plan)) == []
    row = rig.project.instances.pop("us-east5-a/modelrig-gemma")
    rig.project.instances["us-east5-a/stray"] = {**row, "labels": {}}
    rig.project.bill("instance lost", "us-east5-b")
    assert list(unaccounted(FLOWS[0], rig, plan)) == [
        "instance stray has no label of ours",
        "instance stray is in no row of the ledger",
        "instance modelrig-gemma in us-east5-a bills and is not listed as billing",
        "instance lost in us-east5-b bills and is not listed as billing",
        "2 things bill at once: ['instance modelrig-gemma in us-east5-a', 'instance lost in us-east5-b']",
    ]


def test_the_document_says_how_many_were_tried() -> None:
    """Runs last: it holds what the flows above found against it."""
    if FULL:
        DOCUMENT.write_text(document(), encoding="utf-8")
    text = DOCUMENT.read_text(encoding="utf-8")
    for name, found in RESULTS.items():
        row = f"| {name} | {found.calls} | {found.calls * len(KINDS)} |"
        assert row in text, f"not current: {COMMAND}"


def document() -> str:
    """docs/gcp-faults.md."""
    tried = sum(sum(found.tried.values()) for found in RESULTS.values())
    wrong = sum(len(found.wrong) for found in RESULTS.values())
    lines = [
        "# What happens when a call to Google Cloud fails",
        "",
        f"Generated by `{COMMAND}`; do not edit.",
        "",
        f"{tried} cases were tried on the simulated project (`docs/gcp-simulator.md`): each call of each",
        f"flow, in turn, in each of the {len(KINDS)} ways below. Of a reading that is repeated while waiting, the",
        f"first and the last two were taken. A usual test run tries, of {len(FLOWS) - len(REPEATED)} of the flows,",
        "every second call where it changes something, in the worst of the ways; `MODELRIG_ALL=1` every call in one",
        "of them.",
        "",
        "After each case two minutes pass, since an operation that was accepted goes on without us. Then three",
        "things are checked, against the project itself and not against our own view of it: everything that exists",
        "carries the deployment's label and is in the ledger; everything that bills is listed as billing; and the",
        "same call once more, by a new process, ends as the flow should, with one thing billing after a deployment",
        f"and nothing after a deletion. Cases in which that was not so: {wrong}.",
        "",
        "| flow | calls | cases | right after the fault |",
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


WAYS = (
    "*ready*, *gone*: the fault was overcome within the same call.",
    "*loading*: all was made, and it says what it still waits for.",
    "*refused in words*: an error that says what was tried, what Google answered and the one thing to do next.",
    "*says what is left*: a deletion that names each part which is still there.",
    "*killed*: the process was ended before the call was sent, or after Google had acted and before it was read.",
    "*acted, answer lost*: Google did what was asked and the answer never came.",
    "*acted, half an answer*: Google did what was asked and the answer broke off in the middle.",
)
