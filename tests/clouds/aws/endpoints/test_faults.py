"""Every call of deploying and deleting fails in every way, and the process dies around it: nothing is ever lost.

After each: all that exists carries our tag and is in the ledger, all that bills is listed, and the same call again
finishes what was begun. docs/aws-faults.md says how many were tried; `UPDATE_DOCS=1` writes it anew.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from clouds.models import DeploymentPlan
from tests.clouds.aws import rig as rigs
from tests.clouds.aws.endpoints.matrix import Flow, Moment, Outcome, try_all, unaccounted
from tests.clouds.aws.rig import Rig
from tests.clouds.aws.simulator import Account, Quota, boot, offer
from tests.clouds.aws.simulator.faults import KINDS

DOCUMENT = Path(__file__).parents[4] / "docs" / "aws-faults.md"
QUICK = boot.Boot(lines=((1.0, boot.VLLM.lines[0][1]),), done=2.0)
QUICK_CONSOLE = boot.console(0.0, ((1.0, "timer set"), (14.0, "engine answers")), ())
COMMAND = "UPDATE_DOCS=1 python -m pytest tests/clouds/aws/endpoints/test_faults.py"
FULL, ALL = os.environ.get("UPDATE_DOCS") == "1", os.environ.get("MODELRIG_ALL") == "1"
USUAL = {} if FULL or ALL else {"writes": 3, "reads": 16}
RESULTS: dict[str, Outcome] = {}


def small(*regions: str) -> Account:
    """An account that knows one L4 type in each of these regions, and starts quickly."""
    account = Account()
    account.boot, account.console, account.enabled = QUICK, QUICK_CONSOLE, regions
    for region in regions:
        offer(account, region, {"ml.g6.xlarge": (1, 1)})
        account.prices["sagemaker-hosting/ml.g6.xlarge", region] = 1.1267
        account.prices["ec2/g6.xlarge", region] = 0.8048
        account[region].capacity[f"g6.xlarge@{region}a"] = 0
        account[region].capacity[f"g6.xlarge@{region}b"] = 1
        name = "Running On-Demand G and VT instances"
        account[region].quotas[name] = Quota(name, "L-DB2E81BA", 4.0, "ec2")
    return account


def create_endpoint(rig: Rig, plan: DeploymentPlan) -> str:
    return rig.sagemaker.create(plan, rig.book, rig.heard).state


def delete_endpoint(rig: Rig, plan: DeploymentPlan) -> str:
    deletion = rig.sagemaker.delete(plan.ref, rig.book, rig.heard)
    return "gone" if deletion.gone and not rig.account.billing() else "says what is left"


def create_machine(rig: Rig, plan: DeploymentPlan) -> str:
    return rig.ec2.create(plan, rig.book, rig.heard).state


def delete_machine(rig: Rig, plan: DeploymentPlan) -> str:
    deletion = rig.ec2.delete(plan.ref, rig.book, rig.heard)
    return "gone" if deletion.gone and not rig.account.billing() else "says what is left"


FLOWS = (
    Flow("deploy on SageMaker", lambda rig: rig.sagemaker, create_endpoint, "ready"),
    Flow(
        "take back on SageMaker, first region full",
        lambda rig: rig.sagemaker,
        create_endpoint,
        "ready",
        ("sagemaker.DeleteEndpoint", "scheduler.DeleteSchedule"),
    ),
    Flow("delete from SageMaker", lambda rig: rig.sagemaker, delete_endpoint, "gone"),
    Flow("deploy on EC2, first zone full", lambda rig: rig.ec2, create_machine, "ready"),
    Flow("delete from EC2", lambda rig: rig.ec2, delete_machine, "gone"),
)


def begin(name: str, home: Path, keep: Path) -> Moment:
    """The moment at which a flow begins."""
    regions = ("us-east-1", "us-east-2") if "first region full" in name else ("us-east-2",)
    rig = rigs.rig(home, small(*regions))
    if len(regions) > 1:
        rig.account["us-east-1"].capacity["ml.g6.xlarge"], rig.account.gives_up_after = 0, 20.0
    if "SageMaker" in name:
        plan = rig.begin(rig.plan(regions=regions, instance_types=("ml.g6.xlarge",)))
        make = create_endpoint
    else:
        plan = rig.begin(rig.ec2.plan(rig.machine_spec(regions=regions, instance_types=("g6.xlarge",))))
        make = create_machine
    if name.startswith("delete"):
        assert make(rig, plan) == "ready"
    return Moment.of(rig, plan, keep)


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.name.replace(" ", "-").replace(",", ""))
def test_whatever_fails_nothing_is_lost_and_the_same_call_again_finishes(
    flow: Flow, tmp_path: Path, engine: int
) -> None:
    home = tmp_path / "before"
    home.mkdir()
    moment = begin(flow.name, home, tmp_path / "kept")
    # a ledger for every case: in memory where there is such a place, since each commit is written through
    memory = Path("/dev/shm")  # noqa: S108 - a fresh folder in it
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as cases:
        found = RESULTS[flow.name] = try_all(flow, moment, Path(cases), full=FULL, **USUAL)
    assert found.wrong == []


def test_the_accounting_bites(rig: Rig) -> None:
    """What it is there to find, it finds."""
    plan = rig.begin(rig.plan(instance_types=("ml.g6.xlarge",)))
    endpoint = rig.sagemaker.create(plan, rig.book, rig.heard)
    assert list(unaccounted(FLOWS[0], rig, plan)) == []
    east = rig.account["us-east-2"]
    east.models["stray"] = east.models["gemma-4-e2b"]
    del rig.account.tags[rig.account.arn("sagemaker", "us-east-2", "endpoint/gemma-4-e2b")]
    rig.account.bill("endpoint lost", "ml.g6.xlarge", "us-west-2")
    assert list(unaccounted(FLOWS[0], rig, plan)) == [
        "model stray in us-east-2 has no tag of ours",
        "model stray in us-east-2 is in no row of the ledger",
        "endpoint gemma-4-e2b in us-east-2 has no tag of ours",
        "endpoint gemma-4-e2b in us-east-2 bills and is not listed as billing",
        "endpoint lost in us-west-2 bills and is not listed as billing",
        "2 things bill at once: ['endpoint gemma-4-e2b', 'endpoint lost']",
    ]
    assert endpoint.state == "ready"


def test_the_document_says_how_many_were_tried() -> None:
    """Runs last: it needs what the flows above found."""
    if len(RESULTS) < len(FLOWS):
        pytest.skip("needs the flows above in the same run")
    if FULL:
        DOCUMENT.write_text(document(), encoding="utf-8")
    text = DOCUMENT.read_text(encoding="utf-8")
    for name, found in RESULTS.items():
        row = f"| {name} | {found.calls} | {found.calls * len(KINDS)} |"
        assert row in text, f"not current: {COMMAND}"


def document() -> str:
    """docs/aws-faults.md."""
    tried = sum(sum(found.tried.values()) for found in RESULTS.values())
    lines = [
        "# What happens when a call to AWS fails",
        "",
        f"Generated by `{COMMAND}`; do not edit.",
        "",
        f"{tried} cases were tried on the simulated account (`docs/aws-simulator.md`): each call of each flow,",
        "in turn, in each of the eight ways below. Of a reading that is repeated while waiting, the first and the last",
        "two were taken. A usual test run tries every third call that changes something and a few readings, each in",
        "one of the ways; with `MODELRIG_ALL=1` every call in one of them.",
        "",
        "After each case three things were checked, against the account itself and not against our own view of it:",
        "everything that exists carries the deployment's tag and is in the ledger; everything that bills is listed as",
        "billing; and the same call once more, by a new process, ends as the flow should, with one thing billing after",
        f"a deployment and nothing after a deletion. Cases in which that was not so: {_wrong()}.",
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


def _wrong() -> int:
    return sum(len(found.wrong) for found in RESULTS.values())


WAYS = (
    "*ready*, *gone*: the fault was overcome within the same call.",
    "*loading*: all was made, and it says what it still waits for.",
    "*refused in words*: an error that says what was tried, what AWS answered and the one thing to do next.",
    "*says what is left*: a deletion that names each part which is still there.",
    "*killed*: the process was ended before the call was sent, or after AWS had acted and before the answer was read.",
    "*acted, answer lost*: AWS did what was asked and the answer never came.",
)
