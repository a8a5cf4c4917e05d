"""What is sent is what was shown, with the ledger's id, the real end and one request id for every try."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from clouds.errors import InvalidInput
from clouds.gcp.endpoints import binding
from clouds.models import Call, DeploymentPlan, DeploymentSpec, EndpointRef, PlanStep
from tests.clouds.gcp.rig import Rig


def test_the_id_the_end_and_the_request_ids_are_put_in_everywhere(rig: Rig) -> None:
    plan = replace(rig.tpu.plan(rig.spec("tpu")), deployment="d-1")
    end = datetime(2026, 12, 24, 5, 6, tzinfo=UTC)
    steps = binding.bind(plan, end)
    text = str([step.call.parameters for step in steps])
    assert "deployment-id" not in text
    assert "modelrig-deployment=d-1 modelrig-expires=20261224t050600z" in text
    assert "'modelrig-expires': '20261224t050600z'" in text
    assert "'schedule': '6 5 24 12 *'" in text
    again = binding.bind(plan, end)
    assert [step.call for step in steps] == [step.call for step in again]
    request = steps[0].call.parameters["requestId"]
    assert str(uuid.UUID(request)) == request
    other = binding.bind(plan, end + timedelta(minutes=1))
    assert other[0].call.parameters["requestId"] != request


def test_a_plan_without_an_end_of_ours_is_refused() -> None:
    spec = DeploymentSpec("gcp", "gce", "x", "o/m")
    step = PlanStep("x", Call("compute", "instances.insert", {"body": {"labels": {}}}))
    plan = DeploymentPlan(spec, EndpointRef("gcp", "gce", "us-east5-a", "x"), (step,))
    with pytest.raises(InvalidInput, match="has no end"):
        binding.bind(plan, datetime.now(UTC))


def test_a_cron_line_is_a_minute_in_utc() -> None:
    assert binding.cron(datetime(2026, 11, 29, 19, 4, 59, tzinfo=UTC)) == "4 19 29 11 *"
