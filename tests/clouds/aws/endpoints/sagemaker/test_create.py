"""Deploying on SageMaker ends with a model that gave a token, or with a plain account; nothing is left lying about."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from clouds.errors import NoCapacity, QuotaTooSmall, Unexpected
from clouds.models import EndpointRef
from tests.clouds.aws.rig import REGIONS, Rig
from tests.clouds.aws.simulator import boot
from tests.clouds.aws.simulator.runtime import Script

PARTS = [
    "CreateRole",
    "PutRolePolicy",
    "CreateRole",
    "PutRolePolicy",
    "CreateModel",
    "CreateEndpointConfig",
    *["CreateSchedule"] * 4,
    "CreateEndpoint",
    "InvokeEndpoint",
]


def empty(rig: Rig) -> bool:
    """No region holds anything of ours any more, and nothing bills."""
    left = [
        name
        for region in rig.account.regions.values()
        for held in (region.models, region.configs, region.endpoints, region.schedules)
        for name in held
    ]
    return left == [] and rig.account.billing() == []


def test_one_l4_is_deployed_and_ready_once_a_token_came(rig: Rig) -> None:
    rig.account.boot = boot.VLLM
    endpoint = rig.deploy()
    assert (endpoint.ref, endpoint.state, endpoint.billing) == ("aws:sagemaker:us-east-2:gemma-4-e2b", "ready", True)
    assert (endpoint.expires, endpoint.account) == ("2026-11-29T19:00:00Z", "123456789012")
    assert endpoint.hardware is not None
    assert (endpoint.hardware.instance_type, endpoint.hardware.accelerators) == ("ml.g6.xlarge", ("L4",))
    assert endpoint.price is not None
    assert endpoint.price.amount == 1.1267
    assert rig.steps() == [f"{part} done" for part in PARTS]
    assert rig.account.billing() == ["endpoint gemma-4-e2b (ml.g6.xlarge, us-east-2)"]
    facts = rig.book.facts(endpoint.deployment)
    assert (facts["placed"], facts["ready_at"][:16]) == ("ml.g6.xlarge", "2026-11-29T15:10")
    assert facts["image_digest"].startswith("763104351884.dkr.ecr.us-east-2.amazonaws.com/vllm@sha256:4f2c")


def test_the_engine_s_own_figures_are_those_of_the_article(rig: Rig) -> None:
    engine = rig.deploy().engine
    assert engine is not None
    assert engine.weights_bytes == round(9.75 * 1024**3)
    assert (engine.load_seconds, engine.kv_cache_tokens, engine.max_concurrency) == (82.751806, 723_484, 88.32)
    assert (engine.version, engine.context_tokens, engine.quantization) == ("0.30.0", 8192, "")


def test_the_end_exists_before_anything_that_bills(deployed: Rig) -> None:
    sent = deployed.seam.operations()
    assert max(at for at, name in enumerate(sent) if name == "scheduler.CreateSchedule") < sent.index(
        "sagemaker.CreateEndpoint"
    )


def test_what_is_sent_is_what_the_plan_showed_with_id_and_end_put_in(rig: Rig) -> None:
    plan = rig.begin(rig.plan())
    rig.account.clock.sleep(600)
    rig.sagemaker.create(plan, rig.book, rig.heard)
    sent = {str(one): one.parameters for one in rig.seam.sent}
    tags = {tag["Key"]: tag["Value"] for tag in sent["sagemaker.CreateEndpoint"]["Tags"]}
    assert tags == {
        "modelrig-deployment": plan.deployment,
        "modelrig-expires": "2026-11-29T19:10:00Z",
        "modelrig-owner": "dev",
    }
    first = next(one for one in rig.seam.sent if one.parameters.get("Name") == "modelrig-gemma-4-e2b-endpoint")
    assert first.parameters["ScheduleExpression"] == "at(2026-11-29T19:10:00)"
    assert "DEPLOYMENT-ID" not in str([one.parameters for one in rig.seam.sent])


def test_a_new_role_that_is_not_known_everywhere_yet_is_waited_for(deployed: Rig) -> None:
    models = [one.outcome for one in deployed.seam.sent if str(one) == "sagemaker.CreateModel"]
    assert models == ["ValidationException", "ValidationException", "ok"]
    assert deployed.steps().count("CreateModel done") == 1


def test_waiting_for_capacity_is_told_from_loading_and_does_not_bill(rig: Rig) -> None:
    rig.account["us-east-2"].capacity.update(dict.fromkeys(("ml.g6.xlarge", "ml.g6.2xlarge"), 0))
    ref = EndpointRef("aws", "sagemaker", "us-east-2", "gemma-4-e2b")
    seen = []

    def look(message: str) -> bool:
        if "since" in message and "us-east-2" in message:
            endpoint = rig.sagemaker.get(ref)
            seen.append((endpoint.state, endpoint.billing, endpoint.cloud_status))
        if len(seen) == 3:
            rig.account["us-east-2"].capacity["ml.g6.2xlarge"] = 1
        return False

    rig.heard.stop_when = look
    endpoint = rig.deploy()
    assert seen[0] == ("waiting_for_capacity", False, "Creating")
    assert seen[-1] == ("loading", True, "Creating")
    assert [word for word, _, _ in seen] == sorted((word for word, _, _ in seen), reverse=True)
    assert endpoint.hardware is not None
    assert endpoint.hardware.instance_type == "ml.g6.2xlarge"
    assert endpoint.price is not None
    assert endpoint.price.amount == 1.222


def test_a_full_region_is_left_after_minutes_and_the_next_one_is_tried(rig: Rig) -> None:
    rig.account["us-east-1"].capacity.update(dict.fromkeys(("ml.g6.xlarge", "ml.g6.2xlarge"), 0))
    endpoint = rig.deploy(regions=REGIONS)
    assert endpoint.ref == "aws:sagemaker:us-east-2:gemma-4-e2b"
    (attempt,) = rig.book.facts(endpoint.deployment)["attempts"]
    assert attempt == {
        "region": "us-east-1",
        "types": ["ml.g6.xlarge", "ml.g6.2xlarge"],
        "waited_seconds": 315.0,
        "kind": "no_capacity",
        "code": "InsufficientInstanceCapacity",
        "said": boot.NO_CAPACITY,
        "undone": True,
        "left": [],
    }
    east = rig.account["us-east-1"]
    assert (east.models, east.configs, east.endpoints, east.schedules) == ({}, {}, {}, {})
    assert rig.account.misuse == []
    assert rig.account.billing() == ["endpoint gemma-4-e2b (ml.g6.xlarge, us-east-2)"]


def test_a_quota_that_is_used_up_meanwhile_moves_on_without_waiting(rig: Rig) -> None:
    plan = rig.begin(rig.plan(regions=REGIONS))
    rig.account["us-east-1"].quotas["ml.g6.2xlarge for endpoint usage"].value = 0
    before = rig.account.now()
    endpoint = rig.sagemaker.create(plan, rig.book, rig.heard)
    (attempt,) = rig.book.facts(plan.deployment)["attempts"]
    assert (attempt["region"], attempt["kind"], attempt["waited_seconds"]) == ("us-east-1", "quota_too_small", 0)
    assert attempt["said"].startswith(
        "The account-level service limit 'ml.g6.2xlarge for endpoint usage' is 0 Instances, with current utilization "
        "of 0 Instances and a request delta of 1 Instances."
    )
    assert endpoint.state == "ready"
    assert rig.account.now() - before < timedelta(minutes=3)


def test_no_capacity_anywhere_is_a_plain_account_and_leaves_nothing(rig: Rig) -> None:
    plan = rig.begin(rig.plan(regions=REGIONS))
    for region in REGIONS:
        rig.account[region].capacity.update(dict.fromkeys(("ml.g6.xlarge", "ml.g6.2xlarge"), 0))
    rig.account["us-west-2"].quotas["ml.g6.xlarge for endpoint usage"].value = 0
    rig.account.gives_up_after = 40.0
    with pytest.raises(NoCapacity) as told:
        rig.sagemaker.create(plan, rig.book, rig.heard)
    words = told.value.answered
    assert words.startswith(
        "us-east-1 (ml.g6.xlarge, ml.g6.2xlarge), waited 75 s: Unable to provision requested ML compute"
    )
    assert "us-west-2 (ml.g6.xlarge, ml.g6.2xlarge), waited 0 s: ResourceLimitExceeded: " in words
    assert words.endswith(" Nothing remains and nothing was billed.")
    assert "check_quota" in told.value.fix
    assert empty(rig)
    assert rig.account.bills == []


def test_only_quota_refusals_are_called_quota(rig: Rig) -> None:
    plan = rig.begin(rig.plan())
    rig.account["us-east-2"].quotas["ml.g6.xlarge for endpoint usage"].value = 0
    with pytest.raises(QuotaTooSmall):
        rig.sagemaker.create(plan, rig.book, rig.heard)
    assert empty(rig)


def test_a_container_that_does_not_start_is_taken_back_and_its_log_is_quoted(rig: Rig) -> None:
    rig.account.boot = replace(boot.BROKEN, done=180.0)
    with pytest.raises(Unexpected) as told:
        rig.deploy()
    assert told.value.answered.startswith(
        "The primary container for production variant AllTraffic did not pass the ping"
    )
    assert "OSError: google/gemma-4-E9B-it is not a local folder" in told.value.answered
    assert "get_endpoint_logs" in told.value.fix
    assert empty(rig)
    page = rig.sagemaker.logs(
        EndpointRef("aws", "sagemaker", "us-east-2", "gemma-4-e2b"), since=timedelta(days=1), limit=1
    )
    assert "OSError" in page.lines[0]
    assert page.note.startswith("the endpoint is gone; its log stays.")


def test_a_model_that_gives_no_token_is_not_called_ready(rig: Rig) -> None:
    rig.account.model = Script(refuses=("ModelError", 424))
    endpoint = rig.deploy()
    assert (endpoint.state, endpoint.billing) == ("loading", True)
    assert endpoint.reason.startswith("InService, but asked for a token it said: ModelError")
    assert rig.sagemaker.get(EndpointRef.parse(endpoint.ref)).state == "loading"
