"""What a plan says, and what it refuses before anything is made."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clouds.errors import ApiDisabled, Conflict, InvalidInput, NotOffered, QuotaTooSmall
from clouds.models import Call, Scope
from tests.clouds.azure.endpoints.rig import Rig
from tests.clouds.azure.simulator import ID, groups

GROUP = f"/subscriptions/{ID}/resourceGroups/modelrig-gemma"


def test_a_plan_names_every_call_in_order_with_its_price_and_sends_nothing_that_changes(rig: Rig) -> None:
    plan = rig.apps.plan(rig.spec())
    assert [(step.location, str(step.call)) for step in plan.steps] == [
        ("", "Microsoft.Resources/resourceGroups.put"),
        ("swedencentral", "Microsoft.App/managedEnvironments.put"),
        ("swedencentral", "Microsoft.App/containerApps.put"),
    ]
    # 0.0002 + 8 x 0.000024 + 56 x 0.000003 = 0.00056 $ a second
    assert plan.price is not None
    assert (plan.price.amount, plan.price.unit, plan.worst_usd_per_hour) == (2.016, "hour", 2.016)
    assert plan.expected_seconds == 407
    assert plan.ends == "scales to zero, and stays until delete_endpoint"
    assert str(plan.ref) == "azure:containerapps:swedencentral:gemma"
    assert rig.seam.writes() == []


def test_the_image_is_by_digest_and_no_secret_is_a_plain_value(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_veryverysecrettoken1234")
    app = rig.apps.plan(rig.spec(settings={"hf_token_env": "HF_TOKEN"})).steps[-1].call.parameters["body"]
    container = app["properties"]["template"]["containers"][0]
    assert container["image"] == "docker.io/vllm/vllm-openai@sha256:" + "ab" * 32
    assert container["env"] == [
        {"name": "VLLM_API_KEY", "secretRef": "api-key"},
        {"name": "HF_TOKEN", "secretRef": "hf-token"},
    ]
    assert app["properties"]["configuration"]["secrets"] == [
        {"name": "api-key", "value": "<the API key of this endpoint>"},
        {"name": "hf-token", "value": "env:HF_TOKEN"},
    ]
    assert "hf_very" not in json.dumps(app)


def test_it_scales_to_zero_unless_it_is_told_not_to(rig: Rig) -> None:
    scale = rig.apps.plan(rig.spec()).steps[-1].call.parameters["body"]["properties"]["template"]["scale"]
    assert (scale["minReplicas"], scale["maxReplicas"], scale["cooldownPeriod"]) == (0, 1, 407)
    assert "scheduled" not in " ".join(rig.apps.plan(rig.spec()).warnings)


def test_what_is_kept_warm_gets_an_end_in_the_cloud_before_it_exists(rig: Rig) -> None:
    plan = rig.apps.plan(rig.spec(settings={"min_replicas": 1}))
    assert [str(step.call) for step in plan.steps] == [
        "Microsoft.Resources/resourceGroups.put",
        "Microsoft.Logic/workflows.put",
        "Microsoft.Authorization/roleAssignments.put",
        "Microsoft.App/managedEnvironments.put",
        "Microsoft.App/containerApps.put",
    ]
    flow, right = plan.steps[1].call.parameters, plan.steps[2].call.parameters
    assert flow["body"]["properties"]["definition"]["triggers"]["end"]["recurrence"]["startTime"] == (
        "2026-11-29T19:00:00Z"
    )
    assert flow["body"]["properties"]["definition"]["actions"]["delete"]["inputs"]["uri"].startswith(
        f"https://management.azure.com{GROUP}/providers/Microsoft.App/containerApps/gemma?api-version="
    )
    assert right["id"].startswith(f"{GROUP}/providers/Microsoft.Authorization/roleAssignments/")


def test_kept_warm_without_the_right_to_end_it_is_refused(rig: Rig) -> None:
    rig.account.rights = [{"actions": ["*/read", "Microsoft.App/*"], "notActions": []}]
    with pytest.raises(InvalidInput, match="nothing in Azure could end it") as error:
        rig.apps.plan(rig.spec(settings={"min_replicas": 1}))
    assert error.value.field == "min_replicas"
    plan = rig.apps.plan(rig.spec(settings={"min_replicas": 1, "scheduled_end": False}))
    assert "nothing in Azure ends it" in plan.warnings[-1]


def test_a_subscription_without_the_provider_says_how_to_register_it(rig: Rig) -> None:
    rig.account.providers["Microsoft.App"] = "NotRegistered"
    with pytest.raises(ApiDisabled) as error:
        rig.apps.plan(rig.spec())
    assert "az provider register --namespace Microsoft.App" in error.value.fix


def test_a_region_without_the_gpu_is_left_out_with_what_it_offers(rig: Rig) -> None:
    rig.account.offered["swedencentral"] = ("Consumption-GPU-NC24-A100",)
    plan = rig.apps.plan(rig.spec(regions=("swedencentral", "westus3")))
    assert str(plan.ref) == "azure:containerapps:westus3:gemma"
    assert "consumption-gpu-nc24-a100" in plan.left_out[0]
    with pytest.raises(NotOffered, match="serverless T4 in swedencentral"):
        rig.apps.plan(rig.spec())


def test_the_subscriptions_quota_of_dedicated_gpus_is_not_taken_for_the_serverless_one(rig: Rig) -> None:
    """It says 0 of 0 for a dedicated A100 also where a serverless one starts."""
    plan = rig.apps.plan(rig.spec(accelerator="A100-80GB", max_usd_per_hour=9.0))
    assert any("only on an environment" in word for word in plan.warnings)


def test_quota_of_an_environment_that_is_there_is_read_and_believed(rig: Rig) -> None:
    place = _environment(rig, [{"name": "gpu", "workloadProfileType": "Consumption-GPU-NC8as-T4"}])
    plan = rig.apps.plan(rig.spec(settings={"environment": place}))
    assert [str(step.call) for step in plan.steps] == [
        "Microsoft.Resources/resourceGroups.put",
        "Microsoft.App/containerApps.put",
    ]
    rig.account.gpu_quota["swedencentral", "T4"] = 0
    with pytest.raises(QuotaTooSmall, match="0 of 0 used"):
        rig.apps.plan(rig.spec(settings={"environment": place}))


def test_a_profile_that_an_environment_lacks_is_added_and_marked_as_ours(rig: Rig) -> None:
    place = _environment(rig, [{"name": "Consumption", "workloadProfileType": "Consumption"}])
    plan = rig.apps.plan(rig.spec(settings={"environment": place}))
    assert plan.steps[1].call == Call(
        "Microsoft.App/managedEnvironments",
        "patch",
        {
            "id": place,
            "body": {
                "tags": {"theirs": "yes", "modelrig-profile": "gpu DEPLOYMENT-ID"},
                "properties": {
                    "workloadProfiles": [
                        {"name": "Consumption", "workloadProfileType": "Consumption"},
                        {"name": "gpu", "workloadProfileType": "Consumption-GPU-NC8as-T4"},
                    ]
                },
            },
        },
    )


def _environment(rig: Rig, profiles: list[dict[str, str]]) -> str:
    place = f"/subscriptions/{ID}/resourceGroups/theirs/providers/Microsoft.App/managedEnvironments/env"
    body = {"location": "swedencentral", "tags": {"theirs": "yes"}, "properties": {"workloadProfiles": profiles}}
    groups.new(rig.account, place, "Microsoft.App/managedEnvironments", body).properties["defaultDomain"] = (
        "env.swedencentral.azurecontainerapps.io"
    )
    return place


def test_somebody_elses_group_of_our_name_is_never_overwritten(rig: Rig) -> None:
    groups.new(rig.account, GROUP, "Microsoft.Resources/resourceGroups", {"location": "westus3"})
    with pytest.raises(Conflict, match="exists already and modelrig did not make it"):
        rig.apps.plan(rig.spec())


def test_a_price_above_the_ceiling_is_refused_and_an_unknown_one_is_none(rig: Rig) -> None:
    with pytest.raises(InvalidInput, match=r"1 x T4 in swedencentral is \$2.02 an hour"):
        rig.apps.plan(rig.spec(max_usd_per_hour=2.0))
    del rig.account.rates["westus3", "Standard NC T4 v3 GPU Usage"]
    assert rig.apps.plan(rig.spec(regions=("westus3",))).price is None


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": "Gemma"}, "name"),
        ({"name": "a--b"}, "name"),
        ({"accelerator": "H100"}, "accelerator"),
        ({"model": "google/gemma-4-E2B-it-GGUF"}, "model"),
        ({"model": "nonsense"}, "model"),
        ({"ttl_hours": 0}, "ttl_hours"),
        ({"max_usd_per_hour": 0}, "max_usd_per_hour"),
        ({"regions": ("nowhere!",)}, "location"),
        ({"settings": {"hf_token": "hf_x"}}, "hf_token"),
        ({"settings": {"--api-key": "x"}}, "settings"),
        ({"settings": {"hf_token_env": "hf_abcdefghijklmnopqrstuv"}}, "hf_token_env"),
        ({"settings": {"min_replicas": 2}}, "min_replicas"),
        ({"settings": {"min_replicas": 1, "resource_group": "theirs"}}, "min_replicas"),
        ({"settings": {"startup_seconds": 3000}}, "startup_seconds"),
        ({"settings": {"tool_calls": True}, "model": "some/thing-1B"}, "tool_calls"),
        ({"settings": {"image": "vllm"}}, "image"),
        ({"settings": {"nonsense": 1}}, "settings"),
    ],
)
def test_what_is_wrong_is_named_before_anything_is_sent(rig: Rig, changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as error:
        rig.apps.plan(rig.spec(**changes))
    assert (error.value.field, rig.seam.writes()) == (field, [])


def test_every_step_is_a_command_that_names_the_subscription(rig: Rig) -> None:
    for step in rig.apps.plan(rig.spec()).steps:
        assert step.command.startswith("az rest --method put --url 'https://management.azure.com/subscriptions/" + ID)


def test_planning_reads_only_what_the_service_declares(rig: Rig) -> None:
    rig.apps.plan(rig.spec())
    assert rig.apps.list(scope=Scope()).complete
    declared = {call.service.lower() for call in rig.apps.reads}
    sent = {one.type.lower() for one in rig.seam.sent if one.arm}
    assert sent - declared - {"resourcegroups"} == set()
