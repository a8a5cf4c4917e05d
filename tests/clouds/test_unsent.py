"""A deployment whose calls never left says so: it names nothing as left behind that was never asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clouds import connect
from clouds.models import DeploymentSpec
from clouds.replay import VARIABLE, NotRecorded
from tests.clouds.rows import some
from tools.ledger import Book
from tools.progress import CallProgress

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize(
    ("cloud", "service", "accelerator", "call"),
    [
        ("aws", "sagemaker", "L4", "sagemaker.CreateModel"),
        ("gcp", "gce", "L4", "compute.firewalls.insert"),
        *some([("gcp", "run", None, "cloudscheduler.projects.locations.jobs.create")], 1, 1),
    ],
)
def test_what_was_never_sent_is_not_said_to_be_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cloud: str, service: str, accelerator: str | None, call: str
) -> None:
    monkeypatch.setenv(VARIABLE, str(FIXTURES))
    spec = DeploymentSpec(
        cloud,
        service,
        "gemma-4-e2b-it",
        "google/gemma-4-E2B-it",
        accelerator=accelerator,
        max_usd_per_hour=3,
        ttl_hours=4,
    )
    made = connect(cloud, tmp_path).endpoints[service]
    with Book(tmp_path / "home") as book:
        plan = made.plan(spec)
        begun = replace(plan, deployment=book.deployments.begin(plan.spec, plan))
        with pytest.raises(NotRecorded, match=call) as told:
            made.create(begun, book, CallProgress())
        assert told.value.fix.startswith("The recordings go no further: without --replay a real account answers")
        assert told.value.sent is False
        assert {step.state for step in book.steps(begun.deployment) if str(step.call) == call} == {"failed"}
