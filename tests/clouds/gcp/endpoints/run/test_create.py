"""Deploying on Cloud Run: a dry run, a revision, a token by IAM, a cold start that is named, an end."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from clouds.errors import Cancelled, InvalidInput, QuotaTooSmall, Unexpected
from clouds.models import Change, EndpointRef, Phase, Scope
from clouds.readonly import reads
from tests.clouds.gcp.endpoints.conftest import Engine
from tests.clouds.gcp.rig import Rig
from tests.clouds.gcp.simulator import Fault

REF = EndpointRef("gcp", "run", "us-central1", "gemma")
NAME = "projects/demo-project/locations/us-central1/services/modelrig-gemma"


def empty(rig: Rig) -> bool:
    return (rig.project.services, rig.project.jobs, rig.project.billing()) == ({}, {}, [])


def test_one_l4_is_deployed_ready_once_a_token_came_with_an_id_token(rig: Rig) -> None:
    Engine.authorized.clear()
    endpoint = rig.deploy("run")
    assert (endpoint.ref, endpoint.state, endpoint.url) == (str(REF), "ready", rig.project.uri)
    assert Engine.authorized == ["Bearer a.b.c"]
    assert endpoint.price is not None
    assert (endpoint.price.amount, endpoint.price.basis) == (1.4209, "while an instance lives")
    assert endpoint.phases == (
        Phase(name="cold start: instance, image, weights, startup probe", seconds=250.0),
        Phase(name="first token", seconds=0.0),
    )
    assert rig.steps() == ["ask done", "jobs.create done", "services.create done"]


def test_google_checks_the_service_before_it_is_made(rig: Rig) -> None:
    rig.deploy("run")
    made = [one for one in rig.seam.sent if one.name == "run.projects.locations.services.create"]
    assert [one.parameters.get("validateOnly") for one in made] == [True, None]
    assert made[0].parameters["body"] == made[1].parameters["body"]


def test_a_dry_run_that_is_refused_makes_nothing(rig: Rig) -> None:
    plan = rig.begin(rig.run.plan(rig.spec("run")))
    rig.seam.fault = Fault(-1, "permission denied", "run.projects.locations.services.create")
    with pytest.raises(Exception, match="denied"):
        rig.run.create(plan, rig.book, rig.heard)
    rig.seam.fault = None
    assert empty(rig)


def test_it_scales_to_zero_is_invoked_by_iam_and_mounts_its_weights(rig: Rig) -> None:
    rig.project.buckets["weights"] = "US-CENTRAL1"
    rig.deploy(
        "run", model="gs://weights/gemma-4-e2b", settings={"hf_token_from": "projects/p123/secrets/hf/versions/1"}
    )
    row = rig.project.services[NAME]
    template = row["template"]
    assert (row["invokerIamDisabled"], row["scaling"]) == (False, {"minInstanceCount": 0, "maxInstanceCount": 1})
    assert template["volumes"][0]["gcs"] == {"bucket": "weights", "readOnly": True, "mountOptions": ["implicit-dirs"]}
    container = template["containers"][0]
    assert container["args"][:2] == ["--model", "/mnt/models/gemma-4-e2b"]
    assert container["startupProbe"]["initialDelaySeconds"] == 180
    assert container["resources"]["limits"] == {"cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "1"}
    assert container["env"][0]["valueSource"]["secretKeyRef"] == {"secret": "projects/p123/secrets/hf", "version": "1"}


def test_the_service_is_deleted_at_its_end_by_a_job(rig: Rig) -> None:
    rig.deploy("run")
    rig.until("19:01")
    assert (rig.project.services, rig.project.misuse) == ({}, [])


def test_quota_in_a_failed_condition_is_quota_and_leaves_nothing(rig: Rig) -> None:
    rig.project.run_fails = "Quota exceeded for total allowable count of GPUs per project per region."
    with pytest.raises(QuotaTooSmall, match="total allowable count of GPUs"):
        rig.deploy("run")
    assert empty(rig)


def test_a_revision_that_does_not_start_is_taken_back(rig: Rig) -> None:
    rig.project.run_fails = "The user-provided container failed the configured startup probe checks."
    with pytest.raises(Unexpected, match="failed the configured startup probe"):
        rig.deploy("run")
    assert empty(rig)


def test_memory_quota_that_blocks_the_gpu_is_named_before_anything_is_made(rig: Rig) -> None:
    rig.project.limits["MemAllocPerProjectRegion@us-central1"] = 16
    with pytest.raises(QuotaTooSmall, match="32 GiB are needed"):
        rig.run.plan(rig.spec("run"))


def test_looking_wakes_nothing(rig: Rig) -> None:
    rig.deploy("run")
    rig.project.clock.sleep(3600)
    assert rig.project.billing() == []
    asked, before = len(Engine.asked), len(rig.seam.sent)
    endpoint = rig.run.get(REF)
    rig.run.list(scope=Scope())
    page = rig.run.logs(REF, since=timedelta(hours=2), limit=10)
    assert (endpoint.state, endpoint.billing) == ("ready", None)
    assert endpoint.reason == "it scales to zero: it bills while one instance lives"
    assert "GPU KV cache size: 17,990 tokens" in page.lines[-1]
    assert len(Engine.asked) == asked
    assert rig.project.billing() == []
    assert set(rig.seam.operations()[before:]) <= reads(rig.run.reads)


def test_a_killed_run_is_taken_up_with_the_same_service(rig: Rig) -> None:
    plan = rig.begin(rig.run.plan(rig.spec("run")))

    class Kill(BaseException):
        pass

    def die(message: str) -> bool:
        if "60 s;" in message:
            raise Kill
        return False

    rig.heard.stop_when = die
    with pytest.raises(Kill):
        rig.run.create(plan, rig.book, rig.heard)
    rig.heard.stop_when = lambda _: False
    again = replace(rig.run.plan(rig.spec("run")), deployment=plan.deployment)
    assert rig.run.create(again, rig.book, rig.heard).state == "ready"
    assert len(rig.project.services) == 1


def test_being_asked_to_stop_takes_it_back(rig: Rig) -> None:
    rig.heard.stop_when = lambda message: "60 s;" in message
    with pytest.raises(Cancelled):
        rig.deploy("run")
    assert empty(rig)


def test_another_model_is_another_revision_of_the_same_service(rig: Rig) -> None:
    before = rig.deploy("run")
    after = rig.run.update(REF, Change(settings={"max_model_len": 4096}), rig.book, rig.heard)
    assert (after.state, after.url, after.expires) == ("ready", before.url, before.expires)
    row = rig.project.services[NAME]
    assert "4096" in row["template"]["containers"][0]["args"]
    assert row["labels"]["modelrig-deployment"] == before.deployment
    assert rig.project.misuse == []


def test_another_end_moves_the_job_and_the_label(rig: Rig) -> None:
    rig.deploy("run")
    after = rig.run.update(REF, Change(ttl_hours=8), rig.book, rig.heard)
    assert after.expires.startswith("2026-11-29T23:0")
    rig.until("22:59")
    assert rig.project.services.keys() == {NAME}
    rig.until("23:10")
    assert rig.project.services == {}


def test_an_instance_that_is_kept_is_billed_and_said(rig: Rig) -> None:
    plan = rig.run.plan(rig.spec("run", settings={"min_instances": 1}))
    assert any("one instance is kept: $1.4209 an hour, $1,037 a month" in word for word in plan.warnings)
    endpoint = rig.deploy("run", settings={"min_instances": 1})
    assert endpoint.billing is True


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"cpu": 2}, "cpu"),
        ({"first_check_seconds": 300}, "first_check_seconds"),
        ({"image": "vllm/vllm-openai:latest"}, "image"),
        ({"hf_token": "hf_abc"}, "hf_token"),
        ({"memory_gib": 64}, "memory_gib"),
    ],
)
def test_what_google_would_refuse_is_refused_before_anything_is_sent(
    rig: Rig, settings: dict[str, str | int], field: str
) -> None:
    with pytest.raises(InvalidInput) as told:
        rig.run.plan(rig.spec("run", settings=settings))
    assert told.value.field == field
    assert rig.seam.sent == []


def test_deleting_takes_service_and_job_and_reads_them_back(rig: Rig) -> None:
    rig.deploy("run")
    deletion = rig.run.delete(REF, rig.book, rig.heard)
    assert [(part.part, part.outcome) for part in deletion.parts] == [
        ("service modelrig-gemma", "deleted"),
        ("scheduler job run-modelrig-gemma", "deleted"),
    ]
    assert deletion.gone
    assert empty(rig)


def test_a_region_that_could_not_be_looked_at_is_said(rig: Rig) -> None:
    rig.deploy("run")
    rig.seam.fault = Fault(-1, "server error", "run.projects.locations.services.list")
    read = rig.run.list(scope=Scope())
    assert (read.found, [one.scope for one in read.unread]) == ((), ["europe-west4", "us-central1", "us-east4"])
    rig.seam.fault = None
    assert [one.ref for one in rig.run.list(scope=Scope()).found] == [str(REF)]
    assert rig.run.list(scope=Scope("us-east4")).found == ()
