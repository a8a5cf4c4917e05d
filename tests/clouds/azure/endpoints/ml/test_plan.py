"""What a plan of a managed online endpoint says, and what it refuses before anything is made."""

from __future__ import annotations

from typing import Any

import pytest

from clouds.errors import ApiDisabled, Conflict, InvalidInput, NotOffered, QuotaTooSmall
from tests.clouds.azure.endpoints.rig import BIG, FAMILY, SIZE, Rig
from tests.clouds.azure.simulator import ID, groups, ml

SPACE = f"/subscriptions/{ID}/resourceGroups/theirs/providers/Microsoft.MachineLearningServices/workspaces/team"
IMAGE = "team.azurecr.io/vllm@sha256:" + "cd" * 32


def test_what_bills_comes_last_after_its_end_and_the_right_to_end_it(rig: Rig) -> None:
    plan = rig.ml.plan(rig.ml_spec())
    assert [(step.location, str(step.call).removeprefix("Microsoft.")) for step in plan.steps] == [
        ("", "MachineLearningServices/workspaces/environments/versions.put"),
        ("", "MachineLearningServices/workspaces/onlineEndpoints.put"),
        ("", "Logic/workflows.put"),
        ("", "Authorization/roleAssignments.put"),
        (SIZE, "MachineLearningServices/workspaces/onlineEndpoints/deployments.put"),
        (SIZE, "MachineLearningServices/workspaces/onlineEndpoints.put"),
    ]
    assert (str(plan.ref), rig.seam.writes()) == ("azure:ml:swedencentral:gemma", [])
    right = plan.steps[3].call.parameters["id"]
    assert right.startswith(f"{SPACE}/onlineEndpoints/gemma/providers/Microsoft.Authorization/")


def test_time_out_and_concurrency_are_raised_from_the_defaults_that_spoil_a_benchmark(rig: Rig) -> None:
    body = rig.ml.plan(rig.ml_spec()).steps[4].call.parameters["body"]
    assert body["properties"]["requestSettings"] == {
        "requestTimeout": "PT180S",
        "maxConcurrentRequestsPerInstance": 64,
    }
    assert (body["sku"], body["properties"]["instanceType"]) == ({"name": "Default", "capacity": 1}, SIZE)


def test_a_token_is_only_named_and_azure_puts_it_in(rig: Rig) -> None:
    where = "https://team.vault.azure.net/secrets/hf"
    settings = {"file": "a.gguf", "hf_token_from": where}
    plan = rig.begin(rig.ml.plan(rig.ml_spec(settings=settings)))  # and the ledger takes it
    body = plan.steps[4].call.parameters["body"]
    assert body["properties"]["environmentVariables"]["HF_TOKEN"] == "${{keyvault:" + where + "}}"


def test_vllm_needs_an_image_that_reads_its_arguments(rig: Rig) -> None:
    with pytest.raises(InvalidInput, match="gives a container no arguments") as error:
        rig.ml.plan(rig.ml_spec(model="google/gemma-4-E2B-it", settings={}))
    assert "FROM docker.io/vllm/vllm-openai:v0.30.0 then ENTRYPOINT" in error.value.fix
    plan = rig.ml.plan(rig.ml_spec(model="google/gemma-4-E2B-it", settings={"image": IMAGE}))
    assert plan.steps[4].call.parameters["body"]["properties"]["environmentVariables"] == {
        "VLLM_ARGS": "--model google/gemma-4-E2B-it --served-model-name google/gemma-4-E2B-it --host 0.0.0.0 "
        "--port 8000 --max-model-len 8192 --gpu-memory-utilization 0.9"
    }
    assert plan.steps[0].call.parameters["body"]["properties"]["image"] == IMAGE


def test_a_ceiling_is_the_reason_where_a_size_is_there_and_allowed(rig: Rig) -> None:
    rig.account.ml_quota["swedencentral", FAMILY] = (2, 0)
    with pytest.raises(InvalidInput, match="0 of 2 used") as error:
        rig.ml.plan(rig.ml_spec(instance_types=(SIZE, BIG), max_usd_per_hour=0.1))
    assert error.value.field == "max_usd_per_hour"


def test_a_size_without_quota_is_left_out_and_the_next_one_taken(rig: Rig) -> None:
    rig.account.ml_quota["swedencentral", FAMILY] = (2, 0)
    plan = rig.ml.plan(rig.ml_spec(instance_types=(SIZE, BIG), max_usd_per_hour=6.0))
    assert [step.location for step in plan.steps if step.location] == [BIG, BIG]
    assert "0 of 2 used" in plan.left_out[0]
    with pytest.raises(QuotaTooSmall, match="0 of 2 used") as error:
        rig.ml.plan(rig.ml_spec())
    assert "another pool than that of virtual machines" in error.value.fix


def test_quota_for_one_machine_and_not_for_an_upgrade_is_said(rig: Rig) -> None:
    rig.account.ml_quota["swedencentral", FAMILY] = (4, 0)
    assert any("keeps a fifth on top for upgrades" in word for word in rig.ml.plan(rig.ml_spec()).warnings)


def test_quota_that_cannot_be_told_is_not_no(rig: Rig) -> None:
    rig.account.ml_quota.clear()
    assert any("could not be told" in word for word in rig.ml.plan(rig.ml_spec()).warnings)


def test_without_the_right_to_end_it_in_the_cloud_the_plan_says_so_plainly(rig: Rig) -> None:
    rig.account.rights = [{"actions": ["Microsoft.MachineLearningServices/*", "*/read"], "notActions": []}]
    plan = rig.ml.plan(rig.ml_spec())
    assert "Microsoft.Logic" not in " ".join(str(step.call) for step in plan.steps)
    assert plan.warnings[0] == (
        "nothing in Azure ends it: you lack microsoft.authorization/roleassignments/write and "
        "microsoft.logic/workflows/write. Its end is kept in modelrig's ledger and in its tags only; delete it by then "
        "(delete_endpoint), it bills until you do"
    )
    assert plan.ends == "NO end in the cloud"


def test_what_a_schedule_of_the_cloud_ends_says_nothing_else(rig: Rig) -> None:
    assert rig.ml.plan(rig.ml_spec()).ends == ""


def test_one_workspace_is_taken_and_none_or_several_are_asked_about(rig: Rig) -> None:
    ml.workspace(rig.account, "other", "westus3")
    with pytest.raises(InvalidInput, match="there are 2 workspaces") as error:
        rig.ml.plan(rig.ml_spec())
    assert len(error.value.allowed) == 2
    assert rig.ml.plan(rig.ml_spec(regions=("swedencentral",))).ref.location == "swedencentral"
    assert rig.ml.plan(rig.ml_spec(settings={"workspace": SPACE})).ref.location == "swedencentral"
    with pytest.raises(InvalidInput, match="there is no Azure ML workspace in eastus"):
        rig.ml.plan(rig.ml_spec(regions=("eastus",)))


def test_a_size_that_azure_ml_does_not_list_for_endpoints_is_not_offered(rig: Rig) -> None:
    del rig.account.sizes[SIZE]
    with pytest.raises(NotOffered, match="does not list it for managed online endpoints"):
        rig.ml.plan(rig.ml_spec())


def test_prices_come_from_the_table_and_then_from_azure_mls_own_estimate(rig: Rig) -> None:
    price = rig.ml.plan(rig.ml_spec()).price
    assert price is not None
    assert price.source.startswith("Azure Retail Prices API")
    ml.workspace(rig.account, "far", "polandcentral")
    rig.account.ml_quota["polandcentral", FAMILY] = (8, 0)
    told = rig.ml.plan(rig.ml_spec(regions=("polandcentral",))).price
    assert told is not None
    assert (told.amount, told.source) == (0.53, "Azure ML's own estimate (vmSizes)")


def test_an_endpoint_of_somebody_elses_is_never_overwritten(rig: Rig) -> None:
    groups.new(rig.account, f"{SPACE}/onlineEndpoints/gemma", ml.ENDPOINT, {"location": "swedencentral"})
    with pytest.raises(Conflict, match="modelrig did not make it"):
        rig.ml.plan(rig.ml_spec())


def test_a_subscription_without_the_provider_says_how_to_register_it(rig: Rig) -> None:
    rig.account.providers["Microsoft.Logic"] = "NotRegistered"
    with pytest.raises(ApiDisabled, match=r"Microsoft\.Logic"):
        rig.ml.plan(rig.ml_spec())


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": "ab"}, "name"),
        ({"instance_types": ("Standard_D2s_v5",)}, "instance_types"),
        ({"instance_types": ("Standard_NV6ads_A10_v5",)}, "instance_types"),
        ({"max_usd_per_hour": 0.1}, "max_usd_per_hour"),
        ({"settings": {"request_timeout_seconds": 600}}, "request_timeout_seconds"),
        ({"settings": {"hf_token_from": "hf_abcdefghijklmnopqrstuv"}}, "hf_token_from"),
        ({"settings": {"hf_token": "x"}}, "hf_token"),
        ({"settings": {"workspace": "team"}}, "workspace"),
        ({"settings": {"engine": "sglang"}}, "engine"),
        ({"settings": {"min_replicas": 1}}, "settings"),
    ],
)
def test_what_is_wrong_is_named_before_anything_is_made(rig: Rig, changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as error:
        rig.ml.plan(rig.ml_spec(**changes))
    assert (error.value.field, rig.seam.writes()) == (field, [])
    assert "hf_abc" not in str(error.value)
