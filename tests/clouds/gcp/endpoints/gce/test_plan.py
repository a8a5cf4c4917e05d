"""Planning a machine of Compute Engine: what is refused before any call, what is read, what is said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clouds.errors import InvalidInput, NotOffered, QuotaTooSmall
from tests.clouds.gcp.rig import Rig

SHA = "a" * 64


def test_a_plan_makes_nothing_and_says_what_it_rests_on(rig: Rig) -> None:
    plan = rig.gce.plan(rig.spec(settings={"market": "flex-start"}))
    assert (str(plan.ref), plan.worst_usd_per_hour) == ("gcp:gce:us-east5-a:gemma", 1.35)
    assert plan.price is not None
    assert (plan.price.amount, plan.price.basis) == (1.35, "flex-start")
    assert plan.ends == "ends 4 h after it runs, for which it may wait 2 h"
    assert [step.location for step in plan.steps] == ["global", "us-east5-a"]
    assert all(step.command.startswith("curl -fsS -X POST ") for step in plan.steps)
    assert any("quota read: v6e on Compute Engine" in word for word in plan.warnings)
    written = [one for one in rig.seam.operations() if one.endswith((".insert", ".create", ".delete", ".patch"))]
    assert written == []


def test_an_end_that_counts_from_now_needs_no_words_of_its_own(rig: Rig) -> None:
    assert rig.gce.plan(rig.spec(settings={"market": "spot"})).ends == ""


def test_the_image_is_pinned_by_digest_and_the_boot_image_by_name(rig: Rig) -> None:
    body = rig.gce.plan(rig.spec()).steps[-1].call.parameters["body"]
    disk = body["disks"][0]["initializeParams"]
    assert disk["sourceImage"].endswith("/ubuntu-accel-2204-amd64-tpu-v5e-v5p-v6e-v20261101")
    program = next(item["value"] for item in body["metadata"]["items"] if item["key"] == "modelrig-serve")
    assert "image=docker.io/vllm/vllm-tpu@sha256:abab" in program


def test_no_token_is_in_metadata_only_its_reference(rig: Rig) -> None:
    secret = "projects/demo-project/secrets/hf-token/versions/latest"
    plan = rig.gce.plan(rig.spec(settings={"hf_token_from": secret}))
    text = json.dumps(plan.steps[-1].call.parameters)
    assert f"https://secretmanager.googleapis.com/v1/{secret}:access" in text
    with pytest.raises(InvalidInput, match="readable in the machine's metadata"):
        rig.gce.plan(rig.spec(settings={"hf_token": "hf_abcdefghijklmnop"}))
    with pytest.raises(InvalidInput) as told:
        rig.gce.plan(rig.spec(settings={"hf_token_from": "hf_abcdefghijklmnop"}))
    assert "hf_abc" not in str(told.value)


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"settings": {"market": "flex-start"}, "ttl_hours": 0.1}, "ttl_hours", "10 minutes to 7 days"),
        ({"settings": {"market": "flex-start"}, "ttl_hours": 169}, "ttl_hours", "10 minutes to 7 days"),
        ({"settings": {"market": "flex-start", "wait_hours": 3}}, "wait_hours", "is not from 0.1 to 2"),
        ({"settings": {"wait_hours": 1}}, "wait_hours", "on-demand does not wait"),
        ({"settings": {"gpu_memory_utilization": 0.95}}, "gpu_memory_utilization", "691-second compile, twice"),
        ({"settings": {"--kv-cache-dtype": "fp8"}}, "--kv-cache-dtype", "bf16 is allocated"),
        ({"settings": {"image": "vllm/vllm-tpu:nightly"}}, "image", "2026-10-02"),
        ({"settings": {"image": "vllm/vllm-tpu"}}, "image", "a tag that moves"),
        ({"settings": {"image": "vllm/vllm-tpu:latest"}}, "image", "a tag that moves"),
        ({"settings": {"tensor_parallel_size": 3}, "instance_types": ("ct6e-standard-4t",)}, "tensor_parallel_size",
         "does not divide"),
        ({"settings": {"prepare": "gs://b/patch.sh"}}, "prepare", "go together"),
        ({"settings": {"run_arms": "[{}]"}}, "results", "writes to"),
        ({"settings": {"markt": "spot"}}, "settings", "Did you mean market"),
        ({"settings": {"--host": "1.2.3.4"}}, "settings", "cannot be set"),
        ({"accelerator": "v5e"}, "accelerator", "the service `tpu` makes it"),
        ({"accelerator": "TPU7x"}, "accelerator", "GKE alone"),
        ({"instance_types": ("ct5lp-hightpu-1t",)}, "instance_types", "refuses to create it"),
        ({"instance_types": ("ct6e-standard-1t", "g2-standard-4")}, "instance_types", "one accelerator"),
        ({"model": "google/gemma-4-E2B-it-GGUF"}, "model", "GGUF"),
        ({"name": "Gemma"}, "name", "cannot be an endpoint's name"),
        ({"location": "moon"}, "location", "no zone or region"),
    ],
)  # fmt: skip
def test_what_would_fail_late_is_refused_before_anything_is_sent(
    rig: Rig, changes: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(InvalidInput, match=words.replace("(", r"\(")) as told:
        rig.gce.plan(rig.spec(**changes))
    assert told.value.field == field
    assert [one for one in rig.seam.operations() if not one.startswith(("oauth2", "cloud"))] == []


def test_the_ceiling_is_kept_and_the_cheapest_price_named(rig: Rig) -> None:
    with pytest.raises(InvalidInput, match=r"\$2.7 an hour is over \$1") as told:
        rig.gce.plan(rig.spec(max_usd_per_hour=1.0))
    assert told.value.fix == "Allow max_usd_per_hour=2.7."


def test_a_ceiling_is_the_reason_although_larger_types_are_in_no_zone(rig: Rig) -> None:
    with pytest.raises(InvalidInput) as told:
        rig.gce.plan(rig.spec(accelerator="L4", location="us-central1", max_usd_per_hour=0.5))
    assert (told.value.field, told.value.fix) == ("max_usd_per_hour", "Allow max_usd_per_hour=0.706824.")
    assert str(told.value).startswith(
        "`max_usd_per_hour`: g2-standard-4 in us-central1-a: $0.706824 an hour is over $0.5; "
    )
    assert "besides: g2-standard-12: none of us-central1 lists it; no zone does" in str(told.value)


def test_quota_that_is_plainly_too_small_is_refused_with_what_was_read(rig: Rig) -> None:
    rig.project.limits["TPUS-PER-TPU-FAMILY-per-project-region@us-east5"] = 0
    with pytest.raises(QuotaTooSmall, match="1 are needed; v6e on Compute Engine, on demand in us-east5: limit 0"):
        rig.gce.plan(rig.spec())


def test_flex_start_falls_back_to_the_family_s_quota(rig: Rig) -> None:
    rig.project.limits["PREEMPTIBLE-TPU-V6E-per-project-region@us-east5"] = 0
    assert rig.gce.plan(rig.spec(settings={"market": "flex-start"})).steps
    rig.project.limits["TPUS-PER-TPU-FAMILY-per-project-region@us-east5"] = 0
    with pytest.raises(QuotaTooSmall):
        rig.gce.plan(rig.spec(settings={"market": "flex-start"}))


def test_a_zone_without_the_type_is_not_offered_and_those_that_list_it_are_named(rig: Rig) -> None:
    with pytest.raises(NotOffered, match=r"us-east5-a, us-east5-b do$"):
        rig.gce.plan(rig.spec(location="us-west4-a"))
    with pytest.raises(NotOffered, match=r"us-central1-a does$"):
        rig.gce.plan(rig.spec(accelerator="L4", instance_types=("g2-standard-4",), location="us-west4-a"))


def test_a_type_that_no_zone_lists_is_said_so_and_no_zone_is_offered_instead(rig: Rig) -> None:
    with pytest.raises(NotOffered, match=r"lists it; no zone does$") as told:
        rig.gce.plan(rig.spec(instance_types=("g2-standard-12",), location="us-central1"))
    assert told.value.fix == "Name another type or accelerator; check_capacity shows what is offered where."


def test_a_read_across_regions_is_warned_of(rig: Rig) -> None:
    rig.project.buckets |= {"near": "US-EAST5", "far": "EUROPE-WEST4", "wide": "US"}
    settings = {"compile_cache": "gs://far/cache"}
    plan = rig.gce.plan(rig.spec(model="gs://near/gemma-4-E2B-it", settings=settings))
    told = [word for word in plan.warnings if word.startswith("gs://")]
    assert len(told) == 1
    assert told[0].startswith("gs://far is in EUROPE-WEST4 and the machine in us-east5")
    plan = rig.gce.plan(rig.spec(settings={"compile_cache": "gs://wide/cache"}))
    assert not [word for word in plan.warnings if word.startswith("gs://")]
    plan = rig.gce.plan(rig.spec(settings={"compile_cache": "gs://unknown-bucket/cache"}))
    assert any("where it is could not be read" in word for word in plan.warnings)


def test_what_is_known_of_a_model_on_a_tpu_is_said(rig: Rig) -> None:
    plan = rig.gce.plan(rig.spec(model="google/gemma-4-31B-it-qat-w4a16-ct"))
    assert any("#3653 and #3660" in word for word in plan.warnings)
    plan = rig.gce.plan(rig.spec(model="google/gemma-4-31B-it"))
    assert any("the weights take about 57.7 GiB; 1 x v6e serve up to 28.7 GiB" in word for word in plan.warnings)
    plan = rig.gce.plan(rig.spec(instance_types=("ct6e-standard-4t",), max_usd_per_hour=12))
    assert any("one-chip endpoints serve more" in word for word in plan.warnings)


def test_the_end_counts_from_when_a_queued_machine_may_begin_at_the_latest(rig: Rig) -> None:
    plan = rig.gce.plan(rig.spec(settings={"market": "flex-start", "wait_hours": 1}, ttl_hours=4))
    assert plan.steps[-1].call.parameters["body"]["labels"]["modelrig-expires"] == "20261129t200000z"
